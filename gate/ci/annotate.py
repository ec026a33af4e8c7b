"""At most three annotations: the verdict, what must be known of it, and the first doubt about the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from gate.ci.policy_change import PolicyChange
from gate.ci.results import Result
from gate.safe import AnnotationLevel, github_annotation
from gate.values import Status

MOST: Final = 3
_LEVELS: Final[Mapping[str, AnnotationLevel]] = {
    "promote": "notice",
    "hold": "warning",
    "inconclusive": "warning",
    "advisory": "notice",
}


def annotation_lines(result: Result, change: PolicyChange | None, notes: Sequence[str]) -> list[str]:
    """The lines for the log."""
    return list(islice(_all(result, change, notes), MOST))


def _all(result: Result, change: PolicyChange | None, notes: Sequence[str]) -> Iterator[str]:
    text = ". ".join(part for part in (result.reason, result.help) if part)
    yield github_annotation(_LEVELS.get(result.verdict, "error"), f"gate: {result.verdict}", text)
    if change is not None and change.weakens:
        text = " ".join((change.headline, *change.details))
        yield github_annotation("warning", "gate: the change weakens the policy", text)
    for note in notes:
        yield github_annotation("warning", "gate", note)
    if result.report is None:
        return
    # The first failing rule after the one that the verdict's annotation already names.
    for reason in [later for later in result.report.reasons[1:] if later.status == Status.FAIL][:1]:
        yield github_annotation("error", f"gate: {reason.rule}", reason.message)
    for caution in result.report.cautions[:1]:
        yield github_annotation("warning", f"gate: {caution.code}", caution.message)
