"""Since when a policy is committed, in repositories with commits of stated times, and what follows from it.

Every policy, commit and result file is given its time here, so which of two is older is known beforehand.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from black_box import Answer, command

from gate.ci.policy_age import MOST_VERSIONS, checkout_since
from gate.git.repository import Repository
from gate.policy.load import load

from .composite import clean_environment
from .jobs import POLICY, Checkout, decide, pull_request

PLAIN = POLICY
FIRST = POLICY + "cycles: {policy_first: true}\n"
OTHER = FIRST.replace("margin: 0.01", "margin: 0.02")
JANUARY, MARCH, MAY, JULY = (f"2026-0{month}-01T12:00:00+00:00" for month in (1, 3, 5, 7))
IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str, time: str = JANUARY) -> str:
    seconds = f"{int(datetime.fromisoformat(time).timestamp())} +0000"
    dates = {"GIT_AUTHOR_DATE": seconds, "GIT_COMMITTER_DATE": seconds}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": ""}
    done = subprocess.run(
        ["git", *IDENTITY, "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        env=clean_environment() | quiet | dates,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path, time: str, **files: str | None) -> str:
    """Commit these files (``gate`` is gate.yaml; None removes it) at a time."""
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "x", time=time)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty repository."""
    folder = tmp_path / "home"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return folder


def since(folder: Path, name: str = "gate") -> str:
    path = folder / f"{name}.yaml"
    return checkout_since(str(path), load(path).decision_digest)


# When the deciding part was committed ----------------------------------------------------------------


def test_the_commit_that_brought_the_deciding_part(home: Path) -> None:
    commit(home, JANUARY, gate=OTHER)
    commit(home, MARCH, gate=FIRST)
    commit(home, MAY, other=PLAIN)
    assert since(home) == MARCH


def test_an_edit_that_decides_nothing_keeps_the_first_time(home: Path) -> None:
    commit(home, MARCH, gate=FIRST)
    commit(home, MAY, gate=FIRST.replace("name: prompt", "name: renamed") + "# a comment\n")
    assert since(home) == MARCH
    (home / "gate.yaml").write_text(FIRST + "# not committed yet\n", encoding="utf-8")
    assert since(home) == MARCH


def test_a_rule_that_comes_back_was_known_before(home: Path) -> None:
    for time, text in ((JANUARY, FIRST), (MARCH, OTHER), (MAY, FIRST)):
        commit(home, time, gate=text)
    assert since(home) == JANUARY


def test_a_policy_under_its_earlier_name(home: Path) -> None:
    commit(home, JANUARY, old=FIRST, other=PLAIN + "# other\n")
    git(home, "mv", "old.yaml", "gate.yaml")
    commit(home, MARCH)
    git(home, "mv", "gate.yaml", "newer.yaml")
    commit(home, MAY)
    assert since(home, "newer") == JANUARY


@pytest.mark.parametrize("more", [{}, {"gate": FIRST}])
def test_an_agreement_on_a_branch_counts_from_its_commit(home: Path, more: dict[str, str]) -> None:
    commit(home, JANUARY, gate=OTHER)
    git(home, "checkout", "--quiet", "-b", "side")
    commit(home, MARCH, gate=FIRST)
    git(home, "checkout", "--quiet", "main")
    commit(home, MAY, other=PLAIN, **more)
    git(home, "merge", "--quiet", "--no-ff", "-m", "x", "side", time=JULY)
    assert since(home) == MARCH


def test_no_commit_is_older_than_its_parents(home: Path) -> None:
    commit(home, MARCH, gate=OTHER)
    commit(home, JANUARY, gate=FIRST)
    assert since(home) == MARCH


def test_a_folder_of_the_repository_and_a_work_tree_beside_it(home: Path, tmp_path: Path) -> None:
    (home / "to" / "it").mkdir(parents=True)
    (home / "to" / "it" / "gate.yaml").write_text(FIRST, encoding="utf-8")
    commit(home, MARCH)
    assert since(home / "to" / "it") == MARCH
    with contextlib.chdir(home / "to"):
        assert since(Path("it")) == MARCH
    git(home, "worktree", "add", "--quiet", "--detach", str(tmp_path / "beside"))
    assert since(tmp_path / "beside" / "to" / "it") == MARCH


