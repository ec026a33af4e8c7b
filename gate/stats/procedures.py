"""One call for every test of the method table: what it is given, how it is guarded, what it refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gate.stats import binary, guards
from gate.stats.bounds import Scale, difference_bounds, within
from gate.stats.cluster_data import Clusters
from gate.stats.clusters import guarded
from gate.stats.methods import METHODS, Method, Sample, named_tests
from gate.stats.pairs import Pairs
from gate.stats.results import Settings, TestResult
from gate.stats.seeding import DEFAULT_RESAMPLES
from gate.stats.set_level import WholeSet
from gate.values import GateError


def run(
    method_id: str,
    sample: Pairs | Clusters | WholeSet,
    null_value: float,
    level: float,
    *,
    scale: Scale | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int | None = None,
) -> TestResult:
    """Apply one test of H0 "delta <= null_value" at one-sided `level`, within the procedure's limits.

    scale: the metric's declared [lo, hi]. seed: None derives it from the data. What the data cannot carry is
    in ``insufficient`` and ``cautions``; the numbers are there all the same. TestResult.n counts items.
    Raises GateError: ``unknown_test``, ``wrong_kind``, ``no_margin``, ``needs_scale``, ``outside_scale``.
    """
    method = _method(method_id, sample)
    if not 0 < level < 0.5:
        raise GateError("bad_level", f"the one-sided level must lie between 0 and 0.5 (found {level:g})")
    if not isinstance(sample, WholeSet) and "graded" not in method.kinds and not sample.binary:
        raise GateError(
            "wrong_kind",
            f"{method_id} is for pass/fail scores of one run an item (found other values)",
            help="use kind: graded, or test: auto",
        )
    if null_value and not method.margin:
        able = ", ".join(other.id for other in named_tests(method.sample, margin=True))
        raise GateError(
            "no_margin",
            f"{method_id} takes no margin or tolerance (found {null_value:g})",
            help=f"tests that take one: {able}",
        )
    return _FORMS[method.form](method, sample, Settings(null_value + 0.0, level, scale, resamples, seed))


def p_of_counts(method_id: str, b: int, c: int, n: int, null_value: float, level: float) -> float:
    """The one-sided p alone of a test of counts, where its interval is not wanted and would cost the most.

    b, c: items only the candidate / only the baseline passes; n: items. 1 where no item differs.
    """
    method = METHODS[method_id]
    if b + c == 0 and null_value >= 0:
        return 1.0
    found: float = _function(method, "_p")(b, c, n, null_value, level)
    return found


def _method(method_id: str, sample: Pairs | Clusters | WholeSet) -> Method:
    method = METHODS.get(method_id)
    form, able = _able(sample)
    if method is None or method.sample != form or (form == "set" and method_id not in able):
        known = ", ".join(able)
        what = f"no {'cluster ' if form == 'clusters' else ''}test"
        raise GateError("unknown_test", f"there is {what} {method_id!r}", help=f"one of: {known}")
    return method


def _able(sample: Pairs | Clusters | WholeSet) -> tuple[Sample, list[str]]:
    """What a sample is, and the tests of it."""
    if isinstance(sample, WholeSet):
        return "set", list(sample.tests)
    form: Sample = "clusters" if isinstance(sample, Clusters) else "pairs"
    return form, [other.id for other in named_tests(form)]


def _function(method: Method, suffix: str = "") -> Any:
    """The function of a row, imported now."""
    module = importlib.import_module(f"gate.stats.{method.module}")
    return getattr(module, method.id + suffix)


def _counts(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    found: TestResult = _function(method)(pairs.b, pairs.c, pairs.n, settings.null_value, settings.level)
    return found


def _t(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    result = _function(method)(pairs, settings.null_value, settings.level)
    return _mean_guards(guards.outlier_caution(result, pairs, settings.level), pairs, settings)


def _bootstrap(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    return _mean_guards(_resampled(method, pairs, settings), pairs, settings)


def _sign_flip(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    result = _all_zero(_resampled(method, pairs, settings), pairs)
    return within(result, difference_bounds(pairs, settings.scale))


def _resampled(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    test = _function(method)
    result = test(pairs, settings.null_value, settings.level, settings.resamples, settings.seed)
    result = guards.too_few_items(result, method.fewest, "use t_guarded, or sign_flip")
    return _floor_caution(result, settings.level)


def _ranks(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    result = _function(method)(pairs, settings.null_value, settings.level)
    return within(_floor_caution(result, settings.level), difference_bounds(pairs, settings.scale))


def _bounded(method: Method, pairs: Pairs, settings: Settings) -> TestResult:
    bounds = difference_bounds(pairs, settings.scale) or ((-1.0, 1.0) if pairs.binary else None)
    if bounds is None:
        raise GateError(
            "needs_scale",
            f"{method.id} bounds the mean by the metric's scale, and none is declared",
            help="declare scale: [lowest, highest]",
        )
    return _all_zero(_function(method)(pairs, settings.null_value, settings.level, bounds), pairs)


def _clusters(method: Method, data: Clusters, settings: Settings) -> TestResult:
    return guarded(_function(method)(data, settings), data, settings.scale)


def _set(method: Method, whole: WholeSet, settings: Settings) -> TestResult:
    return whole.test(method.id, settings).test


_FORMS: dict[str, Callable[[Method, Any, Settings], TestResult]] = {
    "counts": _counts,
    "t": _t,
    "bootstrap": _bootstrap,
    "sign_flip": _sign_flip,
    "ranks": _ranks,
    "bounded": _bounded,
    "clusters": _clusters,
    "set": _set,
}


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
