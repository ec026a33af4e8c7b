"""Several runs of one baseline system, each in a file of its own, read as the repeats of one side."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gate.artifacts.likeness import mark_of
from gate.artifacts.table import ItemTable, Missing, ObjectArray
from gate.safe import quoted
from gate.values import GateError


def refuse_copies(runs: Sequence[str], candidate: str) -> None:
    """A run that is given twice is one run, and a candidate that is one of them is no candidate."""
    marks = [mark_of(path) for path in runs]
    own = mark_of(candidate)
    for place, (path, mark) in enumerate(zip(runs, marks, strict=True)):
        if mark.same(own):
            raise GateError(
                "baseline_run_twice",
                "the candidate's file is one of the baseline's runs, or a copy of it",
                where=path,
                help="the candidate needs a run of its own",
            )
        if any(mark.same(other) for other in marks[:place]):
            raise GateError(
                "baseline_run_twice",
                "one run of the baseline is given twice",
                where=path,
                help="name each run of the baseline once",
            )


def pooled(runs: Sequence[ItemTable]) -> ItemTable:
    """One table whose repeats are the rows of each run. Errors: the files name different systems."""
    first = runs[0]
    for run in runs[1:]:
        if run.source.system != first.source.system:
            raise GateError(
                "baseline_runs_differ",
                f"the runs of the baseline are of different systems ({quoted(str(first.source.system))}, "
                f"{quoted(str(run.source.system))})",
                where=run.source.path,
                help="repeat --baseline only for runs of one system",
            )
    noted: Counter[str] = Counter()
    for run in runs:
        noted.update(run.noted)
    return replace(
        first,
        ids=np.concatenate([run.ids for run in runs]),
        values={
            m: np.concatenate([run.values[m] for run in runs]) for m in _shared(runs, lambda r: r.values)
        },
        missing={
            name: _missing(name, runs) for name in dict.fromkeys(m for run in runs for m in run.missing)
        },
        failed=np.concatenate([run.failed for run in runs]),
        failures_told=all(run.failures_told for run in runs),
        repeats=np.concatenate([_numbered(place, run) for place, run in enumerate(runs, 1)]),
        clusters=_joined([run.clusters for run in runs]),
        columns={
            c: np.concatenate([run.columns[c] for run in runs]) for c in _shared(runs, lambda r: r.columns)
        },
        lines=None,
        identity=_digest(run.identity for run in runs),
        read_digest=_digest(run.read_digest for run in runs),
        cautions=tuple(dict.fromkeys(caution for run in runs for caution in run.cautions)),
        ascending=None,
        unread=tuple(column for run in runs for column in run.unread),
        stated=tuple(stated for stated in first.stated if isinstance(stated.value, str)),
        noted=dict(noted),
    )


def run_means(runs: Sequence[ItemTable], candidate: ItemTable, metric: str) -> tuple[float, ...]:
    """The mean of each run, then of the candidate, on the items that all of them have a value for."""
    tables = (*runs, candidate)
    if any(metric not in table.values for table in tables):
        return ()
    by_item = [_means(table, metric) for table in tables]
    common = sorted(set.intersection(*(set(found) for found in by_item)))
    return tuple(float(np.mean([found[item] for item in common])) for found in by_item) if common else ()


def _means(table: ItemTable, metric: str) -> dict[str, float]:
    values = table.values[metric]
    there = np.isfinite(values) & ~table.failed
    ids, places = np.unique(table.ids[there].astype(str), return_inverse=True)
    sums = np.bincount(places, weights=values[there], minlength=len(ids))
    return dict(zip(ids.tolist(), (sums / np.bincount(places, minlength=len(ids))).tolist(), strict=True))


def _shared(runs: Sequence[ItemTable], columns: Callable[[ItemTable], Mapping[str, object]]) -> list[str]:
    """Columns that every run has; those that are needed were asked of each file already."""
    first, *others = (columns(run) for run in runs)
    return [name for name in first if all(name in other for other in others)]


def _missing(metric: str, runs: Sequence[ItemTable]) -> Missing:
    found = [run.missing[metric] for run in runs if metric in run.missing]
    return Missing(sum(m.count for m in found), tuple(e for m in found for e in m.examples)[:5])


def _numbered(place: int, run: ItemTable) -> ObjectArray:
    """The repeats of one file, apart from those of the others."""
    own = [""] * len(run) if run.repeats is None else run.repeats
    names = np.empty(len(run), dtype=object)
    names[:] = [None if repeat is None else f"{place}/{repeat}" for repeat in own]
    return names


def _joined(parts: Sequence[ObjectArray | None]) -> ObjectArray | None:
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if len(there) == len(parts) else None


def _digest(digests: Iterable[str]) -> str:
    """The same for every order of the runs."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
