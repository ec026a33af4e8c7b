"""What ``--engine spark`` refuses before it needs Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

from gate.policy.load import loads
from gate.run.served import refuse_unserved
from gate.values import GateError

POLICY = "version: 1\nname: demo\ngating: {metric: ok, kind: binary, direction: higher, margin: 0.01}\n"


def test_a_plain_policy_is_served() -> None:
    loaded = loads(POLICY + "slices: {by: [lang]}\nitems: {cluster: doc}\n", "gate.yaml")
    refuse_unserved(loaded.policy)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("items: {repeat: run}\n", "items.repeat"),
        ("items: {must_pass: [q1]}\n", "items.must_pass"),
        ("artifacts: {where: {scorer: exact}}\n", "artifacts.where"),
        (
            "guardrails:\n- {metric: grade, kind: graded, direction: higher, mode: worst_item, max: 0.5}\n",
            "mode: worst_item",
        ),
    ],
)
def test_what_names_single_items_or_runs_is_refused(more: str, named: str) -> None:
    loaded = loads(POLICY + more, "gate.yaml")
    with pytest.raises(GateError, match=named) as found:
        refuse_unserved(loaded.policy)
    assert found.value.code == "spark_unsupported"
    assert "docs/spark.md" in found.value.help


def test_without_pyspark_the_install_command_is_the_help(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text(POLICY)
    code = (
        "import sys; sys.modules['pyspark'] = None; sys.modules['pyspark.sql'] = None\n"
        "from gate.cli.main import console\n"
        "sys.argv = 'gate run --engine spark --policy gate.yaml --baseline a --candidate b'.split()\n"
        "console()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert "pip install 'paired-gate[spark]'" in found.stderr
    assert "Traceback" not in found.stderr
