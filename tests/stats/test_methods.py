"""The method table: every row can be run, says what breaks it, and is what people and policies are told."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from gate.policy.methods import Test as NamedTest
from gate.stats.cluster_data import cluster_pairs
from gate.stats.methods import METHODS, named_tests
from gate.stats.pairs import from_counts
from gate.stats.procedures import p_of_counts, run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


@pytest.mark.parametrize("method", METHODS)
def test_every_row_can_be_run(method: str) -> None:
    """Found by its id in its module, and told that it is what it is."""
    old, new = np.repeat([0.0, 1.0, 1.0], [40, 20, 60]), np.repeat([1.0, 0.0, 1.0], [40, 20, 60])
    clustered = METHODS[method].sample == "clusters"
    if METHODS[method].sample == "set":
        pytest.skip("a test of the whole set: tests/test_whole_set.py")
    sample = cluster_pairs(old, new, np.arange(120) % 12) if clustered else from_counts(40, 20, 120, 60)
    sample = replace(sample, most=10) if clustered else sample
    found = run(method, sample, 0.0, 0.025, scale=(0, 1))
    assert set(found.method.split("+")) <= {method, "cluster_cr2", "cluster_sign_flip"}
    assert found.estimand == METHODS[method].estimand
    assert found.estimate == pytest.approx(20 / 120)
    assert 0 < found.p_greater < (0.2 if method == "cluster_gaffke" else 0.025)  # with room for a bad cluster


@pytest.mark.parametrize("method", [method.id for method in named_tests("pairs") if method.form == "counts"])
def test_a_test_of_counts_has_its_p_alone(method: str) -> None:
    whole = run(method, from_counts(18, 8, 200), 0.0, 0.025).p_greater
    assert p_of_counts(method, 18, 8, 200, 0.0, 0.025) == pytest.approx(whole, rel=1e-9)
    assert p_of_counts(method, 0, 0, 200, 0.0, 0.025) == 1.0


def test_policies_and_the_documents_name_these_tests_and_no_others() -> None:
    named = set(METHODS) - {"cluster_strict", "cluster_pooled", "cluster_gaffke"}
    assert set(get_args(NamedTest)) == {"auto", *named}
    text = PAGE.read_text(encoding="utf-8")
    told = " ".join(re.findall(r"`([^`]*)`", text[text.index("Others by name") :].split("\n\n")[0]))
    by_default = {
        "mcnemar_exact",
        "exact_unconditional",
        "t_guarded",
        "delong",
        "bootstrap_rows",
        "ratio_delta",
        "prediction_powered",
    }
    assert set(told.split()) & set(METHODS) == named - by_default


def test_the_table_loads_no_numerics() -> None:
    code = "import sys, gate.policy.methods; print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
