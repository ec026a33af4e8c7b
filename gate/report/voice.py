"""Numbers as a person reads them: in the metric's own unit and direction, beside what was asked for.

Pass/fail is percent and points. A sign is the metric's own (a latency that rises is +), a word says what
that means (slower). Formatting only: nothing here decides or estimates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

from gate.policy.kinds import KINDS
from gate.report.model import Comparison, Gating, Interval
from gate.values import Direction, Kind, Mode

WORDS = (
    (r"_m?s$|^m?s$|latency|duration|seconds", "slower", "faster"),
    (r"cost|price|_usd$|_eur$", "dearer", "cheaper"),
    (r"tokens|words", "more", "fewer"),
)
"""A name's pattern, and what a rise and a fall of it are called."""
_WIDE = Context(prec=400)


def is_share(block: Comparison) -> bool:
    """Whether values are shares of the items, said as percent."""
    return KINDS[block.kind].tested_as == Kind.BINARY


def value(number: float | None, block: Comparison) -> str:
    """``59.4 %`` or ``860.5``: a level of the metric."""
    if number is None:
        return "not known"
    if is_share(block):
        return f"{_plain(number, _share_digits(block), shift=2)} %"
    return _plain(number, _digits(block))


def moved(block: Comparison) -> str:
    """``59.4 % -> 62.9 %``; empty where a side is not known."""
    if block.baseline is None or block.candidate is None:
        return value(block.candidate, block) if block.candidate is not None else ""
    return f"{value(block.baseline, block)} -> {value(block.candidate, block)}"


def change(block: Comparison) -> str:
    """``+3.5 points [+2.1, +4.9]`` or ``2.8 % slower [2.4, 3.1]``; what is not a mean is named first."""
    if block.delta is None:
        return ""
    if block.estimand is not None:
        name, found = block.estimand.name.replace("_", "-"), block.estimand.value
        ends = _ends(block.interval, block)
        return f"{name} change {_signed(found, block)}{ends}; the mean moved {_signed(block.delta, block)}"
    if _as_percent(block):
        rises = _rises(block)
        sign = 1.0 if rises else -1.0
        base = abs(block.baseline or 1.0) / sign
        size = _plain(_raw(block.delta, block) / base, 1, shift=2)
        return f"{size} % {_word(block, rises=rises)}{_relative_ends(block, base)}"
    unit = " points" if is_share(block) else ""
    return f"{_signed(block.delta, block)}{unit}{_harm(block)}{_ends(block.interval, block)}"


def ends(low: float | None, high: float | None, block: Comparison) -> str:
    """``[+2.1, +4.9]``: the ends of another interval of the same change."""
    return _ends(Interval(low, high, 0.0, ""), block).strip()


def size(block: Comparison) -> str:
    """The change without its interval: ``3.5 points``."""
    if block.delta is None:
        return ""
    return amount(abs(block.delta), block)


def amount(number: float, block: Comparison) -> str:
    """A size without sign: ``2.0 points`` or ``0.25``."""
    if is_share(block):
        return f"{_plain(number, 1, shift=2)} points"
    return _plain(number, _digits(block))


def worst(block: Comparison) -> str:
    """The end of the interval that is least favourable: ``12.0 % slower``, ``-2.1 points``."""
    low = None if block.interval is None else block.interval.low
    if low is None:
        return "of any size"
    if _as_percent(block):
        rises = (block.direction == Direction.LOWER) == (low < 0)
        percent = _plain(abs(low) / abs(block.baseline or 1.0), 1, shift=2)
        return f"{percent} % {_word(block, rises=rises)}"
    return f"{_signed(low, block)}{' points' if is_share(block) else ''}"


def asked(block: Comparison) -> str:
    """What the policy asks: ``at least +1.0``, ``up to 10 % slower``, ``at most 2.0 %``."""
    match block.mode:
        case Mode.GATING:
            return _margin(block)
        case Mode.NON_INFERIOR | Mode.SLICE_NON_INFERIOR:
            return f"up to {tolerance(block)}"
        case Mode.LIMIT:
            return _limits(block)
        case Mode.CHURN:
            return f"at most {_percent(block.upper_bound)}"
        case Mode.WORST_ITEM if block.bound is not None:
            return f"no item loses more than {amount(block.bound, block)}"
        case Mode.TAIL if block.bound is not None:
            return f"worst {_percent(block.share)} lose at most {amount(block.bound, block)}"
        case Mode.MUST_PASS:
            return "none newly failing"
        case Mode.NO_REGRESSION | Mode.SLICE_NO_REGRESSION:
            return "no significant loss"
    return "watched: nothing guards it" if block.mode == Mode.WATCH else ""


def tolerance(block: Comparison) -> str:
    """``10 % slower``, ``2.0 points``, ``0.25``: the largest loss that is accepted."""
    loss = _word(block, rises=block.direction == Direction.LOWER)
    if block.relative is not None:
        return f"{_percent(block.relative)} {loss}"
    return "a loss" if block.bound is None else f"{amount(block.bound, block)} {loss}"


def probability(found: float | None) -> str:
    """``p 0.0212`` or ``p < 0.0001``."""
    if found is None:
        return "no p"
    return "p < 0.0001" if found < 0.0001 else f"p {_plain(found, 4)}"


