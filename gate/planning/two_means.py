"""Two outcome counts and no items: why they decide nothing, whatever they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gate.measure.words import count, p_value
from gate.stats.pairs import from_counts
from gate.stats.procedures import run
from gate.values import GateError

COUNTS = re.compile(r"(\d{1,9})/(\d{1,9})")
LEVEL = 0.025
MOST = 1_000_000
DEMO = ("530/1000", "543/1000")


def are_counts(given: Sequence[str]) -> bool:
    """Whether both arguments are passes of items, as ``530/1000``."""
    return all(COUNTS.fullmatch(text) for text in given)


def two_means_lines(baseline: str, candidate: str) -> Iterator[str]:
    """The same two means with few and with many changed items, and what each would mean."""
    (old, n), (new, m) = (_counts(text) for text in (baseline, candidate))
    if n != m:
        raise GateError(
            "usage",
            f"the two counts are of different numbers of items ({n:,} and {m:,})",
            help="compare both systems on the same items",
        )
    gain = new - old
    points = f"{100 * gain / n:+.1f} points"
    yield f"{old:,} of {n:,} and {new:,} of {n:,} passed: {points}. That alone decides nothing."
    yield "The same two means, if so many items came out otherwise:"
    yield ""
    for changed in _numbers_changed(old, new, n):
        yield f"  {_meaning(changed, gain, old, n)}"
    yield ""
    yield "Only the items say which it is: a file for each side, one row an item with its id and result."
    yield "next: gate compare baseline.jsonl candidate.jsonl"


def demo_lines() -> Iterator[str]:
    """The lesson first: ``gate demo``."""
    yield '"The new prompt is 1.3 points better." Is it?'
    yield ""
    yield from two_means_lines(*DEMO)


def _counts(text: str) -> tuple[int, int]:
    passed, n = (int(part) for part in text.split("/"))
    if not 0 < n <= MOST or passed > n:
        raise GateError("usage", f"{text} are no passes of items", help="write them as 530/1000")
    return passed, n


def _numbers_changed(old: int, new: int, n: int) -> list[int]:
    """The fewest items that can have changed, a tenth of all, and the most."""
    gain = new - old
    fewest, most = abs(gain), 2 * min(new, n - old) - gain
    tenth = fewest + 2 * (max(0, n // 10 - fewest) // 2)
    return sorted({fewest, min(tenth, most), most})


def _meaning(changed: int, gain: int, old: int, n: int) -> str:
    better, worse = (changed + gain) // 2, (changed - gain) // 2
    counts = f"{count(better, 'item')} better, {worse:,} worse:"
    if not changed:
        return f"{counts} the two never differ"
    found = run("mcnemar_exact", from_counts(better, worse, n, old - worse), 0.0, LEVEL)
    low, high = (100 * end for end in (found.interval.low, found.interval.high))
    p = p_value(found.p_two_sided)
    verdict = "no accident" if found.p_two_sided < 2 * LEVEL else "chance gives as much"
    return f"{counts} 95 % interval {low:+.1f} to {high:+.1f} points, p {p}; {verdict}"
