"""The journal as two artifacts of the gate for each window, in the order of the cases, each file whole."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from gate.artifacts.formats.replayed import SCHEMA
from gate.replay.decisions import Book
from gate.replay.journal import Journal, other_replay, parsed, taken
from gate.replay.names import SIDES
from gate.replay.plan import Plan
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class Written:
    """One artifact. statuses: how its runs ended; faults: attempts that the infrastructure spoiled."""

    path: Path
    side: str
    window: str | None
    statuses: Mapping[str, int]
    faults: int
    first_error: str


def targets(plan: Plan, folder: Path) -> dict[tuple[str | None, str], Path]:
    """(window, side) -> where its artifact goes."""
    return {
        (window, side): (folder if window is None else folder / window) / f"{side}.jsonl"
        for window in plan.cases.windows
        for side in SIDES
    }


def refuse_foreign(plan: Plan, paths: Iterable[Path]) -> None:
    """Nothing is replaced but an artifact of this very replay."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        found = _head_of(path)
        if found.get("schema") != SCHEMA:
            raise taken(path, "a file is there that is no artifact of a replay")
        if found.get("plan") != plan.digest:
            raise other_replay(path)


def _head_of(path: Path) -> dict[str, Any]:
    """The first line of an artifact; empty for anything else."""
    if path.is_symlink() or not path.is_file():
        return {}
    with path.open("rb") as file:
        return parsed(file.readline(1 << 16)) or {}


def write(plan: Plan, journal: Journal, folder: Path, book: Book | None = None) -> list[Written]:
    """Every artifact, of all questions that were put. book: what people decided on the outputs."""
    scores = {side: _score_names(plan, journal, index) for index, side in enumerate(SIDES)}
    made = []
    for (window, side), path in targets(plan, folder).items():
        path.parent.mkdir(exist_ok=True)
        tally = _Tally()
        head = _head(plan, journal, window, side, scores[side])
        rows: Iterable[dict[str, Any]] = (
            tally.counted(_flat(row)) for row in _rows(plan, journal, window, SIDES.index(side))
        )
        if book is not None:
            head["scorers"] |= {book.metric: book.scorer}
            rows = map(partial(book.applied, system=head["system"]), rows)
        write_lines(path, head, rows)
        made.append(Written(path, side, window, tally.statuses, tally.faults, tally.first_error))
    return made


class _Tally:
    """Counts rows as they go by."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.faults = 0
        self.first_error = ""

    def counted(self, row: dict[str, Any]) -> dict[str, Any]:
        self.statuses[row["status"]] += 1
        self.faults += row["faults"]
        self.first_error = self.first_error or row.get("error", "")
        return row


def _head(
    plan: Plan, journal: Journal, window: str | None, side: str, metrics: Iterable[str]
) -> dict[str, Any]:
    """What holds for the whole file."""
    suite = plan.loaded.suite
    return {
        "schema": SCHEMA,
        "suite": suite.name,
        "suite_digest": plan.suite_digest,
        **({} if window is None else {"window": window}),
        "system": getattr(suite.systems, side).name,
        "system_digest": plan.versions[side],
        "scorers": dict.fromkeys(sorted(metrics), plan.scorer),
        "time": journal.started,
        "plan": plan.digest,
    }


def _score_names(plan: Plan, journal: Journal, side: int) -> set[str]:
    names: set[str] = set()
    for number in range(side, plan.count, 2):
        if journal.where[number] >= 0:
            names.update(journal.row(number).get("scores", ()))
    return names


def _rows(plan: Plan, journal: Journal, window: str | None, side: int) -> Iterator[dict[str, Any]]:
    for case, place in enumerate(plan.cases.places):
        if place.window == window:
            for exchange in range(max(1, place.turns)):
                for repeat in range(plan.loaded.suite.repeats):
                    number = plan.number(case, exchange, repeat, side)
                    if journal.where[number] >= 0:  # else no stage asked for it yet
                        yield journal.row(number)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Scores beside the other columns, so that any reader of JSON Lines finds them by name."""
    return {
        key: value
        for name, found in row.items()
        for key, value in (found.items() if name == "scores" else ((name, found),))
    }


def write_lines(path: Path, head: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """An artifact: its head, then its rows."""
    write_rows(path, chain([head], rows))


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """The whole file or none: it gets its name when all of it is on the disk."""
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("w", encoding="ascii", newline="\n") as stream:
            for line in rows:
                stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise GateError(
            "cannot_write",
            f"the artifact cannot be written ({error.strerror or error})",
            where=str(path),
            help="make room, then run the same command again: no answer is asked for again",
        ) from None
