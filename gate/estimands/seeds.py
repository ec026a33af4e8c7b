"""One result a seed: a handful of items, each a whole run."""

from __future__ import annotations

from dataclasses import replace

from gate.estimands.graded import default_test
from gate.estimands.model import Estimand


def of_seeds(items: Estimand) -> Estimand:
    """As ``items``, tested by the protocol made for seeds where the mean is tested.

    A handful of seeds is below what tests of the mean can carry; their default is the BCa interval and the
    sign-flip test together (arXiv 2511.19794).
    """
    return replace(items, default_test=_default_test) if items.default_test is default_test else items


def _default_test(null_value: float, assurance: str) -> str:
    return "bca_sign_flip" if assurance == "standard" else default_test(null_value, assurance)
