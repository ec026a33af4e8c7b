"""Every test by its id: what it is for, and the one function that the rest of the program calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gate.stats import binary, graded, guards, resampling, signed
from gate.stats.bounds import Scale, difference_bounds, within
from gate.stats.gaffke import gaffke
from gate.stats.pairs import Pairs
from gate.stats.results import TestResult
from gate.stats.seeding import DEFAULT_RESAMPLES
from gate.stats.unconditional import exact_unconditional
from gate.values import GateError

Kind = Literal["binary", "graded", "both"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run was asked for: null value m, one-sided level, declared scale, resamples and seed."""

    null_value: float
    level: float
    scale: Scale | None = None
    resamples: int = DEFAULT_RESAMPLES
    seed: int | None = None


Procedure = Callable[[Pairs, Settings], TestResult]


@dataclass(frozen=True, slots=True)
class Method:
    """One test. run: pairs, settings -> result."""

    id: str
    kind: Kind
    supports_margin: bool
    title: str
    run: Procedure


def run(
    method_id: str,
    pairs: Pairs,
    null_value: float,
    level: float,
    *,
    scale: Scale | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int | None = None,
) -> TestResult:
    """Apply one test of H0 "delta <= null_value" at one-sided `level`, within the procedure's limits.

    scale: the metric's declared [lo, hi]. seed: None derives it from the data. What the data cannot carry is
    in ``insufficient`` and ``cautions``; the numbers are there all the same.
    Raises GateError: ``unknown_test``, ``wrong_kind``, ``no_margin``, ``needs_scale``, ``outside_scale``.
    """
    method = METHODS.get(method_id)
    if method is None:
        raise GateError(
            "unknown_test", f"there is no test {method_id!r}", help=f"one of: {', '.join(METHODS)}"
        )
    if not 0 < level < 0.5:
        raise GateError("bad_level", f"the one-sided level must lie between 0 and 0.5 (found {level:g})")
    if method.kind == "binary" and not pairs.binary:
        raise GateError(
            "wrong_kind",
            f"{method_id} is for pass/fail scores of one run an item (found other values)",
            help="use kind: graded, or test: auto",
        )
    if null_value and not method.supports_margin:
        raise GateError(
            "no_margin",
            f"{method_id} takes no margin or tolerance (found {null_value:g})",
            help=f"tests that take one: {', '.join(m.id for m in METHODS.values() if m.supports_margin)}",
        )
    return method.run(pairs, Settings(null_value + 0.0, level, scale, resamples, seed))


def default_method(
    kind: Literal["binary", "graded"],
    null_value: float,
    *,
    assurance: str = "standard",
    repeats: bool = False,
) -> str:
    """The id that ``test: auto`` means; repeats turn pass/fail into a mean per item, which is graded."""
    if assurance == "guaranteed":
        return "gaffke"
    if kind == "graded" or repeats:
        return "t_guarded"
    return "mcnemar_exact" if null_value == 0 else "exact_unconditional"


def _counts(test: Callable[[int, int, int, float, float], TestResult]) -> Procedure:
    def procedure(pairs: Pairs, settings: Settings) -> TestResult:
        return test(pairs.b, pairs.c, pairs.n, settings.null_value, settings.level)

    return procedure


def _closed_form(test: Callable[[Pairs, float, float], TestResult]) -> Procedure:
    def procedure(pairs: Pairs, settings: Settings) -> TestResult:
        result = test(pairs, settings.null_value, settings.level)
        return _mean_guards(guards.outlier_caution(result, pairs, settings.level), pairs, settings)

    return procedure


def _resampling(
    test: Callable[[Pairs, float, float, int, int | None], TestResult], minimum: int, *, changed: bool
) -> Procedure:
    def procedure(pairs: Pairs, settings: Settings) -> TestResult:
        result = test(pairs, settings.null_value, settings.level, settings.resamples, settings.seed)
        result = guards.too_few_items(result, minimum, "use t_guarded, or sign_flip")
        result = _floor_caution(result, settings.level)
        if changed:
            return _mean_guards(result, pairs, settings)
        return within(_all_zero(result, pairs), difference_bounds(pairs, settings.scale))

    return procedure


def _ranks(test: Callable[[Pairs, float, float], TestResult]) -> Procedure:
    def procedure(pairs: Pairs, settings: Settings) -> TestResult:
        result = _floor_caution(test(pairs, settings.null_value, settings.level), settings.level)
        return within(result, difference_bounds(pairs, settings.scale))

    return procedure


