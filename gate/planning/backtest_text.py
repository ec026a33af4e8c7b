"""A backtest as Markdown, as JSON and as one picture."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gate.measure.words import count
from gate.planning.backtest import SEED, Backtest
from gate.report.charts.canvas import Canvas
from gate.report.charts.scale import Scale, label
from gate.safe import examples, markdown_code
from gate.stats.label_swaps import Operating
from gate.stats.rates import Rate

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 640.0, 320.0, 70.0, 610.0, 24.0, 270.0
STYLE = (
    "text{font:13px sans-serif;fill:#333}.end{text-anchor:end}.middle{text-anchor:middle}"
    "line{stroke:#999;stroke-width:1}.grid{stroke:#ddd}.whisker{stroke-width:2;stroke:#357}"
    ".curve{stroke:#357;stroke-width:1.5}.mark{fill:#357}svg{background:#fff}"
)


def markdown_lines(found: Backtest) -> Iterator[str]:
    """The whole answer, for people."""
    yield f"# Backtest over {count(len(found.cycles), 'cycle')}"
    yield ""
    yield (
        f"{found.replays:,} replays of the cycles in their order. On each item a coin decides which side is "
        f"the candidate, one coin for an item in all its cycles ({found.shared:.0%} of items in several), "
        "so that nothing is better; then a true gain is planted. The gate's own rules, levels and streaks "
        "decide."
    )
    yield ""
    yield "| true gain | promoted at all | cycles promoted | mean cycles to the first | median |"
    yield "|---|---|---|---|---|"
    for row in found.rows:
        yield f"| {_gain(found, row)} | {_rate(row.promoted)} | {_rate(row.cycles)} | {_first(row)} |"
    yield ""
    yield from _cautions(found)
    yield "## What was really decided"
    yield ""
    yield "| cycle | items | delta | verdict | by | later |"
    yield "|---|---|---|---|---|---|"
    for one in found.cycles:
        delta = "" if one.delta is None else f"{one.delta:+.4g}"
        by = "history" if one.recorded else "this policy"
        later = {True: "good", False: "bad", None: ""}[one.good]
        yield f"| {markdown_code(one.cycle)} | {one.n} | {delta} | {one.verdict} | {by} | {later} |"
    yield ""
    yield from _outcomes(found)
    yield (
        "Limits: without a gain the two sides of an item are taken as exchangeable, and the stored cycles as "
        f"like those to come. Seed {SEED}; intervals are Wilson's, 95 %."
    )


def _gain(found: Backtest, row: Operating) -> str:
    if not row.gain:
        return "none"
    return f"{row.gain:.4g} ({row.gain / found.step:g} x {found.step_of})"


def _rate(rate: Rate) -> str:
    low, high = rate.interval()
    return f"{rate.share:.1%} ({low:.1%} to {high:.1%})"


def _first(row: Operating) -> str:
    mean = "never" if row.first is None else f"{row.first:.1f}"
    return f"{mean} | {'beyond these cycles' if row.median is None else f'{row.median:g}'}"


def _cautions(found: Backtest) -> Iterator[str]:
    said = []
    if len(found.cycles) < found.required:
        said.append(
            f"a promotion needs {found.required} cycles in a row and there are only {len(found.cycles)}: "
            "how often this policy promotes cannot be said from them"
        )
    elif len(found.cycles) == 1:
        said.append("one cycle says nothing about streaks or about the time to a promotion")
    if found.same:
        said.append(
            f"baseline and candidate are equal on every item in {examples(found.same)}: exchanging them "
            "tells nothing about noise there"
        )
    if found.missing:
        said.append(f"cycles of the history without files here are left out: {examples(found.missing)}")
    for text in said:
        yield f"- {text}"
    if said:
        yield ""


def _outcomes(found: Backtest) -> Iterator[str]:
    if found.outcomes is None:
        yield "No outcome is known (`--outcomes`), so wrong promotions are those of the row without a gain."
    else:
        known = found.outcomes
        yield f"Of the candidates that were bad, {_of(known.wrong_promotions, 'promoted')};"
        yield f"of the good ones, {_of(known.wrong_blocks, 'not promoted')}. Unknown: {known.unknown}."
    yield ""


def _of(rate: Rate, what: str) -> str:
    if not rate.trials:
        return "none is known"
    low, high = rate.interval()
    return f"{rate.count} of {rate.trials} {what} ({low:.0%} to {high:.0%})"


def document(found: Backtest) -> dict[str, Any]:
    """``gate.backtest/1``."""
    outcomes = found.outcomes
    return {
        "schema": "gate.backtest/1",
        "metric": found.metric,
        "replays": found.replays,
        "seed": SEED,
        "level": found.level,
        "required": found.required,
        "step": {"size": found.step, "of": found.step_of},
        "shared_items": found.shared,
        "operating": [
            {
                "gain": row.gain,
                "promoted": _counted(row.promoted),
                "cycles": _counted(row.cycles),
                "mean_first": row.first,
                "median_first": row.median,
            }
            for row in found.rows
        ],
        "cycles": [
            {
                "cycle": one.cycle,
                "verdict": one.verdict,
                "recorded": one.recorded,
                "n": one.n,
                "delta": one.delta,
                "outcome": {True: "good", False: "bad", None: None}[one.good],
            }
            for one in found.cycles
        ],
        "no_difference": list(found.same),
        "without_files": list(found.missing),
        "outcomes": None
        if outcomes is None
        else {
            "wrong_promotions": _counted(outcomes.wrong_promotions),
            "wrong_blocks": _counted(outcomes.wrong_blocks),
            "unknown": outcomes.unknown,
        },
    }


def _counted(rate: Rate) -> dict[str, float]:
    low, high = rate.interval()
    return {"count": rate.count, "trials": rate.trials, "low": low, "high": high}


def picture(found: Backtest) -> str:
    """The operating characteristic as an SVG that stands alone: chance of a promotion by true gain."""
    canvas = Canvas(WIDTH, HEIGHT)
    most = found.rows[-1].gain or 1.0
    along, up = Scale(0.0, most, LEFT, RIGHT), Scale(0.0, 1.0, FLOOR, TOP)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line((LEFT, up.at(share), RIGHT, up.at(share)), "grid")
        canvas.text((LEFT - 8, up.at(share) + 4), f"{share:.0%}", "end")
    places = [(along.at(row.gain), up.at(row.promoted.share)) for row in found.rows]
    for (x1, y1), (x2, y2) in pairwise(places):
        canvas.line((x1, y1, x2, y2), "curve")
    for row, (x, y) in zip(found.rows, places, strict=True):
        low, high = row.promoted.interval()
        canvas.line((x, up.at(low), x, up.at(high)), "whisker")
        canvas.mark(x, y, "reported", f"gain {row.gain:.4g}: {_rate(row.promoted)}")
        canvas.text((x, FLOOR + 18), label(row.gain), "middle")
    canvas.text(((LEFT + RIGHT) / 2, FLOOR + 40), f"true gain of {found.metric}", "middle")
    said = "; ".join(f"gain {row.gain:.4g}: {_rate(row.promoted)}" for row in found.rows)
    svg = str(canvas.svg("oc", f"Chance of a promotion within {count(len(found.cycles), 'cycle')}", said))
    head = '<svg xmlns="http://www.w3.org/2000/svg" '
    return svg.replace("<svg ", head, 1).replace("<title", f"<style>{STYLE}</style><title", 1) + "\n"