# Unknown ---------------------------------------------------------------------------------------------


def test_what_is_not_committed_is_unknown(home: Path) -> None:
    (home / "gate.yaml").write_text(FIRST, encoding="utf-8")
    assert since(home) == ""  # not one commit
    commit(home, JANUARY, gate=OTHER)
    (home / "gate.yaml").write_text(FIRST, encoding="utf-8")
    assert since(home) == ""
    git(home, "add", "gate.yaml")
    assert since(home) == ""
    commit(home, MARCH, gate=FIRST)
    (home / "gate.yaml").write_text(OTHER, encoding="utf-8")
    assert since(home) == ""  # it was committed once, and is not what stands there now


def test_no_repository_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text(FIRST, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    assert since(tmp_path) == ""


def test_a_shallow_clone_is_unknown(home: Path, tmp_path: Path) -> None:
    commit(home, JANUARY, gate=FIRST)
    commit(home, MARCH, other=PLAIN)
    for depth, known in ((["--depth=1"], ""), ([], JANUARY)):
        clone = tmp_path / f"clone{len(depth)}"
        git(tmp_path, "clone", "--quiet", *depth, f"file://{home}", str(clone))
        assert since(clone) == known
    commit(home, MAY, gate=OTHER)
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{home}", str(tmp_path / "deeper"))
    assert since(home) == MAY
    assert since(tmp_path / "deeper") == ""  # what lies below may have had it before


def test_more_versions_than_are_looked_at_is_unknown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_VERSIONS >= 100
    monkeypatch.setattr("gate.ci.policy_age.MOST_VERSIONS", 3)
    for number, time in enumerate((JANUARY, MARCH, MAY)):
        commit(home, time, gate=FIRST + f"# {number}\n")
    assert since(home) == JANUARY
    commit(home, JULY, gate=FIRST + "# one more\n")
    assert since(home) == ""


def test_a_repository_cannot_act_or_lie(home: Path, tmp_path: Path) -> None:
    base = commit(home, MARCH, gate=FIRST)
    git(home, "commit", "--quiet", "--amend", "--no-edit", time=JANUARY)
    git(home, "replace", base, "HEAD")
    git(home, "reset", "--quiet", "--hard", base)
    marker = tmp_path / "ran"
    program = tmp_path / "run.sh"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "gpg.program", "diff.x.textconv"):
        git(home, "config", key, str(program))
    git(home, "config", "log.showSignature", "true")
    (home / ".git" / "info" / "attributes").write_text("*.yaml diff=x\n", encoding="utf-8")
    assert since(home) == MARCH
    assert not marker.exists()


def test_a_file_that_stands_in_for_another_is_unknown(home: Path) -> None:
    commit(home, JANUARY, gate=FIRST)
    commit(home, MARCH, other=PLAIN)
    blob = git(home, "rev-parse", "HEAD:gate.yaml")
    forged = git(home, "hash-object", "-w", "other.yaml")
    objects = home / ".git" / "objects"
    target = objects / blob[:2] / blob[2:]
    target.chmod(0o644)
    target.write_bytes((objects / forged[:2] / forged[2:]).read_bytes())
    assert checkout_since(str(home / "gate.yaml"), load(home / "gate.yaml").decision_digest) == ""


def test_a_large_file_in_the_policys_place_is_not_read(home: Path) -> None:
    commit(home, JANUARY, gate="# " + "x" * (1 << 20))
    commit(home, MARCH, gate=FIRST)
    assert since(home) == MARCH
    with Repository(home, None) as repository:
        first, now = repository.blobs(["HEAD~1:gate.yaml", "HEAD:gate.yaml"])
        assert (first[1], now[1]) == ((1 << 20) + 2, len(FIRST))
        assert repository.blobs(["HEAD:nothing", "HEAD:"]) == [("", 0), ("", 0)]


# What it decides -------------------------------------------------------------------------------------


def log(right: Sequence[bool], created: str | None) -> str:
    """An Inspect log that says when it ran."""
    run: dict[str, Any] = {"task": "t", "model": "m", "dataset": {"name": "d"}}
    run |= {} if created is None else {"created": created}
    samples = [
        {"id": f"s{k}", "epoch": 1, "input": "x", "scores": {"correct": {"value": "C" if ok else "I"}}}
        for k, ok in enumerate(right)
    ]
    return json.dumps({"version": 2, "status": "success", "eval": run, "plan": {}, "samples": samples})


