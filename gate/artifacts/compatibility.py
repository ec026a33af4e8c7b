"""Whether two artifacts measure the same thing: the same data, labels, scorer and judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gate.artifacts.table import ItemTable, Stated
from gate.safe import examples, quoted
from gate.values import GateError

Caution = tuple[str, str]
_SAME = {
    "dataset": "the data set",
    "dataset_digest": "the data set's digest",
    "task": "the task",
    "task_version": "the version of the task",
}
"""Facts that must be equal where both files state them."""
_PER_METRIC = {"scorer": "the scorer of", "judge": "the judge of"}
"""Facts per metric: another judge is another measurement."""
_PER_ITEM = {
    "case_digest": "the recorded context",
    "doc_hash": "the document",
    "target_hash": "the expected answer",
}
MAPPED = frozenset({"csv", "tsv", "json", "jsonl", "parquet", "npz"})
"""Formats whose columns a policy names, so that the format itself says nothing about the metric."""
_HELP = "score both systems on the same data with the same scorer, judge, rubric and thresholds"


def comparable(
    baseline: ItemTable,
    candidate: ItemTable,
    mapping: Mapping[str, str] | None = None,
    watched: frozenset[str] = frozenset(),
) -> tuple[Caution, ...]:
    """Cautions about the pair, or GateError ``not_comparable``. Only what both files state is compared.

    mapping: metric -> its name in the files. watched: metrics that decide nothing.
    """
    names = {metric: (mapping or {}).get(metric, metric) for metric in (*candidate.values, *baseline.values)}
    found = list(_differing(baseline, candidate, names, watched))
    for column, what in _PER_ITEM.items():
        changed = _changed_items(baseline, candidate, column)
        if changed:
            raise _not_comparable(
                candidate, f"{what} differs for {len(changed)} items of the same id ({examples(changed)})"
            )
    return (*found, *_cautions(baseline, candidate))


def _differing(
    baseline: ItemTable, candidate: ItemTable, names: Mapping[str, str], watched: frozenset[str]
) -> Iterator[Caution]:
    """Cautions about what the files state differently, or the refusal."""
    other = {one.what: one for one in _stated(candidate, names)}
    refused: list[str] = []
    for one in _stated(baseline, names):
        difference = _difference(one, other[one.what], baseline, candidate) if one.what in other else None
        if difference is None:
            continue
        decided = [m for m, name in names.items() if one.metrics is None or name in one.metrics]
        text = f"{one.what} differs{difference}"
        if one.caution:
            yield one.caution, text
        elif one.metrics is None or not watched.issuperset(decided):
            refused.append(text)
        elif decided:
            yield "watched_not_comparable", f"{text}: {examples(decided)} cannot be compared"
    if refused:
        raise _not_comparable(candidate, "; ".join(refused[:3]))


def _stated(table: ItemTable, names: Mapping[str, str]) -> Iterator[Stated]:
    """What the format knows, its facts per metric among it."""
    facts = table.source.facts
    for fact, what in _SAME.items():
        if facts.get(fact) is not None:
            yield Stated(what, str(facts[fact]))
    for fact, what in _PER_METRIC.items():
        known = found if isinstance(found := facts.get(fact), Mapping) else {}
        for owner, value in known.items():
            decided = frozenset(name for name in names.values() if _decides(owner, name, known))
            yield Stated(f"{what} {quoted(owner)}", str(value), decided)
    yield from table.stated


def how_scored(table: ItemTable, metric: str, mapping: Mapping[str, str]) -> str:
    """Scorer, judge, rubric, threshold and unit of one metric as the file states them; empty: it does not.

    mapping: metric -> its name in the files.
    """
    name = mapping.get(metric, metric)
    found = set()
    for one in _stated(table, {metric: name}):
        if one.metrics is not None and name in one.metrics:
            words = {one.value} if isinstance(one.value, str) else set(one.value)
            found.add(f"{one.what} {' | '.join(sorted(str(word) for word in words))}")
    return "; ".join(sorted(found))


def _decides(owner: str, metric: str, owners: Iterable[str]) -> bool:
    """Whether the metric is that of a scorer or judge; one that is called otherwise may be anyone's."""

    def fits(name: str) -> bool:
        return metric == name or metric.startswith(f"{name}.")

    return fits(owner) or not any(map(fits, owners))


def _difference(one: Stated, other: Stated, baseline: ItemTable, candidate: ItemTable) -> str | None:
    """`` (baseline X, candidate Y)`` of the first difference, None where there is none."""
    if isinstance(one.value, str) and isinstance(other.value, str):
        return None if one.value == other.value else _both(one.value, other.value)
    known = dict(zip(_runs(baseline), _rows(one, baseline), strict=True))
    pairs = zip(_runs(candidate), _rows(other, candidate), strict=True)
    changed = {
        key: (known[key], text)
        for key, text in pairs
        if text is not None and known.get(key) not in {None, text}
    }
    if not changed:
        return None
    first, second = next(iter(changed.values()))
    if len(changed) == len(known) and len(set(changed.values())) == 1:
        return _both(str(first), str(second))
    return (
        f" for {len(changed)} items ({examples([key for key, _ in changed])}){_both(str(first), str(second))}"
    )


def _runs(table: ItemTable) -> list[tuple[str, str]]:
    """The id and the repeat of each row."""
    repeats = [""] * len(table) if table.repeats is None else table.repeats.tolist()
    return list(zip(table.ids.tolist(), repeats, strict=True))


def _rows(one: Stated, table: ItemTable) -> tuple[str | None, ...]:
    return (one.value,) * len(table) if isinstance(one.value, str) else one.value


def _both(first: str, second: str) -> str:
    """The two values; of long ones the part in which they differ."""
    if max(len(first), len(second)) > 80:
        same = next((i for i, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), 0)
        start = max(0, same - 30)
        first, second = first[start : start + 75], second[start : start + 75]
    return f" (baseline {quoted(first)}, candidate {quoted(second)})"


def _changed_items(baseline: ItemTable, candidate: ItemTable, column: str) -> list[str]:
    first, second = baseline.columns.get(column), candidate.columns.get(column)
    if first is None or second is None:
        return []
    known = dict(zip(baseline.ids.tolist(), first.tolist(), strict=True))
    pairs = zip(candidate.ids.tolist(), second.tolist(), strict=True)
    return [key for key, digest in pairs if digest is not None and known.get(key) not in {None, digest}]


def _cautions(baseline: ItemTable, candidate: ItemTable) -> Iterator[Caution]:
    first, second = baseline.source.facts.get("model"), candidate.source.facts.get("model")
    if first is not None and first == second:
        yield "same_model", f"both files name the same model ({quoted(str(first))})"
    changed = _changed_items(baseline, candidate, "prompt_hash")
    if changed:
        yield "prompts_differ", f"the prompt differs for {len(changed)} items ({examples(changed)})"
    formats = {baseline.source.format, candidate.source.format}
    if len(formats) > 1 and not formats <= MAPPED:
        names = f"{baseline.source.format} and {candidate.source.format}"
        yield "formats_differ", f"the files have different formats ({names}); are their metrics the same?"


def _not_comparable(table: ItemTable, found: str) -> GateError:
    return GateError("not_comparable", found, where=table.source.path, help=_HELP)
