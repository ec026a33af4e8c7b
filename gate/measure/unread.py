"""Columns that may say that runs failed: filled on one side only, they could make the whole difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.artifacts.table import Unread
from gate.measure.words import p_value
from gate.pairing import PairedTable
from gate.safe import examples
from gate.stats.fisher import fisher_two_sided
from gate.values import Caution

UNEVEN = 0.01
"""Two-sided p of Fisher's exact test below which a column counts as filled unevenly."""


@dataclass(frozen=True, slots=True)
class UnreadRuns:
    """faults: what makes the run inconclusive, by column. cautions: what both sides have alike."""

    faults: Mapping[str, Caution] = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()


def unread_runs(tables: Mapping[str | None, PairedTable]) -> UnreadRuns:
    """What the columns of all item sets say of runs that are not read as failed."""
    faults: dict[str, Caution] = {}
    cautions: dict[str, Caution] = {}
    for table in tables.values():
        first, second = ({found.column: found for found in side} for side in table.unread)
        for column in sorted({*first, *second}):
            before, after = _sides(first.get(column), second.get(column), table.runs)
            fault = _fault(before, after)
            if fault is not None:
                faults.setdefault(column, fault)
            elif not before.reserved and before.words != after.words:
                text = f"{_counts(before, after)}, and counts as completed: {_what_to_do(before, after)}"
                cautions.setdefault(column, Caution("runs_unread", text))
    return UnreadRuns(faults, tuple(cautions.values()))


def _sides(before: Unread | None, after: Unread | None, runs: tuple[int, int]) -> tuple[Unread, Unread]:
    """Both sides; one that lacks the column, or has nothing of the kind in it, says nothing."""
    known = before or after
    assert known is not None
    empty = [Unread(known.column, {}, count, known.by_word, known.reserved) for count in runs]
    return before or empty[0], after or empty[1]


def _fault(before: Unread, after: Unread) -> Caution | None:
    if before.by_word:
        for side, other, names in (
            (before, after, ("baseline", "candidate")),
            (after, before, ("candidate", "baseline")),
        ):
            alone = {word: count for word, count in side.words.items() if word not in other.words}
            if alone:
                return Caution("status_on_one_side", _alone(side, alone, *names))
    if before.reserved:
        return None
    filled = [sum(side.words.values()) for side in (before, after)]
    p = fisher_two_sided(filled[0], before.runs, filled[1], after.runs)
    if p >= UNEVEN:
        return None
    found = f"{_counts(before, after)} (two-sided Fisher p {p_value(p)})"
    return Caution("errors_uneven", f"{found}: {_what_to_do(before, after)}")


def _alone(side: Unread, words: Mapping[str, int], name: str, other: str) -> str:
    found = f"{examples(sorted(words))} in {sum(words.values())} of {side.runs} {name} runs"
    only = Unread(side.column, words, side.runs, by_word=True)
    return f"{side.column} is {found} and in no {other} run: {_what_to_do(only, only)}"


def _counts(before: Unread, after: Unread) -> str:
    filled = [f"{sum(side.words.values())} of {side.runs}" for side in (before, after)]
    found = examples(sorted({*before.words, *after.words}))
    what = f"is {found}" if before.by_word else f"is filled ({found})"
    return f"{before.column} {what} in {filled[0]} baseline runs and in {filled[1]} candidate runs"


def _what_to_do(before: Unread, after: Unread) -> str:
    """The keys that say what it means: by the word where every run has one, else whatever stands there."""
    column, words = before.column, sorted({*before.words, *after.words})
    word = words[0] if len(words) == 1 else "WORD"
    says = f"{{{column}: [{word if before.by_word else repr('*')}]}}"
    return (
        f"if it says that the run failed, write artifacts: {{failed: {says}}}; "
        f"if not, artifacts: {{completed: {says}}}"
    )
