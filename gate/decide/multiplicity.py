"""A family of comparisons -> the same comparisons, with p-values adjusted where one of several may decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gate.compare.model import Comparison
from gate.compare.rules import veto_mde
from gate.decide.verdict import can_fire, cannot_fire_words, sign_words
from gate.stats.multiplicity import adjust, factor
from gate.values import Caution
from gate.words import p_value, signed

VETO_MODES = ("no_regression", "slice_no_regression")
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
        ("vetoes", "guardrail", correction),
        ("slices", "slice", correction),
        ("watch", "watch", "bh"),
    ):
        size = sum(_in_family(c, role) for c in found)
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


def _corrected(comparisons: Sequence[Comparison], *, role: str, method: str) -> tuple[Comparison, ...]:
    """The members of one family adjusted, everything else as it was."""
    members = iter(_adjusted([c for c in comparisons if _in_family(c, role)], method))
    return tuple(next(members) if _in_family(c, role) else c for c in comparisons)


def _in_family(c: Comparison, role: str) -> bool:
    if c.role != role:
        return False
    if role == "watch":
        return c.p_two_sided is not None
    return c.mode in VETO_MODES and c.gated and c.p_value is not None


def _adjusted(members: Sequence[Comparison], method: str) -> tuple[Comparison, ...]:
    """One family: p_adjusted on every member where there are several; a veto says what it would miss."""
    raw = [c.p_two_sided if c.role == "watch" else c.p_value for c in members]
    known = [p for p in raw if p is not None]
    if len(members) > 1:
        signs = adjust([c.sign_test.p_value if c.sign_test else 1.0 for c in members], method)
        members = [
            replace(c, p_adjusted=p, sign_test=c.sign_test and replace(c.sign_test, p_adjusted=sign))
            for c, p, sign in zip(members, adjust(known, method), signs, strict=True)
        ]
    spread = factor(len(members), method)
    return tuple(_noticed(c) if c.role == "watch" else _veto(c, spread) for c in members)


def _veto(c: Comparison, spread: float) -> Comparison:
    """What this veto would miss, and whether it could fire at all, at its corrected level."""
    missed = veto_mde(c, spread)
    sweep = None if c.clean_sweep is None else min(1.0, c.clean_sweep * spread)
    found = replace(c, clean_sweep=sweep, mde=c.mde if missed is None else missed)
    return replace(found, cautions=(*c.cautions, *_veto_cautions(found, missed)))


def _veto_cautions(c: Comparison, missed: float | None) -> Iterator[Caution]:
    p = c.p_value if c.p_adjusted is None else c.p_adjusted
    if not can_fire(c) and (p is None or p >= c.level):
        yield Caution("veto_cannot_fire", cannot_fire_words(c))
    if c.sign_test is not None and c.sign_test.p < c.level and c.delta is not None and c.delta >= 0:
        yield Caution("most_changes_are_losses", f"{sign_words(c.sign_test)}, though the mean is not worse")
    if missed is None:
        return
    text = f"this veto bounds nothing: a true loss of {missed:.4g} would be missed 20 % of the time"
    yield Caution("veto_misses", text)
    if c.bound is not None and missed > c.bound:
        text = f"the smallest loss that would be seen is {missed:.4g}, above the tolerance {c.bound:.4g}"
        yield Caution("mde_above_tolerance", text)


def _noticed(c: Comparison) -> Comparison:
    """A watched metric never gates; that it got significantly worse is said all the same, and on top."""
    p = c.p_two_sided if c.p_adjusted is None else c.p_adjusted
    if p is None or c.delta is None or c.insufficient or p >= 2 * c.level:
        return c
    evidence = f"{signed(c.delta)} (two-sided{'' if c.p_adjusted is None else ' adjusted'} p {p_value(p)})"
    if c.direction == "neutral":
        text = f"{c.metric} changed significantly: {evidence}; a watch with a direction says if that is worse"
        return replace(c, cautions=(*c.cautions, Caution("watch_changed", text)))
    if c.delta > 0:
        return c
    text = f"{c.metric} is only watched, and got significantly worse: {evidence}"
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
    raw = [1.0 if c.p_value is None else c.p_value for c in gating]
    adjusted = adjust([*raw, *[1.0] * absent], method)
    return tuple(_challenger(c, p) for c, p in zip(gating, adjusted, strict=False))


def _challenger(c: Comparison, p_adjusted: float) -> Comparison:
    """A margin rule that only the unadjusted p clears is not cleared, and no gain means no proven margin."""
    found = replace(c, p_adjusted=p_adjusted)
    if p_adjusted < c.level or c.observed_rule is None:
        return found
    return replace(found, tested_rule=False, observed_rule=c.observed_rule and c.margin_rule == "tested")
