"""Whose policy judges, with real repositories: merge commits, stale bases, planted settings, forgeries."""

from __future__ import annotations

import subprocess
import zlib
from typing import Any

import pytest

from gate.ci.base_policy import read_policy
from gate.ci.event import event_of

from .jobs import LOOSE, POLICY, Checkout, git
from .judging import evil, github, judge, refused


@pytest.mark.parametrize("depth", [1, 2, 0])
def test_a_pull_request_is_judged_by_the_merge_commits_base(checkout: Checkout, depth: int) -> None:
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", depth)
    found = judge(checkout, github(checkout, merged, head, "0" * 40))
    assert (found.text, found.commit, found.stale) == (POLICY, base, False)
    assert "verified merge commit" in found.words


def test_the_authors_own_merge_commit_is_not_trusted(checkout: Checkout) -> None:
    """With ``ref: head.sha`` HEAD^1 is the author's; its policy must not judge."""
    base = checkout.head("main")
    git(checkout.server, "checkout", "--quiet", "-b", "evil")
    loose = checkout.commit({"gate.yaml": LOOSE}, "loose")
    git(checkout.server, "checkout", "--quiet", "-b", "side", "main")
    checkout.commit({"x": "x"}, "side")
    git(checkout.server, "checkout", "--quiet", "evil")
    git(checkout.server, "merge", "--quiet", "--no-ff", "-m", "m", "side")
    head = checkout.head("evil")
    git(checkout.server, "checkout", "--quiet", "main")
    merged = checkout.merge("evil")
    checkout.check_out("evil")
    assert git(checkout.workspace, "rev-parse", "HEAD^1") == loose
    for sha in (merged, head):
        found = judge(checkout, github(checkout, sha, head, base))
        assert (found.text, found.commit) == (POLICY, base)
        assert "tip of the base branch" in found.words


def test_a_merge_commit_of_another_head_is_not_trusted(checkout: Checkout) -> None:
    base, _, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", 2)
    found = judge(checkout, github(checkout, merged, "1" * 40, base))
    assert "tip of the base branch" in found.words


def test_the_tip_wins_over_the_events_stale_base(checkout: Checkout) -> None:
    old = checkout.commit({"gate.yaml": LOOSE}, "once it was loose")
    new = checkout.commit({"gate.yaml": POLICY}, "then strict")
    head = checkout.branch("change", {"x": "x"})
    checkout.check_out("change")
    assert judge(checkout, github(checkout, head, head, old)).commit == new


def test_the_events_base_is_the_last_resort_and_labelled(checkout: Checkout) -> None:
    base = checkout.head("main")
    head = checkout.branch("change", {"x": "x"})
    checkout.check_out("change")
    checkout.server.rename(checkout.server.with_name("gone"))
    found = judge(checkout, github(checkout, head, head, base))
    assert (found.commit, found.stale) == (base, True)
    assert "may be old" in found.words


def test_no_base_at_all_is_an_error(checkout: Checkout) -> None:
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", depth=1)
    checkout.server.rename(checkout.server.with_name("gone"))
    assert refused(checkout, github(checkout, merged, head, base)) == "ci_base_missing"


def test_a_merge_queue_is_judged_by_its_base(checkout: Checkout) -> None:
    base, _, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", depth=1)
    body: dict[str, Any] = {"merge_group": {"base_sha": base}}
    found = judge(checkout, checkout.environment("merge_group", body, merged))
    assert (found.text, found.commit) == (POLICY, base)
    body = {"merge_group": {"base_sha": "main"}}
    assert refused(checkout, checkout.environment("merge_group", body, merged)) == "ci_base_missing"


def test_a_push_is_judged_by_its_commit_and_not_by_the_files(checkout: Checkout) -> None:
    checkout.check_out("main", depth=1)
    (checkout.workspace / "gate.yaml").write_text(LOOSE)
    found = judge(checkout, checkout.environment("push", {}, checkout.head("main")))
    assert (found.text, found.commit) == (POLICY, checkout.head("main"))


