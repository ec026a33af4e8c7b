"""The history as a run chart: as points for a page, and for a terminal.

There it is ASCII: nothing in a record can act on the reader's screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gate.cycles.band import REMEMBERED
from gate.cycles.chain import History
from gate.cycles.counted_looks import counted_looks
from gate.cycles.known import how_often_right, right_lines
from gate.cycles.record import Record
from gate.cycles.streak import why_first
from gate.safe import escaped
from gate.stats.control import FEWEST, prediction_limits

TRACK: Final = 31
MOST_POINTS: Final = 60
"""Cycles in a report; the history itself holds all of them."""
_SHOWN: Final = {"outcome", "void", "waiver", "worn"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the chart: numbers None where there are none or they were withheld."""

    cycle: str
    look: str
    level: str
    low: float | None
    delta: float | None
    high: float | None
    verdict: str
    streak: str
    note: str = ""


def draw(history: History) -> str:
    """One line for each outcome, void and unfinished look: delta (o) and interval (---) around zero (|)."""
    metrics = sorted({record.metric for record in history.records if record.metric})
    parts = ["\n".join([_metric_chart(history, metric), *_right(history, metric)]) for metric in metrics]
    cautions = [f"caution: {caution.message}" for caution in history.cautions]
    return "\n\n".join([*parts, "\n".join([*cautions, f"{history.head}, {history.count} records"])]) + "\n"


def _right(history: History, metric: str) -> list[str]:
    found = how_often_right(history.records, metric)
    return [] if found is None else right_lines(found)


def rows_of(history: History, metric: str) -> list[Row]:
    """Every outcome, void, waiver and unfinished look of one metric, with why a count began anew."""
    unfinished = counted_looks(history.records, metric).unfinished
    earlier = _earlier(history)
    return [
        _row(record, earlier.get(record.digest))
        for record in history.records
        if record.metric == metric
        and (record.kind in _SHOWN or (record.kind == "intent" and record.id in unfinished))
    ]


def _metric_chart(history: History, metric: str) -> str:
    rows = rows_of(history, metric)
    ends = [end for row in rows for end in (row.low, row.delta, row.high) if end is not None]
    reach = max((abs(end) for end in ends), default=0.0) or 1.0
    width = min(max((len(row.cycle) for row in rows), default=5), 24)
    name, space = "cycle".ljust(width), " " * (TRACK - 1)
    head = (
        f"{name}  look     level     delta  {-reach:<+9.3g}{space[18:]}{reach:>+9.3g}  verdict       streak"
    )
    lines = [_cell(metric, 60), head, *(_line(row, width, reach) for row in rows), *_expected(rows)]
    return "\n".join(lines)


def _expected(rows: Sequence[Row]) -> list[str]:
    """Where the next delta lies if nothing changes, from five cycles on."""
    deltas = [row.delta for row in rows if row.delta is not None][-REMEMBERED:]
    limits = prediction_limits(deltas) if len(deltas) >= FEWEST else None
    if limits is None:
        return []
    ends = f"{limits.low:+.4f} .. {limits.high:+.4f}"
    return [f"noise band of {len(deltas)} cycles: the next delta in {ends} (99 %)"]


def _earlier(history: History) -> dict[str, Record]:
    """Digest of an outcome -> the outcome before it under the same metric and policy."""
    last: dict[tuple[str, str], Record] = {}
    found: dict[str, Record] = {}
    for record in history.records:
        key = (record.metric, record.policy)
        if record.kind == "outcome":
            if key in last:
                found[record.digest] = last[key]
            last[key] = record
    return found


def _line(row: Row, width: int, reach: float) -> str:
    delta = "" if row.delta is None else f"{row.delta:+.4f}"
    track = _track(row, reach)
    numbers = f"{row.look:>4}  {row.level:>8}  {delta:>8}"
    return f"{row.cycle:<{width}}  {numbers}  {track}  {row.verdict:<12}  {row.streak}  {row.note}".rstrip()


def _track(row: Row, reach: float) -> str:
    cells = ["."] * TRACK
    if row.low is not None and row.high is not None:
        for at in range(_column(row.low, reach), _column(row.high, reach) + 1):
            cells[at] = "-"
    cells[TRACK // 2] = "|"
    if row.delta is not None:
        cells[_column(row.delta, reach)] = "o"
    return "".join(cells)


def _column(value: float, reach: float) -> int:
    return round((max(-1.0, min(1.0, value / reach)) + 1) / 2 * (TRACK - 1))


def _row(record: Record, before: Record | None) -> Row:
    numbers = [_number(record, key) for key in ("low", "delta", "high")]
    shown = record.kind == "outcome" and record.result.get("printed") is not False
    low, delta, high = numbers if shown else (None, None, None)
    kind = "unfinished" if record.kind == "intent" else record.kind
    level = "" if record.level is None else f"{record.level:.4g}"
    streak = str(record.streak) if record.kind == "outcome" else ""
    verdict = record.verdict if record.kind == "outcome" else kind
    look = str(record.look_no or "")
    note = _cell(_note(record, before), 160)
    return Row(_cell(record.cycle, 24), look, level, low, delta, high, _cell(verdict, 12), streak, note)


def _note(record: Record, before: Record | None) -> str:
    """Why the count began anew here, or does not count this cycle."""
    if record.kind != "outcome":
        return ""
    if record.state.get("held"):
        return f"not counted: {record.state['held']}"
    why = why_first(before, record) if record.is_first else str(record.state.get("restarted") or "")
    return f"counted anew: {why}" if why and record.streak < 2 else ""


def _number(record: Record, key: str) -> float | None:
    value = record.result.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _cell(text: str, width: int) -> str:
    return escaped(text, width)[:width]


def run_chart_points(history: History, metric: str) -> list[dict[str, Any]]:
    """The last outcomes of one metric. A cycle whose numbers were withheld has none here either."""
    outcomes = [record for record in history.records if record.kind == "outcome" and record.metric == metric]
    points = []
    for record in outcomes[-MOST_POINTS:]:
        shown = record.result.get("printed") is not False
        points.append(
            {
                "cycle": record.cycle,
                "look": record.look_no,
                "level": record.level,
                "verdict": record.verdict,
                "streak": record.streak,
                "delta": record.result.get("delta") if shown else None,
                "low": record.result.get("low") if shown else None,
                "high": record.result.get("high") if shown else None,
                "margin": record.result.get("margin"),
            }
        )
    return points
