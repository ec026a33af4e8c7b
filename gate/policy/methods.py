"""The tests and intervals a policy can name, and what each is for."""

from __future__ import annotations

from typing import Literal, get_args

BinaryTest = Literal[
    "mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards", "tango", "exact_unconditional"
]
GradedTest = Literal[
    "t_guarded",
    "paired_t",
    "bootstrap",
    "bootstrap_bca",
    "bootstrap_t",
    "sign_flip",
    "bca_sign_flip",
    "wilcoxon",
    "wilcoxon_pratt",
    "sign",
    "gaffke",
]
ClusterTest = Literal[
    "cluster_cr2", "cluster_sign_flip", "cluster_bootstrap", "obuchowski", "durkalski", "yang"
]
Test = Literal["auto", BinaryTest, GradedTest, ClusterTest]
IntervalMethod = Literal["fay_lumbard", "tango", "wald", "agresti_min", "bonett_price", "newcombe"]

BINARY_TESTS = frozenset(get_args(BinaryTest))
PASS_FAIL_TOO = frozenset({"bootstrap", "bootstrap_bca", "bootstrap_t", "gaffke"})
"""Tests of graded metrics that take pass/fail as it is, as differences of -1, 0 and 1."""
GRADED_TESTS = frozenset(get_args(GradedTest)) - PASS_FAIL_TOO
"""Tests that pass/fail takes only as a mean over repeats."""
CLUSTER_TESTS = frozenset(get_args(ClusterTest))
CLUSTERED_PASS_FAIL = frozenset({"obuchowski", "durkalski", "yang"})
NULL_IS_ZERO = frozenset(
    {
        "mcnemar_exact",
        "mcnemar_midp",
        "mcnemar_chi2",
        "mcnemar_edwards",
        "wilcoxon",
        "wilcoxon_pratt",
        "sign",
        *CLUSTERED_PASS_FAIL,
    }
)
"""Tests of "no difference" that know no margin."""

NEEDS_INDEPENDENT_SPLITS = frozenset({"auto", "t_guarded", "paired_t"})
"""Graded tests whose variance is wrong when training sets overlap (auto is t_guarded there)."""


def takes_margin(kind: str) -> str:
    """The tests of a kind that can test a margin or tolerance, for a help line."""
    if kind == "binary":
        return "auto, exact_unconditional, tango, gaffke, bootstrap, bootstrap_bca, bootstrap_t"
    return ", ".join(["auto", *(test for test in get_args(GradedTest) if test not in NULL_IS_ZERO)])
