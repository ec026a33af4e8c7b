"""From reasons and cycle state to the report: what is claimed, what is not, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gate.artifacts.opening import open_artifact, sha256_of
from gate.artifacts.table import Source as Read
from gate.cycles.assess import NOT_WINNER, CycleState, Outcome
from gate.cycles.band import Band as NoiseBand
from gate.cycles.looks import Look
from gate.cycles.waivers import active_waivers
from gate.decide.verdict import INCONCLUSIVE, NOT_DECIDED, PASS, WAIVED, Reason, outcome
from gate.measure.model import Comparison, Margin, Tested
from gate.measure.unread import UnreadRuns
from gate.pairing.model import NO_FILE, SideFacts
from gate.policy.model import Policy
from gate.report.model import (
    Band,
    Changes,
    Cycles,
    Family,
    Gating,
    JudgeEvidence,
    NotAssessed,
    Point,
    PolicyFacts,
    Provenance,
    Report,
    Source,
    Sources,
    Worth,
)
from gate.report.model import Comparison as Block
from gate.run.blocks import changes, comparison, gating, pairing
from gate.run.digests import cycle_digests
from gate.run.identity import Sets, artifact_digest, earliest_time
from gate.run.next_step import next_step
from gate.run.stages import Staging, stage_cautions, stage_step, stages_block
from gate.run.stored import blessing, winning_run
from gate.run.withheld import VEIL, VEILED_STEP, veiled_comparison, veiled_entries, veiled_reason
from gate.stats.methods import assurance
from gate.stats.worth import prior_of, worth_by_declaration, worth_by_history
from gate.values import Caution, Role, Status, Verdict

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
    policy: Policy
    stage: Staging | None = None


def evidence_for(request: Request, sets: Sets) -> JudgeEvidence | None:
    """What the gating metric's judge is believed for; None where the policy asks for no evidence."""
    policy = request.loaded.policy
    if policy.judge is None:
        return None
    from gate.run.judge_evidence import believed  # noqa: PLC0415 - few policies have a judge

    return believed(request.loaded, sets[policy.gating.set], request.now)


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


def for_history(judged: Judged, *, revealed: bool, digests: bool) -> Outcome:
    """What the history keeps of this candidate: its status, the gating rule's numbers, and digests of both
    its differences and its inputs where somebody will compare them.
    """
    gating = judged.comparisons[0]
    result: dict[str, Any] = dict.fromkeys(
        ("p", "p_adjusted", "low", "high", "sd", "b", "c", "baseline_mean", "baseline_se")
    ) | {"n": gating.n, "test": gating.method, "seed": 0}
    if isinstance(gating, Tested):
        sides, evidence = gating.sides, gating.evidence
        result |= {
            "p": evidence.p_value,
            "p_adjusted": evidence.p_adjusted,
            "low": evidence.interval.low,
            "high": evidence.interval.high,
            "sd": gating.visible.sd_difference,
            "b": sides.better,
            "c": sides.worse,
            "seed": evidence.seed,
            "baseline_mean": sides.baseline,
            "baseline_se": sides.baseline_error,
        }
    margin = gating.wanted.amount if isinstance(gating.wanted, Margin) else 0.0
    waived = tuple(reason.rule for reason in judged.reasons if reason.status == WAIVED)
    status = outcome(judged.reasons)
    continues = judged.stage is not None and judged.stage.continues
    return Outcome(
        status,
        gating.delta,
        margin,
        result,
        waived,
        revealed=revealed,
        continues=continues,
        digests=cycle_digests(judged.policy, judged.sets, gating) if digests else {},
    )


def sum_up(
    request: Request, judged: Judged, state: CycleState, waivers: Waivers, past: Iterable[Point]
) -> Report:
    """Everything that is known of one candidate, in one value."""
    policy = request.loaded.policy
    full = _said(judged)
    said = full if state.numbers_shown else _withheld(full)
    step = next_step(state, full.reasons, (full.gating, *full.rest), full.changes, policy.items.min)
    verdict = Verdict(state.verdict)
    by_role = {role: tuple(block for block in said.rest if block.role == role) for role in Role}
    staged = judged.stage
    step = (stage_step(staged) if staged else "") or step
    return Report(
        tool_version=request.tool_version,
        verdict=verdict,
        exit_code=verdict.exit_code,
        reasons=(*_beaten(state), *said.reasons),
        policy=_policy_facts(request),
        pairing=pairing(judged.sets[None].table.counts),
        sets={name: pairing(found.table.counts) for name, found in judged.sets.items() if name is not None},
        gating=said.gating,
        guardrails=(*by_role[Role.GUARDRAIL], *by_role[Role.MUST_PASS]),
        slices=by_role[Role.SLICE],
        watch=by_role[Role.WATCH],
        families=tuple(Family(**family) for family in judged.families),
        cycles=_cycles(state, past),
        next_step=step if state.numbers_shown else VEILED_STEP,
        cautions=(
            *_cautions(judged, said, state, waivers),
            *(stage_cautions(staged) if staged else ()),
            *winning_run(blessing(request.stored, policy, request.now)),
            *(() if state.numbers_shown else (VEIL,)),
        ),
        not_assessed=(*said.not_assessed, *_not_decided(said.reasons)),
        changes=said.changes,
        claims=_claims(policy, said.gating, state, staged.stage.level if staged else said.gating.level),
        limits=LIMITS,
        provenance=_provenance(request, judged.sets),
        signature=_signature(request, judged.sets, said),
        decides=request.decides,
        stages=stages_block(staged, policy) if staged else None,
        worth=_worth(policy, judged, state),
    )


