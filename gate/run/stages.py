"""A look at a part of the items: what its stage allows, what comes next, and what the report says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gate.cycles.looks import Look
from gate.decide.verdict import FAIL, INCONCLUSIVE, NOT_GATED, PASS, Reason, in_order, outcome
from gate.measure.every_rule import setting_of
from gate.measure.model import Comparison, Tested, Veto
from gate.measure.staged import Stage, Standing, standing
from gate.measure.words import count, number
from gate.pairing.model import Staged, StageRules
from gate.pairing.stages import first_stage, list_digest, savings, stage_order
from gate.policy.load import LoadedPolicy
from gate.policy.model import Policy
from gate.report import model
from gate.run.identity import Sets
from gate.stats.spending import Move, next_move
from gate.stats.staged_normal import staged_normal
from gate.values import Caution, GateError


@dataclass(frozen=True, slots=True)
class Staging:
    """The stage that was looked at and where it leads."""

    staged: Staged
    stage: Stage
    move: Move
    standing: Standing | None

    @property
    def continues(self) -> bool:
        """Whether more items are asked for."""
        return self.move == "continue"


def stage_rules(loaded: LoadedPolicy, universe: tuple[str, ...] = ()) -> StageRules | None:
    """What pairing is told of the stages."""
    fractions = loaded.policy.items.stages
    return None if fractions is None else StageRules(tuple(fractions), loaded.decision_digest, universe)


def first_items(loaded: LoadedPolicy, universe: Callable[[], Iterable[str]]) -> model.NextItems:
    """The items to score before the first look. universe: all ids there are."""
    rules = stage_rules(loaded)
    if rules is None:
        help_text = "declare them, for example items: {stages: [0.2, 0.4, 0.6, 0.8, 1.0]}"
        raise GateError("no_stages", "the policy has no items.stages", where=loaded.path, help=help_text)
    ids = first_stage(stage_order(universe(), rules.decision_digest), rules.fractions)
    return model.NextItems(len(ids), list_digest(ids), ids)


def stage_of(sets: Sets, look: Look) -> Stage | None:
    """The stage that the candidate's items reach."""
    staged = sets[None].staged
    if staged is None:
        return None
    return Stage(staged.look, look.level)


def held_open(
    reasons: Sequence[Reason], comparisons: Sequence[Comparison], stage: Stage | None
) -> tuple[Reason, ...]:
    """Before the last stage a veto is silent or has fired, or the next stage is asked; it is asked for slices
    that are too small by now too."""
    if stage is None or stage.look.last:
        return tuple(reasons)
    measured = {c.rule: c for c in comparisons}
    return in_order(_at_stage(reason, measured.get(reason.rule), stage) for reason in reasons)


def _at_stage(reason: Reason, c: Comparison | None, stage: Stage) -> Reason:
    if reason.status == NOT_GATED:
        return replace(reason, status=INCONCLUSIVE, message=f"{reason.message}, at this stage")
    if reason.status != FAIL or not (isinstance(c, Tested) and isinstance(c.wanted, Veto)):
        return reason
    nominal = staged_normal(stage.look.fractions, c.level).nominal[stage.look.stage - 1]
    least = min(c.evidence.p, c.sign_test.p if c.sign_test else 1.0)
    if least < nominal:
        return reason
    text = f"{reason.message}; not at this stage's level {nominal:.2g}: the next stage tells"
    return replace(reason, status=INCONCLUSIVE, message=text)


def staging(
    policy: Policy, sets: Sets, look: Look, comparisons: Sequence[Comparison], reasons: Iterable[Reason]
) -> Staging | None:
    """Where this stage leads; None without stages."""
    stage, staged = stage_of(sets, look), sets[None].staged
    if stage is None or staged is None:
        return None
    gating, found = comparisons[0], None
    if isinstance(gating, Tested):
        setting = setting_of(policy, look.level)
        found = standing(policy.gating, sets[None].table, setting, stage, gating)
    status = outcome(reasons)
    move = next_move(
        last=stage.look.last or bool(look.faults),
        crossed=status == PASS,
        failed=status == FAIL,
        power=found.power if found else None,
        futility=policy.items.futility,
    )
    return Staging(staged, stage, move, found)


def stages_block(found: Staging, policy: Policy) -> model.Stages:
    """The report's block."""
    look, stage, shown = found.staged.look, found.stage, found.standing
    cost = None if policy.report is None else policy.report.cost_per_item
    saved = savings(len(look.prefix), stage.look.sizes[-1], cost)
    following = look.following if found.continues else ()
    boundary = None if shown is None else shown.boundary
    exact = shown is not None and shown.wins
    ended = shown is not None and not found.continues
    return model.Stages(
        stage=stage.look.stage,
        of=len(stage.look.sizes),
        of_suite=found.staged.of_suite or None,
        sizes=stage.look.sizes,
        n=len(look.prefix),
        move=found.move,
        level=stage.level,
        nominal_level=shown.nominal if shown else None,
        spent=shown.spent if shown else None,
        boundary_wins=int(boundary) if exact and boundary is not None else None,
        boundary_z=boundary if not exact else None,
        p_value=shown.p_value if shown and ended else None,
        gain_low=shown.low if shown and ended else None,
        gain_median=shown.median if shown and ended else None,
        gain_high=shown.high if shown and ended else None,
        planned_gain=shown.planned if shown else None,
        conditional_power=shown.power if shown else None,
        beyond=look.beyond,
        saved_items=saved.items,
        saved_share=saved.share,
        saved_cost=saved.money,
        next=model.NextItems(len(following), list_digest(following), following) if following else None,
    )


def stage_step(found: Staging) -> str:
    """What to do next, where the stage itself says so; else empty."""
    if found.continues:
        more = count(len(found.staged.look.following), "item")
        return f"continue: score these {more} next (stages.next in the report, or gate run --next FILE)"
    if found.move == "futile" and found.standing and found.standing.planned:
        gain, power = found.standing.planned, found.standing.power or 0.0
        return f"stop: even if the true gain is {number(gain)}, the chance to promote is {power:.2f}"
    return ""


def stage_cautions(found: Staging) -> tuple[Caution, ...]:
    """What a reader of the numbers must know."""
    told = []
    if found.staged.look.beyond:
        text = f"{count(found.staged.look.beyond, 'item')} beyond this stage were scored and not looked at"
        told.append(Caution("items_beyond_stage", text))
    if found.move in {"promote", "block"} and not found.stage.look.last:
        look = found.stage.look
        text = f"stopped at stage {look.stage} of {len(look.sizes)}: what was observed then is more "
        text += "extreme than the truth on average"
        median = found.standing.median if found.standing else None
        if median is not None:
            text += f"; the gain is about {number(median)} (median-unbiased)"
        told.append(Caution("stopped_early", text))
    return tuple(told)
