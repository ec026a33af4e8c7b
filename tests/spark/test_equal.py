"""A real local session: the report of ``--engine spark`` is that of the same files read without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gate.pairing.spark import pair_tables
from gate.policy.load import loads
from gate.report.model import Report, to_json
from gate.run import Request, evaluate
from gate.values import GateError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
POLICY = """
version: 1
name: demo
gating: {metric: ok, kind: binary, direction: higher, margin: 0.01}
guardrails:
- {metric: grade, kind: graded, direction: higher, mode: non_inferior, tolerance: 0.02, scale: [0, 1]}
"""
ROW = """
'Q '||i AS id, hash(i + {seed}) % 100 < {passes} AS ok, (hash(i * 3 + {seed}) % 5) / 4.0::DOUBLE AS grade,
'c'||(CASE WHEN i % 2 = 0 THEN 0 ELSE i % {groups} END) AS part, 'l'||(i % 3) AS lang, 'ok' AS status
"""


@pytest.fixture(scope="module", autouse=True)
def _session() -> Iterator[None]:
    pyspark = pytest.importorskip("pyspark.sql")
    builder = pyspark.SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    yield
    session.stop()


def _write(
    folder: Path,
    items: int,
    groups: int = 50,
    baseline: str = "SELECT * FROM rows",
    candidate: str = "SELECT * FROM rows",
) -> tuple[str, str]:
    """Rows in an order that is not that of their ids."""
    paths = []
    for name, query, seed, passes in (("baseline", baseline, 1, 70), ("candidate", candidate, 20011, 73)):
        path = str(folder / f"{name}.parquet")
        row = ROW.format(seed=seed, passes=passes, groups=groups)
        rows = f"WITH rows AS (SELECT {row} FROM range({items}) t(i) ORDER BY hash(i)) "  # noqa: S608
        duckdb.connect().execute(f"COPY ({rows}{query}) TO '{path}' (FORMAT parquet)")
        paths.append(path)
    return paths[0], paths[1]


def _both(policy: str, paths: tuple[str, str]) -> tuple[Any, Any]:
    """The report of each engine, or the refusal."""
    request = Request(loads(policy, "gate.yaml"), paths[0], (paths[1],), now="2026-01-01T00:00:00+00:00")
    found: list[Any] = []
    for asked in (request, replace(request, pairer=pair_tables)):
        try:
            report = evaluate(asked)
            assert isinstance(report, Report)
            found.append(to_json(report))
        except GateError as error:
            found.append((error.code, error.message, error.where))
    return found[0], found[1]


CLUSTERS = POLICY + "items: {cluster: part}\n"
LOST = POLICY + "items: {max_error_rate: 0.01, missing: worst, max_missing: 0.01}\n"
A_FAULT = "SELECT * REPLACE (CASE WHEN id = 'Q 77' THEN 'timeout' ELSE status END AS status) FROM rows"
A_GAP = "SELECT * REPLACE (CASE WHEN id = 'Q 78' THEN NULL ELSE grade END AS grade) FROM rows"


@pytest.mark.parametrize("items", [2_000, 30_000])
@pytest.mark.parametrize("policy", [POLICY + "slices: {by: [lang]}\n", CLUSTERS], ids=["slices", "clusters"])
def test_reports_are_equal(policy: str, items: int, tmp_path: Path) -> None:
    """With clusters one of them holds half of the rows; above 20,000 items only counts come back."""
    local, spark = _both(policy, _write(tmp_path, items))
    assert spark == local
    assert isinstance(local, str)


@pytest.mark.parametrize("items", [2_000, 30_000])
@pytest.mark.parametrize("query", [A_FAULT, A_GAP], ids=["a failed run", "a missing value"])
def test_lost_results_are_read_as_files_are(query: str, items: int, tmp_path: Path) -> None:
    paths = _write(tmp_path, items, candidate=query)
    local, spark = _both(LOST, paths)
    assert spark == local
    assert isinstance(local, str)
    local, spark = _both(POLICY, paths)
    assert spark == local
    assert local[0] in {"error_rate", "missing_values"}


@pytest.mark.parametrize("items", [2_000, 30_000])
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT * FROM rows UNION ALL (SELECT * FROM rows WHERE id = 'Q 5')", "duplicate_ids"),
        ("SELECT * FROM rows WHERE id <> 'Q 5'", "unmatched_ids"),
        ("SELECT * REPLACE ('other '||id AS id) FROM rows", "no_common_ids"),
        ("SELECT * REPLACE (CASE WHEN id = 'Q 5' THEN NULL ELSE id END AS id) FROM rows", "invalid_id"),
        (
            "SELECT * REPLACE (CASE WHEN id = 'Q 5' THEN 'x' ELSE part END AS part) FROM rows",
            "column_inconsistent",
        ),
        ("SELECT * EXCLUDE (grade) FROM rows", "metric_missing"),
    ],
)
def test_refusals_are_equal(query: str, code: str, items: int, tmp_path: Path) -> None:
    local, spark = _both(CLUSTERS, _write(tmp_path, items, candidate=query))
    assert local[0] == code
    if items <= 20_000 or code != "no_common_ids":  # beyond, as many as come back are counted
        assert spark == local
    else:
        assert spark[0] in {"no_common_ids", "unmatched_ids"}


def test_a_continuous_metric_beyond_what_comes_back_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gate.pairing.spark.MOST_COMBINATIONS", 50)
    _, spark = _both(CLUSTERS, _write(tmp_path, 30_000))
    assert spark[0] == "spark_unsupported"
    assert "combinations" in spark[1]


def test_columns_that_say_how_scores_were_made_are_refused(tmp_path: Path) -> None:
    query = "SELECT *, 0.5 AS threshold FROM rows"
    _, spark = _both(POLICY, _write(tmp_path, 2_000, baseline=query, candidate=query))
    assert spark[0] == "spark_unsupported"
