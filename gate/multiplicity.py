"""A family of comparisons -> the same comparisons, with p-values adjusted where one of several may decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gate.compare.model import Comparison
from gate.compare.rules import veto_mde
from gate.stats.multiplicity import adjust
from gate.stats.results import Caution

VETO_MODES = ("no_regression", "slice_no_regression")


def families(
    comparisons: Sequence[Comparison], correction: str
) -> tuple[tuple[Comparison, ...], tuple[dict[str, Any], ...]]:
    """Adjust the vetoes, the slices in veto mode and the watched metrics, each as a family of its own.

    Proofs (gating, non_inferior) are a conjunction in which everything must pass, so they need no correction
    (intersection-union, Berger 1982). Watched metrics never gate and are always read with BH.
    """
    found = list(comparisons)
    described = []
    for name, role, method in (
        ("vetoes", "guardrail", correction),
        ("slices", "slice", correction),
        ("watch", "watch", "bh"),
    ):
        members = [k for k, c in enumerate(found) if c.role == role and _in_family(c)]
        if not members:
            continue
        adjusted = adjusted_family([found[k] for k in members], method)
        for position, comparison in zip(members, adjusted, strict=True):
            found[position] = comparison
        described.append({"name": name, "correction": method, "size": len(members)})
    return tuple(found), tuple(described)


def _in_family(c: Comparison) -> bool:
    if c.role == "watch":
        return c.p_two_sided is not None
    return c.mode in VETO_MODES and c.gated and c.p_value is not None


def adjusted_family(members: Sequence[Comparison], method: str) -> tuple[Comparison, ...]:
    """One family: p_adjusted on every member where there are several; a veto says what it would miss."""
    watched = members[0].role == "watch"
    raw = [(c.p_two_sided if watched else c.p_value) or 0.0 for c in members]
    p_adjusted = adjust(raw, method) if len(members) > 1 else [None] * len(members)
    spread = 1 if method == "none" else len(members)
    return tuple(
        _with_adjusted(c, None if p is None else float(p), spread)
        for c, p in zip(members, p_adjusted, strict=True)
    )


def _with_adjusted(c: Comparison, p_adjusted: float | None, family_size: int) -> Comparison:
    if c.mode not in VETO_MODES:
        return replace(c, p_adjusted=p_adjusted)
    missed = veto_mde(c, family_size)
    if missed is None:
        return replace(c, p_adjusted=p_adjusted)
    text = f"this veto bounds nothing: a true loss of {missed:.4g} would be missed 20 % of the time"
    return replace(c, p_adjusted=p_adjusted, mde=missed, cautions=(*c.cautions, Caution("veto_misses", text)))


def challengers(gating: Sequence[Comparison], correction: str) -> tuple[Comparison, ...]:
    """Several candidates at once: any of them may win, so their gating p-values are adjusted over all."""
    if len(gating) < 2:
        return tuple(gating)
    raw = [1.0 if c.p_value is None else c.p_value for c in gating]
    return tuple(
        replace(c, p_adjusted=float(p)) for c, p in zip(gating, adjust(raw, correction), strict=True)
    )
