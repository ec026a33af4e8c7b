"""What a reader is asked for (:class:`ReadRequest`) and what it returns (:class:`ItemTable`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ObjectArray = NDArray[np.object_]
"""One-dimensional array whose items are ``str`` (or None where the file has no value)."""
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The columns that the policy names; nothing else in a file is looked at.

    metrics: metric name -> kind ("binary", "graded", or "prediction": either). columns: text columns (slices,
    labels, comparable, must_pass, show). optional: those of ``columns`` and ``metrics`` whose absence is no
    error (watch, show). beside: those of ``optional`` that are only shown: no part of the identity, and no
    word where they are not to be had. watched: metrics that no rule decides on; shown: columns that only
    show: no part of the identity. where: column -> words of the rows that are read; the others are left out.
    failed, completed: column -> words that say that a run failed, or completed. votes: columns that tell the
    votes on an item apart, as far as the file has them.
    mapping: name -> dotted path in the file. words: declared pass/fail words -> 1.0 or 0.0.
    id_declared: ``items.id`` is not the default, which formats with ids of their own ignore. labels: a second
    file, whose columns are joined by the items' ids.
    """

    metrics: Mapping[str, str]
    id: str = "id"
    id_declared: bool = False
    repeat: str | None = None
    cluster: str | None = None
    columns: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    watched: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    format: str = "auto"
    system: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    completed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    votes: tuple[str, ...] = ()
    labels: str | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A column that may say that runs failed, and what it says of runs that are not known to have failed.

    words: text -> in how many of ``runs``. by_word: a status, which every run has; else something that stands
    there only when a run broke. reserved: the column ``status`` itself, whose unknown words are listed.
    """

    column: str
    words: Mapping[str, int]
    runs: int
    by_word: bool
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """What a file says of how its metrics were scored; both sides must say the same.

    what: as a person calls it. value: of the whole file, or one a row (None: the row says nothing).
    metrics: those it decided, by the file's names; None: all. caution: the code of the warning where another
    value is no reason to refuse.
    """

    what: str
    value: str | tuple[str | None, ...]
    metrics: frozenset[str] | None = None
    caution: str = ""


def graded_itself(model: object, graders: Iterable[object]) -> tuple[Stated, ...]:
    """Whether the model that is evaluated graded itself; nothing where the file names no grader."""
    names = [str(grader) for grader in graders]
    answer = "yes" if str(model) in names else "no"
    what = "whether the model graded itself"
    return (Stated(what, answer, caution="self_graded"),) if names and model is not None else ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What ``artifacts.where`` left out: rows, and the ids whose runs failed and that have no other row."""

    read: int
    rows: int
    failed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Missing:
    """Cells of one metric without a usable number: how many, and the first five of them.

    examples: (item id, place such as ``line 7``, what stood there such as ``null`` or ``NaN`` or ``absent``).
    """

    count: int
    examples: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from. sha256: of the file's bytes as they lie on disk."""

    path: str
    format: str
    sha256: str
    bytes: int
    system: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ascending:
    """The rows in the order of their ids, and the SHA-256 over the ids in that order, one a line."""

    rows: NDArray[np.int64]
    digest: str


@dataclass(frozen=True, slots=True)
class ItemTable:
    """One artifact: one row per run of an item, in file order, columns as arrays of the same length.

    ids: text, never coerced through a number. values: metric -> float64, NaN where the file holds no usable
    number (see ``missing`` for what stood there). failed: True where the run itself did not complete
    (error, timeout, skipped); its values count as missing. failures_told: the file says of its runs whether
    they did. repeats, clusters: text or None.
    columns: other named text columns. lines: 1-based line of each row where the format has lines.
    identity: SHA-256 over the sorted table of the columns that decide; read_digest: also of those that are
    watched or shown, which was the identity in histories of the first schema. Both are the same for every
    row order and file format. ascending: only where no id has several rows. directions: metric -> higher or
    lower, where the format knows. noted: in how many runs that did not fail there is something to be said.
    offered: names of all columns and metrics of the file, as far as they are known.
    """

    source: Source
    ids: ObjectArray
    values: Mapping[str, FloatArray]
    missing: Mapping[str, Missing]
    failed: BoolArray
    failures_told: bool = False
    repeats: ObjectArray | None = None
    clusters: ObjectArray | None = None
    columns: Mapping[str, ObjectArray] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    identity: str = ""
    read_digest: str = ""
    cautions: tuple[tuple[str, str], ...] = ()
    ascending: Ascending | None = None
    unread: tuple[Unread, ...] = ()
    stated: tuple[Stated, ...] = ()
    directions: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, int] = field(default_factory=dict)
    left_out: LeftOut | None = None
    offered: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)