@pytest.mark.parametrize(
    "event",
    [
        "workflow_run",
        "issue_comment",
        "repository_dispatch",
        "workflow_dispatch",
        "check_run",
        "status",
        "schedule",
    ],
)
def test_an_event_is_judged_by_its_own_commit_whatever_is_checked_out(checkout: Checkout, event: str) -> None:
    base, _, _ = evil(checkout)
    checkout.check_out("evil", depth=1)
    found = judge(checkout, checkout.environment(event, {"workflow_run": {"head_sha": "x"}}, base))
    assert (found.text, found.commit) == (POLICY, base)


def test_pull_request_target_is_judged_by_the_base_branch(checkout: Checkout) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("main", depth=1)
    assert judge(checkout, github(checkout, base, head, base, "pull_request_target")).commit == base


def test_a_named_commit_or_branch(checkout: Checkout) -> None:
    old = checkout.head("main")
    checkout.commit({"gate.yaml": LOOSE}, "loose")
    checkout.check_out("main", depth=1)
    environment = checkout.environment("push", {}, checkout.head("main"))
    assert judge(checkout, environment, ref=old).text == POLICY
    assert judge(checkout, environment, ref="refs/heads/main").text == LOOSE
    assert refused(checkout, environment, ref="2" * 40) == "ci_base_missing"
    assert refused(checkout, environment, ref="refs/heads/none") == "ci_base_missing"
    for ref in ("HEAD", "main", old[:12], "refs/tags/v1", "refs/heads/a..b", "refs/heads/-x", "refs/heads/"):
        assert refused(checkout, environment, ref=ref) == "ci_policy_ref"


@pytest.mark.parametrize("path", ["config/gate.yaml", "gate.yaml"])
def test_links_and_folders_are_no_policies(checkout: Checkout, path: str) -> None:
    (checkout.server / "loose.yaml").write_text(LOOSE)
    (checkout.server / "real").mkdir()
    (checkout.server / "real" / "gate.yaml").write_text(LOOSE)
    (checkout.server / "gate.yaml").unlink()
    (checkout.server / "gate.yaml").symlink_to("loose.yaml")
    (checkout.server / "config").symlink_to("real")
    checkout.commit({}, "links")
    checkout.check_out("main")
    environment = checkout.environment("push", {}, checkout.head("main"))
    assert refused(checkout, environment, path) == "policy_is_a_link"
    assert refused(checkout, environment, "real") == "policy_is_a_link"
    assert judge(checkout, environment, "real/gate.yaml").text == LOOSE
    assert read_policy("real/none.yaml", "auto", event_of(environment), checkout.workspace) is None
    assert read_policy("none/gate.yaml", "auto", event_of(environment), checkout.workspace) is None


def test_a_policy_as_a_link_is_refused_in_the_worktree(checkout: Checkout) -> None:
    checkout.check_out("main")
    (checkout.workspace / "link.yaml").symlink_to("gate.yaml")
    environment = checkout.environment("push", {}, checkout.head("main"))
    assert refused(checkout, environment, "link.yaml", "worktree") == "policy_is_a_link"


