"""Whether the run of a row completed: by the policy's words, the reserved columns, and the format's own."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from gate.artifacts.records import ABSENT, Records, deciding_metrics, deciding_paths, each, run_paths
from gate.artifacts.run_words import (
    cached_column,
    code_column,
    error_column,
    flag_column,
    plain,
    said,
    status_column,
    tells_of_runs,
    without_result,
)
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import BoolArray, ReadRequest, Unread
from gate.artifacts.values import NUMBER
from gate.safe import examples

ANY = "*"
"""In the policy: whatever stands there."""
_NO_ERROR_TEXT = frozenset({"", "null", "none", "nan", "false", "0"})
LONGEST_WORD = 80
Cells = Sequence[Any]
Test = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """failed: runs without a result. told: the file says which have one. unread: columns that
    may say so of other runs.
    """

    failed: BoolArray
    told: bool
    unread: tuple[Unread, ...]
    cautions: tuple[tuple[str, str], ...]


def outcome_of(records: Records, request: ReadRequest) -> Outcome:
    """What the file says of its runs, by the policy's words, the reserved columns and the format's own."""
    failed = np.zeros(records.count, dtype=np.bool_)
    if records.failed is not None:
        failed |= np.asarray(records.failed, dtype=np.bool_)
    paths = run_paths(request)
    if records.ids is not None:  # tools say it in their own way, and may mean something else by these names
        named = {*request.mapping, *request.failed, *request.completed}
        paths = {name: path for name, path in paths.items() if name in named}
    columns = [_Column(name, path, records, request) for name, path in paths.items()]
    columns = [column for column in columns if column.cells is not None]
    for column in columns:
        failed |= column.failed()
    read = {column.path for column in columns}
    others = [
        _Column(path, path, records, request)
        for path in records.evidence
        if path not in read | deciding_metrics(request)
    ]
    unread = [found for column in (*columns, *others) if (found := column.unread(failed)) is not None]
    told = records.failed is not None or bool(columns)
    return Outcome(failed, told, tuple(unread), tuple(unknown_words(unread, records.count)))


def unknown_words(unread: Sequence[Unread], rows: int) -> Iterator[tuple[str, str]]:
    """The caution for words in the reserved column that this gate knows neither as run nor as failed."""
    for found in unread:
        if found.reserved:
            words = examples(sorted(found.words))
            count = sum(found.words.values())
            yield "status_unknown", f"runs with status {words} count as completed ({count} of {rows})"


class _Column:
    """One column that tells of runs. words: those that the policy calls failed and completed."""

    def __init__(self, name: str, path: str, records: Records, request: ReadRequest) -> None:
        itself = deciding_paths(request)
        self.name, self.text = name, records.text
        self.path = path
        found = records.cells.get(path)
        if found is None and name in {"error", "status"} and path == name:
            # Spreadsheets write Error and Status; numbers under such a heading are measurements.
            other = next((p for p in records.evidence if p.lower() == name and p not in itself), None)
            if other is not None:
                cells = records.evidence[other]
                self.path, found = other, [None if _is_number(c, text=self.text) else c for c in cells]
        self.cells: Cells | None = records.evidence.get(path) if found is None else found
        found_by_name = self.path in records.evidence and not cached_column(self.path)
        self.tells = found_by_name or tells_of_runs(self.path)
        self.reserved = name in {"error", "status"} and name in run_paths(request)
        self.bad = {_key(word) for word in request.failed.get(name, ())}
        self.fine = {_key(word) for word in request.completed.get(name, ())}
        self.any_bad = ANY in request.failed.get(name, ())
        self.any_fine = ANY in request.completed.get(name, ())

    def failed(self) -> BoolArray:
        """True where the column says that there is no result."""
        assert self.cells is not None
        return np.array(each(self._is_failed, self.cells), dtype=np.bool_)

    def _is_failed(self, cell: Any) -> bool:
        if self._is_one_of(self.bad, cell):
            return True
        if self.any_fine or self._is_one_of(self.fine, cell):
            return False
        if self.any_bad and self._is_something(cell):
            return True
        if not self.reserved:
            return False
        return _is_error(cell, text=self.text) if self.name == "error" else _without_result(cell)

    def _is_something(self, cell: Any) -> bool:
        number = _is_number(cell, text=self.text) and _is_error(cell, text=True)
        return number or _is_filled(cell, text=self.text)

    @staticmethod
    def _is_one_of(words: set[str], cell: Any) -> bool:
        return bool(words) and _is_word(cell) and _key(shown(cell)) in words

    def unread(self, failed: BoolArray) -> Unread | None:
        """What stands there in runs that are not known to have failed, and could say that they did."""
        if self.cells is None or self.any_fine or not (self.reserved or self.tells):
            return None
        by_word = _is_status(self.path) or (self.reserved and self.name == "status")
        doubt = self._doubt_of(by_word)
        doubts = each(lambda cell: doubt(cell) and not self._is_one_of(self.fine, cell), self.cells)
        doubtful = (np.array(doubts, dtype=np.bool_) & ~failed).tolist()
        words = Counter(shown(cell)[:LONGEST_WORD] for cell in compress(self.cells, doubtful))
        if not words:
            return None
        runs = int(len(failed) - failed.sum())
        reserved = self.reserved and self.name == "status"
        return Unread(self.path, words, runs, by_word=by_word, reserved=reserved)

    def _doubt_of(self, by_word: bool) -> Test:
        last = self.path.rpartition(".")[2]
        if code_column(last):
            return _is_killed
        if by_word:
            return _is_unknown if self.reserved else _without_result
        if flag_column(last):
            return self._is_something
        return lambda cell: _is_filled(cell, text=self.text)


def _is_status(path: str) -> bool:
    """Whether a word stands there on every run, by the last part of its name or the last two."""
    parts = path.split(".")
    return status_column(parts[-1]) or (status_column("_".join(parts[-2:])) and not error_column(parts[-1]))


def _key(text: str) -> str:
    """A word as it is compared: without case and marks, but -1 is not 1."""
    bare = text.strip()
    return bare if NUMBER.fullmatch(bare) else plain(bare) or bare.lower()


def _is_error(cell: Any, *, text: bool) -> bool:
    if cell is None or cell is ABSENT or cell is False:
        return False
    if isinstance(cell, str):
        return cell.strip().lower() not in _NO_ERROR_TEXT if text else bool(cell.strip())
    if isinstance(cell, NoNumber):
        return cell != NoNumber("NaN")
    if isinstance(cell, int | float):
        return not math.isnan(cell) and cell != 0
    return bool(cell)


def _is_number(cell: Any, *, text: bool) -> bool:
    if isinstance(cell, str):
        return text and NUMBER.fullmatch(cell.strip()) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _is_filled(cell: Any, *, text: bool) -> bool:
    """Text other than "ok", true, or an object with something in it; a number is a measurement."""
    if isinstance(cell, Mapping | list):
        inner = cell.values() if isinstance(cell, Mapping) else cell
        return any(_is_filled(one, text=text) for one in inner)
    if isinstance(cell, str) and _is_blank(cell):
        return False
    return not _is_number(cell, text=text) and _is_error(cell, text=True)


def _is_blank(text: str) -> bool:
    """Words that say that nothing broke; but "true" says that what the column is called did happen."""
    word = plain(text)
    return word in {"n_a", "na", "nil", "no", "not_applicable"} or (
        said(text) in {"passed", "ran"} and word != "true"
    )


def _is_killed(cell: Any) -> bool:
    """An exit code of a signal, of ``timeout`` or of no process at all, or a word that says so."""
    text = shown(cell).strip() if _is_word(cell) else ""
    if NUMBER.fullmatch(text):
        return not 0 <= float(text) < 124
    return _without_result(cell)


def _without_result(cell: Any) -> bool:
    """Whether a word says so; a long text is what a model said."""
    if not _is_word(cell):
        return False
    word = shown(cell)
    return len(word) <= LONGEST_WORD and without_result(word)


def _is_unknown(cell: Any) -> bool:
    return _is_word(cell) and said(shown(cell)) is None


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str | bool | int | float) and cell is not ABSENT


def shown(cell: Any) -> str:
    """A cell as the word that reports print."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
