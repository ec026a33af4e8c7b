"""The pairer for artifacts in files of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gate import artifacts
from gate.artifacts.both_sides import beside
from gate.artifacts.compatibility import how_scored
from gate.artifacts.likeness import mark_of
from gate.artifacts.magnitude import out_of_range, outside_scale
from gate.artifacts.table import ItemTable
from gate.pairing import pair
from gate.pairing.gold import scored
from gate.pairing.model import NO_FILE, Artifact, Paired, PairingRules, SideFacts
from gate.pairing.pooled import pooled, refuse_copies, run_means
from gate.pairing.readings import ERROR_RATE
from gate.pairing.stages import staged_sides
from gate.pairing.votes import counted


def pair_files(baseline: Artifact | None, candidate: Artifact, rules: PairingRules) -> Paired:
    """Read both files (the ``Pairer`` protocol says the rest)."""
    return paired(_read(baseline, candidate), baseline, candidate, rules)


def paired(
    tables: Sequence[ItemTable], baseline: Artifact | None, candidate: Artifact, rules: PairingRules
) -> Paired:
    """The same from tables that were read: every run of the baseline, then the candidate."""
    *runs, second = (scored(table, rules) for table in tables)
    second, votes = counted(second, rules)
    if baseline is None:
        runs = [_without_values(second)]
    first = runs[0] if len(runs) == 1 else pooled(runs)
    whole, staged = first, None
    if rules.stages is not None:
        staged, first, second = staged_sides(first, second, rules.stages, candidate.wanted)
        runs, whole = [first], first if rules.stages.universe else whole
    not_read = _not_read(rules, first, second)
    graded = {name: rule.scale for name, rule in rules.metrics.items() if rule.kind != "binary"}
    watched = frozenset(name for name, rule in rules.metrics.items() if not rule.decides)
    wanted = candidate.wanted
    cautions = tuple(
        dict.fromkeys(
            found
            for run in runs
            for found in beside(run, second, wanted.repeat, graded, wanted.mapping, watched)
        )
    )
    metrics = {
        name: rule
        for name, rule in rules.metrics.items()
        if rule.decides
        or rule.made == ERROR_RATE
        or (name not in not_read and (rule.votes or name in first.values) and name in second.values)
    }
    table = pair(first, second, replace(rules, metrics=metrics), votes)
    paths = (NO_FILE if baseline is None else baseline.path, candidate.path)
    identical = table.identical or _copied(first, second, paths, any_order=rules.copies_in_any_order)
    known = replace(_facts(whole, wanted.mapping), runs=tuple(run.source for run in runs[1:]))
    facts = (known, _facts(second, wanted.mapping))
    means = {name: run_means(runs, second, name) for name in metrics} if runs[1:] else {}
    return Paired(*facts, replace(table, identical=identical), cautions, not_read, means, staged)


def _read(baseline: Artifact | None, candidate: Artifact) -> tuple[ItemTable, ...]:
    """Every run of the baseline, then the candidate."""
    if baseline is None:
        table = artifacts.read(candidate.path, candidate.wanted)
        return _without_values(table), table
    if baseline.runs:
        refuse_copies((baseline.path, *baseline.runs), candidate.path)
    first, last = artifacts.read_pair(baseline.path, candidate.path, baseline.wanted, candidate.wanted)
    return first, *(artifacts.read(path, baseline.wanted) for path in baseline.runs), last


def _without_values(candidate: ItemTable) -> ItemTable:
    """The candidate's items without any value: what limits need of a baseline."""
    source = replace(candidate.source, path=NO_FILE, sha256="", bytes=0)
    return replace(
        candidate, source=source, values={}, missing={}, identity="", read_digest="", cautions=(), noted={}
    )


def _not_read(rules: PairingRules, baseline: ItemTable, candidate: ItemTable) -> dict[str, tuple[str, str]]:
    """Watched metrics that no test can weigh, each with its caution; one that decides is an error."""
    found: dict[str, tuple[str, str]] = {}
    for name, rule in rules.metrics.items():
        sides = (candidate,) if rule.candidate_only and not rule.watched else (baseline, candidate)
        fault = out_of_range(name, *sides)
        if fault is None and rule.scale is not None:
            fault = outside_scale(name, rule.scale, *sides)
        if fault is not None and rule.decides:
            raise fault
        if fault is not None:
            found[name] = ("metric_not_read", f"{name!a} was not read: {fault.message}")
    return found


def _copied(baseline: ItemTable, candidate: ItemTable, paths: tuple[str, str], *, any_order: bool) -> bool:
    """The same system of one file and its copy. Two runs with equal values are none: that is a result."""
    if baseline.identity != candidate.identity or baseline.source.system != candidate.source.system:
        return False
    mark, copy = map(mark_of, paths)
    return mark.same(copy) if any_order else mark.whole == copy.whole


def _facts(table: ItemTable, mapping: Mapping[str, str]) -> SideFacts:
    scored_by = {metric: text for metric in table.values if (text := how_scored(table, metric, mapping))}
    return SideFacts(
        table.source,
        len(table),
        table.identity,
        table.read_digest,
        table.directions,
        scored_by,
        offered=table.offered,
    )
