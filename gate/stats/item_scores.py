"""Metrics that are a mean over items after all: each item's own value, for the tests of pairs.

Accuracy is pass/fail and goes to McNemar's test; log loss and the Brier score are graded, lower is better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.labelled import Flags
from gate.stats.pairs import Floats
from gate.values import GateError

LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True, slots=True)
class LogLosses:
    """-log of the probability of the true label, float64[n] in [0, 34.54]; clipped: rows cut at 1e-15."""

    values: Floats
    clipped: int


def correct(labels: npt.ArrayLike, predictions: npt.ArrayLike) -> Floats:
    """1 where the prediction is the label, else 0; float64[n]. Labels of any type that compares."""
    gold, said = np.asarray(labels).ravel(), np.asarray(predictions).ravel()
    if gold.shape != said.shape:
        raise ValueError(f"labels and predictions must pair up (found {gold.size} and {said.size})")
    return np.asarray(gold == said, dtype=np.float64)


def squared_errors(positive: Flags, probabilities: Floats) -> Floats:
    """(probability - label)^2, float64[n] in [0, 1]; their mean is the Brier score (Brier 1950).

    Raises GateError ``outside_scale`` where a probability lies outside [0, 1].
    """
    return np.asarray((_checked(probabilities) - positive) ** 2, dtype=np.float64)


def log_losses(positive: Flags, probabilities: Floats) -> LogLosses:
    """Log loss of each row, natural logarithm, probabilities clipped to [1e-15, 1 - 1e-15].

    A clipped row says that the true loss is larger than what is counted. Raises GateError ``outside_scale``.
    """
    p = _checked(probabilities)
    inside = np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    losses = -np.where(positive, np.log(inside), np.log1p(-inside))
    return LogLosses(np.asarray(losses, dtype=np.float64), int(np.count_nonzero(inside != p)))


def _checked(probabilities: Floats) -> Floats:
    p = np.asarray(probabilities, dtype=np.float64)
    outside = ~((p >= 0) & (p <= 1))
    if outside.any():
        raise GateError(
            "outside_scale",
            f"probabilities must lie in [0, 1] (found {p[outside][0]:g})",
            help="log loss and brier need probabilities of the positive label, not scores or logits",
        )
    return p
