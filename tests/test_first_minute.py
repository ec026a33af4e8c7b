"""The first minute: no policy, no file even; and every name that a report uses can be looked up."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from gate.report.terms import GRAVITY, gravity, terms
from tests.black_box import command, write_rows

ROOT = Path(__file__).resolve().parent.parent


def two_sided(better: int, worse: int) -> float:
    """Twice the binomial tail at 1/2, by its sum."""
    changed, most = better + worse, max(better, worse)
    return min(1.0, 2 * sum(math.comb(changed, k) for k in range(most, changed + 1)) / 2**changed)


def test_two_means_are_told_with_few_and_with_many_changed_items() -> None:
    """530 and 543 of 1,000: at least 13 items changed, at most all 470 + 457 that can have."""
    out = command("compare", "530/1000", "543/1000").out
    assert "+1.3 points" in out
    for better, worse in ((13, 0), (56, 43), (470, 457)):
        p = two_sided(better, worse)
        assert f"{better} items better, {worse} worse: " in out
        assert f"p {p:.4f}; {'no accident' if p < 0.05 else 'chance gives as much'}" in out
    assert "next: gate compare" in out
    assert out.split("\n")[0] in command("demo").out


@pytest.mark.parametrize("given", [("5/4", "3/4"), ("0/0", "0/0"), ("3/5", "3/6")])
def test_counts_that_mean_nothing_are_refused(given: tuple[str, str]) -> None:
    assert "help: " in command("compare", *given).error


def test_the_lone_pass_fail_column_leads_and_every_other_metric_follows(tmp_path: Path) -> None:
    def rows(gain: int) -> list[dict[str, object]]:
        return [
            {
                "id": f"q{k}",
                "correct": int(k % 3 > 0 or (gain and k % 9 == 0)),
                "latency_ms": 800 + k % 7 * 10 + 16 * gain,
                "category": "ab"[k % 2],
                "judge_score": 3 + k % 3 - (k % 5 == 0) * gain,
            }
            for k in range(90)
        ]

    files = [write_rows(tmp_path / f"{name}.csv", rows(k)) for k, name in enumerate("ab")]
    done = command("compare", *files)
    assert done.code == 0, done.err
    assert "correct: pass/fail, higher is better" in done.out
    latency = next(line for line in done.out.splitlines() if line.startswith("  latency_ms"))
    assert "% slower" in latency
    assert "lower is better" in latency
    assert any(line.startswith("  judge_score") for line in done.out.splitlines())


def cautions_in_the_source() -> set[str]:
    calls = (
        node
        for path in (ROOT / "gate").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Caution"
    )
    first = (call.args[0] for call in calls if call.args)
    return {str(code.value) for code in first if isinstance(code, ast.Constant)}


def test_every_caution_is_explained() -> None:
    known = {code for section in GRAVITY for code in terms()[section]}
    assert sorted(cautions_in_the_source() - known) == []
    assert gravity("never_heard_of") == "warn"


def test_the_glossary_is_the_table() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for section, names in terms().items():
        for name, text in names.items():
            row = f"| `{name}` | {section} | {text} |" if section in GRAVITY else f"| `{name}` | {text} |"
            assert row in page, name


def test_what_is_explained_and_what_is_not() -> None:
    assert command("explain", "worn_out").out.startswith("worn_out: alarm: ")
    assert (
        "pass/fail" in command("explain", "mcnemar_exact").out
        or command("explain", "mcnemar_exact").code == 0
    )
    assert "did you mean margin?" in command("explain", "margn").error
    assert len(command("explain").out.splitlines()) > 100
