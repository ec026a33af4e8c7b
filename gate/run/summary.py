"""From reasons and cycle state to the decided run: what is claimed, what is not, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gate.compare.model import Comparison
from gate.compare.unread import UnreadRuns
from gate.cycles.assess import NOT_WINNER, CycleState, Outcome
from gate.cycles.looks import Look
from gate.cycles.waivers import active_waivers
from gate.decide.verdict import INCONCLUSIVE, NOT_DECIDED, PASS, WAIVED, Reason, outcome
from gate.pairing.model import NO_FILE, SideFacts
from gate.policy.model import Policy
from gate.run.decided import Decided
from gate.run.identity import Sets, artifact_digest, earliest_time
from gate.run.next_step import next_step
from gate.run.withheld import VEILED_STEP, veil_caution, veiled_comparison, veiled_entries, veiled_reason
from gate.stats.methods import assurance
from gate.values import Caution

if TYPE_CHECKING:
    from gate.run.request import Request

LIMITS = (
    "a statement about these items, not about users: items unlike production prove nothing about production",
    "pairing repairs no biased judge, no leaky set and no unrepresentative items",
)


@dataclass(frozen=True, slots=True)
class Waivers:
    """active: rule -> owner, reason and date in words. cautions: waivers that have run out."""

    active: Mapping[str, str]
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate with every rule's answer; the cycles have not spoken yet.

    comparisons: the gating rule's first, corrected. families: what was corrected together, for the report.
    """

    sets: Sets
    comparisons: tuple[Comparison, ...]
    families: tuple[Mapping[str, Any], ...]
    not_assessed: tuple[Mapping[str, str], ...]
    reasons: tuple[Reason, ...]
    unread: UnreadRuns


def waived_rules(policy: Policy, now: str) -> Waivers:
    """Waivers in force today, in words. A waiver holds on its last day and not after it."""
    active, cautions = active_waivers(policy.waivers, now)
    words = {w.rule: f"{w.reason} ({w.owner}, until {w.expires})" for w in active}
    return Waivers(words, cautions)


def history_faults(look: Look) -> tuple[Reason, ...]:
    """What the history says against this look, each as a reason that makes the run inconclusive."""
    return tuple(
        Reason(f"history:{fault.code}", INCONCLUSIVE, "", look.window, "", fault.message)
        for fault in look.faults
    )


def unread_faults(unread: UnreadRuns) -> tuple[Reason, ...]:
    """Runs that may have failed on one side only: no claim, until the policy says what the words mean."""
    required = "what says that a run failed is read, or alike on both sides"
    return tuple(
        Reason(f"runs:{column}", INCONCLUSIVE, "", "", required, fault.message)
        for column, fault in unread.faults.items()
    )


def for_history(judged: Judged, *, revealed: bool) -> Outcome:
    """What the history keeps of this candidate: its status, and the gating rule's numbers."""
    gating = judged.comparisons[0]
    result: dict[str, Any] = {
        "n": gating.n,
        "test": gating.method,
        "p": gating.p_value,
        "p_adjusted": gating.p_adjusted,
        "low": None if gating.interval is None else gating.interval.low,
        "high": None if gating.interval is None else gating.interval.high,
        "sd": gating.sd_difference,
        "b": gating.only_candidate,
        "c": gating.only_baseline,
        "seed": gating.seed,
        "baseline_mean": gating.baseline,
        "baseline_se": gating.baseline_error,
    }
    waived = tuple(reason.rule for reason in judged.reasons if reason.status == WAIVED)
    status = outcome(judged.reasons)
    return Outcome(status, gating.delta, gating.bound or 0.0, result, waived, revealed=revealed)


def sum_up(
    request: Request, judged: Judged, state: CycleState, waivers: Waivers, past: list[dict[str, Any]]
) -> Decided:
    """Everything a report needs, in one value."""
    policy = request.loaded.policy
    step = next_step(state, judged.reasons, judged.comparisons, policy.items.min)
    said = judged if state.numbers_shown else _withheld(judged)
    veil = () if state.numbers_shown else (veil_caution(),)
    gating = said.comparisons[0]
    return Decided(
        verdict=state.verdict,
        reasons=(*_beaten(state), *said.reasons),
        comparisons=said.comparisons,
        pairing={name: item_set.table.counts for name, item_set in said.sets.items()},
        families=said.families,
        policy=_policy_block(request),
        cycles=_cycles_block(state) | {"series": past},
        next_step=step if state.numbers_shown else VEILED_STEP,
        cautions=(*_cautions(said, state, waivers), *veil),
        not_assessed=(*said.not_assessed, *_not_decided(said.reasons)),
        claims=_claims(policy, gating, state),
        limits=LIMITS,
        provenance=_provenance(request, said.sets),
        signature=_signature(request, said.sets, gating),
        tool_version=request.tool_version,
        decides=request.decides,
    )


def _beaten(state: CycleState) -> tuple[Reason, ...]:
    """Why a candidate that passed every rule is not the one to release."""
    found = next((caution for caution in state.cautions if caution.code == NOT_WINNER), None)
    asked = "the largest gain of the challengers"
    if found is None:
        return ()
    text = "another candidate of the same look gained more" if state.replayed else found.message
    return (Reason(NOT_WINNER, PASS, "", "passed", asked, text),)