def test_planted_configuration_runs_nothing(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsmonitor, hooks, ssh command, filters, credential helpers, an aliased remote: none of them acts."""
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", depth=1)
    owned = checkout.home / "owned"
    script = checkout.home / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {owned}\n")
    script.chmod(0o755)
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        (checkout.workspace / ".git" / "hooks" / hook).write_bytes(script.read_bytes())
        (checkout.workspace / ".git" / "hooks" / hook).chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(script),
        "core.sshCommand": str(script),
        "core.gitProxy": str(script),
        "core.pager": str(script),
        "credential.helper": f"!{script}",
        "filter.x.smudge": str(script),
        "remote.origin.uploadpack": str(script),
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        f"url.ext::{script}.insteadOf": "file://",
        "protocol.ext.allow": "always",
    }.items():
        git(checkout.workspace, "config", key, value)
    git(checkout.workspace, "config", "core.repositoryformatversion", "1")
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    monkeypatch.setenv("GIT_DIR", str(checkout.home))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(script))
    found = judge(checkout, github(checkout, merged, head, base))
    assert (found.text, found.commit) == (POLICY, base)
    assert not owned.exists()


def test_replace_refs_and_grafts_are_inert(checkout: Checkout) -> None:
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge")
    git(checkout.workspace, "replace", base, head)
    strict, loose = (git(checkout.workspace, "rev-parse", f"{c}:gate.yaml") for c in (merged + "^1", head))
    if strict != loose:
        git(checkout.workspace, "replace", "-f", strict, loose)
    (checkout.workspace / ".git" / "info" / "grafts").write_text(f"{merged} {head} {head}\n")
    found = judge(checkout, github(checkout, merged, head, base))
    assert (found.text, found.commit) == (POLICY, base)


def test_a_doctored_object_store_is_noticed(checkout: Checkout) -> None:
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge")
    blob = git(checkout.server, "rev-parse", f"{base}:gate.yaml")
    for pack in (checkout.workspace / ".git" / "objects" / "pack").glob("*.pack"):
        outside = pack.rename(checkout.home / pack.name)
        pack.with_suffix(".idx").unlink()
        with outside.open("rb") as file:
            subprocess.run(["git", "unpack-objects", "-q"], cwd=checkout.workspace, stdin=file, check=True)
    loose = LOOSE.encode()
    file = checkout.workspace / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"blob %d\0" % len(loose) + loose))
    assert git(checkout.workspace, "cat-file", "blob", blob) == LOOSE.strip()
    assert refused(checkout, github(checkout, merged, head, base)) == "ci_object_forged"


def test_a_remote_of_the_checkout_is_not_asked(checkout: Checkout) -> None:
    """An artifact unpacked over .git/config may name another server; the event's repository is asked."""
    base, head, _ = evil(checkout)
    checkout.check_out("evil", depth=1)
    other = checkout.home / "other"
    git(checkout.home, "clone", "--quiet", checkout.url, str(other))
    (other / "gate.yaml").write_text(LOOSE)
    git(other, "commit", "--quiet", "-am", "loose")
    git(checkout.workspace, "config", "remote.origin.url", f"file://{other}")
    found = judge(checkout, github(checkout, head, head, base))
    assert (found.text, found.commit) == (POLICY, base)


def test_a_checkout_in_a_folder(checkout: Checkout) -> None:
    checkout.commit({"eval/gate.yaml": LOOSE}, "sub")
    whole = checkout.workspace
    checkout.workspace = whole / "app"
    whole.mkdir()
    checkout.check_out("main")
    checkout.workspace = whole
    environment = checkout.environment("schedule", {}, checkout.head("main"))
    assert judge(checkout, environment, "app/gate.yaml").text == POLICY
    assert judge(checkout, environment, "app/eval/gate.yaml").text == LOOSE
    (whole / "link").symlink_to("app")
    assert refused(checkout, environment, "link/gate.yaml") == "ci_no_repository"
    assert refused(checkout, environment, "gate.yaml") == "ci_no_repository"


def test_a_repository_with_sha256_ids(checkout: Checkout) -> None:
    made = checkout.workspace
    made.mkdir()
    git(made, "init", "--quiet", "--object-format=sha256")
    (made / "gate.yaml").write_text(POLICY)
    git(made, "add", "gate.yaml")
    git(made, "commit", "--quiet", "-m", "x")
    found = judge(checkout, checkout.environment("push", {}, git(made, "rev-parse", "HEAD")))
    assert (found.text, len(found.commit)) == (POLICY, 64)
