"""Which tests bound the chance of a false pass, and what breaks the level of the others."""

from __future__ import annotations

from typing import Final

BOUNDED: Final = frozenset({"mcnemar_exact", "exact_unconditional", "gaffke"})
"""Exact or guaranteed for the mean of independent items: a false pass is never likelier than the level."""

_FEW = "it is a large-sample test, so few changed items can carry the chance beyond it"
_SKEW = "strongly skewed differences, such as rare large losses that the set hardly shows, would break it"
_SYMMETRIC = "it is exact where gains and losses mirror each other; skewed differences would break it"
_CLUSTERS = "few clusters, unequal ones or skewed totals would break it"

BREAKS: Final = {
    "mcnemar_midp": "half of the observed table's chance is left out, so it can be passed by a little",
    "mcnemar_chi2": _FEW,
    "mcnemar_edwards": _FEW,
    "tango": _FEW,
    "t_guarded": _SKEW,
    "paired_t": _SKEW,
    "bootstrap": f"few items would break it; {_SKEW}",
    "bootstrap_bca": f"few items would break it; {_SKEW}",
    "bootstrap_t": f"few items would break it; {_SKEW}",
    "sign_flip": _SYMMETRIC,
    "bca_sign_flip": f"few seeds would break it; {_SYMMETRIC}",
    "wilcoxon": _SYMMETRIC,
    "wilcoxon_pratt": _SYMMETRIC,
    "sign": "it is exact about whether more items gain than lose; large losses would break it for the mean",
    "cluster": _CLUSTERS,
    "cluster_cr2": _CLUSTERS,
    "cluster_sign_flip": f"it is exact where clusters' gains and losses mirror each other; {_CLUSTERS}",
    "cluster_bootstrap": _CLUSTERS,
    "obuchowski": _CLUSTERS,
    "durkalski": _CLUSTERS,
    "yang": _CLUSTERS,
}


def assurance(method: str, level: float, *, plugged_in: bool = False) -> str:
    """``bounded by 0.025``, or ``held to a nominal 0.025`` with what would break it.

    plugged_in: the tested bound is a share of the observed baseline, taken as if it were known.
    """
    if method in BOUNDED and not plugged_in:
        return f"bounded by {level:g}"
    why = "the bound is a share of the observed baseline, which is not known exactly"
    if method not in BOUNDED:
        why = BREAKS.get(method, "its error is not known")
    return f"held to a nominal {level:g} ({method}: {why})"