@dataclass(frozen=True, slots=True)
class Said:
    """What a report says of the rules: everything, or what was asked. seed: of the gating test."""

    gating: Gating
    rest: tuple[Block, ...]
    reasons: tuple[Reason, ...]
    not_assessed: tuple[NotAssessed, ...]
    changes: Changes
    seed: int


def _said(judged: Judged) -> Said:
    statuses = {reason.rule: reason.status for reason in judged.reasons}
    first, *rest = judged.comparisons
    return Said(
        gating=gating(first, statuses.get(first.rule, Status.REPORTED)),
        rest=tuple(comparison(c, statuses.get(c.rule, Status.REPORTED)) for c in rest),
        reasons=judged.reasons,
        not_assessed=tuple(NotAssessed(**entry) for entry in judged.not_assessed),
        changes=changes(first),
        seed=first.evidence.seed if isinstance(first, Tested) else 0,
    )


def _withheld(said: Said) -> Said:
    blocks = (said.gating, *said.rest)
    relative = {block.rule for block in blocks if block.relative is not None}
    return Said(
        gating=veiled_comparison(said.gating),
        rest=tuple(veiled_comparison(block) for block in said.rest),
        reasons=tuple(veiled_reason(r, relative=r.rule in relative) for r in said.reasons),
        not_assessed=veiled_entries(said.not_assessed, blocks),
        changes=changes(None),
        seed=0,
    )


def _beaten(state: CycleState) -> tuple[Reason, ...]:
    """Why a candidate that passed every rule is not the one to release."""
    found = next((caution for caution in state.cautions if caution.code == NOT_WINNER), None)
    asked = "the largest gain of the challengers"
    if found is None:
        return ()
    text = "another candidate of the same look gained more" if state.replayed else found.message
    return (Reason(NOT_WINNER, PASS, "", "passed", asked, text),)


def _policy_facts(request: Request) -> PolicyFacts:
    policy = request.loaded.policy
    return PolicyFacts(
        name=policy.name,
        digest=request.loaded.decision_digest,
        alpha=policy.alpha,
        file_digest=request.loaded.policy_digest,
        correction=policy.correction,
        margin_rule=policy.gating.margin_rule,
        owner=policy.owner,
    )


def _cycles(state: CycleState, past: Iterable[Point]) -> Cycles:
    return Cycles(
        required=state.required,
        passed=state.passed,
        cycle=state.cycle,
        look=state.look,
        level=state.level,
        window=state.window,
        claim=state.claim,
        scope=state.scope,
        sign_flip_p=state.sign_flip_p if state.numbers_shown else None,
        retry_risk=state.retry_risk,
        replayed=state.replayed,
        recorded=state.recorded,
        series=tuple(past),
        restarted=state.restarted or None,
        held=state.held or None,
        band=_band(state.band),
    )


def _worth(policy: Policy, judged: Judged, state: CycleState) -> tuple[Worth, ...] | None:
    """Of a promotion: from what the policy declares, and from the gains of earlier cycles."""
    gating = judged.comparisons[0]
    if state.verdict != Verdict.PROMOTE or not isinstance(gating, Tested) or not gating.visible.variance:
        return None
    delta, error = gating.sides.delta, math.sqrt(gating.visible.variance / gating.n)
    median = judged.stage.standing.median if judged.stage and judged.stage.standing else None
    delta = delta if median is None else median  # an early stop shows more than the truth
    found = []
    share, gain = (policy.report.good_share, policy.report.good_gain) if policy.report else (None, None)
    if share is not None and gain is not None:
        worth = worth_by_declaration(delta, error, share, gain)
        found.append(Worth("declaration", worth.not_better, worth.gain))
    known = [(c.delta, c.se) for c in state.past if c.delta is not None and c.se]
    prior = prior_of([d for d, _ in known], [e for _, e in known if e])
    if prior is not None:
        worth = worth_by_history(delta, error, prior)
        found.append(Worth("history", worth.not_better, worth.gain))
    return tuple(found) or None


