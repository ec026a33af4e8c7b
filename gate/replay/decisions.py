"""What people decided on an output, for that very output and no other."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gate.artifacts.content import open_content
from gate.artifacts.json_lines import json_lines
from gate.replay.load import LoadedSuite
from gate.replay.suite import Decisions
from gate.safe import quoted
from gate.values import GateError

TO_DECIDE = "to-decide.jsonl"
_KEYS = ("id", "system", "output_digest", "decision")
Key = tuple[str, str, str]


class Book:
    """Decisions by (id, digest of the output, system). reused: of another system, on the same bytes.

    open: the outputs that nobody has decided on. seen: how many were ``decided``, ``reused``, ``undecided``.
    """

    def __init__(self, wanted: Decisions, known: Mapping[Key, float], *, reuse: bool) -> None:
        self.metric = wanted.metric
        self.scorer = _digest(wanted, reuse=reuse)
        self.seen: Counter[str] = Counter()
        self.open: dict[Key, dict[str, Any]] = {}
        self._known = known
        self._others = _by_output(known) if reuse else {}

    def applied(self, row: dict[str, Any], system: str) -> dict[str, Any]:
        """The row with what people decided on its output; without the metric where they did not."""
        if row.get("status") != "ok" or "output_digest" not in row:
            return row
        if self.metric in row:
            raise GateError(
                "decision_and_score",
                f"both the scorer and people say {quoted(self.metric)}: one metric has one source",
                help="give decisions.metric another name",
            )
        key = (str(row["id"]), str(row["output_digest"]), system)
        value = self._known.get(key)
        how = "decided"
        if value is None:
            value, how = self._others.get(key[:2]), "reused"
        if value is None:
            self.seen["undecided"] += 1
            self.open.setdefault(key, _question(row, system))
            return row
        self.seen[how] += 1
        return row | {self.metric: value}


def book_of(loaded: LoadedSuite) -> Book | None:
    """The suite's decisions; a file that is not there yet holds none."""
    wanted = loaded.suite.decisions
    if wanted is None:
        return None
    path = loaded.folder / wanted.file
    known = _read(path, wanted) if path.exists() else {}
    return Book(wanted, known, reuse=loaded.suite.reuse_decisions == "identical_outputs")


def _read(path: Path, wanted: Decisions) -> dict[Key, float]:
    found: dict[Key, float] = {}
    content = open_content(str(path))
    try:
        for line, row in json_lines(content):
            key, value = _entry(row, wanted, content.where(line))
            if found.setdefault(key, value) != value:
                text = f"two decisions on one output of {quoted(key[0])} differ"
                raise GateError("decisions_differ", text, where=content.where(line), help="keep one")
    finally:
        content.close()
    return found


def _entry(row: Mapping[str, Any], wanted: Decisions, where: str) -> tuple[Key, float]:
    words = [row.get(name) for name in _KEYS]
    if not all(isinstance(word, str) and word for word in words):
        raise GateError(
            "invalid_decision",
            f"a decision is a line with {', '.join(_KEYS)}, all texts",
            where=where,
            help=f"fill in `decision` in {TO_DECIDE}, and add its lines",
        )
    item, system, digest, word = map(str, words)
    if word not in wanted.values:
        known = ", ".join(wanted.values)
        raise GateError(
            "unknown_decision", f"the decision {quoted(word)} has no value (known: {known})", where=where
        )
    return (item, digest, system), wanted.values[word]


def _by_output(known: Mapping[Key, float]) -> dict[tuple[str, str], float]:
    """What was decided on the same bytes; where people said both, nothing carries over."""
    values: dict[tuple[str, str], set[float]] = {}
    for (item, digest, _), value in known.items():
        values.setdefault((item, digest), set()).add(value)
    return {key: next(iter(found)) for key, found in values.items() if len(found) == 1}


def _question(row: Mapping[str, Any], system: str) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "system": system,
        "output_digest": row["output_digest"],
        "output": row.get("output"),
        "decision": None,
    }


def _digest(wanted: Decisions, *, reuse: bool) -> str:
    """People's scale as the scorer of both sides: a judge's scores of the other side never pair with it."""
    text = json.dumps(["people", dict(sorted(wanted.values.items())), reuse])
    return hashlib.sha256(text.encode()).hexdigest()


def undecided(book: Book) -> Iterator[dict[str, Any]]:
    """What people still have to look at, in the order of ids."""
    yield from (book.open[key] for key in sorted(book.open))
