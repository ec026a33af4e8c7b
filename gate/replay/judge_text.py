"""What was found of a judge, for people, as Markdown that also reads well as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gate.run.judge_evidence import Found, Number, Side
from gate.safe import markdown_prose, terminal_line

_WORDS = {
    "valid": "the judge may gate",
    "not_valid": "the judge may not gate",
    "inconclusive": "not shown that the judge may gate",
}


Clean = Callable[[object], str]


def markdown(found: Found) -> str:
    """The whole finding, for a page."""
    return "\n".join(_lines(found, markdown_prose)) + "\n"


def terminal(found: Found) -> str:
    """The same for a terminal."""
    return "\n".join(_lines(found, terminal_line))


def _lines(found: Found, clean: Clean) -> Iterator[str]:
    metric, human = clean(found.metric), clean(found.human)
    yield f"# Judge {metric} against {human}: {_WORDS[found.verdict]}"
    yield ""
    for reason in found.reasons:
        yield f"- {reason.status}: {reason.rule}: {clean(reason.message)}"
    yield ""
    yield "| | value | 95 % interval | n |"
    yield "|---|---|---|---|"
    yield _row("people: candidate - baseline", found.human_delta)
    yield _row("judge: candidate - baseline", found.judge_delta)
    yield _row("judge's delta minus people's", found.bias)
    yield _row("agreement", found.agreement)
    yield _row("Cohen's kappa", found.kappa)
    for name, side in (("baseline", found.baseline), ("candidate", found.candidate)):
        yield from _of_side(name, side)
    if found.length is not None:
        yield _row("correlation with added length", found.length)
    if found.inconsistent is not None:
        yield _row("contradicts itself", found.inconsistent)
    for part in found.parts:
        yield _row(f"judge's delta minus people's, {clean(part.column)}={clean(part.value)}", part.bias)
    if found.cautions:
        yield ""
    for caution in found.cautions:
        yield f"- caution: {clean(caution)}"
    yield ""
    yield (
        "This is about these outputs and these people. It says nothing of other systems' outputs, and a "
        "judge that agrees with people is wrong where they are."
    )


def _of_side(name: str, side: Side) -> Iterator[str]:
    for what, number in (
        ("sensitivity (people pass, judge passes)", side.sensitivity),
        ("specificity (people fail, judge fails)", side.specificity),
        ("judge minus people", side.bias),
    ):
        if number is not None:
            yield _row(f"{name}: {what}", number)


def _row(name: str, number: Number | None) -> str:
    if number is None:
        return f"| {name} | not measured | | |"
    low, high = ("unknown" if end is None else f"{end:.4g}" for end in (number.low, number.high))
    return f"| {name} | {number.value:.4g} | {low} to {high} | {number.n} |"
