"""Whether two artifacts measure the same thing: the same data, labels, scorer and judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.artifacts.table import ItemTable
from gate.errors import GateError, examples, quoted

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
_PER_ITEM = {"doc_hash": "the document", "target_hash": "the expected answer"}
MAPPED = frozenset({"csv", "tsv", "json", "jsonl", "parquet", "npz"})
"""Formats whose columns a policy names, so that the format itself says nothing about the metric."""
_HELP = "score both systems on the same data with the same scorer and judge"


def comparable(baseline: ItemTable, candidate: ItemTable) -> tuple[Caution, ...]:
    """Cautions about the pair, or GateError ``not_comparable``. Only what both files state is compared."""
    _same_facts(baseline, candidate)
    _same_judges(baseline, candidate)
    for column, what in _PER_ITEM.items():
        changed = _changed_items(baseline, candidate, column)
        if changed:
            raise _not_comparable(
                candidate, f"{what} differs for {len(changed)} items of the same id ({examples(changed)})"
            )
    return tuple(_cautions(baseline, candidate))


def _same_facts(baseline: ItemTable, candidate: ItemTable) -> None:
    for fact, what in _SAME.items():
        first, second = baseline.source.facts.get(fact), candidate.source.facts.get(fact)
        if first is not None and second is not None and first != second:
            raise _not_comparable(
                candidate, f"{what} differs (baseline {quoted(str(first))}, candidate {quoted(str(second))})"
            )


def _same_judges(baseline: ItemTable, candidate: ItemTable) -> None:
    for fact, what in _PER_METRIC.items():
        first, second = baseline.source.facts.get(fact), candidate.source.facts.get(fact)
        if not isinstance(first, Mapping) or not isinstance(second, Mapping):
            continue
        for name in sorted(_read_names(set(first) & set(second), candidate)):
            if first[name] != second[name]:
                raise _not_comparable(
                    candidate,
                    f"{what} {quoted(name)} differs "
                    f"(baseline {quoted(str(first[name]))}, candidate {quoted(str(second[name]))})",
                )


def _read_names(names: set[str], table: ItemTable) -> set[str]:
    """Those whose metrics are compared; all of them for a metric that is called otherwise."""
    found: set[str] = set()
    for metric in table.values:
        fitting = {name for name in names if metric == name or metric.startswith(f"{name}.")}
        found |= fitting or names
    return found


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