def _bounded(pairs: Pairs, settings: Settings) -> TestResult:
    bounds = difference_bounds(pairs, settings.scale) or ((-1.0, 1.0) if pairs.binary else None)
    if bounds is None:
        raise GateError(
            "needs_scale",
            "gaffke bounds the mean by the metric's scale, and none is declared",
            help="declare scale: [lowest, highest]",
        )
    result = gaffke(pairs, settings.null_value, settings.level, bounds)
    return _all_zero(result, pairs)


def _mean_guards(result: TestResult, pairs: Pairs, settings: Settings) -> TestResult:
    result = guards.too_few_changed(result, pairs, settings.scale, settings.level)
    bounds = difference_bounds(pairs, settings.scale)
    if bounds is not None:
        result = guards.tail_cautions(within(result, bounds), pairs, bounds, settings.level)
    return result


def _all_zero(result: TestResult, pairs: Pairs) -> TestResult:
    if pairs.nonzero or result.null_value < 0 or pairs.ratio != 1.0 or result.insufficient:
        return result
    if pairs.binary:
        return replace(result, insufficient=binary.no_disagreement(pairs.n))
    return replace(
        result, insufficient=f"all {pairs.n} differences are zero: this set cannot weigh the two systems"
    )


def _floor_caution(result: TestResult, level: float) -> TestResult:
    floor = result.smallest_p
    if floor is None or floor < level or result.insufficient:
        return result
    return replace(result, cautions=(*result.cautions, guards.floor_caution(result.method, floor, level)))


_TABLE: list[tuple[str, Kind, bool, str, Procedure]] = [
    ("mcnemar_exact", "binary", False, "exact McNemar test", _counts(binary.mcnemar_exact)),
    ("mcnemar_midp", "binary", False, "mid-p McNemar test", _counts(binary.mcnemar_midp)),
    ("mcnemar_chi2", "binary", False, "McNemar chi-square", _counts(binary.mcnemar_chi2)),
    ("mcnemar_edwards", "binary", False, "McNemar chi-square with Edwards' correction",
     _counts(binary.mcnemar_edwards)),
    ("tango", "binary", True, "Tango score test", _counts(binary.tango)),
    ("exact_unconditional", "binary", True, "exact unconditional test (Berger-Boos)",
     _counts(exact_unconditional)),
    ("t_guarded", "both", True, "paired t test guarded against skewness",
     _closed_form(graded.t_guarded)),
    ("paired_t", "both", True, "paired t test", _closed_form(graded.paired_t)),
    ("bootstrap", "both", True, "paired percentile bootstrap",
     _resampling(resampling.bootstrap, 50, changed=True)),
    ("bootstrap_bca", "both", True, "paired BCa bootstrap",
     _resampling(resampling.bootstrap_bca, 50, changed=True)),
    ("bootstrap_t", "both", True, "paired studentized bootstrap",
     _resampling(resampling.bootstrap_t, 50, changed=True)),
    ("sign_flip", "both", True, "sign-flip permutation test",
     _resampling(resampling.sign_flip, 1, changed=False)),
    ("bca_sign_flip", "both", True, "BCa bootstrap and sign-flip test, both",
     _resampling(resampling.bca_sign_flip, 5, changed=False)),
    ("wilcoxon", "both", False, "Wilcoxon signed-rank test",
     _ranks(signed.wilcoxon)),
    ("wilcoxon_pratt", "both", False, "Wilcoxon signed-rank test, Pratt's zeros",
     _ranks(signed.wilcoxon_pratt)),
    ("sign", "both", False, "sign test", _ranks(signed.sign)),
    ("gaffke", "both", True, "Gaffke's bounded-mean test", _bounded),
]  # fmt: skip

METHODS: Mapping[str, Method] = {row[0]: Method(*row) for row in _TABLE}


def refusal(method_id: str, *, design: str | None = None, repeats: bool = False) -> str:
    """Why a declared design rules a test out, or an empty text.

    design: ``resampled_splits`` (each difference from another random split of the same data). repeats: there
    are several runs an item.
    """
    if design == "resampled_splits" and method_id in {"t_guarded", "paired_t"}:
        return (
            f"{method_id} cannot serve repeated random splits: the splits share items, so their differences "
            "are not independent and the standard error is too small; use bca_sign_flip with one unit a seed"
        )
    if repeats and METHODS[method_id].kind == "binary":
        return f"{method_id} is for one run an item; with repeats pass/fail becomes a mean, use t_guarded"
    return ""
