"""What must hold between the sections of a policy, each a finding at the key to change."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from gate.policy.findings import Finding, Path
from gate.policy.kinds import KEYS, KINDS
from gate.policy.model import (
    Guardrail,
    Policy,
    Rule,
    Watch,
    amount,
    conflict,
    is_new,
    is_share,
    kind_of_test,
    margin_test,
)
from gate.policy.rules import SLICE, guardrail_ids, rule_ids
from gate.safe import examples, quoted
from gate.stats.methods import METHODS, named_tests


def between_sections(p: Policy) -> Iterator[Finding]:
    """The whole policy, section against section."""
    yield from is_new(p.show, "show")
    yield from _one_meaning(p)
    yield from _twice(p)
    yield from _columns(p)
    for path, rule in _rules(p):
        yield from _repeats(p, path, rule)
        yield from _clusters(p, path, rule)
        yield from _worst(p, path, rule)
        yield from _seeds(p, path, rule)
        yield from _splits(p, path, rule)
        yield from _whole_set(p, path, rule)
    yield from _labels(p)
    yield from _slices(p)
    yield from _tails(p)
    yield from _cycles(p)
    yield from _stages(p)
    yield from _waivers(p)
    if p.bless is not None and p.baseline is None:
        advice = "add baseline: {name: NAME}"
        yield conflict("bless: on_promote needs the baseline's name in the store", "bless", advice=advice)


def _tails(p: Policy) -> Iterator[Finding]:
    """The bound on the worst share holds for independent items."""
    for index, rail in enumerate(p.guardrails):
        if rail.mode == "tail" and p.items.cluster is not None:
            message = "mode tail counts items as independent, but items.cluster says that they are not"
            yield conflict(message, "guardrails", index, "mode", advice="choose worst_item or non_inferior")


def _rules(p: Policy) -> Iterator[tuple[Path, Rule]]:
    yield ("gating",), p.gating
    for index, rule in enumerate(p.guardrails):
        yield ("guardrails", index), rule


def _one_meaning(p: Policy) -> Iterator[Finding]:
    """A metric of one item set has one kind, one direction and one scale."""
    known: dict[tuple[str | None, str], Rule] = {}
    scales: dict[tuple[str | None, str], tuple[float, float] | None] = {}
    for path, rule in _rules(p):
        first = known.setdefault((rule.set, rule.metric), rule)
        for key in ("kind", "direction", *KEYS):
            here, there = getattr(rule, key), getattr(first, key)
            if here != there:
                message = f"{quoted(rule.metric)} is {there} in another rule and {here} here"
                if key in KEYS:
                    message = f"{quoted(rule.metric)} has another {key} in another rule"
                yield conflict(message, *path, key, advice=_second_name(rule, first))
        scale = scales.setdefault((rule.set, rule.metric), rule.scale) or rule.scale
        if rule.scale not in (None, scale):
            message = f"{quoted(rule.metric)} has the scale {scale} in another rule and {rule.scale} here"
            yield conflict(message, *path, "scale")
        scales[rule.set, rule.metric] = scale


def _second_name(rule: Rule, first: Rule) -> str:
    """One column under two names is two metrics."""
    if {rule.kind, first.kind} <= {"binary", "graded"}:
        return ""
    return f"give the column a second name: artifacts: {{mapping: {{NAME: {quoted(rule.metric)}}}}}"


def _labels(p: Policy) -> Iterator[Finding]:
    """Kinds that compare with a gold label; and a label, or a group, is no metric."""
    named: list[tuple[Path, Rule | Watch]] = [*_rules(p)]
    named += [(("watch", i), w) for i, w in enumerate(p.watch) if isinstance(w, Watch)]
    for path, rule in named:
        if KINDS[rule.kind].labels and p.items.label is None:
            message = f"kind {rule.kind} needs the column of gold labels"
            yield conflict(message, *path, "kind", advice="name it: items: {label: COLUMN}")
        for key in ("denominator", "human"):
            if getattr(rule, key) == rule.metric:
                yield conflict(f"{key} is another column than the metric", *path, key)
        if rule.group is not None and rule.group in {rule.metric, p.items.label, p.items.id}:
            yield conflict(f"{quoted(rule.group)} cannot be the column of groups", *path, "group")


def _whole_set(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    """What a metric of the whole set, or of groups of items, cannot do."""
    facts = KINDS[rule.kind]
    if facts.by_item:
        return
    name, items = facts.name, p.items
    sums = rule.kind == "ratio"  # of clusters and of runs they are sums again
    if items.cluster is not None and not sums:
        advice = "leave items.cluster out"
        if "group" in facts.keys:
            advice = f"to compute it in each {quoted(items.cluster)}, write group: COLUMN and leave it out"
        yield conflict(f"{name} takes rows as independent, but items.cluster is declared", *path, "kind",
                       advice=advice)  # fmt: skip
    if items.repeat is not None and not sums:
        message = f"{name} of values that are averaged over runs is that of an ensemble, not of the system"
        yield conflict(message, *path, "kind", advice="leave items.repeat out, and score one run")
    if items.unit == "seed":
        yield conflict(f"{name} is of rows, but items.unit is seed", *path, "kind")
    if items.missing == "worst":
        message = f"the least favourable value is not known for {name}"
        yield conflict(message, "items", "missing", advice="missing: error or drop")
    if items.must_pass is not None and path == ("gating",):
        message = f"{name} has no value of one item, so no item can be said to fail"
        yield conflict(message, "items", "must_pass", advice="leave must_pass out")


def _stages(p: Policy) -> Iterator[Finding]:
    """What a look at a part of the items cannot decide yet."""
    if p.items.stages is None:
        return
    for path, rule in _rules(p):
        if not KINDS[rule.kind].by_item or rule.group is not None:
            yield conflict(f"{KINDS[rule.kind].name} has no stages", *path, "kind", advice=_NO_STAGES)
        if rule.kind == "preference":
            yield conflict("votes have no stages", *path, "kind", advice=_NO_STAGES)
        if rule.set is not None:
            message = "the stages are those of the main files, a set has files of its own"
            yield conflict(message, *path, "set", advice=_NO_STAGES)
    if p.challengers is not None:
        message = "stages follow one candidate, challengers are several"
        yield conflict(message, "challengers", advice=_NO_STAGES)
    if p.slices is not None and p.slices.named:
        message = "a named slice need not be in an early stage"
        yield conflict(message, "slices", "named", advice="leave slices.named out")
    if p.slices is not None and p.slices.mode != "no_regression":
        message = "slices that are proven have no level of their own at a stage"
        yield conflict(message, "slices", "mode", advice=_NO_STAGES)
    if p.cycles.feedback == "verdict":
        message = "a stage that continues tells of the scores, and feedback: verdict hides them"
        yield conflict(message, "cycles", "feedback", advice=_NO_STAGES)
    if p.items.futility is not None and not amount(p.gating.margin) > 0:
        message = "futility needs a planned gain: a margin above 0"
        yield conflict(message, "items", "futility", advice="leave futility out")


_NO_STAGES = "leave items.stages out"


def _twice(p: Policy) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, name in enumerate(guardrail_ids(p)):
        if name in seen:
            message = f"the guardrail {quoted(name)} is there twice"
            yield conflict(message, "guardrails", index, "metric", advice="keep one of them")
        seen.add(name)
    watched: set[tuple[str | None, str]] = set()
    for index, watch in enumerate(p.watch):
        key = (None, watch) if isinstance(watch, str) else (watch.set, watch.metric)
        if key in watched:
            yield conflict(f"{quoted(key[1])} is watched twice", "watch", index, advice="keep one of them")
        watched.add(key)


def _columns(p: Policy) -> Iterator[Finding]:
    """A metric that also numbers the runs, or names the items, decides by itself which rows there are."""
    metrics = {rule.metric for _, rule in _rules(p)}
    for key in ("id", "repeat", "cluster", "label"):
        column = getattr(p.items, key)
        if column is not None and column in metrics and key in p.items.model_fields_set:
            message = f"{quoted(column)} is a metric and cannot be items.{key} as well"
            yield conflict(message, "items", key, advice="name the column that holds it")


def _repeats(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    """Repeats make pass/fail a number per item, which takes the tests of graded metrics and no others."""
    method = METHODS.get(rule.test)
    if p.items.repeat is None:
        if method is not None and kind_of_test(rule) == "binary" and "binary" not in method.kinds:
            message = (
                f"test {rule.test} is for graded metrics, but kind is {rule.kind} and there are no repeats"
            )
            able = sorted(test.id for test in named_tests("pairs", "binary"))
            advice = f"leave test out (auto), or choose one of {', '.join(able)}"
            yield conflict(message, *path, "test", advice=advice)
        return
    if method is not None and method.form == "counts":
        message = f"test {rule.test} takes one pass or fail per item, but items.repeat declares several runs"
        advice = "leave test out (auto), or remove items.repeat"
        yield conflict(message, *path, "test", advice=advice)
    if rule.interval is not None:
        message = f"interval {rule.interval} takes one pass or fail per item, but items.repeat is declared"
        yield conflict(message, *path, "interval", advice="leave interval out")


def _clusters(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    """Items of one cluster are not independent, so a test of independent items claims too much."""
    method = METHODS.get(rule.test)
    if not KINDS[rule.kind].by_item:
        return
    clustered = method is not None and method.sample == "clusters"
    if p.items.cluster is None:
        if clustered:
            message = f"test {rule.test} needs to know which items belong together"
            yield conflict(message, *path, "test", advice="name the column in items.cluster")
        return
    advice = "leave it out: auto is a test of whole clusters"
    if method is not None and not clustered:
        message = f"test {rule.test} takes items as independent, but items.cluster is declared"
        yield conflict(message, *path, "test", advice=advice)
    if rule.assurance == "guaranteed" and p.items.max_cluster is None:
        message = "assurance: guaranteed over clusters needs the most items that a cluster can have"
        yield conflict(
            message, *path, "assurance", advice="add items.max_cluster, fixed before the set is drawn"
        )
    if rule.interval is not None:
        message = f"interval {rule.interval} takes items as independent, but items.cluster is declared"
        yield conflict(message, *path, "interval", advice="leave interval out")


def _worst(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    facts = KINDS[rule.kind]
    if p.items.missing == "worst" and facts.by_item and facts.ends is None and rule.scale is None:
        message = f"items.missing: worst needs the lowest and highest value of {quoted(rule.metric)}"
        yield conflict(message, *path, "metric", advice="add scale: [lowest, highest] to this rule")


def _seeds(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    if rule.test == "bca_sign_flip" and p.items.unit != "seed":
        message = "test bca_sign_flip is for one value per seed"
        yield conflict(message, *path, "test", advice="add items: {unit: seed}, or choose another test")


def _splits(p: Policy, path: Path, rule: Rule) -> Iterator[Finding]:
    """Overlapping training sets make values dependent: t tests understate the variance (Dietterich 1998)."""
    if p.items.design != "resampled_splits" or kind_of_test(rule) != "graded":
        return
    reason = "random train-test splits share training data, so their values are not independent"
    method = METHODS.get(rule.test)
    if _tests(rule) and (method is None or method.form == "t"):  # auto is t_guarded there
        name = "auto (t_guarded)" if rule.test == "auto" else rule.test
        message = f"test {name} does not hold with items.design: resampled_splits: {reason}"
        key = "test" if "test" in rule.model_fields_set else "metric"
        yield conflict(message, *path, key, advice="use one held-out set, or name another test")
    if getattr(rule, "proven", False):
        message = f"proven: true does not hold with items.design: resampled_splits: {reason}"
        yield conflict(message, *path, "proven")


def _tests(rule: Rule | Guardrail) -> bool:
    return getattr(rule, "mode", "gating") in {"gating", "non_inferior", "no_regression"}


def _slices(p: Policy) -> Iterator[Finding]:
    if p.slices is None:
        return
    yield from is_share(p.gating.kind, p.slices.tolerance, "slices", "tolerance")
    if p.slices.mode == "non_inferior" and amount(p.slices.tolerance) > 0:
        kind, test = p.gating.kind, p.gating.test
        yield from margin_test(kind, test, "the tolerance of slices", "gating", "test")


def _cycles(p: Policy) -> Iterator[Finding]:
    """k unanimous signs cannot have a p below 2^-k."""
    if p.cycles.test is None or 0.5**p.cycles.required < p.alpha:
        return
    needed = next((k for k in range(1, 1001) if 0.5**k < p.alpha), None)
    floor = 0.5**p.cycles.required
    message = (
        f"{p.cycles.required} cycles cannot reach alpha {p.alpha:g} by a sign-flip test: "
        f"the smallest p they allow is {floor:.4g}"
    )
    advice = f"required: {needed} is the least that works" if needed else "no number of cycles works"
    key = "required" if "required" in p.cycles.model_fields_set else "test"
    yield conflict(message, "cycles", key, advice=advice)


def _waivers(p: Policy) -> Iterator[Finding]:
    known = rule_ids(p)
    slices = tuple(f"{SLICE}{column}=" for column in p.slices.by) if p.slices else ()
    names = set(known)
    seen: set[str] = set()
    wrong = 0
    for index, waiver in enumerate(p.waivers):
        if waiver.rule in seen:
            yield conflict(
                f"{quoted(waiver.rule)} is waived twice", "waivers", index, "rule", advice="keep one of them"
            )
        elif waiver.rule not in names and not (slices and waiver.rule.startswith(slices)):
            hint = wrong < MOST_HINTS
            advice = _nearest_rule(waiver.rule, known) if hint else "see the hints above"
            wrong += 1
            yield conflict(
                f"there is no rule {quoted(waiver.rule)} to waive", "waivers", index, "rule", advice=advice
            )
        seen.add(waiver.rule)


MOST_HINTS = 3
"""Near matches that are looked for: one takes a tenth of a second where names are long."""


def _nearest_rule(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known[:50], n=1)
    return f"did you mean {quoted(near[0])}?" if near else f"the rules are {examples(known)}"
