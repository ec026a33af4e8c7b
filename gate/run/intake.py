"""(policy, files) -> one paired table an item set: the policy says what to read from each file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gate.artifacts import read
from gate.artifacts.declared import pass_fail_words, row_words, run_words
from gate.artifacts.likeness import Mark, mark_of
from gate.artifacts.run_words import tells_of_runs
from gate.artifacts.survey import looks_like_cluster, undeclared_cluster
from gate.artifacts.table import ReadRequest
from gate.measure.sanity import baseline_spread, direction_doubts
from gate.pairing.local import pair_files
from gate.pairing.model import (
    NO_FILE,
    Artifact,
    MetricRule,
    Paired,
    Pairer,
    PairingRules,
    SideFacts,
    StageRules,
    VoteRule,
)
from gate.pairing.readings import ERROR_RATE
from gate.pairing.votes import JUDGE, ORDER
from gate.policy.kinds import KINDS
from gate.policy.model import Guardrail, Items, Policy, Rule, Watch
from gate.safe import examples
from gate.values import GateError

DEFAULT_ID = Items.model_fields["id"].default
"""Written out or not it means the same, as in the decision digest."""
ItemSet = Paired


@dataclass(frozen=True, slots=True)
class Files:
    """The two result files of one item set, as the user named them. A baseline ``-``: there is none.

    labels: a file with what both are compared with, joined by id. runs: further runs of the baseline.
    """

    baseline: str
    candidate: str
    labels: str | None = None
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """How the policy uses one metric of one set: the rule, and whether only the candidate's values matter."""

    metric: str
    kind: str
    direction: str
    scale: tuple[float, float] | None
    candidate_only: bool
    watched: bool
    group: str | None = None
    below: bool = False
    """The denominator of a ratio."""
    votes: VoteRule | None = None
    partial: bool = False
    of_runs: bool = False
    """Its values are whether runs failed."""

    @property
    def read_as(self) -> str:
        """The kind of number in the file; ``text`` where it holds words."""
        facts = KINDS[self.kind]
        if self.below:
            return "prediction"
        if self.kind in {"accuracy", "preference"}:
            return "text"
        return "prediction" if "threshold" in facts.keys else "binary" if self.kind == "binary" else "graded"

    def rule(
        self, scale: tuple[float, float] | None, *, candidate_only: bool, decides: bool, watched: bool
    ) -> MetricRule:
        """What pairing is told of it."""
        facts = KINDS[self.kind]
        made = ERROR_RATE if self.of_runs else self.kind if facts.labels and facts.by_item else ""
        kind = "binary" if facts.tested_as == "binary" else "graded"
        return MetricRule(
            kind,
            self.direction,
            (-1.0, 1.0) if self.votes else facts.ends if made else scale,
            candidate_only=candidate_only or self.votes is not None,
            decides=decides,
            watched=watched,
            made=made,
            votes=self.votes,
            partial=self.partial,
        )


def item_sets(
    policy: Policy,
    files: Mapping[str | None, Files],
    pairer: Pairer = pair_files,
    stages: StageRules | None = None,
) -> dict[str | None, ItemSet]:
    """Read and pair every item set that the policy uses. ``None`` names the main pair of files.

    stages: the main files are looked at in stages.

    Errors: a set that a rule names and that is not given, one that no rule names, one file in two sets.
    """
    wanted = {use_set for use_set, _ in _uses(policy)} | {None}
    _check_sets(wanted, files)
    found = {
        name: item_set(policy, name, files[name], pairer, stages)
        for name in sorted(wanted, key=lambda s: s or "")
    }
    _refuse_copies({name: files[name] for name in found})
    return {name: _of_one_system(name, one, found[None]) for name, one in found.items()}


def _of_one_system(name: str | None, named: ItemSet, main: ItemSet) -> ItemSet:
    """A named set is about the two systems of the main files; that it is not is said where files tell."""
    told = []
    for side in ("baseline", "candidate"):
        here, there = (system_of(getattr(one, side)) for one in (named, main))
        if name is not None and here and there and here != there:
            text = f"the {side} of the item set {name!a} is {here!a}, and of the main files {there!a}"
            told.append(("set_of_another_system", f"{text}: one verdict is about one pair of systems"))
    return replace(named, cautions=(*named.cautions, *told)) if told else named


