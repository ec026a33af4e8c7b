"""What a person who knows such gates would say about a policy before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.measure.sanity import doubts
from gate.measure.words import number
from gate.planning.chances import Chance, rerun_mde
from gate.planning.world import Key, World
from gate.policy.model import Policy
from gate.policy.rules import gating_id, named_guardrails
from gate.stats.cluster_skew import insurance_cost
from gate.stats.power import clean_items_needed

TOO_RARE = 0.5


@dataclass(frozen=True, slots=True)
class Note:
    """code: stable. message: one sentence."""

    code: str
    message: str


def policy_notes(policy: Policy) -> Iterator[Note]:
    """Notes that need no data."""
    yield _alpha(policy)
    yield from _vetoes(policy)
    yield from _losses(policy)
    yield from _judged(policy)
    yield from _streak(policy)
    if policy.correction in {"bh", "by"}:
        text = "holds the share of false findings, not the chance of any: it is for dashboards"
        yield Note("correction", f"correction {policy.correction} {text}; holm is for release gates")
    if policy.gating.margin == 0.0:
        text = "any gain that is shown is worth a release; is it?"
        yield Note("margin_zero", f"margin 0: {text}")


def _alpha(policy: Policy) -> Note:
    alpha = policy.alpha
    if policy.items.unit == "seed":
        text = f"p over seeds is compared with alpha {alpha:g} itself: n unanimous seeds have p 2^-n"
        return Note("alpha_of_seeds", text)
    text = f"alpha {alpha:g} is two-sided, so no decision is made above {alpha / 2:g} one-sided; a gate that"
    return Note("alpha_two_sided", f"{text} meant {alpha:g} one-sided writes alpha: {2 * alpha:g}")


def _streak(policy: Policy) -> Iterator[Note]:
    if policy.cycles.required > 1:
        yield Note(
            "streak_restarts",
            f"{policy.cycles.required} passing cycles in a row: counted anew after a cycle that failed or "
            "was inconclusive, a look that was never finished, a change of the policy's deciding part, "
            "another baseline system (the name in its results, or --baseline-id) and a promotion; a baseline "
            "that is scored again changes nothing",
        )
    if policy.cycles.required > 1 and policy.cycles.on_baseline_fall == "flag":
        text = "a baseline that fell since its earlier cycles is a caution only"
        yield Note(
            "baseline_fall_flagged", f"{text}; cycles.on_baseline_fall: hold would not count the cycle"
        )


def _vetoes(policy: Policy) -> Iterator[Note]:
    vetoes = [rail for rail in policy.guardrails if rail.mode == "no_regression"]
    for rail in vetoes:
        text = "blocks only a loss that is shown, and bounds none; a tolerance (mode: non_inferior) would"
        yield Note("veto", f"{rail.metric} {text}")
    if len(vetoes) > 1 and policy.correction != "none":
        yield Note(
            "correction",
            f"{policy.correction} over {len(vetoes)} vetoes makes false blocks rarer and missed regressions "
            "more frequent",
        )
    if (
        policy.slices is not None
        and policy.slices.mode == "no_regression"
        and policy.slices.tolerance is None
    ):
        text = "slices are vetoes: they block a loss that is shown, and bound none"
        yield Note("slices", f"{text}; a tolerance says which loss each must be able to see")


def _judged(policy: Policy) -> Iterator[Note]:
    if policy.judge is None:
        return
    asked = {
        "kappa of at least {:g}": policy.judge.min_kappa,
        "a delta within {:g} of the people's": policy.judge.max_delta_bias,
        "at most {:.0%} judged otherwise when asked again": policy.judge.max_inconsistent,
        "evidence of at most {:g} days": policy.judge.max_age_days,
    }
    floors = ", ".join(text.format(value) for text, value in asked.items() if value is not None)
    text = f"{policy.gating.metric} is a judge's word: it decides only with {policy.judge.evidence.file}"
    yield Note("judge_believed", f"{text}, pinned by its SHA-256, and {floors}; else exit 2")


def _losses(policy: Policy) -> Iterator[Note]:
    """Results that may be missing must not be able to make the margin."""
    items, margin = policy.items, policy.gating.margin
    allowed = max(items.max_missing, items.max_error_rate)
    if policy.gating.kind == "binary" and isinstance(margin, float) and allowed > margin:
        yield Note(
            "missing_above_margin",
            f"up to {allowed:g} of the results may be missing, more than the margin {margin:g}: what is "
            "missing can decide",
        )


def baseline_notes(world: World, level: float) -> Iterator[Note]:
    """Notes that the baseline's own numbers suggest."""
    policy = world.policy
    gating: Key = (policy.gating.set, policy.gating.metric)
    n = world.n_items(gating)
    if n < policy.items.min:
        yield Note("few_items", f"{n} items, fewer than items.min {policy.items.min}: never a promotion")
    clusters = world.tables[policy.gating.set].counts.n_clusters
    cost = insurance_cost(clusters or 0) if clusters and policy.items.cluster_skew == "strict" else ""
    if cost:
        yield Note("insurance_cost", cost)
    mde, margin = rerun_mde(world, gating, level), policy.gating.margin
    if isinstance(margin, float) and 0 < margin < mde:
        text = "between two runs of the same system, the smallest gain that is seen 80 % of the time is"
        yield Note(
            "margin_below_mde",
            f"{text} {number(mde)}, above the margin {number(margin)}: gains of the margin will mostly be "
            "missed (gate plan says how many items they need)",
        )
    yield from _tolerances(world, level)
    yield from _slices(world)
    yield from (Note(*caution) for caution in world.cautions)
    visible = {rule: rerun_mde(world, key, level) for rule, key in _keys(policy)}
    for rule, caution in doubts(policy, world.tables, visible):
        yield Note(caution.code, f"{rule}: {caution.message}")


