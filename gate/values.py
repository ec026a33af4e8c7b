"""The values that every room shares: the words of a decision, the one error a user can cause, cautions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__version__ = "0.1.0"

EXIT_PROMOTE = 0
EXIT_BLOCK = 1
EXIT_CANNOT_DECIDE = 2
EXIT_INCONCLUSIVE = 3
EXIT_HOLD = 4
EXIT_BUG = 70


class Verdict(StrEnum):
    """What the gate says of a candidate."""

    PROMOTE = "promote"
    BLOCK = "block"
    INCONCLUSIVE = "inconclusive"
    HOLD = "hold"

    @property
    def exit_code(self) -> int:
        """What a pipeline sees."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Verdict.PROMOTE: EXIT_PROMOTE,
    Verdict.BLOCK: EXIT_BLOCK,
    Verdict.INCONCLUSIVE: EXIT_INCONCLUSIVE,
    Verdict.HOLD: EXIT_HOLD,
}


class Status(StrEnum):
    """What one rule says. not_decided: a rule that comes first failed. reported: of what is only watched."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    WAIVED = "waived"
    NOT_DECIDED = "not_decided"
    NOT_GATED = "not_gated"
    REPORTED = "reported"
    ERROR = "error"


class Role(StrEnum):
    """The part of the policy that asks for a comparison."""

    GATING = "gating"
    GUARDRAIL = "guardrail"
    MUST_PASS = "must_pass"
    SLICE = "slice"
    WATCH = "watch"


class Mode(StrEnum):
    """How a comparison is decided."""

    GATING = "gating"
    NON_INFERIOR = "non_inferior"
    NO_REGRESSION = "no_regression"
    LIMIT = "limit"
    CHURN = "churn"
    WORST_ITEM = "worst_item"
    TAIL = "tail"
    MUST_PASS = "must_pass"
    SLICE_NON_INFERIOR = "slice_non_inferior"
    SLICE_NO_REGRESSION = "slice_no_regression"
    WATCH = "watch"


class Kind(StrEnum):
    """What a metric is: pass/fail or a number per item, or a value of the whole set."""

    BINARY = "binary"
    GRADED = "graded"
    ACCURACY = "accuracy"
    BRIER = "brier"
    LOG_LOSS = "log_loss"
    AUC = "auc"
    AVERAGE_PRECISION = "average_precision"
    PRECISION_AT_K = "precision_at_k"
    RECALL_AT_K = "recall_at_k"
    LIFT_AT_K = "lift_at_k"
    F1 = "f1"
    PRECISION = "precision"
    RECALL = "recall"
    BALANCED_ACCURACY = "balanced_accuracy"
    MATTHEWS = "matthews"
    QUANTILE = "quantile"
    RATIO = "ratio"
    PREFERENCE = "preference"
    JUDGED = "judged"


class Direction(StrEnum):
    """Which way is better. neutral: only watched, for changes either way."""

    HIGHER = "higher"
    LOWER = "lower"
    NEUTRAL = "neutral"


LARGEST = 1e50
"""Numbers of files and policies lie between 1 / LARGEST and LARGEST (or are 0): more than single precision
holds, and little enough that squares, cubes and products of two of them stay finite and above 0."""


class GateError(Exception):
    """The gate cannot decide (exit 2): a usage, policy, artifact or history fault.

    code: stable machine name, e.g. ``duplicate_ids``. message: what is wrong and, in parentheses, what
    was found. where: ``FILE``, ``FILE:LINE`` or ``ARCHIVE!MEMBER``, empty if there is no place.
    help: what to do.
    """

    def __init__(self, code: str, message: str, *, where: str = "", help: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.help = help

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning that is a value: a stable code and one sentence for a person."""

    code: str
    message: str
