"""Which of two values of a key is the looser one: (old, new) to the effect of the new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Effect = Literal["weaker", "stronger", "different"]
Compare = Callable[[Any, Any], Effect]


def not_comparable(_old: Any, _new: Any) -> Effect:
    """Neither value is the looser one: the old agreement does not say what the new one says."""
    return "different"


def smaller_is_weaker(old: Any, new: Any) -> Effect:
    """A floor: lowering it, or taking it away, lets more through."""
    return _ordered(old, new, up="stronger", down="weaker")


def larger_is_weaker(old: Any, new: Any) -> Effect:
    """A ceiling: raising it, or taking it away, lets more through."""
    return _ordered(old, new, up="weaker", down="stronger")


def _ordered(old: Any, new: Any, *, up: Effect, down: Effect) -> Effect:
    if new is None or old is None:
        return "weaker" if new is None else "stronger"
    before, after = (getattr(value, "relative", None) for value in (old, new))
    if (before is None) != (after is None):
        return "different"
    rises = new > old if after is None or before is None else after > before
    return up if rises else down


def off_is_weaker(old: Any, new: Any) -> Effect:
    """A safeguard that can be there or not; another one in its place is not comparable."""
    if old and new:
        return "different"
    return "stronger" if new else "weaker"


def on_is_weaker(_old: Any, new: Any) -> Effect:
    """A permission."""
    return "weaker" if new else "stronger"


def fewer_is_weaker(old: Any, new: Any) -> Effect:
    """A list of safeguards: what was taken out counts, whatever came in. Another form is not comparable."""
    if old and new and not (isinstance(old, list) and isinstance(new, list)):
        return "different"
    if set(old or ()) - set(new or ()):
        return "weaker"
    return "stronger" if set(new or ()) - set(old or ()) else "different"


def fewer_named(old: dict[str, list[str]], new: dict[str, list[str]]) -> Effect:
    """The same for lists under names."""
    before, after = (
        [f"{key}={value}" for key, values in side.items() for value in values] for side in (old, new)
    )
    return fewer_is_weaker(before, after)


def strict_to_loose(*words: str) -> Compare:
    """Words in their order from strict to loose."""

    def compare(old: Any, new: Any) -> Effect:
        return "weaker" if words.index(new) > words.index(old) else "stronger"

    return compare


def missing_results(old: Any, new: Any) -> Effect:
    """An error is the strictest. ``worst`` can drown a graded veto in spread, so it has no order."""
    if new == "error":
        return "stronger"
    return "different" if (old, new) == ("drop", "worst") else "weaker"


def planned_looks(old: Any, new: Any) -> Effect:
    """More looks give each a smaller level, and later ones any; fewer the reverse."""
    if new is None:
        return "weaker"
    return "stronger" if old is None else "different"


def correction_of_vetoes(old: str, new: str) -> Effect:
    """A veto that is corrected more sees less: more correction is the weaker gate.

    Less correction is no plain gain either, since the best of several challengers is corrected less too.
    """
    order = ["none", "bh", "hochberg", "holm", "bonferroni"]
    if old in {"none", "bh"} and new == "by":
        return "weaker"
    if "by" in {old, new}:
        return "different"
    return "weaker" if order.index(new) > order.index(old) else "different"


def correction_of_challengers(old: str, new: str) -> Effect:
    """Without vetoes it only guards the best of several challengers: less correction is weaker."""
    order = ["bonferroni", "holm", "hochberg", "bh", "none"]
    if old == "by" and new in {"bh", "none"}:
        return "weaker"
    if new == "by" and old in {"bh", "none"}:
        return "stronger"
    if "by" in {old, new}:
        return "different"
    return "weaker" if order.index(new) > order.index(old) else "stronger"
