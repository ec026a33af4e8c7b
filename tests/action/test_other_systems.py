"""Whose policy judges on GitLab, Azure and Jenkins, and the command that fetches it anywhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from gate.cli.main import main

from .jobs import POLICY, Checkout
from .judging import evil, judge, refused

GITLAB = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event"}


def gitlab(checkout: Checkout, sha: str, **more: str) -> dict[str, str]:
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_SHA": sha}
    return GITLAB | target | {"CI_REPOSITORY_URL": checkout.url} | more


def test_gitlab_merged_results_are_judged_by_the_merge_commits_base(checkout: Checkout) -> None:
    base, head, merged = evil(checkout)
    checkout.check_out("refs/pull/1/merge", 2)
    found = judge(checkout, gitlab(checkout, merged, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA=head))
    assert (found.text, found.commit) == (POLICY, base)
    assert "verified merge commit" in found.words


def test_gitlab_detached_pipelines_are_judged_by_the_target_branch(checkout: Checkout) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil", 1)
    found = judge(checkout, gitlab(checkout, head, CI_MERGE_REQUEST_DIFF_BASE_SHA="3" * 40))
    assert (found.text, found.commit) == (POLICY, base)


def test_gitlab_without_a_server_labels_an_old_base_or_fails(checkout: Checkout) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil")
    checkout.server.rename(checkout.server.with_name("gone"))
    assert judge(checkout, gitlab(checkout, head, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)).stale
    assert refused(checkout, gitlab(checkout, head)) == "ci_base_missing"


@pytest.mark.parametrize(
    "system",
    [
        {
            "TF_BUILD": "True",
            "BUILD_REASON": "PullRequest",
            "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
        },
        {"JENKINS_URL": "http://ci", "CHANGE_ID": "7", "CHANGE_TARGET": "main"},
    ],
)
def test_azure_and_jenkins_are_judged_by_the_target_branch(
    checkout: Checkout, system: dict[str, str]
) -> None:
    base, _, _ = evil(checkout)
    checkout.check_out("evil", 1)
    found = judge(checkout, system)
    assert (found.text, found.commit) == (POLICY, base)


def test_the_command_writes_the_judging_policy(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil", 1)
    for name, value in gitlab(checkout, head).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_EVENT_NAME", raising=False)
    monkeypatch.setenv("CI_PROJECT_DIR", str(checkout.workspace))
    out = StringIO()
    assert main(["ci", "policy", "-o", str(tmp_path / "agreed.yaml")], out, StringIO()) == 0
    assert (tmp_path / "agreed.yaml").read_text() == POLICY
    assert base in out.getvalue()
    assert main(["ci", "policy", "--policy", "none.yaml"], StringIO(), StringIO()) == 2
