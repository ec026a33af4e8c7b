"""One deciding test on one selection of pairs, with everything that is reported beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gate.compare.clustering import baseline_error, clustered_error, clusters_of
from gate.compare.model import Change, Changes
from gate.compare.selection import Selection, oriented_pairs
from gate.stats import power, reference
from gate.stats.methods import METHODS
from gate.stats.pairs import Pairs
from gate.stats.procedures import p_of_counts, run
from gate.stats.results import Interval, TestResult
from gate.values import Caution, GateError

MOST_CHANGES = 5000
"""Changed items kept per direction; the counts in the report are always complete."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A margin or tolerance in effect. amount: in the metric's unit. null_value: where H0 ends.

    shift: for relative bounds on graded metrics, r in "gain - r * baseline" (negative for a tolerance).
    """

    amount: float
    null_value: float
    shift: float = 0.0
    relative: float | None = None
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class Tested:
    """A deciding test's result in the unit of the plain difference, and the pairs it came from."""

    pairs: Pairs
    result: TestResult
    interval: Interval
    null_value: float


def effective_bound(amount: Any, selection: Selection, *, kind: str, sign: int, where: str) -> Bound:
    """A margin (sign +1) or tolerance (sign -1) as the number it means on these items.

    Errors: a relative bound where the baseline's mean is not above 0, so that a share of it means nothing.
    """
    relative = getattr(amount, "relative", None)
    if relative is None:
        return Bound(float(amount), sign * float(amount))
    mean = float(np.mean(np.sort(selection.baseline))) if selection.n else 0.0
    if selection.n and mean <= 0:
        raise GateError(
            "relative_baseline",
            f"{where} is relative, but the baseline's mean is {mean:g}, so a share of it means nothing",
            help="write the bound in the metric's own unit",
        )
    bound = relative * mean
    if kind == "graded":
        return Bound(bound, sign * bound, shift=sign * relative, relative=relative)
    text = f"{where} is {relative:g} of the observed baseline, taken as if it were known exactly: {bound:.6g}"
    return Bound(bound, sign * bound, relative=relative, cautions=(Caution("relative_plugged_in", text),))


def run_test(
    selection: Selection,
    method: str,
    null_value: float,
    level: float,
    *,
    shift: float = 0.0,
    scale: tuple[float, float] | None = None,
) -> Tested:
    """Apply one registered procedure at one null value.

    With a shift the test is about gain - shift * baseline against 0; its interval is moved back by the
    same amount, so that it can be read beside the plain difference.
    """
    pairs = oriented_pairs(selection, shift)
    tested_null = 0.0 if shift else null_value
    clustered = METHODS[method].sample == "clusters"
    sample = clusters_of(selection, shift) if clustered else pairs
    result = run(method, sample, tested_null, level, scale=scale)
    interval = result.interval
    if shift:
        interval = Interval(
            interval.low + null_value, interval.high + null_value, interval.confidence, interval.method
        )
    return Tested(pairs, result, interval, null_value)


def p_above(
    selection: Selection, method: str, bound: Bound, level: float, scale: tuple[float, float] | None
) -> float:
    """The one-sided p alone, where the interval is not wanted and would cost the most."""
    null_value = 0.0 if bound.shift else bound.null_value
    if METHODS[method].sample == "clusters":
        return run(method, clusters_of(selection, bound.shift), null_value, level, scale=scale).p_greater
    pairs = oriented_pairs(selection, bound.shift)
    if METHODS[method].form == "counts":
        return p_of_counts(method, pairs.b, pairs.c, pairs.n, null_value, level)
    return run(method, pairs, null_value, level, scale=scale).p_greater


def described(selection: Selection, pairs: Pairs, level: float, target: float) -> dict[str, Any]:
    """What is reported beside every test: means, spread, correlation, discordant pairs, MDE, items needed."""
    plain = pairs if pairs.ratio == 1.0 else oriented_pairs(selection)
    spread = reference.sd_difference(plain)
    delta = plain.mean()
    effect = target if target > 0 else abs(delta)
    known: dict[str, Any] = {
        "baseline": selection.sign * float(np.mean(plain.baseline)) + 0.0,
        "baseline_error": baseline_error(selection),
        "candidate": selection.sign * float(np.mean(plain.candidate)) + 0.0,
        "delta": delta,
        "sd_difference": spread,
        "correlation": reference.correlation(plain),
        "only_candidate": plain.b,
        "only_baseline": plain.c,
    }
    if spread is None or spread == 0:
        return known
    variance = spread**2
    if selection.table.clusters is not None:
        error = clustered_error(selection)
        if not error:
            return known  # too few clusters, or no spread between them, to know what would be seen
        variance = error**2 * plain.n
    needed = power.items_needed(variance, effect, level)
    return known | {
        "mde": power.smallest_effect(variance, plain.n, level),
        "items_needed": needed and max(needed, power.fewest_units(level)),
        "variance": variance,
    }


def reference_values(selection: Selection) -> dict[str, float | None]:
    """Two-sided values that readers of the literature look for; none of them decides."""
    found = reference.reference(oriented_pairs(selection))
    return {
        "mcnemar_exact_p": found.mcnemar_exact_p,
        "mcnemar_chi2_p": found.mcnemar_chi2_p,
        "bootstrap_low": found.bootstrap_low,
        "bootstrap_high": found.bootstrap_high,
        "unpaired_p": found.unpaired_p,
    }


def changes_of(selection: Selection) -> Changes:
    """Items that got better and worse, largest change first, then by id; bounded."""
    gains = selection.gains
    return Changes(
        gained_count=int((gains > 0).sum()),
        lost_count=int((gains < 0).sum()),
        gained=_largest(selection, gains),
        lost=_largest(selection, -gains),
    )


def _largest(selection: Selection, size: Any) -> tuple[Change, ...]:
    where = np.flatnonzero(size > 0)
    order = where[np.argsort(-size[where], kind="stable")[:MOST_CHANGES]]
    items = selection.positions[order]
    shown = {name: text[items] for name, text in selection.table.shown.items()}
    rows = zip(
        selection.table.ids[items].tolist(),
        selection.baseline[order].tolist(),
        selection.candidate[order].tolist(),
        selection.gains[order].tolist(),
        strict=True,
    )
    return tuple(Change(*row, {name: text[k] for name, text in shown.items()}) for k, row in enumerate(rows))