def _band(found: NoiseBand | None) -> Band | None:
    if found is None:
        return None
    limits, after = found.limits, found.next_delta or (None, None)
    return Band(
        low=limits.low if limits else None,
        high=limits.high if limits else None,
        centre=limits.centre if limits else None,
        cycles=found.cycles,
        spread_ratio=found.spread.ratio if found.spread else None,
        spread_p=found.spread.p if found.spread else None,
        drift=found.drift.smoothed[-1] if found.drift.smoothed else None,
        retrain_sd=found.between.tau if found.between else None,
        next_low=after[0],
        next_high=after[1],
    )


def _cautions(judged: Judged, said: Said, state: CycleState, waivers: Waivers) -> tuple[Caution, ...]:
    found: dict[tuple[str, str], Caution] = {}
    for item_set in judged.sets.values():
        for code, message in (*item_set.cautions, *item_set.table.cautions):
            found.setdefault((code, message), Caution(code, message))
    for caution in (*state.faults, *state.cautions, *waivers.cautions):
        found.setdefault((caution.code, caution.message), caution)
    for caution in judged.unread.cautions:
        found.setdefault((caution.code, caution.message), caution)
    for block in (said.gating, *said.rest):
        for caution in block.cautions:
            text = f"{block.rule}: {caution.message}"
            found.setdefault((caution.code, text), Caution(caution.code, text))
    return tuple(found.values())


def _not_decided(reasons: Iterable[Reason]) -> Iterator[NotAssessed]:
    return (NotAssessed(reason.rule, reason.message) for reason in reasons if reason.status == NOT_DECIDED)


def _claims(policy: Policy, gating: Gating, state: CycleState, level: float) -> tuple[str, ...]:
    """What the margin rule and the cycles say, and what they do not. level: of the whole look."""
    codes = {caution.code for caution in gating.cautions}
    method = "tango" if "tango_for_many_discordant" in codes else gating.method
    if policy.gating.margin_rule == "observed":
        rule = (
            f"promotion of a candidate with no gain is {assurance(method, level)}; one whose "
            "true gain is below or at the margin can pass, at the margin about half the time"
        )
    else:
        chance = assurance(method, level, plugged_in="relative_plugged_in" in codes)
        rule = f"promotion of a candidate whose true gain is at or below the margin is {chance}"
    words = {True: "yes", False: "no", None: "not assessed" if state.numbers_shown else "withheld"}
    both = (
        f"cleared as observed: {words[gating.margin_rules.observed]}; "
        f"margin itself proven: {words[gating.margin_rules.tested]}"
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


def _provenance(request: Request, sets: Sets) -> Provenance:
    since = request.policy_since() if earliest_time(sets) else ""
    return Provenance(
        baseline=_source(sets[None].baseline),
        candidate=_source(sets[None].candidate),
        policy=request.loaded.path,
        sets={
            name: Sources(_source(item_set.baseline), _source(item_set.candidate))
            for name, item_set in sets.items()
            if name is not None
        },
        cycle=request.cycle,
        policy_since=since or None,
        baseline_id=request.baseline_id or None,
        blessing=blessing(request.stored, request.loaded.policy, request.now),
        judge=evidence_for(request, sets),
        labels=_labels(request.labels),
        baseline_runs=tuple(_file(source) for source in sets[None].baseline.runs) or None,
    )


def _labels(path: str | None) -> Source | None:
    if path is None:
        return None
    with open_artifact(path) as file:
        return Source(path=str(path), sha256=sha256_of(file))


def _file(source: Read, **more: Any) -> Source:
    known = {name: getattr(source, name) for name in ("path", "format", "system", "sha256", "bytes")}
    return Source(**known, **more)


def _source(side: SideFacts) -> Source:
    source = side.source
    if source.path == NO_FILE:
        return Source(NO_FILE)
    return _file(
        source,
        rows=side.rows,
        digest=side.identity,
        read_digest=None if side.read_digest == side.identity else side.read_digest,
        facts=dict(source.facts) or None,
    )


def _signature(request: Request, sets: Sets, said: Said) -> str:
    items = sets[request.loaded.policy.gating.set].table.counts.items_digest
    parts = {
        "gate": request.tool_version,
        "policy": request.loaded.decision_digest[:12],
        "baseline": artifact_digest(request.loaded.policy, sets, "baseline")[:12],
        "candidate": artifact_digest(request.loaded.policy, sets, "candidate")[:12],
        "items": items[:12],
        "test": said.gating.method,
        "level": f"{said.gating.level:g}",
        "resamples": str(said.gating.resamples or 0),
        "seed": str(said.seed),
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items())
