"""The many small variants of a job, in this process: inputs, paths, reports, summaries, first policies."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from gate.cli.main import main

from .composite import Finished
from .jobs import BETTER, LOOSE, SAME, WORSE, Checkout, decide, write_results
from .scenarios import HOSTILE, change, told


def pushed_environment(checkout: Checkout, **more: str) -> dict[str, str]:
    return checkout.environment("push", {}, checkout.head("main")) | more


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"baseline": ""}, "the input baseline is empty"),
        ({"baseline": " \n"}, "the input baseline is empty"),
        ({"mode": "Advisory"}, "mode must be enforce or advisory"),
        ({"mode": "yes"}, "mode must be enforce or advisory"),
        ({"history-mode": "init"}, "history-mode must be normal or read-only"),
        ({"summary": "yes"}, "summary must be full, short or none"),
        ({"policy-ref": "HEAD~1"}, "policy-ref must be"),
        ({"policy-ref": "main"}, "policy-ref must be"),
        ({"policy-ref": "refs/heads/--upload-pack=x"}, "policy-ref must be"),
        ({"policy-ref": "abc1234"}, "policy-ref must be"),
        ({"exit-zero-on": "block"}, "takes hold and inconclusive"),
        ({"exit-zero-on": "error"}, "takes hold and inconclusive"),
        ({"baseline": "/etc/passwd"}, "must lie in the workspace"),
        ({"baseline": "baseline.jsonl\n/etc/passwd"}, "must lie in the workspace"),
        ({"baseline": "baseline.jsonl\nstore:main"}, "several runs of a baseline are files"),
        ({"baseline": "baseline.jsonl\nbaseline.jsonl"}, "given twice"),
        ({"candidate": "../../../etc/passwd"}, "must lie in the workspace"),
        ({"history": "/etc/history.jsonl"}, "must lie in the workspace"),
        ({"report-dir": "../outside"}, "must lie in the workspace"),
        ({"report-dir": "../../.git/hooks"}, "must lie in the workspace"),
        ({"report-dir": ".git/hooks"}, "must not lie in .git"),
        ({"policy": "../gate.yaml"}, "plain path inside the repository"),
        ({"policy": "/etc/gate.yaml"}, "plain path inside the repository"),
        ({"policy": "--output=x"}, "plain path inside the repository"),
        ({"policy": "HEAD:gate.yaml"}, "plain path inside the repository"),
        ({"policy": "other.yaml"}, "no such policy"),
        ({"sets": "safety one.jsonl"}, "NAME BASELINE CANDIDATE"),
        ({"sets": 'safety "one.jsonl two.jsonl'}, "NAME BASELINE CANDIDATE"),
    ],
)
def test_a_wrong_input_is_an_error_with_its_reason(
    pushed: Checkout, given: dict[str, str], said: str
) -> None:
    done = decide(pushed, pushed_environment(pushed), **given)
    told(done, "error", 2)
    assert said in done.outputs["reason"]
    assert set(done.commands) == {"error"}
    assert said in done.summary.replace("&#46;", ".")


def test_an_empty_word_means_the_strict_default(pushed: Checkout) -> None:
    """``mode: ${{ vars.NOT_SET }}`` is an empty text."""
    write_results(pushed.workspace, WORSE)
    told(
        decide(pushed, pushed_environment(pushed), mode="", summary="", policy="", policy_ref=""), "block", 1
    )


def test_several_challengers(pushed: Checkout) -> None:
    candidate = pushed.workspace / "candidate.jsonl"
    candidate.rename(pushed.workspace / "better.jsonl")
    write_results(pushed.workspace, SAME)
    candidate.rename(pushed.workspace / "same.jsonl")
    write_results(pushed.workspace, BETTER)
    done = decide(pushed, pushed_environment(pushed), candidate="same.jsonl\nbetter.jsonl\n")
    told(done, "promote", 0)
    assert done.outputs["winner"] == "better.jsonl"


def told_advisory(done: Finished, verdict: str, code: int) -> None:
    """The report has its verdict, and nothing that a pipeline acts on says so."""
    assert (done.outputs["verdict"], done.outputs["winner"], done.exit_code) == ("advisory", "", code)
    assert done.outputs["attestation"] == ""
    path = Path(done.outputs["report-json"])
    report = json.loads(path.read_text("utf-8"))
    assert (report["verdict"], report["decides"]) == (verdict, False)
    assert f"{verdict} (advisory: decides nothing)" in done.summary
    assert "GATE_VERDICT=advisory\n" in path.with_name("outputs.env").read_text("utf-8")
    assert main(["render", str(path), "--format", "intoto"], StringIO(), StringIO()) == 2


@pytest.mark.parametrize("mode", ["enforce", "advisory"])
def test_the_first_policy_decides_nothing(checkout: Checkout, mode: str) -> None:
    started = change({"other.yaml": LOOSE}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started), policy="other.yaml", mode=mode)
    if mode == "enforce":
        told(done, "error", 2)
        assert "merge the first policy with mode" in done.summary
    else:
        told_advisory(done, "promote", 0)
        assert done.outputs["policy-commit"] == "worktree"
        assert "decides nothing" in done.summary


def test_a_worktree_policy_on_a_change_is_only_advisory(checkout: Checkout) -> None:
    started = change({"gate.yaml": LOOSE}, WORSE)(checkout)
    done = decide(checkout, checkout.environment(*started), policy_ref="worktree")
    told_advisory(done, "block", 0)
    assert "only advisory" in done.summary
    assert "warning" in done.commands


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"gate.yaml": None, "x": "x"}, "removes the policy"),
        ({"gate.yaml": "version: 7\n"}, "makes the policy invalid"),
        ({"gate.yaml": "# a comment\nversion: 1\n"}, "makes the policy invalid"),
    ],
)
def test_other_edits_of_the_policy_are_told(
    checkout: Checkout, files: dict[str, str | None], said: str
) -> None:
    started = change(files, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started))
    told(done, "promote", 0)
    assert said in done.summary


def test_a_comment_in_the_policy_is_no_weakening(checkout: Checkout) -> None:
    text = (checkout.server / "gate.yaml").read_text("utf-8")
    started = change({"gate.yaml": f"# why\n{text}"}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started))
    assert "nothing that decides" in done.summary
    assert "weakens" not in done.log


def test_a_hostile_id_in_an_error_is_inert(pushed: Checkout) -> None:
    lines = [json.dumps({"id": name, "correct": 1}) + "\n" for name in HOSTILE]
    (pushed.workspace / "baseline.jsonl").write_text("".join(lines * 2), encoding="utf-8")
    done = decide(pushed, pushed_environment(pushed))
    told(done, "error", 2)
    assert done.commands == ["error"]
    assert "<img" not in done.summary


def test_a_link_out_of_the_workspace_is_refused(pushed: Checkout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (pushed.workspace / "baseline.jsonl").rename(outside / "baseline.jsonl")
    (pushed.workspace / "in").symlink_to(outside)
    told(decide(pushed, pushed_environment(pushed), baseline="in/baseline.jsonl"), "error", 2)


def test_reports_go_where_they_should_and_stale_ones_do_not_count(pushed: Checkout) -> None:
    folder = pushed.workspace / "reports"
    done = decide(pushed, pushed_environment(pushed), report_dir="reports")
    told(done, "promote", 0)
    assert done.outputs["report-json"] == str(folder / "report.json")
    assert "GATE_VERDICT=promote\n" in (folder / "outputs.env").read_text("utf-8")
    assert (folder / "judging-policy.yaml").read_text("utf-8") == (pushed.workspace / "gate.yaml").read_text(
        "utf-8"
    )
    (pushed.workspace / "baseline.jsonl").unlink()
    told(decide(pushed, pushed_environment(pushed), report_dir="reports"), "error", 2)


def test_a_planted_link_for_a_report_is_not_followed(pushed: Checkout, tmp_path: Path) -> None:
    folder, target = pushed.workspace / "reports", tmp_path / "target"
    folder.mkdir()
    target.write_text("mine")
    for name in ("report.json", "summary.md", "judging-policy.yaml", "outputs.env", "junit.xml"):
        (folder / name).symlink_to(target)
    told(decide(pushed, pushed_environment(pushed), report_dir="reports"), "promote", 0)
    assert target.read_text() == "mine"


def test_junit_and_attestation_are_written(pushed: Checkout) -> None:
    done = decide(pushed, pushed_environment(pushed))
    assert "<testsuite" in Path(done.outputs["report-junit"]).read_text("utf-8")
    statement = json.loads(Path(done.outputs["attestation"]).read_text("utf-8"))
    assert statement["predicate"]["result"] == "PASSED"


def test_an_error_is_an_error_in_junit_and_is_not_attested(pushed: Checkout) -> None:
    (pushed.workspace / "baseline.jsonl").unlink()
    done = decide(pushed, pushed_environment(pushed))
    assert "<error" in Path(done.outputs["report-junit"]).read_text("utf-8")
    assert done.outputs["attestation"] == ""


@pytest.mark.parametrize(("content", "mode"), [(b"", "normal"), (b"{}\n", "normal"), (None, "read-only")])
def test_an_empty_broken_or_missing_history_is_an_error(
    pushed: Checkout, content: bytes | None, mode: str
) -> None:
    if content is not None:
        (pushed.workspace / "history.jsonl").write_bytes(content)
    given = {"history": "history.jsonl", "history_mode": mode, "mode": "advisory"}
    told(decide(pushed, pushed_environment(pushed), **given), "error", 2)


def test_summary_short_and_none(pushed: Checkout) -> None:
    full = decide(pushed, pushed_environment(pushed)).summary
    short = decide(pushed, pushed_environment(pushed), summary="short").summary
    assert "promote" in short
    assert "Policy" in short
    assert len(short) < len(full)
    assert decide(pushed, pushed_environment(pushed), summary="none").summary == ""


def test_a_pull_request_without_its_event_is_an_error(pushed: Checkout) -> None:
    told(decide(pushed, pushed_environment(pushed, GITHUB_EVENT_NAME="pull_request")), "error", 2)


def test_outside_a_repository_the_policy_must_be_asked_for_as_a_plain_file(pushed: Checkout) -> None:
    (pushed.workspace / ".git").rename(pushed.workspace / "git")
    environment = pushed_environment(pushed, GITHUB_EVENT_NAME="schedule")
    told(decide(pushed, environment), "error", 2)
    told(decide(pushed, environment, policy_ref="worktree"), "promote", 0)


def test_a_bug_is_an_error_whatever_the_mode(pushed: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("gate.ci.decision.evaluate", broken)
    done = decide(pushed, pushed_environment(pushed), mode="advisory")
    told(done, "error", 70)


def test_other_systems_get_plain_lines_and_a_file_of_variables(pushed: Checkout) -> None:
    environment = {
        key: value for key, value in pushed_environment(pushed).items() if not key.startswith("GITHUB_")
    }
    environment |= {
        "GITLAB_CI": "true",
        "CI_PROJECT_DIR": str(pushed.workspace),
        "CI_PIPELINE_SOURCE": "push",
    }
    done = decide(pushed, environment, report_dir="reports")
    assert done.exit_code == 0
    assert done.commands == []
    lines = (pushed.workspace / "reports" / "outputs.env").read_text("utf-8").splitlines()
    assert "GATE_VERDICT=promote" in lines
    assert all(line.startswith("GATE_") and line.partition("=")[0].isidentifier() for line in lines)


@pytest.mark.parametrize(
    "name", ["junit.xml", "report.json", "outputs.env", "attestation.intoto.json", "flips.csv"]
)
@pytest.mark.parametrize("role", ["baseline", "candidate", "policy", "history", "sets"])
def test_a_report_never_replaces_what_the_job_was_given(pushed: Checkout, role: str, name: str) -> None:
    folder = pushed.workspace / "results"
    folder.mkdir()
    (folder / name).write_text("precious", encoding="utf-8")
    path = f"results/../results/{name}"
    value = f"safety baseline.jsonl '{path}'" if role == "sets" else path
    done = decide(pushed, pushed_environment(pushed), report_dir="results", **{role: value})
    told(done, "error", 2)
    assert "would replace a file that this run was given" in done.outputs["reason"]
    assert [p.name for p in folder.iterdir()] == [name]
    assert (folder / name).read_text("utf-8") == "precious"


def test_a_second_name_of_an_input_is_the_input(pushed: Checkout) -> None:
    folder = pushed.workspace / "results"
    folder.mkdir()
    (folder / "report.json").hardlink_to(pushed.workspace / "candidate.jsonl")
    told(decide(pushed, pushed_environment(pushed), report_dir="results"), "error", 2)
    assert (folder / "report.json").samefile(pushed.workspace / "candidate.jsonl")


def test_a_file_that_the_gate_did_not_write_stays(pushed: Checkout) -> None:
    other = pushed.workspace / "results" / "junit.xml"
    other.parent.mkdir()
    other.write_text('<testsuites name="pytest"/>', encoding="utf-8")
    done = decide(pushed, pushed_environment(pushed), report_dir="results")
    told(done, "error", 2)
    assert "did not write" in done.outputs["reason"]
    assert other.read_text("utf-8") == '<testsuites name="pytest"/>'
    assert done.outputs["report-json"] != str(other.with_name("report.json"))


def test_reports_in_the_workspace_leave_the_policy_as_it_is(pushed: Checkout) -> None:
    policy = pushed.workspace / "policy.yaml"
    policy.write_text("mine", encoding="utf-8")
    told(decide(pushed, pushed_environment(pushed), report_dir="."), "promote", 0)
    assert policy.read_text("utf-8") == "mine"


@pytest.mark.parametrize("first", ["candidate.jsonl", "candidate.jsonl\nother.jsonl", "nowhere.jsonl"])
def test_every_report_of_an_earlier_run_is_known_as_our_own(pushed: Checkout, first: str) -> None:
    text = (pushed.workspace / "baseline.jsonl").read_text("utf-8")
    (pushed.workspace / "other.jsonl").write_text(text.replace("1", "1.0"), encoding="utf-8")
    decide(pushed, pushed_environment(pushed), report_dir="reports", candidate=first)
    assert list((pushed.workspace / "reports").iterdir())
    told(decide(pushed, pushed_environment(pushed), report_dir="reports"), "promote", 0)


@pytest.mark.parametrize("ref", ["head", "merge", "branch"])
def test_a_policy_ref_that_is_the_change_itself_decides_nothing(checkout: Checkout, ref: str) -> None:
    event, body, merged = change({"gate.yaml": LOOSE}, BETTER)(checkout)
    head = body["pull_request"]["head"]["sha"]
    branch = next(name for name in checkout.branches() if name != "main" and checkout.head(name) == head)
    given = {"head": head, "merge": merged, "branch": f"refs/heads/{branch}"}[ref]
    told_advisory(decide(checkout, checkout.environment(event, body, merged), policy_ref=given), "promote", 0)


@pytest.mark.parametrize("event", ["workflow_run", "workflow_dispatch", "repository_dispatch", "check_run"])
def test_a_worktree_policy_of_another_commit_than_the_events_decides_nothing(
    checkout: Checkout, event: str
) -> None:
    _, _, merged = change({"gate.yaml": LOOSE}, BETTER)(checkout)
    environment = checkout.environment(event, {}, checkout.head("main"))
    told_advisory(decide(checkout, environment, policy_ref="worktree"), "promote", 0)
    told(decide(checkout, checkout.environment(event, {}, merged), policy_ref="worktree"), "promote", 0)


def test_a_base_side_policy_in_advisory_mode_keeps_its_verdict(checkout: Checkout) -> None:
    done = decide(checkout, checkout.environment(*change({}, BETTER)(checkout)), mode="advisory")
    told(done, "promote", 0)
    assert "decides" not in json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
    assert done.outputs["attestation"] != ""