def system_of(side: SideFacts) -> str:
    """What the artifact calls its system; empty where it does not."""
    return str(side.source.system or side.source.facts.get("model") or "")


def _refuse_copies(sets: Mapping[str | None, Files]) -> None:
    """A copy of the quality files under another name is no safety set, however its lines are laid out."""
    if len(sets) == 1:
        return
    seen: list[tuple[Mark, str | None]] = []
    for name, given in sets.items():
        for path in dict.fromkeys((given.baseline, *given.runs, given.candidate)):
            if path == NO_FILE:
                continue
            mark = mark_of(path)
            for other, owner in seen:
                if owner != name and mark.same(other):
                    raise _one_file_twice(name, owner, path)
            seen.append((mark, name))


def _one_file_twice(one: str | None, other: str | None, where: str) -> GateError:
    return GateError(
        "set_shares_file",
        f"one file is given for two item sets ({other or 'the main one'} and {one or 'the main one'})",
        where=where,
        help="give each item set its own pair of files",
    )


def item_set(
    policy: Policy,
    name: str | None,
    files: Files,
    pairer: Pairer = pair_files,
    stages: StageRules | None = None,
) -> ItemSet:
    """Read both files of one set and pair them."""
    uses = _told_of_runs(policy, [use for use_set, use in _uses(policy) if use_set == name])
    system = policy.artifacts.system
    of_baseline, of_candidate = (
        (system, system) if system is None or isinstance(system, str) else (system.baseline, system.candidate)
    )
    wanted = _request(policy, name, uses, of_candidate, side="candidate")
    candidate = Artifact(files.candidate, replace(wanted, labels=files.labels))
    baseline = None
    if files.baseline == NO_FILE:
        _refuse_comparing(name, uses)
    else:
        wanted = _request(policy, name, uses, of_baseline, side="baseline")
        baseline = Artifact(files.baseline, replace(wanted, labels=files.labels), files.runs)
    if files.runs:
        _refuse_ensembles(policy, name)
    rules = replace(_pairing_rules(policy, name, uses), stages=stages)
    found = pairer(baseline, candidate, rules)
    doubts = direction_doubts(policy, name, found.candidate.directions)
    apart = baseline_spread(policy, found.run_means) if name == policy.gating.set else ()
    told = (
        *found.cautions,
        *doubts,
        *apart,
        *_undeclared(policy, name, files.candidate, found.candidate),
        *found.not_read.values(),
    )
    return replace(found, cautions=told)


def _undeclared(policy: Policy, name: str | None, path: str, side: SideFacts) -> Iterator[tuple[str, str]]:
    """A column by which items seem to belong together, where the test takes them as independent."""
    items, seen = policy.items, any(map(looks_like_cluster, side.offered))
    if items.cluster is not None or items.unit == "seed" or not seen or name != policy.gating.set:
        return
    try:
        found = undeclared_cluster(path, side.source.system)
    except (GateError, OSError):  # the file was read as the policy says; to look at it without one may fail
        return
    used = {items.id, items.repeat, policy.gating.group, *_slice_columns(policy, name)}
    if found is None or found[0] in used:
        return
    column, groups, n = found
    text = f"{column!a} has {groups} values on {n} items, as if items belonged together, but items.cluster"
    yield (
        "cluster_undeclared",
        f"{text} names none: if they do, the error is larger and a pass likelier by luck",
    )


def _refuse_ensembles(policy: Policy, name: str | None) -> None:
    """A ranking of mean scores is an ensemble's, which nobody releases."""
    rules = [rule for rule in (policy.gating, *policy.guardrails) if rule.set == name]
    whole = [rule.metric for rule in rules if not KINDS[rule.kind].by_item or rule.group is not None]
    if whole:
        raise GateError(
            "baseline_runs_ensemble",
            f"several runs of a baseline are averaged item by item; {examples(whole)} is of the whole set",
            help="give one run of the baseline",
        )


