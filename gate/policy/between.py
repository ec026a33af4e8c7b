"""What must hold between the keys of one section, each rule a finding in plain words at the key to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gate.errors import quoted
from gate.policy.findings import Finding, Path
from gate.policy.methods import BINARY_TESTS, CLUSTERED_PASS_FAIL, NULL_IS_ZERO, takes_margin

if TYPE_CHECKING:
    from gate.policy.model import Artifacts, Gating, Guardrail, Items, Rule, Slices

_MODE_KEYS = {
    "non_inferior": {"tolerance", "test", "interval", "assurance"},
    "no_regression": {"detect", "test", "interval", "assurance"},
    "limit": {"min", "max", "proven"},
    "churn": {"max"},
}


def conflict(message: str, *path: str | int, advice: str = "") -> Finding:
    """Keys that contradict each other; ``path`` is the one to change."""
    return Finding("keys_conflict", message, advice, path)


def amount(value: Any) -> float:
    """The size of a margin or tolerance, whichever form it has."""
    return float(getattr(value, "relative", value) or 0)


def is_share(kind: str, value: Any, *path: str | int) -> Iterator[Finding]:
    """For pass/fail an amount is a share of the items; 5 for 5 % is the usual slip."""
    if kind == "binary" and isinstance(value, float) and not 0 <= value <= 1:
        message = f"{path[-1]} is a share of the items for a pass/fail metric (found {value:g})"
        advice = f"{value:g} % is {value / 100:g}" if 1 < value <= 100 else "write a number from 0 to 1"
        yield conflict(message, *path, advice=advice)


def is_new(values: list[str], *path: str | int) -> Iterator[Finding]:
    """Nothing twice in a list."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield conflict(f"{quoted(value)} is there twice", *path, index, advice="keep one of them")
        seen.add(value)


def margin_test(kind: str, test: str, what: str, *path: str | int) -> Iterator[Finding]:
    """A test of "no difference" cannot decide on a margin."""
    if test in NULL_IS_ZERO:
        message = f"test {test} tests against 0 and cannot decide on {what}"
        yield conflict(message, *path, advice=f"tests that can: {takes_margin(kind)}")


def rule(r: Rule) -> Iterator[Finding]:
    """What gating and guardrails share."""
    if r.kind == "graded" and r.test in BINARY_TESTS | CLUSTERED_PASS_FAIL:
        yield conflict(f"test {r.test} is for pass/fail metrics, but kind is graded", "test")
    if r.kind == "graded" and r.interval is not None:
        yield conflict(f"interval {r.interval} is for pass/fail metrics, but kind is graded", "interval")
    if r.set is not None and r.set.startswith("-"):
        yield conflict("a set's name cannot begin with - (it is given with --set)", "set")
    yield from _scale(r)
    yield from _guaranteed(r)


def _scale(r: Rule) -> Iterator[Finding]:
    if r.scale is None:
        return
    if not r.scale[0] < r.scale[1]:
        yield conflict(f"scale is [lowest, highest] (found [{r.scale[0]:g}, {r.scale[1]:g}])", "scale")
    elif r.kind == "binary" and r.scale != (0, 1):
        yield conflict("a pass/fail metric's scale is [0, 1]", "scale", advice="leave scale out")


def _guaranteed(r: Rule) -> Iterator[Finding]:
    if r.assurance == "guaranteed" and r.test not in {"auto", "gaffke"}:
        advice = "leave test out"
        yield conflict(
            f"assurance: guaranteed decides by gaffke, but test is {r.test}", "test", advice=advice
        )
    elif r.kind == "graded" and r.scale is None:
        key = "assurance" if r.assurance == "guaranteed" else "test" if r.test == "gaffke" else None
        if key:
            message = f"{key}: {getattr(r, key)} needs the lowest and highest value the metric can take"
            yield conflict(message, key, advice="add scale: [lowest, highest]")


def gating(r: Gating) -> Iterator[Finding]:
    """The gating rule."""
    yield from rule(r)
    yield from is_share(r.kind, r.margin, "margin")
    yield from is_share(r.kind, r.suspect_gain, "suspect_gain")
    yield from _within_scale(r, "margin", r.margin)
    if r.margin_rule == "tested" and amount(r.margin) > 0:
        yield from margin_test(r.kind, r.test, "a tested margin", "test")
    if r.suspect_gain is not None and isinstance(r.margin, float) and r.suspect_gain <= r.margin:
        message = f"suspect_gain {r.suspect_gain:g} is not above margin {r.margin:g}: no gain could pass"
        yield conflict(message, "suspect_gain")


