"""Numbers of a report as a person reads them. Formatting only: nothing here is worked out."""

from __future__ import annotations

from gate.measure.words import number, p_value, signed
from gate.report.model import Interval


def difference(value: float | None, kind: str) -> str:
    """``+0.0260 (+2.6 points)``; points only where the unit is a share of the items."""
    return f"{signed(value)} ({points(value, '+')})" if value and kind == "binary" else signed(value)


def amount(value: float | None, kind: str) -> str:
    """A size without a sign: ``0.0126 (1.26 points)``."""
    return f"{number(value)} ({points(value)})" if value and kind == "binary" else number(value)


def points(value: float, sign: str = "") -> str:
    """A share of the items in points, two decimals at most; rounded as the share itself is printed."""
    text = f"{100 * float(f'{value:.4f}'):{sign}.2f}"
    return f"{text[:-1] if text.endswith('0') else text} points"


def span(interval: Interval | None) -> str:
    """``[+0.0133, +0.0386]``; an end that the data cannot bound is named so."""
    return "none" if interval is None else ends(interval.low, interval.high)


def ends(low: float | None, high: float | None) -> str:
    """The same from the two ends."""
    words = ["unbounded" if end is None else signed(end) for end in (low, high)]
    return f"[{words[0]}, {words[1]}]"


def confidence(interval: Interval | None) -> str:
    """``95 %``; more digits where a look ledger asks for them."""
    return "" if interval is None else f"{100 * interval.confidence:.4g} %"


def percent(share: float | None) -> str:
    """A share as a whole percentage."""
    return "none" if share is None else f"{100 * share:.0f} %"


def probability(value: float | None) -> str:
    """``p 0.0002`` or ``p < 0.0001``."""
    return f"p {p_value(value)}"


def whole(value: float | None) -> str:
    """A count with its thousands marked."""
    return "none" if value is None else f"{value:,}"


def compact(value: float, sign: str = "") -> str:
    """One item's value: ``1`` for a pass, ``+0.2500`` for a difference of graded scores."""
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{int(value):{sign}d}"
    return signed(value) if sign else number(value)