def baseline_ids(policy: Policy, path: str) -> list[str]:
    """The items of the main baseline, ascending: the universe of the stages."""
    uses = [use for use_set, use in _uses(policy) if use_set is None]
    system = policy.artifacts.system
    named = system if system is None or isinstance(system, str) else system.baseline
    return sorted(set(read(path, _request(policy, None, uses, named, side="baseline")).ids))


def _refuse_comparing(name: str | None, uses: list[Use]) -> None:
    """Only limits can do without a baseline."""
    comparing = [use.metric for use in uses if not (use.candidate_only or use.watched)]
    if comparing or (name is None and not any(use.votes for use in uses)):
        which = "the main item set" if name is None else f"the item set {name!r}"
        raise GateError(
            "set_needs_baseline",
            f"{which} is given no baseline, but is compared ({examples(comparing)})",
            help="give the baseline's results; - in their place serves sets that only have limits",
        )


def _uses(policy: Policy) -> Iterator[tuple[str | None, Use]]:
    yield policy.gating.set, _rule_use(policy.gating)
    for rail in policy.guardrails:
        yield rail.set, _rule_use(rail)
    for entry in policy.watch:
        watch = entry if isinstance(entry, Watch) else Watch(metric=entry)
        way = "lower" if watch.direction == "lower" else "higher"
        use = Use(watch.metric, watch.kind, way, None, candidate_only=False, watched=True, group=watch.group)
        use = replace(use, votes=_votes(watch))
        yield watch.set, use
        yield from ((watch.set, second) for second in _second_columns(watch, use))
    for rule in (policy.gating, *policy.guardrails):  # last: another rule may say more of the column
        yield from ((rule.set, second) for second in _second_columns(rule, _rule_use(rule)))


def _told_of_runs(policy: Policy, uses: list[Use]) -> list[Use]:
    """A pass/fail ``error_rate`` is no column, unless the policy maps it to one; to watch it is the same."""
    named = [use for use in uses if use.metric == ERROR_RATE]
    if ERROR_RATE in policy.artifacts.mapping or not any(use.kind == "binary" for use in named):
        return uses
    return [replace(use, of_runs=True) if use in named else use for use in uses]


def _second_columns(rule: Rule | Watch, use: Use) -> Iterator[Use]:
    if rule.denominator is not None:
        yield replace(use, metric=rule.denominator, kind="graded", below=True)
    if rule.human is not None:
        yield replace(use, metric=rule.human, kind="graded", partial=True)


def _rule_use(rule: Rule) -> Use:
    votes = _votes(rule)
    return Use(
        rule.metric,
        rule.kind,
        rule.direction,
        rule.scale,
        candidate_only=votes is not None or (isinstance(rule, Guardrail) and rule.mode == "limit"),
        watched=False,
        group=rule.group,
        votes=votes,
    )


def _votes(rule: Rule | Watch) -> VoteRule | None:
    if rule.kind != "preference":
        return None
    votes, orders = rule.votes or "mean", rule.orders or "consistent"
    return VoteRule(votes, orders, rule.order == "randomized", rule.max_inconsistent)


def _by_metric(uses: list[Use]) -> dict[str, list[Use]]:
    """The uses of each metric. Those that decide come first: a watched metric is read as they read it."""
    found: dict[str, list[Use]] = {}
    for use in sorted(uses, key=lambda use: use.watched):
        found.setdefault(use.metric, []).append(use)
    return found


def _scale(same: list[Use]) -> tuple[float, float] | None:
    """The scale that a rule declares; the policy makes sure that there is only one."""
    return next((use.scale for use in same if use.scale is not None), None)


def _check_sets(wanted: set[str | None], files: Mapping[str | None, Files]) -> None:
    for name in sorted(name for name in wanted if name is not None):
        if name not in files:
            raise GateError(
                "set_missing",
                f"the policy has rules for the item set {name!r}, which is not given",
                help=f"add --set {name} BASELINE CANDIDATE",
            )
    unused = [name for name in files if name not in wanted and name is not None]
    if unused:
        raise GateError(
            "set_unused",
            f"no rule of the policy uses the item set {examples(unused)}",
            help="write set: NAME in a rule, or leave the --set out",
        )
    seen: dict[str, str | None] = {}
    for item_set_name, given in files.items():
        for path in (given.baseline, *given.runs, given.candidate):
            if path != NO_FILE and seen.setdefault(os.path.realpath(path), item_set_name) != item_set_name:
                raise _one_file_twice(item_set_name, seen[os.path.realpath(path)], path)