def _keys(policy: Policy) -> Iterator[tuple[str, Key]]:
    yield gating_id(policy), (policy.gating.set, policy.gating.metric)
    for rule, rail in named_guardrails(policy):
        yield rule, (rail.set, rail.metric)


def _tolerances(world: World, level: float) -> Iterator[Note]:
    for rule, rail in named_guardrails(world.policy):
        key: Key = (rail.set, rail.metric)
        if rail.mode != "non_inferior" or rail.tolerance is None or not isinstance(rail.tolerance, float):
            continue
        mde = rerun_mde(world, key, level)
        if rail.tolerance < mde:
            yield Note(
                "tolerance_below_mde",
                f"{rule}: an unchanged candidate is proven within {number(rail.tolerance)} in fewer than "
                f"80 % of the looks (that takes a tolerance of {number(mde)})",
            )
        if rail.kind == "binary" and 0 < rail.tolerance < 1:
            least = clean_items_needed(rail.tolerance, level)
            if world.n_items(key) < least:
                yield Note(
                    "tolerance_out_of_reach",
                    f"{rule}: even with no item changed {number(rail.tolerance)} takes {least:,} items",
                )


def _slices(world: World) -> Iterator[Note]:
    slices = world.policy.slices
    if slices is None:
        return
    table = world.tables[world.policy.gating.set]
    for column in slices.by:
        names = [str(value) for value in table.columns[column]]
        small = sorted(name for name in set(names) if names.count(name) < slices.min_items)
        if small:
            shown = ", ".join(small[:5]) + (f" and {len(small) - 5} more" if len(small) > 5 else "")
            yield Note(
                "slices_small", f"slices of {column} below {slices.min_items} items gate nothing: {shown}"
            )


def chance_notes(policy: Policy, rows: Sequence[Chance]) -> Iterator[Note]:
    """What the simulated looks say about the policy as a whole."""
    identical, best = rows[0], rows[-1]
    for rule, rate in identical.by_rule.items():
        if rule.startswith("gating:") or rate.share >= 0.8:
            continue
        if rate.share < 0.05:
            text = "passes hardly ever at an unchanged candidate: the baseline itself does not meet it"
            yield Note("guardrail_out_of_reach", f"{rule} {text}")
        else:
            yield Note(
                "guardrail_blocks_noise",
                f"{rule} does not pass in {1 - rate.share:.0%} of the looks at an unchanged candidate: "
                "noise alone stops releases",
            )
    passing = next((row for row in rows if row.passed.share >= TOO_RARE), None)
    if passing is None:
        yield Note(
            "seldom_promotes",
            f"even a candidate {best.label} passes in only {best.passed.share:.0%} of the looks: more items, "
            "more runs of each, or a policy that asks less",
        )
    required = policy.cycles.required
    if required > 1:
        chance = best.passed.share**required
        yield Note(
            "cycles_and_power",
            f"{required} passing cycles in a row: a candidate {best.label} is promoted by the first "
            f"{required} with chance {chance:.0%} if they are independent",
        )