def question(block: Comparison) -> str:
    """What the one-sided p answers: ``if there were no gain``."""
    if block.mode in {Mode.NO_REGRESSION, Mode.SLICE_NO_REGRESSION}:
        return "if there were no loss"
    if block.mode in {Mode.NON_INFERIOR, Mode.SLICE_NON_INFERIOR}:
        return f"if it were {tolerance(block)}"
    if block.null_value:
        return f"if the gain were {amount(block.null_value, block)}"
    return "if there were no gain"


def list_of(names: Sequence[str], most: int = 5) -> str:
    """The first names, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def share(found: float | None) -> str:
    """``3.3 %``: a share of the items."""
    return _percent(found)


def _margin(block: Comparison) -> str:
    if block.relative is not None:
        better = _word(block, rises=block.direction != Direction.LOWER, better=True)
        return f"at least {_percent(block.relative)} {better}"
    if not block.bound:
        return "a gain"
    sign = "-" if block.direction == Direction.LOWER else "+"
    unit = 2 if is_share(block) else 0
    return f"at least {sign}{_plain(block.bound, 1 if unit else _digits(block), shift=unit)}"


def _limits(block: Comparison) -> str:
    ends = (("at least", block.bound), ("at most", block.upper_bound))
    form = _percent if is_share(block) else lambda end: value(end, block)
    return " and ".join(f"{words} {form(end)}" for words, end in ends if end is not None)


def _percent(found: float | None) -> str:
    if found is None:
        return "not known"
    rest = found * 100 % 1  # not a number where that is beyond a float
    whole = found >= 0.1 and min(rest, 1 - rest) < 1e-9
    return f"{_plain(found, 0 if whole else 1, shift=2)} %"


def _as_percent(block: Comparison) -> bool:
    """A graded metric under a relative bound, or one of which more or less is a cost, is said in percent."""
    if is_share(block) or not block.baseline or block.baseline < 0:
        return False
    return block.relative is not None or (block.mode == Mode.WATCH and _named(block) is not None)


def _raw(delta: float, block: Comparison) -> float:
    return -delta if block.direction == Direction.LOWER else delta


def _rises(block: Comparison) -> bool:
    return _raw(block.delta or 0.0, block) >= 0


def _named(block: Comparison) -> tuple[str, str] | None:
    lowered = block.metric.lower()
    return next(((up, down) for form, up, down in WORDS if re.search(form, lowered)), None)


def _word(block: Comparison, *, rises: bool, better: bool = False) -> str:
    up, down = _named(block) or ("higher", "lower")
    found = up if rises else down
    harm = rises == (block.direction == Direction.LOWER) and block.direction != Direction.NEUTRAL
    return "worse" if harm and not better and found in {"higher", "lower"} else found


def _harm(block: Comparison) -> str:
    """The word beside an absolute change, where the name has one or where it harms."""
    named = _named(block)
    still = round(block.delta or 0.0, _digits(block)) == 0
    if is_share(block) or named is None or still:
        return ""
    return f" {named[0] if _rises(block) else named[1]}"


def _ends(interval: Interval | None, block: Comparison) -> str:
    if interval is None:
        return ""
    ends = (interval.low, interval.high)
    low, high = ends[::-1] if block.direction == Direction.LOWER else ends
    return f" [{_signed(low, block)}, {_signed(high, block)}]"


def _relative_ends(block: Comparison, base: float) -> str:
    if block.interval is None:
        return ""
    ends = (block.interval.low, block.interval.high)
    found = [None if end is None else _raw(end, block) / base for end in ends]
    known = sorted(found, key=lambda end: math.inf if end is None else end)
    words = ["unbounded" if end is None else _plain(end, 1, shift=2) for end in known]
    return f" [{words[0]}, {words[1]}]"


def _signed(number: float | None, block: Comparison) -> str:
    if number is None:
        return "unbounded"
    raw = _raw(number, block)
    if is_share(block):
        return _plain(raw, _change_digits(block), shift=2, sign="+")
    return _plain(raw, _digits(block), sign="+")


def _share_digits(block: Comparison) -> int:
    """One decimal; two where both sides are below 1 %."""
    largest = max((abs(side) for side in (block.baseline, block.candidate) if side is not None), default=1.0)
    return 2 if 0 < largest < 0.01 else 1


def _change_digits(block: Comparison) -> int:
    delta = abs(block.delta or 0.0)
    return 2 if 0 < delta < 0.0005 else _share_digits(block)


def _digits(block: Comparison) -> int:
    """Decimals of a graded value: one more than the bound, or the change, has."""
    margin = block.margin if isinstance(block, Gating) else block.bound
    step = margin if margin and block.relative is None else block.delta
    sides = [abs(side) for side in (block.baseline, block.candidate) if side]
    step = abs(step or 0.0) or (max(sides) / 100 if sides else 0.0)
    if not (math.isfinite(step) and step > 0):
        return 2
    least = 1 if max(sides, default=0.0) < 10_000 else 0
    return min(8, max(least, 1 - math.floor(math.log10(step))))


def _plain(number: float, digits: int, *, shift: int = 0, sign: str = "") -> str:
    """Fixed decimals, half away from zero, thousands marked. An exact 0 has no sign and no decimals."""
    if not math.isfinite(number):
        return "unbounded"
    if number == 0:
        return "0"
    if not 1e-9 < abs(number) < 1e15:
        return f"{number * 10.0**shift:{sign}.3g}"
    exact = Decimal(repr(number)).scaleb(shift, context=_WIDE)
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=_WIDE)
    return f"{rounded:{sign},f}" if rounded else f"{rounded.copy_abs():f}"