def write_logs(folder: Path, baseline: str | None, candidate: str | None) -> None:
    """A clear gain: 40 samples won, none lost, of 200."""
    (folder / "baseline.json").write_text(log([k >= 40 for k in range(200)], baseline), encoding="utf-8")
    (folder / "candidate.json").write_text(log([True] * 200, candidate), encoding="utf-8")


def gate(folder: Path, *more: object) -> Answer:
    words = ["--policy", "gate.yaml", "--baseline", "baseline.json", "--candidate", "candidate.json"]
    with contextlib.chdir(folder):
        answer = command("run", *words, "--json", "report.json", *more)
        report = json.loads(Path("report.json").read_text("utf-8"))
    return Answer(answer.code, answer.out, answer.err, report)


def verified(folder: Path, *more: object) -> Answer:
    with contextlib.chdir(folder):
        return command("verify", "report.json", *more)


TOLD = "policy_younger_than_data"
RULE = "history:policy_not_first"


@pytest.mark.parametrize(
    ("baseline", "candidate", "plain", "first"),
    [
        (MAY, MAY, (0, set()), 0),
        (MARCH, "2026-03-01T12:00:00Z", (0, set()), 0),  # not before the commit
        ("2026-03-01T13:00:00+01:00", "2026-03-01T05:00:00-07:00", (0, set()), 0),  # the same moment
        (MAY, "2026-03-01T12:30:00+01:00", (0, {TOLD}), 3),  # half an hour before it
        (MAY, JANUARY, (0, {TOLD}), 3),
        (JANUARY, MAY, (0, {TOLD}), 3),
        (MAY, None, (0, set()), 3),
        (None, MAY, (0, set()), 3),
        (None, None, (0, set()), 3),
        (MAY, "yesterday", (0, set()), 3),
    ],
)
def test_results_before_and_after_the_policy(
    home: Path, baseline: str | None, candidate: str | None, plain: tuple[int, set[str]], first: int
) -> None:
    for text, code in ((PLAIN, plain[0]), (FIRST, first)):
        commit(home, MARCH, gate=text)
        write_logs(home, baseline, candidate)
        answer = gate(home)
        assert answer.code == code, answer.out
        assert answer.cautions() & {TOLD} == plain[1]
        assert verified(home).code == 0
        git(home, "update-ref", "-d", "HEAD")
    if first:
        assert answer.status(RULE) == "inconclusive"


@pytest.mark.parametrize("committed", [True, False])
def test_an_unknown_time_decides_only_where_it_is_asked_for(home: Path, committed: bool) -> None:
    for text, code in ((PLAIN, 0), (FIRST, 3)):
        commit(home, JANUARY, gate=text if committed else OTHER)
        (home / "gate.yaml").write_text(text, encoding="utf-8")
        write_logs(home, MAY, MAY)
        answer = gate(home)
        assert answer.code == (0 if committed else code), answer.out
        assert answer.report is not None
        assert ("policy_since" in answer.report["provenance"]) == committed
        git(home, "update-ref", "-d", "HEAD")
    if not committed:
        assert "fetch-depth: 0" in answer.report["next_step"]


def test_a_history_knows_the_policy_from_its_first_record(home: Path) -> None:
    (home / "gate.yaml").write_text(FIRST, encoding="utf-8")
    write_logs(home, MAY, MAY)
    assert gate(home, "--history", "h.jsonl", "--cycle", "a").code == 3  # nobody knows yet
    write_logs(home, "2199-01-01T00:00:00+00:00", "2199-01-01T00:00:00+00:00")
    (home / "candidate.json").write_text(log([k > 0 for k in range(200)], "2199-01-01"), encoding="utf-8")
    assert gate(home, "--history", "h.jsonl", "--cycle", "b").code == 0
    assert verified(home, "--history", "h.jsonl").code == 0
    (home / "candidate.json").write_text(log([k > 1 for k in range(200)], MAY), encoding="utf-8")
    answer = gate(home, "--history", "h.jsonl", "--cycle", "c")
    assert (answer.code, answer.status(RULE)) == (3, "inconclusive")


