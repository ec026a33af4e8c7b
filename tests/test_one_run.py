"""Files that are one run: nothing on them is compared, and one set's file is no other set."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from black_box import command, with_reports

POLICY = """\
version: 1
name: t
gating: {metric: correct, kind: binary, direction: higher, margin: 0.01}
guardrails:
"""
RULES = {
    "no_regression": "{metric: unsafe, kind: binary, direction: lower, mode: no_regression, set: safety}",
    "non_inferior": "{metric: unsafe, kind: binary, direction: lower, tolerance: 0.1, set: safety}",
    "churn": "{metric: unsafe, kind: binary, direction: lower, mode: churn, max: 0.1, set: safety}",
    "limit": "{metric: unsafe, kind: binary, direction: lower, mode: limit, max: 0.1, set: safety}",
}


def rows(values: list[int], name: str, prefix: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"{prefix}{i}", name: value, **more} for i, value in enumerate(values)]


def lines(found: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in found).encode()


SAFETY = rows([0] * 150 + [1] * 5, "unsafe", "s")
COPIES = {
    "same": lines(SAFETY),
    "newline": lines(SAFETY) + b"\n",
    "no last newline": lines(SAFETY).rstrip(),
    "windows": lines(SAFETY).replace(b"\n", b"\r\n"),
    "blanks": lines(SAFETY).replace(b": ", b":  "),
    "order": lines(SAFETY[::-1]),
    "document": json.dumps(SAFETY, indent=1).encode(),
    "packed": gzip.compress(lines(SAFETY)),
}
ORIGINALS = {"document": json.dumps(SAFETY).encode()}


@pytest.fixture
def main(tmp_path: Path) -> list[object]:
    gain = lines(rows([0] * 60 + [1] * 60, "correct", "i")), lines(rows([1] * 120, "correct", "i"))
    for name, data in zip(("b", "c"), gain, strict=True):
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    return ["run", "--baseline", tmp_path / "b.jsonl", "--candidate", tmp_path / "c.jsonl"]


def answer(main: list[object], folder: Path, rule: str, *sets: object) -> Any:
    (folder / "p.yaml").write_text(POLICY + "".join(f"- {one}\n" for one in rule.split("\n")))
    reports = folder / "report"
    argv = [*main, "--policy", folder / "p.yaml", "--report-dir", reports]
    return with_reports(command(*argv, *sets), reports)


@pytest.mark.parametrize("mode", RULES)
@pytest.mark.parametrize("copy", COPIES)
def test_a_rule_that_compares_has_no_evidence(
    copy: str, mode: str, main: list[object], tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(ORIGINALS.get(copy, lines(SAFETY)))
    other.write_bytes(COPIES[copy])
    found = answer(main, tmp_path, RULES[mode], "--set", "safety", one, other)
    assert found.verdict == ("promote" if mode == "limit" else "inconclusive"), found.err
    assert mode == "limit" or "one run" in found.report["reasons"][0]["message"]


@pytest.mark.parametrize("mode", RULES)
def test_two_runs_with_equal_values_are_compared(mode: str, main: list[object], tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(lines([row | {"output": "no"} for row in SAFETY]))
    other.write_bytes(lines([row | {"output": "I can not"} for row in SAFETY]))
    found = answer(main, tmp_path, RULES[mode], "--set", "safety", one, other)
    assert found.verdict == "promote", found.report["reasons"]


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_is_no_other_set(copy: str, main: list[object], tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one", "other", "two", "another")]
    files[0].write_bytes(ORIGINALS.get(copy, lines(SAFETY)))
    files[1].write_bytes(lines(rows([0] * 155, "unsafe", "s", run=2)))
    files[2].write_bytes(lines(rows([0] * 155, "unsafe", "s", run=3)))
    files[3].write_bytes(COPIES[copy])
    rule = RULES["no_regression"]
    both = f"{rule}\n{rule.replace('safety', 'more')}"
    sets = ["--set", "safety", files[0], files[1], "--set", "more", files[2], files[3]]
    found = answer(main, tmp_path, both, *sets)
    assert found.code == 2
    assert "one file is given for two item sets" in found.err


@pytest.mark.parametrize("mode", RULES)
def test_a_set_without_a_baseline_has_limits_only(mode: str, main: list[object], tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(lines(SAFETY))
    found = answer(main, tmp_path, RULES[mode], "--set", "safety", "-", tmp_path / "s")
    if mode != "limit":
        assert found.code == 2
        assert "given no baseline" in found.err
        return
    assert found.verdict == "promote"
    assert found.report["provenance"]["sets"]["safety"]["baseline"] == {"path": "-"}
    again = command("verify", tmp_path / "report" / "report.json")
    assert again.code == 0, again.err
