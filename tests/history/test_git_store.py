"""A history in a branch: a real bare repository, and clones that push at once."""

from __future__ import annotations

import os
import subprocess

import pytest
from history_world import attempt, program, run, session

from gate.cycles import Rules
from gate.history.branch import GitPlace, git_place
from gate.history.session import store_for
from gate.values import GateError


def git(*arguments, cwd=None):
    done = subprocess.run(["git", *map(str, arguments)], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def bare(tmp_path):
    git("init", "-q", "--bare", tmp_path / "remote.git")
    return tmp_path / "remote.git"


@pytest.mark.parametrize(
    ("text", "remote", "branch", "path"),
    [
        ("git:origin#gate-history", "origin", "gate-history", "history.jsonl"),
        ("git:origin#gate/history:a/b.jsonl", "origin", "gate/history", "a/b.jsonl"),
        ("git:https://x.test/o/r.git#b", "https://x.test/o/r.git", "b", "history.jsonl"),
        ("git:git@x.test:o/r.git#b:q.jsonl", "git@x.test:o/r.git", "b", "q.jsonl"),
        ("git:/a#b/r.git#c", "/a#b/r.git", "c", "history.jsonl"),
    ],
)
def test_how_a_place_is_written(text, remote, branch, path):
    assert git_place(text) == GitPlace(remote, branch, path)


@pytest.mark.parametrize(
    "text",
    [
        "git:",
        "git:origin",
        "git:#b",
        "git:o#",
        "git:--upload-pack=x#b",
        "git:o#-b",
        "git:o#b:../x",
        "git:o#b:/x",
    ],
)
def test_what_is_no_place(text):
    with pytest.raises(GateError) as caught:
        store_for(text)
    assert "git:REMOTE#BRANCH" in caught.value.help


def test_secrets_stay_out_of_messages():
    assert (
        str(git_place("git:https://bot:s3cret@x.test/r.git#b")) == "git:https://x.test/r.git#b:history.jsonl"
    )


LOOKS = """
from gate.cycles import Rules
from history_world import attempt, run
place, name = sys.argv[1:]
for number in range(2):
    print(run(place, attempt(f"{name}-{number}"), Rules(looks=9), "fail").look)
"""


def test_eight_clones_that_push_at_once(tmp_path, bare):
    """No look is lost or spent twice, and the branch is one line of commits."""
    clones = []
    for number in range(8):
        git("clone", "-q", bare, tmp_path / f"clone{number}")
        clones.append(tmp_path / f"clone{number}")
    runs = [
        program(LOOKS, "git:origin#gate-history", str(number), cwd=clone)
        for number, clone in enumerate(clones)
    ]
    said = [process.communicate(timeout=300) for process in runs]
    assert [process.returncode for process in runs] == [0] * 8, said
    looks = [int(line) for out, _ in said for line in out.split()]
    assert sorted(looks) == list(range(1, 17))
    history = store_for(f"git:{bare}#gate-history").read()
    assert (history.count, len(history.heads), history.cautions) == (33, 1, ())
    assert git("rev-list", "--count", "gate-history", cwd=bare).strip() == "33"
    assert git("rev-list", "--count", "--merges", "gate-history", cwd=bare).strip() == "0"
    for clone in clones:
        assert git("status", "--porcelain", cwd=clone) == ""


def test_a_file_beside_others_in_a_branch(tmp_path, bare):
    work = tmp_path / "work"
    git("clone", "-q", bare, work)
    (work / "README").write_text("history branch\n")
    git("add", "README", cwd=work)
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start", cwd=work)
    git("push", "-q", "origin", "HEAD:refs/heads/kept", cwd=work)
    place = f"git:{bare}#kept:bots/support.jsonl"
    with pytest.raises(GateError, match="not in the branch"):
        store_for(place).read()
    assert run(place, attempt(), Rules(looks=9)).verdict == "promote"
    assert git("ls-tree", "-r", "--name-only", "kept", cwd=bare).split() == ["README", "bots/support.jsonl"]
    assert run(place, attempt(), Rules(looks=9)).replayed


def test_missing_and_damaged(bare, tmp_path):
    place = f"git:{bare}#none"
    with pytest.raises(GateError) as caught:
        session(place, must_exist=True)
    assert caught.value.code == "history_missing"
    with pytest.raises(GateError) as caught:
        store_for(f"git:{tmp_path / 'nowhere'}#b").read()
    assert caught.value.code == "history_git"
    work = tmp_path / "work"
    git("clone", "-q", bare, work)
    (work / "history.jsonl").symlink_to("/etc/passwd")
    git("add", "-A", cwd=work)
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "link", cwd=work)
    git("push", "-q", "origin", "HEAD:refs/heads/odd", cwd=work)
    with pytest.raises(GateError) as caught:
        store_for(f"git:{bare}#odd").read()
    assert caught.value.code == "history_not_a_file"


def test_a_history_that_somebody_made_executable_is_read(bare, tmp_path):
    store_for(f"git:{bare}#h").create(now="2026-01-01T00:00:00Z", tool="0.1.0")
    work = tmp_path / "work"
    git("clone", "-q", "-b", "h", bare, work)
    git("update-index", "--chmod=+x", "history.jsonl", cwd=work)
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "mode", cwd=work)
    git("push", "-q", "origin", "HEAD:refs/heads/h", cwd=work)
    assert store_for(f"git:{bare}#h").read().count == 1


def test_a_refused_push_is_an_error_at_once(bare):
    place = f"git:{bare}#b"
    run(place, attempt(), Rules(looks=9))
    hook = bare / "hooks" / "update"
    hook.write_text("#!/bin/sh\necho protected branch >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GateError) as caught:
        run(place, attempt("b"), Rules(looks=9))
    assert (caught.value.code, store_for(place).read().count) == ("history_git", 4)


def test_nothing_that_a_repository_configured_is_run(tmp_path, bare, monkeypatch):
    clone, mark = tmp_path / "clone", tmp_path / "ran"
    git("clone", "-q", bare, clone)
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    script.chmod(0o755)
    for name in ("pre-push", "reference-transaction", "post-checkout", "pre-commit"):
        (clone / ".git" / "hooks" / name).symlink_to(script)
    for key in ("core.fsmonitor", "core.pager", "credential.helper", "gpg.program", "core.editor"):
        git("config", key, str(script), cwd=clone)
    git("config", "commit.gpgSign", "true", cwd=clone)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {clone / '.git' / 'hooks'}\n[init]\n\ttemplateDir = /x\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", os.devnull)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(script))
    monkeypatch.chdir(clone)
    assert run("git:origin#h", attempt(), Rules(looks=9)).look == 1
    assert not mark.exists()