def test_a_report_that_rests_on_a_record_says_what_it_lacks(home: Path) -> None:
    (home / "gate.yaml").write_text(FIRST, encoding="utf-8")
    write_logs(home, "2199-01-01", "2199-01-01")
    (home / "candidate.json").rename(home / "gone.json")
    with contextlib.suppress(FileNotFoundError):
        gate(home, "--history", "h.jsonl")  # breaks off, and leaves a record under this policy
    (home / "gone.json").rename(home / "candidate.json")
    assert gate(home, "--history", "h.jsonl").code == 0
    assert verified(home, "--history", "h.jsonl").code == 0
    alone = verified(home)
    assert (alone.code, "add --history FILE" in alone.out) == (1, True)


def test_a_report_reproduces_and_cannot_make_its_policy_older(home: Path) -> None:
    commit(home, MARCH, gate=PLAIN)
    write_logs(home, MAY, MAY)
    report = gate(home).report
    assert report is not None
    assert report["provenance"]["policy_since"] == MARCH
    assert verified(home).code == 0
    text = (home / "report.json").read_text("utf-8")
    (home / "report.json").write_text(text.replace(MARCH, "2025-01-01T00:00:00+00:00"), encoding="utf-8")
    forged = verified(home)
    assert (forged.code, "does not reproduce" in forged.out) == (1, True)
    (home / "report.json").write_text(text, encoding="utf-8")
    (home / ".git").rename(home / "gone")
    assert verified(home).code == 0  # the files alone say what the report says


# In CI -----------------------------------------------------------------------------------------------


def job(checkout: Checkout, depth: int, started: Mapping[str, Any], logs: str) -> Any:
    files = {"baseline": "baseline.json", "candidate": "candidate.json"}
    write_logs(checkout.workspace, logs, logs)
    return decide(checkout, checkout.environment(**started), **files)


@pytest.mark.parametrize(
    ("depth", "logs", "verdict"),
    [(0, MAY, "promote"), (0, JANUARY, "inconclusive"), (1, MAY, "inconclusive")],
)
def test_a_push(checkout: Checkout, depth: int, logs: str, verdict: str) -> None:
    commit(checkout.server, MARCH, gate=FIRST)
    git(checkout.server, "update-ref", "refs/heads/main", rooted(checkout.server, MARCH))
    commit(checkout.server, JULY, other=PLAIN)
    checkout.check_out("main", depth=depth)
    started = {"event": "push", "body": {}, "sha": checkout.head("main")}
    done = job(checkout, depth, started, logs)
    assert done.outputs["verdict"] == verdict, done.log
    report = json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
    assert report["provenance"].get("policy_since") == (None if depth else MARCH)


def rooted(folder: Path, time: str) -> str:
    """The tree of HEAD as a commit without parents: the fixture's own commit is of today."""
    return git(folder, "commit-tree", "-m", "x", "HEAD^{tree}", time=time)


def test_a_change_is_judged_by_the_time_of_the_base_sides_policy(checkout: Checkout) -> None:
    """The change brings the same deciding part on an older commit of its own; the base had it in May."""
    server = checkout.server
    git(server, "update-ref", "refs/heads/main", rooted(server, JANUARY))
    git(server, "checkout", "--quiet", "-b", "change")
    head = commit(server, MARCH, gate=FIRST)
    git(server, "checkout", "--quiet", "main")
    commit(server, MAY, gate=FIRST + "# agreed\n")
    git(server, "merge", "--quiet", "--no-ff", "-X", "ours", "-m", "x", "--no-commit", "change")
    git(server, "checkout", "--quiet", "main", "--", "gate.yaml")
    tree = git(server, "write-tree")
    merged = git(server, "commit-tree", "-m", "x", "-p", "main", "-p", head, tree, time=JULY)
    git(server, "update-ref", "refs/pull/1/merge", merged)
    git(server, "reset", "--quiet", "--hard", "main")
    checkout.check_out("refs/pull/1/merge")
    body = pull_request(head, checkout.head("main"))
    started = {"event": "pull_request", "body": body, "sha": merged}
    done = job(checkout, 0, started, "2026-04-01T00:00:00Z")
    assert done.outputs["verdict"] == "inconclusive", done.log
    report = json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
    assert report["provenance"]["policy_since"] == MAY
