"""A report that rests on a history: it reproduces to the byte at every later time, no forgery of it does."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main

POLICY = """\
version: 1
name: nightly
gating: {metric: correct, kind: binary, direction: higher, margin: 0.01}
cycles: {required: 3, windows: reused, looks: 5}
"""
PLAIN = POLICY.split("cycles:", maxsplit=1)[0]
Edit = Callable[[dict[str, Any]], None]


def artifact(path: Path, failed: set[int]) -> str:
    rows = ({"id": f"q{k}", "correct": int(k not in failed)} for k in range(200))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def cycle(folder: Path, number: int, *more: str, policy: str = POLICY) -> Path:
    (folder / "p.yaml").write_text(policy, encoding="utf-8")
    report = folder / f"r{number}.json"
    words = ["run", "--policy", str(folder / "p.yaml"), "--json", str(report), "--cycle", f"c{number}"]
    words += ["--baseline", artifact(folder / "b.jsonl", set(range(60)))]
    words += ["--candidate", artifact(folder / f"k{number}.jsonl", {number, *range(50, 70)})]
    main([*words, "--history", str(folder / "h.jsonl"), *more], io.StringIO(), io.StringIO())
    return report


def verified(report: Path, folder: Path, *more: str) -> tuple[int, str]:
    before = (folder / "h.jsonl").read_bytes()
    out, err = io.StringIO(), io.StringIO()
    code = main(["verify", str(report), "--history", str(folder / "h.jsonl"), *more], out, err)
    assert (folder / "h.jsonl").read_bytes() == before
    return code, out.getvalue() + err.getvalue()


@pytest.fixture
def reports(tmp_path: Path) -> list[Path]:
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    return [cycle(tmp_path, number) for number in (1, 2, 3)]


def test_every_report_of_a_streak_reproduces_after_it(reports: list[Path], tmp_path: Path) -> None:
    for report in reports:
        code, text = verified(report, tmp_path)
        assert (code, "to the byte" in text) == (0, True), text


def test_replays_and_read_only_looks_reproduce(reports: list[Path], tmp_path: Path) -> None:
    kept = reports[1].read_bytes()
    assert json.loads(cycle(tmp_path, 2).read_bytes())["cycles"]["replayed"]
    assert verified(reports[1], tmp_path)[0] == 0
    seen = cycle(tmp_path, 4, "--history-mode", "read-only")
    cycle(tmp_path, 5)
    assert verified(seen, tmp_path)[0] == 0
    reports[1].write_bytes(kept)
    assert verified(reports[1], tmp_path)[0] == 0


def test_a_report_that_started_its_history_reproduces(tmp_path: Path) -> None:
    report = cycle(tmp_path, 1, policy=PLAIN)
    assert "history_started" in report.read_text("utf-8")
    assert verified(report, tmp_path)[0] == 0
    cycle(tmp_path, 2, policy=PLAIN)
    assert verified(report, tmp_path)[0] == 0


@pytest.mark.parametrize(
    "forge",
    [
        lambda r: r.update(cautions=[]),
        lambda r: r["cautions"].append({"code": "retry_risk", "message": "none at all"}),
        lambda r: r.update(claims=["proven for all users"]),
        lambda r: r.update(next_step="ship it"),
        lambda r: r["cycles"].update(passed=3),
        lambda r: r["cycles"].update(level=1e-9),
        lambda r: r["cycles"].update(look=1),
        lambda r: r["cycles"].update(claim="over_cycles"),
        lambda r: r["cycles"].update(scope="fresh windows", window="fresh"),
        lambda r: r["cycles"].update(series=[]),
        lambda r: r["cycles"].update(recorded=False),
        lambda r: r["cycles"].update(cycle="another"),
    ],
)
def test_nothing_that_the_history_does_not_explain_may_differ(
    reports: list[Path], tmp_path: Path, forge: Edit
) -> None:
    document = json.loads(reports[1].read_bytes())
    forge(document)
    text = json.dumps(document, ensure_ascii=True, sort_keys=True, indent=1) + "\n"
    reports[1].write_text(text, encoding="utf-8")
    code, said = verified(reports[1], tmp_path)
    assert (code, "does not reproduce" in said) == (1, True), said


@pytest.mark.parametrize("form", [{"indent": 2}, {"separators": (",", ":")}])
def test_another_layout_is_another_report(tmp_path: Path, form: dict[str, Any]) -> None:
    report = cycle(tmp_path, 1, policy=PLAIN)
    document = json.loads(report.read_bytes())
    report.write_text(json.dumps(document, sort_keys=True, **form), encoding="utf-8")
    assert verified(report, tmp_path)[0] == 1


def test_a_history_without_this_run_does_not_explain_it(reports: list[Path], tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").unlink()
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    assert verified(reports[2], tmp_path)[0] == 1


def test_an_edited_report_does_not_make_verify_tell_withheld_numbers(tmp_path: Path) -> None:
    policy = POLICY.replace("looks: 5", "looks: 5, feedback: verdict")
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    report = cycle(tmp_path, 1, policy=policy)
    document = json.loads(report.read_bytes())
    assert document["gating"]["delta"] is None
    assert verified(report, tmp_path)[0] == 0
    document["gating"]["delta"] = 0.5
    report.write_text(json.dumps(document, sort_keys=True, indent=1) + "\n", encoding="utf-8")
    code, said = verified(report, tmp_path)
    assert (code, "0." in said, "saved" in said) == (1, False, False), said


def test_a_run_with_a_named_baseline_reproduces_and_the_name_cannot_be_forged_away(tmp_path: Path) -> None:
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    made = [cycle(tmp_path, k, "--baseline-id", name) for k, name in ((1, "one"), (2, "two"), (3, "two"))]
    assert [json.loads(report.read_bytes())["cycles"]["passed"] for report in made] == [1, 1, 2]
    for report in made:
        code, text = verified(report, tmp_path)
        assert (code, "to the byte" in text) == (0, True), text
    other = tmp_path / "other"
    other.mkdir()
    main(["history", "init", str(other / "h.jsonl")], io.StringIO(), io.StringIO())
    never = [cycle(other, k, "--baseline-id", "one") for k in (1, 2)]
    text = never[1].read_text("utf-8").replace(str(other), str(tmp_path))
    assert json.loads(text)["cycles"]["passed"] == 2
    made[1].write_text(text, encoding="utf-8")
    code, said = verified(made[1], tmp_path)
    assert (code, "another baseline system" in said) == (1, True), said


def test_reports_of_branches_reproduce_in_the_merged_history(tmp_path: Path) -> None:
    history = tmp_path / "h.jsonl"
    main(["history", "init", str(history)], io.StringIO(), io.StringIO())
    first = [cycle(tmp_path, 1)]
    start, branches = history.read_bytes(), []
    for branch in (2, 3, 4):
        history.write_bytes(start)
        first += [cycle(tmp_path, 10 * branch), cycle(tmp_path, 10 * branch + 1)]
        replayed = cycle(tmp_path, 10 * branch + 1)
        first.append(replayed.rename(tmp_path / f"again{branch}.json"))
        cycle(tmp_path, 10 * branch + 1)
        branches.append(tmp_path / f"branch{branch}")
        branches[-1].write_bytes(history.read_bytes())
    history.unlink()
    words = ["history", "merge", *map(str, branches), "--out", str(history)]
    assert main(words, io.StringIO(), io.StringIO()) == 0
    for report in first:
        assert verified(report, tmp_path)[0] == 0, report
    cycle(tmp_path, 50)
    for report in first:
        assert verified(report, tmp_path)[0] == 0, report


@pytest.mark.parametrize(("test", "kept"), [("", False), (", test: sign_flip", True)])
def test_the_history_holds_no_number_that_a_report_withheld(tmp_path: Path, test: str, *, kept: bool) -> None:
    policy = POLICY.replace("required: 3", "required: 5").replace(
        "looks: 5", f"looks: 9, feedback: verdict{test}"
    )
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    report = cycle(tmp_path, 1, policy=policy)
    assert json.loads(report.read_bytes())["gating"]["delta"] is None
    last = json.loads((tmp_path / "h.jsonl").read_text("utf-8").splitlines()[-1])
    told = {key for key, value in last["result"].items() if value is not None}
    always = {"n", "test", "baseline_mean", "baseline_se", "margin", "printed", "scope"}
    assert (last["kind"], told) == ("outcome", always | ({"delta", "sign_flip_p"} if kept else set()))
    shown = json.loads(cycle(tmp_path, 1, "--reveal", policy=policy).read_bytes())
    assert shown["gating"]["delta"] == pytest.approx((60 - 21) / 200)
    more = [json.loads(cycle(tmp_path, k, policy=policy).read_bytes()) for k in (2, 3, 4, 5)]
    assert [one["cycles"]["passed"] for one in more] == [2, 3, 4, 5]
    assert more[-1]["verdict"] == "promote"
    assert more[-1]["gating"]["delta"] is not None


def test_one_candidate_against_a_baseline_scored_thrice_is_one_cycle(tmp_path: Path) -> None:
    main(["history", "init", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
    found = []
    for number in (1, 2, 3):
        again = artifact(tmp_path / f"again{number}.jsonl", set(range(number, 60 + number)))
        more = ("--cycle", f"night{number}", "--baseline", again)
        same = ("--candidate", artifact(tmp_path / "same.jsonl", set(range(50, 70))))
        report = tmp_path / "r.json"
        (tmp_path / "p.yaml").write_text(POLICY, encoding="utf-8")
        words = ["run", "--policy", str(tmp_path / "p.yaml"), "--json", str(report), *more, *same]
        main([*words, "--history", str(tmp_path / "h.jsonl")], io.StringIO(), io.StringIO())
        found.append(json.loads(report.read_bytes()))
    assert [one["cycles"]["passed"] for one in found] == [1, 1, 1]
    assert {one["verdict"] for one in found} == {"hold"}
    assert "rescored" in {caution["code"] for caution in found[2]["cautions"]}
