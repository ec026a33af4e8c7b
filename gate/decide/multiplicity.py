"""A family of comparisons -> the same comparisons, with p-values adjusted where one of several may decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gate.decide.verdict import can_fire, cannot_fire_words, sign_words
from gate.measure.model import Comparison, Margin, Tested, Veto
from gate.measure.rules import veto_mde
from gate.measure.words import p_value, signed
from gate.stats.multiplicity import adjust, factor
from gate.values import Caution, Direction, Role

Correct = Callable[[Sequence[Comparison]], tuple[Comparison, ...]]


def families(
    comparisons: Sequence[Comparison], correction: str
) -> tuple[tuple[Comparison, ...], tuple[dict[str, Any], ...]]:
    """Adjust the vetoes, the slices in veto mode and the watched metrics, each as a family of its own.

    Proofs (gating, non_inferior) are a conjunction in which everything must pass, so they need no correction
    (intersection-union, Berger 1982). Watched metrics never gate and are always read with BH.
    """
    found = tuple(comparisons)
    described = []
    for name, role, method in (
        ("vetoes", Role.GUARDRAIL, correction),
        ("slices", Role.SLICE, correction),
        ("watch", Role.WATCH, "bh"),
    ):
        size = len(_members(found, role))
        if size:
            found = _each_reading(found, partial(_corrected, role=role, method=method))
            described.append({"name": name, "correction": method, "size": size})
    return found, tuple(described)


def _each_reading(comparisons: Sequence[Comparison], correct: Correct) -> tuple[Comparison, ...]:
    """Failed runs must not decide, so their other reading is held to the same correction."""
    found = correct(comparisons)
    others = correct([c.other or c for c in comparisons])
    return tuple(
        c if c.other is None else replace(c, other=other) for c, other in zip(found, others, strict=True)
    )


def _corrected(comparisons: Sequence[Comparison], *, role: Role, method: str) -> tuple[Comparison, ...]:
    """The members of one family adjusted, everything else as it was."""
    members = _members(comparisons, role)
    adjusted = dict(zip(members, _adjusted(list(members.values()), method), strict=True))
    return tuple(adjusted.get(place, c) for place, c in enumerate(comparisons))


def _members(comparisons: Sequence[Comparison], role: Role) -> dict[int, Tested]:
    """By their place the vetoes of a role, or all that is watched: of several any one may decide."""
    return {
        place: c
        for place, c in enumerate(comparisons)
        if isinstance(c, Tested) and c.asked.role == role and (c.wanted is None or _is_veto(c))
    }


def _is_veto(c: Tested) -> bool:
    return isinstance(c.wanted, Veto) and c.gated


def _adjusted(members: Sequence[Tested], method: str) -> tuple[Tested, ...]:
    """One family: p_adjusted on every member where there are several; a veto says what it would miss."""
    if len(members) > 1:
        raw = [c.evidence.p_two_sided if c.wanted is None else c.evidence.p_value for c in members]
        signs = adjust([c.sign_test.p_value if c.sign_test else 1.0 for c in members], method)
        members = [
            replace(
                c,
                evidence=replace(c.evidence, p_adjusted=p),
                sign_test=c.sign_test and replace(c.sign_test, p_adjusted=sign),
            )
            for c, p, sign in zip(members, adjust(raw, method), signs, strict=True)
        ]
    spread = factor(len(members), method)
    return tuple(_noticed(c) if c.wanted is None else _veto(c, spread) for c in members)


def _veto(c: Tested, spread: float) -> Tested:
    """What this veto would miss, and whether it could fire at all, at its corrected level."""
    missed, sweep = veto_mde(c, spread), c.visible.clean_sweep
    visible = replace(
        c.visible,
        clean_sweep=None if sweep is None else min(1.0, sweep * spread),
        mde=c.visible.mde if missed is None else missed,
    )
    found = replace(c, visible=visible)
    return replace(found, cautions=(*c.cautions, *_veto_cautions(found, missed)))


def _veto_cautions(c: Tested, missed: float | None) -> Iterator[Caution]:
    if not can_fire(c) and c.evidence.p >= c.level:
        yield Caution("veto_cannot_fire", cannot_fire_words(c))
    if c.sign_test is not None and c.sign_test.p < c.level and c.sides.delta >= 0:
        yield Caution("most_changes_are_losses", f"{sign_words(c.sign_test)}, though the mean is not worse")
    if missed is None:
        return
    text = f"this veto bounds nothing: a true loss of {missed:.4g} would be missed 20 % of the time"
    yield Caution("veto_misses", text)
    tolerance = c.wanted.tolerance if isinstance(c.wanted, Veto) else None
    if tolerance is not None and missed > tolerance:
        text = f"the smallest loss that would be seen is {missed:.4g}, above the tolerance {tolerance:.4g}"
        yield Caution("mde_above_tolerance", text)


def _noticed(c: Tested) -> Tested:
    """A watched metric never gates; that it got significantly worse is said all the same, and on top."""
    evidence, delta, metric = c.evidence, c.sides.delta, c.asked.named
    p = evidence.p_two_sided if evidence.p_adjusted is None else evidence.p_adjusted
    if c.insufficient or p >= 2 * c.level:
        return c
    adjusted = "" if evidence.p_adjusted is None else " adjusted"
    shown = f"{signed(delta)} (two-sided{adjusted} p {p_value(p)})"
    if c.asked.direction == Direction.NEUTRAL:
        text = f"{metric} changed significantly: {shown}; a watch with a direction says if that is worse"
        return replace(c, cautions=(*c.cautions, Caution("watch_changed", text)))
    if delta > 0:
        return c
    text = f"{metric} is only watched, and got significantly worse: {shown}"
    return replace(c, cautions=(*c.cautions, Caution("watch_worse", text)))


def challengers(
    gating: Sequence[Comparison], correction: str, declared: int | None = None
) -> tuple[Comparison, ...]:
    """Several candidates at once: any of them may win, so their gating p-values are adjusted over all.

    declared: how many there may be; those that stayed away tonight count as p = 1.
    """
    absent = max(0, (declared or 0) - len(gating))
    if len(gating) + absent < 2:
        return tuple(gating)
    return _each_reading(gating, partial(_over_challengers, method=correction, absent=absent))


def _over_challengers(gating: Sequence[Comparison], *, method: str, absent: int) -> tuple[Comparison, ...]:
    raw = [c.evidence.p_value if isinstance(c, Tested) else 1.0 for c in gating]
    adjusted = adjust([*raw, *[1.0] * absent], method)
    return tuple(_challenger(c, p) for c, p in zip(gating, adjusted, strict=False))


def _challenger(c: Comparison, p_adjusted: float) -> Comparison:
    """A margin rule that only the unadjusted p clears is not cleared, and no gain means no proven margin."""
    if not isinstance(c, Tested):
        return c
    found = replace(c, evidence=replace(c.evidence, p_adjusted=p_adjusted))
    if p_adjusted < c.level or c.gain is None or not isinstance(c.wanted, Margin):
        return found
    observed = c.gain.observed and c.wanted.rule == "tested"
    return replace(found, gain=replace(c.gain, tested=False, observed=observed))