def _request(
    policy: Policy, name: str | None, uses: list[Use], system: str | None, *, side: str
) -> ReadRequest:
    uses = [use for use in uses if not use.of_runs]
    if side == "baseline":  # votes are about both sides, and stand in the candidate's file
        uses = [use for use in uses if use.votes is None]
    shown = [use for use in uses if use.candidate_only and side == "baseline"]
    sought = _by_metric([use for use in uses if use not in shown])
    extra = {use.metric: use.read_as for use in shown if _is_plain(policy, use) and use.metric not in sought}
    metrics = extra | {metric: same[0].read_as for metric, same in sought.items()}
    optional = {metric for metric, same in sought.items() if same[0].watched} | extra.keys()
    columns = [*policy.items.comparable, *([policy.items.label] if policy.items.label else [])]
    columns += [metric for metric, kind in metrics.items() if kind == "text"]
    metrics = {metric: kind for metric, kind in metrics.items() if kind != "text"}
    groups = [*_groups(uses), *([ORDER, JUDGE] if any(use.votes for use in uses) else [])]
    loose = [*_slice_columns(policy, name), *_must_pass_columns(policy, name), *groups, *policy.show]
    optional |= {column for column in loose if column not in columns}
    return ReadRequest(
        metrics=metrics,
        id=policy.items.id,
        id_declared=policy.items.id != DEFAULT_ID,
        repeat=policy.items.repeat,
        cluster=policy.items.cluster,
        columns=tuple(dict.fromkeys([*columns, *loose])),
        optional=frozenset(optional),
        beside=frozenset(extra),
        watched=frozenset(metric for metric, same in sought.items() if same[0].watched),
        shown=frozenset(policy.show)
        - {*columns, *_slice_columns(policy, name), *_must_pass_columns(policy, name), *groups},
        format=policy.artifacts.format,
        system=system,
        mapping=dict(policy.artifacts.mapping),
        words=pass_fail_words(policy.artifacts.labels),
        where=row_words(policy.artifacts.where),
        failed=run_words(policy.artifacts.failed),
        completed=run_words(policy.artifacts.completed),
        votes=(ORDER, JUDGE) if any(use.votes for use in uses) else (),
    )


def _is_plain(policy: Policy, use: Use) -> bool:
    """No column that may tell of failed runs: in the baseline it must go on doing that."""
    return not tells_of_runs(policy.artifacts.mapping.get(use.metric, use.metric))


def _slice_columns(policy: Policy, name: str | None) -> list[str]:
    return list(policy.slices.by) if policy.slices is not None and name == policy.gating.set else []


def _groups(uses: list[Use]) -> list[str]:
    return list(dict.fromkeys(use.group for use in uses if use.group is not None))


def _must_pass_columns(policy: Policy, name: str | None) -> list[str]:
    named = policy.items.must_pass
    return [named] if isinstance(named, str) and name == policy.gating.set else []


def _pairing_rules(policy: Policy, name: str | None, uses: list[Use]) -> PairingRules:
    metrics: dict[str, MetricRule] = {}
    for metric, same in _by_metric(uses).items():
        deciding = [use for use in same if not use.watched]
        metrics[metric] = same[0].rule(
            _scale(same),
            candidate_only=bool(deciding) and all(use.candidate_only for use in deciding),
            decides=bool(deciding),
            watched=len(deciding) < len(same),
        )
    items = policy.items
    return PairingRules(
        metrics=metrics,
        missing=items.missing,
        max_missing=items.max_missing,
        max_error_rate=items.max_error_rate,
        reduce=items.reduction,
        label=items.label,
        comparable=tuple(items.comparable),
        columns=(*_slice_columns(policy, name), *_must_pass_columns(policy, name), *_groups(uses)),
        show=tuple(policy.show),
        # On the gating metric equal values never pass: there the test says that the systems never differ.
        copies_in_any_order=name != policy.gating.set,
        label_words=pass_fail_words(policy.artifacts.labels),
        yes_no=any(KINDS[use.kind].labels == "yes_no" for use in uses),
    )
