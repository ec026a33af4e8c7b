"""The method table: every test by its id, what it is for and what is known of it. Importing it is cheap.

The tests that policies may name, refusals, claims and plans are derived from it. To add a test: its function
in a module of this room, and one row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Form = Literal["counts", "t", "bootstrap", "sign_flip", "ranks", "bounded", "clusters", "set"]
"""How a test is called and guarded: ``gate.stats.procedures`` has one function a form. The one-sided p of
"counts" follows from four counts alone, so there it is known how far a result is from turning."""
Sample = Literal["pairs", "clusters", "set"]
SAMPLES: tuple[Sample, ...] = ("pairs", "clusters", "set")

FEWEST_CHANGED = 10
"""Differences that are not zero, without which no test of a mean answers at a null value of 0 or more."""
FEWEST_CLUSTERS = 6
CLUSTER_DEFAULTS = {"strict": "cluster_strict", "pooled": "cluster_pooled"}
"""What ``auto`` means for clusters, by ``items.cluster_skew``; each runs several tests, so none is named."""
CLUSTER_GUARANTEED = "cluster_gaffke"
_BY_DEFAULT = {*CLUSTER_DEFAULTS.values(), CLUSTER_GUARANTEED}


@dataclass(frozen=True, slots=True)
class Method:
    """One test.

    id: as policies name it, and the name of its function in this module of gate.stats.
    kinds: of metrics that may be tested so as they are (averaged repeats of pass/fail are graded). margin:
    whether m of H0 "delta <= m" may differ from 0. breaks: what would break its level; empty for a test
    that is exact or guaranteed for the mean of independent items: a false pass is never likelier than the
    level. estimand: what its interval is about. fewest: items, or clusters, below which it answers nothing.
    """

    id: str
    form: Form
    module: str
    kinds: frozenset[str]
    margin: bool
    breaks: str
    estimand: str = "mean"
    fewest: int = 1

    @property
    def bounded(self) -> bool:
        """Whether a false pass is never likelier than the level."""
        return not self.breaks

    @property
    def sample(self) -> Sample:
        """What it is given: single pairs, the totals of clusters, or all rows of the set."""
        return self.form if self.form in {"clusters", "set"} else "pairs"

    @property
    def mirrored(self) -> bool:
        """Whether it takes differences to mirror each other around m where H0 holds."""
        return self.form in {"sign_flip", "ranks"} or self.id == "cluster_sign_flip"

    @property
    def of_changes(self) -> bool:
        """Whether it is a test of the mean that ``FEWEST_CHANGED`` holds for."""
        return self.form in {"t", "bootstrap"}


_PASS_FAIL, _GRADED = frozenset({"binary"}), frozenset({"graded", "preference"})
_DECIDED = _PASS_FAIL | {"preference"}
_BOTH = _PASS_FAIL | _GRADED

_HALF = "half of the observed table's chance is left out, so it can be passed by a little"
_LARGE = "it is a large-sample test, so few changed items can carry the chance beyond it"
_SKEW = "strongly skewed differences, such as rare large losses that the set hardly shows, would break it"
_FEW_ITEMS = f"few items would break it; {_SKEW}"
_MIRROR = "it is exact where gains and losses mirror each other; skewed differences would break it"
_FEW_SEEDS = f"few seeds would break it; {_MIRROR}"
_SIGN = "it is exact about whether more items gain than lose; large losses would break it for the mean"
_CLUSTERS = "few clusters, unequal ones or skewed totals would break it"
_UNSEEN = "a kind of bad cluster that this set never showed would break it"
_MILD = f"few clusters of skewed effects would carry it to .05 at a nominal .025; {_UNSEEN}"
_MIRROR_CLUSTERS = f"it is exact where clusters' gains and losses mirror each other; {_CLUSTERS}"

_FEW_OF_A_CLASS = "few positives or negatives would break it, and scores on the rows a system was fitted to"
_FEW_ROWS = "it is slightly liberal, .05 to .08 at a nominal .05; few positives would break it further"
_DRAWN = "people's scores on items that were not drawn at random would break it, and few of them too"
_ROUGH = "it is a large-sample test: a denominator that is near 0, or few items that carry it, would break it"
_WHOLE_SET = frozenset(
    {"auc", "quantile", "average_precision", "precision_at_k", "recall_at_k", "lift_at_k"}
    | {"f1", "precision", "recall", "balanced_accuracy", "matthews"}
)


def _of_clusters(
    name: str, module: str, kinds: frozenset[str], breaks: str, estimand: str = "mean"
) -> Method:
    able = "graded" in kinds  # the clustered forms of McNemar's test are about 0
    return Method(
        name, "clusters", module, kinds, margin=able, breaks=breaks, estimand=estimand, fewest=FEWEST_CLUSTERS
    )


_ROWS = (
    Method("mcnemar_exact", "counts", "binary", _DECIDED, margin=False, breaks=""),
    Method("mcnemar_midp", "counts", "binary", _DECIDED, margin=False, breaks=_HALF),
    Method("mcnemar_chi2", "counts", "binary", _PASS_FAIL, margin=False, breaks=_LARGE),
    Method("mcnemar_edwards", "counts", "binary", _PASS_FAIL, margin=False, breaks=_LARGE),
    Method("tango", "counts", "binary", _PASS_FAIL, margin=True, breaks=_LARGE),
    Method("exact_unconditional", "counts", "unconditional", _DECIDED, margin=True, breaks=""),
    Method("t_guarded", "t", "graded", _GRADED, margin=True, breaks=_SKEW),
    Method("paired_t", "t", "graded", _GRADED, margin=True, breaks=_SKEW),
    Method("bootstrap", "bootstrap", "resampling", _BOTH, margin=True, breaks=_FEW_ITEMS, fewest=50),
    Method("bootstrap_bca", "bootstrap", "resampling", _BOTH, margin=True, breaks=_FEW_ITEMS, fewest=50),
    Method("bootstrap_t", "bootstrap", "resampling", _BOTH, margin=True, breaks=_FEW_ITEMS, fewest=50),
    Method("sign_flip", "sign_flip", "resampling", _GRADED, margin=True, breaks=_MIRROR),
    Method("bca_sign_flip", "sign_flip", "resampling", _GRADED, margin=True, breaks=_FEW_SEEDS, fewest=5),
    Method("wilcoxon", "ranks", "signed", _GRADED, margin=False, breaks=_MIRROR, estimand="pseudo_median"),
    Method(
        "wilcoxon_pratt", "ranks", "signed", _GRADED, margin=False, breaks=_MIRROR, estimand="pseudo_median"
    ),
    Method("sign", "ranks", "signed", _GRADED, margin=False, breaks=_SIGN, estimand="median"),
    Method("gaffke", "bounded", "gaffke", _BOTH, margin=True, breaks=""),
    _of_clusters("cluster_strict", "cluster_skew", _BOTH, _UNSEEN),
    _of_clusters("cluster_pooled", "cluster_skew", _BOTH, _MILD),
    _of_clusters(CLUSTER_GUARANTEED, "cluster_skew", _BOTH, ""),
    _of_clusters("cluster_cr2", "clusters", _BOTH, _CLUSTERS),
    _of_clusters("cluster_sign_flip", "clusters", _BOTH, _MIRROR_CLUSTERS),
    _of_clusters("cluster_bootstrap", "clusters", _BOTH, _CLUSTERS),
    _of_clusters("obuchowski", "clustered_mcnemar", _PASS_FAIL, _CLUSTERS),
    _of_clusters("durkalski", "clustered_mcnemar", _PASS_FAIL, _CLUSTERS, "mean_of_clusters"),
    _of_clusters("yang", "clustered_mcnemar", _PASS_FAIL, _CLUSTERS),
    Method("delong", "set", "auc", frozenset({"auc"}), margin=True, breaks=_FEW_OF_A_CLASS, estimand="auc"),
    Method("ratio_delta", "set", "ratios", frozenset({"ratio"}), margin=True, breaks=_ROUGH),
    Method(
        *("prediction_powered", "set", "prediction_powered", frozenset({"judged"})),
        margin=True,
        breaks=_DRAWN,
    ),
    Method("bootstrap_rows", "set", "set_level", _WHOLE_SET, margin=True, breaks=_FEW_ROWS),
)

METHODS: Mapping[str, Method] = {method.id: method for method in _ROWS}


def named_tests(sample: Sample, kind: str | None = None, margin: bool = False) -> Iterator[Method]:
    """The tests that a policy may name for a sample: of this kind of metric, taking a margin if asked."""
    for method in METHODS.values():
        fits = (kind is None or kind in method.kinds) and (method.margin or not margin)
        if method.sample == sample and method.id not in _BY_DEFAULT and fits:
            yield method


def assurance(method_id: str, level: float, *, plugged_in: bool = False) -> str:
    """``bounded by 0.025``, or ``held to a nominal 0.025`` with what would break it.

    plugged_in: the tested bound is a share of the observed baseline, taken as if it were known.
    """
    method = METHODS.get(method_id)
    why = "its error is not known" if method is None else method.breaks
    if not why and plugged_in:
        why = "the bound is a share of the observed baseline, which is not known exactly"
    return f"held to a nominal {level:g} ({method_id}: {why})" if why else f"bounded by {level:g}"
