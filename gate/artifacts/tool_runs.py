"""What the formats with items of their own share: one :class:`Run` a row, to Records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gate.artifacts.build import OWN_REPEATS
from gate.artifacts.lookup import column, names_in
from gate.artifacts.outcome import ANY
from gate.artifacts.records import ABSENT, RESERVED, Records, paths_of
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.texts import canonical
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one item. raw: the row as it lies in the file, for dotted paths to clusters and slices."""

    id: Any
    metrics: Mapping[str, Any]
    raw: Any = None
    failed: bool = False
    repeat: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known about the whole file. aliases: other names for raw paths. extra: digests per item.

    evidence: what may say that runs failed, by a name that ``artifacts.failed`` and ``completed`` can use.
    """

    format: str
    path: str
    place: Callable[[int], str] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()
    cautions: tuple[tuple[str, str], ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    directions: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    evidence: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    noted: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    system: str | None = None
    repeats_by_order: bool = False
    """Whether an id that occurs again is another run of the item, and not a mistake."""


def records(runs: Sequence[Run], request: ReadRequest | None, context: Context) -> Records:
    """Rows to columns. Metrics of the tool come first, then dotted paths into its rows."""
    metrics = list(dict.fromkeys(name for run in runs for name in run.metrics))
    raw = [run.raw for run in runs]
    names = names_in(raw)
    wanted = [*metrics, *names] if request is None else _wanted(request)
    cells: dict[str, Sequence[Any]] = {}
    for path in dict.fromkeys(path for path in wanted if path not in context.refused):
        if path in metrics:
            cells[path] = [run.metrics.get(path, ABSENT) for run in runs]
        elif (found := column(raw, context.aliases.get(path, path), context.path)) is not None:
            cells[path] = found
    lines = [run.line for run in runs if run.line is not None]
    return Records(
        format=context.format,
        count=len(runs),
        cells=cells,
        evidence=context.evidence,
        metrics=tuple(metrics),
        available=tuple(metrics) if request is None else (*metrics, *names),
        lines=lines if len(lines) == len(runs) and runs else None,
        place=context.place,
        ids=[run.id for run in runs],
        repeats=_repeats(runs, request, by_order=context.repeats_by_order),
        failed=[run.failed for run in runs],
        refused=context.refused,
        directions=context.directions,
        facts=context.facts,
        stated=context.stated,
        cautions=context.cautions,
        extra=context.extra,
        noted=context.noted,
        system=context.system,
    )


def accepted_columns(request: ReadRequest | None) -> frozenset[str]:
    """What the policy accepts as completed whatever stands there."""
    return (
        frozenset()
        if request is None
        else frozenset(n for n, words in request.completed.items() if ANY in words)
    )


def contradiction(found: str, where: str) -> GateError:
    """The error for a file that says two things about one item; which of them is true is unknown."""
    return GateError(
        "contradiction",
        f"the file contradicts itself: {found}",
        where=where,
        help="have the tool write the results again, from one run",
    )


def _wanted(request: ReadRequest) -> Iterable[str]:
    """All paths but the reserved ones: these tools say in their own way whether a run completed."""
    named = {
        request.id,
        request.repeat,
        request.cluster,
        *request.metrics,
        *request.columns,
        *request.where,
        *request.mapping,
    }
    return [path for name, path in paths_of(request).items() if name not in RESERVED or name in named]


def _repeats(runs: Sequence[Run], request: ReadRequest | None, *, by_order: bool) -> list[str] | None:
    """The tool's own numbers of runs, or the order of occurrence; None where no id occurs twice."""
    keys = [_key(run.id) for run in runs]
    if len(set(keys)) == len(runs):
        return None
    if runs[0].repeat is not None:
        return [str(run.repeat) for run in runs]
    asked = request is not None and request.repeat in OWN_REPEATS
    return occurrences(keys) if by_order or asked else None


def _key(found: Any) -> str:
    """An id as it will be read; whatever is no id at all is refused later."""
    return found if isinstance(found, str) else canonical(found)


def occurrences(ids: Iterable[Any]) -> list[str]:
    """``1`` for the first row of an id, ``2`` for the second, ..."""
    seen: Counter[Any] = Counter()
    numbers = []
    for key in ids:
        seen[key] += 1
        numbers.append(str(seen[key]))
    return numbers