def _within_scale(r: Rule, key: str, value: Any) -> Iterator[Finding]:
    """An amount that no two values of the scale are apart decides nothing, or everything."""
    if r.scale is not None and isinstance(value, float) and value >= r.scale[1] - r.scale[0] > 0:
        span = r.scale[1] - r.scale[0]
        yield conflict(f"{key} {value:g} is not smaller than the whole scale ({span:g})", key)


def guardrail(r: Guardrail) -> Iterator[Finding]:
    """A guardrail and its mode."""
    yield from rule(r)
    yield from _mode_keys(r)
    yield from _bounds(r)
    for key in ("tolerance", "detect"):
        yield from is_share(r.kind, getattr(r, key), key)
        yield from _within_scale(r, key, getattr(r, key))
    if r.mode == "non_inferior" and amount(r.tolerance) > 0:
        yield from margin_test(r.kind, r.test, "a tolerance", "test")


def _mode_keys(r: Guardrail) -> Iterator[Finding]:
    every = set().union(*_MODE_KEYS.values())
    for key in sorted(every - _MODE_KEYS[r.mode]):
        if key in r.model_fields_set and getattr(r, key) is not None:
            home = ", ".join(mode for mode, keys in _MODE_KEYS.items() if key in keys)
            yield conflict(f"mode {r.mode} takes no {key}", key, advice=f"{key} is for mode {home}")
    if r.mode == "non_inferior" and r.tolerance is None:
        advice = "add tolerance, or choose mode no_regression, limit or churn"
        yield _missing("mode non_inferior needs a tolerance: the largest loss that is acceptable", advice)


def _missing(message: str, advice: str = "", *path: str | int) -> Finding:
    return Finding("missing_key", message, advice, path)


def _bounds(r: Guardrail) -> Iterator[Finding]:
    if r.mode == "limit" and r.min is None and r.max is None:
        yield _missing("mode limit needs min or max")
    if r.mode == "limit" and r.min is not None and r.max is not None and r.min > r.max:
        yield conflict(f"min {r.min:g} is above max {r.max:g}", "min")
    if r.mode == "churn" and r.max is None:
        yield _missing("mode churn needs max: the largest share of items that may be lost")
    if r.mode == "limit":
        yield from is_share(r.kind, r.min, "min")
    if r.mode in {"limit", "churn"}:
        yield from is_share("binary" if r.mode == "churn" else r.kind, r.max, "max")


def slices(s: Slices) -> Iterator[Finding]:
    """The slices section."""
    yield from is_new(s.by, "by")
    if s.mode == "non_inferior" and s.tolerance is None:
        yield _missing("mode non_inferior needs a tolerance: the largest loss that is acceptable", "", "mode")
    for column, values in s.named.items():
        if column not in s.by:
            message = f"named gives slices of {quoted(column)}, which is not in by"
            yield conflict(message, "named", column)
        yield from is_new(values, "named", column)


def items(i: Items) -> Iterator[Finding]:
    """The items section."""
    yield from is_new(i.comparable, "comparable")
    if isinstance(i.must_pass, list):
        yield from is_new(i.must_pass, "must_pass")
    columns: Path = ("id", "repeat", "cluster")
    for index, key in enumerate(columns[1:], 1):
        for other in columns[:index]:
            if getattr(i, str(key)) is not None and getattr(i, str(key)) == getattr(i, str(other)):
                yield conflict(f"{key} and {other} cannot be the same column", key)
    if i.missing == "error" and i.max_missing > 0:
        advice = "with missing: worst or drop it says how many"
        yield conflict("with missing: error nothing may be missing", "max_missing", advice=advice)
    if i.unit == "seed" and i.min < 5:
        yield conflict(f"with unit: seed, min is at least 5 (found {i.min})", "min")


def artifacts(a: Artifacts) -> Iterator[Finding]:
    """The artifacts section: labels in one of their two forms."""
    lists = [word for word, value in a.labels.items() if isinstance(value, list)]
    if lists and set(a.labels) - {"pass", "fail"}:
        odd = next(word for word in a.labels if word not in {"pass", "fail"})
        advice = "write {pass: [...], fail: [...]} or {WORD: value, ...}"
        yield conflict(
            f"lists of words go under pass and fail (found {quoted(odd)})", "labels", odd, advice=advice
        )
    seen: set[str] = set()
    for word in lists:
        for index, value in enumerate(list(a.labels[word])):  # type: ignore[arg-type]
            if repr(value) in seen:
                yield conflict(f"{quoted(str(value))} is there twice", "labels", word, index)
            seen.add(repr(value))
    for column in [column for column in a.failed if column in a.completed]:
        both = {str(word) for word in a.failed[column]} & {str(word) for word in a.completed[column]}
        if both:
            found = f"{quoted(min(both))} of {quoted(column)} cannot say failed and completed at once"
            yield conflict(found, "completed", column, advice="keep it in one of the two")