def _withheld(judged: Judged) -> Judged:
    relative = {c.rule for c in judged.comparisons if c.relative is not None}
    return replace(
        judged,
        comparisons=tuple(veiled_comparison(c) for c in judged.comparisons),
        reasons=tuple(veiled_reason(r, relative=r.rule in relative) for r in judged.reasons),
        not_assessed=veiled_entries(judged.not_assessed, judged.comparisons),
    )


def _policy_block(request: Request) -> dict[str, Any]:
    policy = request.loaded.policy
    return {
        "name": policy.name,
        "digest": request.loaded.decision_digest,
        "file_digest": request.loaded.policy_digest,
        "alpha": policy.alpha,
        "correction": policy.correction,
        "margin_rule": policy.gating.margin_rule,
        "owner": policy.owner,
    }


def _cycles_block(state: CycleState) -> dict[str, Any]:
    return {
        "required": state.required,
        "passed": state.passed,
        "cycle": state.cycle,
        "look": state.look,
        "level": state.level,
        "window": state.window,
        "claim": state.claim,
        "scope": state.scope,
        "sign_flip_p": state.sign_flip_p if state.numbers_shown else None,
        "retry_risk": None if state.retry_risk is None else dict(state.retry_risk),
        "replayed": state.replayed,
        "recorded": state.recorded,
        **({"restarted": state.restarted} if state.restarted else {}),
        **({"held": state.held} if state.held else {}),
    }


def _cautions(judged: Judged, state: CycleState, waivers: Waivers) -> tuple[Caution, ...]:
    found: dict[tuple[str, str], Caution] = {}
    for item_set in judged.sets.values():
        for code, message in (*item_set.cautions, *item_set.table.cautions):
            found.setdefault((code, message), Caution(code, message))
    for caution in (*state.faults, *state.cautions, *waivers.cautions):
        found.setdefault((caution.code, caution.message), caution)
    for caution in judged.unread.cautions:
        found.setdefault((caution.code, caution.message), caution)
    for comparison in judged.comparisons:
        for caution in comparison.cautions:
            text = f"{comparison.rule}: {caution.message}"
            found.setdefault((caution.code, text), Caution(caution.code, text))
    return tuple(found.values())


def _not_decided(reasons: Iterable[Reason]) -> tuple[dict[str, str], ...]:
    return tuple(
        {"rule": reason.rule, "reason": reason.message} for reason in reasons if reason.status == NOT_DECIDED
    )


def _claims(policy: Policy, gating: Comparison, state: CycleState) -> tuple[str, ...]:
    """What the margin rule and the cycles say, and what they do not."""
    codes = {caution.code for caution in gating.cautions}
    method = "tango" if "tango_for_many_discordant" in codes else gating.method
    if policy.gating.margin_rule == "observed":
        rule = (
            f"promotion of a candidate with no gain is {assurance(method, gating.level)}; one whose "
            "true gain is below or at the margin can pass, at the margin about half the time"
        )
    else:
        chance = assurance(method, gating.level, plugged_in="relative_plugged_in" in codes)
        rule = f"promotion of a candidate whose true gain is at or below the margin is {chance}"
    words = {True: "yes", False: "no", None: "not assessed" if state.numbers_shown else "withheld"}
    both = (
        f"cleared as observed: {words[gating.observed_rule]}; "
        f"margin itself proven: {words[gating.tested_rule]}"
    )
    return (rule, both, _cycle_claim(state))


def _cycle_claim(state: CycleState) -> str:
    where = "on fresh windows" if state.scope == "fresh windows" else "on these items"
    return {
        "this_cycle": f"the claim is about this cycle, {where}",
        "each_cycle": f"the claim is that each of the {state.passed} cycles in the streak passed, {where}; "
        "it does not say that further retrains will keep passing",
        "over_cycles": f"the claim holds over the cycles as such ({where})",
    }[state.claim]


def _provenance(request: Request, sets: Sets) -> dict[str, Any]:
    since = request.policy_since() if earliest_time(sets) else ""
    known = {"policy_since": since} if since else {}
    return known | {
        "policy": request.loaded.path,
        "baseline": _source(sets[None].baseline),
        "candidate": _source(sets[None].candidate),
        "sets": {
            name: {"baseline": _source(item_set.baseline), "candidate": _source(item_set.candidate)}
            for name, item_set in sets.items()
            if name is not None
        },
        "cycle": request.cycle,
        **({"baseline_id": request.baseline_id} if request.baseline_id else {}),
    }


def _source(side: SideFacts) -> dict[str, Any]:
    source = side.source
    if source.path == NO_FILE:
        return {"path": NO_FILE}
    block: dict[str, Any] = {
        "path": source.path,
        "format": source.format,
        "system": source.system,
        "sha256": source.sha256,
        "bytes": source.bytes,
        "rows": side.rows,
        "digest": side.identity,
        "read_digest": None if side.read_digest == side.identity else side.read_digest,
        "facts": dict(source.facts) or None,
    }
    return {key: value for key, value in block.items() if value is not None}


def _signature(request: Request, sets: Sets, gating: Comparison) -> str:
    items = sets[request.loaded.policy.gating.set].table.counts.items_digest
    parts = {
        "gate": request.tool_version,
        "policy": request.loaded.decision_digest[:12],
        "baseline": artifact_digest(request.loaded.policy, sets, "baseline")[:12],
        "candidate": artifact_digest(request.loaded.policy, sets, "candidate")[:12],
        "items": items[:12],
        "test": gating.method,
        "level": f"{gating.level:g}",
        "resamples": str(gating.resamples),
        "seed": str(gating.seed),
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
