"""The grid study: kept truth, flows and verdicts; and the real components where they are installed."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "grid-security"
MODULES = ("network", "cases", "dc", "study", "rankers", "truth", "run")


@pytest.fixture
def grid(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of the example by name, forgotten afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield {name: import_module(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name, None)


def shown(out: Path, *pairs: str) -> bool:
    """Whether all that the command prints stands in the README."""
    command = [sys.executable, str(FOLDER / "run.py"), str(out), *(["--pairs", *pairs] if pairs else [])]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    return all(block.strip() in page for block in printed.split("\n\n"))


@pytest.mark.slow
def test_the_readme_shows_what_the_whole_command_prints(tmp_path: Path) -> None:
    assert shown(tmp_path / "grid")


def test_eight_good_seasons_promote_and_are_shown(tmp_path: Path) -> None:
    out = tmp_path / "grid"
    assert shown(out, "legacy:screened")
    names = [
        f"{year}-{season}" for year in (2023, 2024) for season in ("winter", "spring", "summer", "autumn")
    ]
    records = [json.loads((out / "legacy-screened" / f"{name}.json").read_text()) for name in names]
    assert [record["verdict"] for record in records] == ["hold"] * 7 + ["promote"]
    assert records[-1]["cycles"]["sign_flip_p"] == 2**-8  # eight gains, all of one sign
    assert min(record["pairing"]["n_pairs"] for record in records) >= 100


def test_linear_flows_after_an_outage_are_those_of_the_network_without_the_branch(
    grid: dict[str, ModuleType],
) -> None:
    network = grid["network"].load()
    case = next(c for c in grid["cases"].draw(network) if c.topology == "intact")
    after = grid["dc"].after_outages(network, case)
    for outage in range(len(network.x)):
        without = dataclasses.replace(case, branch_out=outage)
        if grid["network"].islands(network, [outage]):
            assert np.isinf(after[outage]).all()
        else:
            assert after[outage] == pytest.approx(np.abs(grid["dc"].before(network, without)), abs=1e-9)


def test_recall_and_the_worst_outage_by_hand(grid: dict[str, ModuleType]) -> None:
    severity = np.array([[1500, 1100, 900, 800, 700, 600, 500], [65535, 65535, 1200, 1100, 1050, 1001, 1000]])
    study = grid["study"].Study(
        cases=[], outages=np.arange(7), severity=severity, live=severity > 0, flows=severity,
        after=severity, secure=np.array([True, True]),
    )  # fmt: skip
    recall, missed = grid["run"].scores(study, np.array([[1, 2, 3, 4, 5], [1, 2, 3, 4, 6]]))
    assert recall.tolist() == [1 / 2, 4 / 5]  # of two critical ones; of six, of which five are the most
    assert missed.tolist() == [True, False]  # of two equally bad ones, one is enough


def test_what_was_kept_fits_the_cases(grid: dict[str, ModuleType]) -> None:
    study = grid["study"].load()
    lost = study.severity == grid["study"].LOST
    assert (study.severity[study.live] > 0).all()
    assert (study.severity[~study.live] == 0).all()
    # where the linear flows say that something is cut off, the AC study lost it too
    assert lost[study.live & np.isinf(study.after).all(axis=2)].all()
    assert study.counted[study.critical.any(axis=1) & study.secure].all()


@pytest.mark.slow
def test_the_kept_truth_is_that_of_the_ac_study_and_of_pandapower(grid: dict[str, ModuleType]) -> None:
    pytest.importorskip("pypowsybl")
    pandapower = pytest.importorskip("pandapower")
    networks = import_module("pandapower.networks")
    before = (FOLDER / "network.json").read_text()
    converted = grid["truth"].convert()
    assert (FOLDER / "network.json").read_text() == before
    network, study = grid["network"].load(), grid["study"].load()
    for number in (3, 700, 1500):
        case = study.cases[number]
        _, severity = grid["truth"].study(converted, network, case)
        assert severity[study.outages].tolist() == pytest.approx(study.severity[number].tolist(), abs=1)
        other = networks.case39()
        other.load.p_mw, other.load.q_mvar, other.gen.p_mw = case.load_p, case.load_q, case.gen_p
        if case.gen_out >= 0:
            other.gen.loc[case.gen_out, "in_service"] = False
        other.line["in_service"] = np.arange(35) != case.branch_out
        pandapower.rundcpp(other)
        flows = [*other.res_line.p_from_mw, *other.res_trafo.p_hv_mw]
        assert study.flows[number] * network.limit == pytest.approx(flows, abs=0.1)
        outages = [k for k in (2, 9, 38) if study.live[number, list(study.outages).index(k)]]
        for outage in outages:
            gone = [k for k in (outage, case.branch_out) if k >= 0]
            other.line["in_service"] = ~np.isin(np.arange(35), gone)
            other.trafo["in_service"] = ~np.isin(np.arange(35, 46), gone)
            pandapower.runpp(other)
            loading = max(other.res_line.loading_percent.max(), other.res_trafo.loading_percent.max())
            assert severity[outage] == pytest.approx(10 * loading, abs=2)


@pytest.mark.slow
def test_the_learned_rankings_are_learned_again(
    grid: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    study = grid["study"].load()
    kept = {name: getattr(grid["rankers"], name)(study) for name in ("fast", "screened")}
    monkeypatch.setattr(grid["rankers"], "KEPT", tmp_path / "learned.npz")
    grid["rankers"].learn(study)
    for name, named in kept.items():
        recall, missed = grid["run"].scores(study, named)
        again, missed_again = grid["run"].scores(study, getattr(grid["rankers"], name)(study))
        later = study.counted & ~study.year(2022)
        # another release of scikit-learn may break ties otherwise; the study must not depend on it
        assert again[later].mean() == pytest.approx(recall[later].mean(), abs=0.01)
        assert missed_again[later].mean() == pytest.approx(missed[later].mean(), abs=0.01)


def test_versions_are_pinned() -> None:
    lines = (FOLDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[a-z-]+==[\d.]+", line) for line in lines if line and not line.startswith("#"))
