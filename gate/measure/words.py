"""Numbers and lists as a person reads them in one sentence."""

from __future__ import annotations

import math


def signed(value: float | None) -> str:
    """A difference: ``+0.0260``."""
    return "none" if value is None else f"{_plain(value, '+')}"


def number(value: float | None) -> str:
    """A value, a bound or a share: ``0.0260``."""
    return "none" if value is None else _plain(value, "")


def p_value(value: float | None) -> str:
    """A probability with four decimals; a smaller one is named as such."""
    if value is None:
        return "none"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def span(low: float, high: float) -> str:
    """Both ends of an interval of differences."""
    return f"[{signed(low)}, {signed(high)}]"


def count(n: int, one: str, many: str = "") -> str:
    """``1 item``, ``2 items``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _plain(value: float, sign: str) -> str:
    """Four decimals for shares and scores; fewer for large values, more for small ones; an exact 0 is 0."""
    if not math.isfinite(value):
        return "unbounded"
    size = abs(value)
    if size == 0:
        return "0"
    digits = next((d for least, d in ((1000, 1), (100, 2), (10, 3), (0.001, 4)) if size >= least), 6)
    return f"{value:{sign}.{digits}f}"
