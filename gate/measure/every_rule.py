"""(policy, paired tables) -> every comparison that the policy asks for, and what could not be assessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gate.artifacts.table import BoolArray
from gate.cycles.attempt import rules_of
from gate.estimands import estimand_of
from gate.measure import rules
from gate.measure.model import Comparison, Limited, Tested
from gate.measure.one_sided import must_pass
from gate.measure.sanity import doubts
from gate.measure.setting import Setting, own_table
from gate.measure.staged import Stage, at_stage
from gate.measure.unread import UnreadRuns, unread_runs
from gate.pairing import PairedTable
from gate.pairing.model import IndexArray
from gate.policy.model import Policy, Slices, Watch
from gate.policy.rules import MUST_PASS, gating_id, named_guardrails, slice_id, watch_id
from gate.safe import examples
from gate.values import Caution, GateError

Tables = Mapping[str | None, PairedTable]
NotAssessed = dict[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """All comparisons of one candidate, before correction and decision."""

    comparisons: tuple[Comparison, ...]
    not_assessed: tuple[NotAssessed, ...]
    unread: UnreadRuns


def measure(policy: Policy, tables: Tables, level: float, stage: Stage | None = None) -> Measured:
    """Apply every rule. level: one-sided, for claims; vetoes always use that of a single look.

    stage: where only a part of the items is looked at; then claims have the nominal level of that stage.
    """
    setting = setting_of(policy, level)
    table = tables[policy.gating.set]
    at = at_stage(policy.gating, table, setting, stage)
    comparisons = [rules.gating(policy.gating, gating_id(policy), table, at)]
    for rule, rail in named_guardrails(policy):
        claims = rail.mode not in {"no_regression", "churn"} and (rail.mode != "limit" or rail.proven)
        at = at_stage(rail, tables[rail.set], setting, stage if claims else None)
        comparisons.append(rules.guardrail(rail, rule, tables[rail.set], at))
    if policy.items.must_pass is not None:
        wanted = _must_pass_items(policy, table)
        comparisons.append(must_pass(policy.gating, MUST_PASS, table, wanted))
    if policy.slices is not None:
        comparisons += _slices(policy, policy.slices, table, setting)
    watched, absent = _watched(policy, tables, setting)
    comparisons += watched
    doubted: dict[str, list[Caution]] = {}
    for rule, caution in doubts(policy, tables, {c.rule: _seen(c) for c in comparisons}):
        doubted.setdefault(rule, []).append(caution)
    comparisons = [_told(c, tables[c.asked.set], doubted.get(c.rule, [])) for c in comparisons]
    not_assessed = (*absent, *_no_reference(comparisons[0]), *_not_gated(comparisons))
    return Measured(tuple(comparisons), not_assessed, unread_runs(tables))


def setting_of(policy: Policy, level: float) -> Setting:
    """What every rule shares, at this one-sided level for claims."""
    items = policy.items
    return Setting(
        level,
        rules_of(policy).level,
        items.min,
        items.unit == "seed",
        items.max_flaky_share,
        items.cluster_skew,
        items.max_cluster,
    )


def _seen(c: Comparison) -> float | None:
    return c.visible.mde if isinstance(c, Tested) else None


def _told(c: Comparison, table: PairedTable, doubted: list[Caution]) -> Comparison:
    """A run beside itself is no comparison; only a limit looks at the candidate alone."""
    same_run = table.identical and not isinstance(c, Limited)
    return replace(c, same_run=same_run, cautions=(*c.cautions, *doubted))


def _must_pass_items(policy: Policy, table: PairedTable) -> BoolArray:
    named = policy.items.must_pass
    if isinstance(named, str):
        column = table.columns[named]
        marked = np.fromiter((_marked(text) for text in column), bool, len(column))
        if not bool(marked.any()):
            raise GateError(
                "must_pass_absent",
                f"the column {named!r} marks no item, so no must-pass item can be checked",
                help="write 1 or true there for the items that may not newly fail",
            )
        return marked
    wanted = set(named or ())
    found = np.fromiter((item in wanted for item in table.ids), bool, len(table.ids))
    absent = sorted(wanted - set(table.ids[found]))
    if absent:
        raise GateError(
            "must_pass_absent",
            f"{len(absent)} must-pass items are in neither file ({examples(absent)})",
            help="score these items, or take them out of items.must_pass",
        )
    return found


def _marked(text: str | None) -> bool:
    return text is not None and text.strip().lower() not in {"", "0", "0.0", "false", "no", "null", "none"}


def _slices(policy: Policy, slices: Slices, table: PairedTable, setting: Setting) -> Iterator[Comparison]:
    table = own_table(policy.gating, table, slices.by)
    for column in slices.by:
        names, of_item = slices_of(table, column)
        _refuse_many(column, len(names))
        _check_named(column, slices, names)
        for code, name in enumerate(names):
            yield _slice(policy, slices, slice_id(column, name), table, of_item == code, setting)


def slices_of(table: PairedTable, column: str) -> tuple[list[str], IndexArray]:
    """The values of a column in sorted order, and for each item the place of its own among them."""
    names = ["(none)" if value is None else str(value) for value in table.columns[column]]
    codes = {name: code for code, name in enumerate(sorted(set(names)))}
    return list(codes), np.fromiter((codes[name] for name in names), np.int64, len(names))


MOST_SLICES = 1000


def _refuse_many(column: str, found: int) -> None:
    """Each slice takes a test of its own; a column with a value an item is no slice."""
    if found > MOST_SLICES:
        raise GateError(
            "too_many_slices",
            f"the column {column!r} has {found:,} values (at most {MOST_SLICES:,} slices)",
            help="slice by a column that many items share",
        )


def _check_named(column: str, slices: Slices, found: list[str]) -> None:
    absent = [name for name in slices.named.get(column, []) if name not in found]
    if absent:
        raise GateError(
            "slice_missing",
            f"the policy names slices of {column} that no item belongs to ({examples(absent)})",
            help=f"score items of these slices, or take them out of slices.named (found: {examples(found)})",
        )


def _slice(
    policy: Policy, slices: Slices, rule: str, table: PairedTable, mask: BoolArray, setting: Setting
) -> Comparison:
    any_size = replace(setting, min_items=1)
    proof = slices.mode == "non_inferior"
    found = rules.subset(policy.gating, rule, slices.tolerance, table, mask, any_size, proof=proof)
    unable = found.visible.unable if isinstance(found, Tested) else found.insufficient
    if found.n >= slices.min_items and not unable:
        return found
    why = unable or f"{found.n} items, fewer than slices.min_items {slices.min_items}"
    text = f"{why}: reported, not gated"
    return replace(found, gated=False, insufficient=text, other=None)


def _watched(policy: Policy, tables: Tables, setting: Setting) -> tuple[list[Comparison], list[NotAssessed]]:
    found: list[Comparison] = []
    absent: list[NotAssessed] = []
    for entry in policy.watch:
        watch = entry if isinstance(entry, Watch) else Watch(metric=entry)
        table, rule = tables[watch.set], watch_id(entry)
        lacking = {watch.metric, watch.denominator, watch.human} - {None, *table.metrics}
        if lacking:
            absent.append({"rule": rule, "reason": f"{min(map(str, lacking))} is not in both files"})
            continue
        compared = rules.watched(watch, rule, table, setting)
        found.append(compared)
        if compared.insufficient:
            absent.append({"rule": rule, "reason": compared.insufficient})
    return found, absent


def _no_reference(gating: Comparison) -> Iterator[NotAssessed]:
    """Values shown for readers of the literature that these data do not allow."""
    if not isinstance(gating, Tested) or gating.gain is None:
        return
    for name, value in gating.gain.reference.items():
        for_pass_fail = name.startswith("mcnemar")
        if value is None and (not for_pass_fail or estimand_of(gating.asked.kind).pass_fail):
            reason = (
                "averaged repeats are no pass/fail" if for_pass_fail else "the data have no spread for it"
            )
            yield {"rule": f"reference:{name}", "reason": reason}


def _not_gated(comparisons: list[Comparison]) -> Iterator[NotAssessed]:
    for c in comparisons:
        if not c.gated:
            yield {"rule": c.rule, "reason": c.insufficient}
