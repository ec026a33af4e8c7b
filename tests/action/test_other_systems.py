"""Whose policy judges on GitLab, Azure and Jenkins, and the command that fetches it anywhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from gate.ci.event import event_of
from gate.cli.main import main

from .jobs import POLICY, Checkout, git
from .judging import evil, judge, refused

GITLAB = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event"}


def gitlab(checkout: Checkout, sha: str, **more: str) -> dict[str, str]:
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_COMMIT_SHA": sha}
    urls = {"CI_MERGE_REQUEST_PROJECT_URL": checkout.url, "CI_REPOSITORY_URL": checkout.url}
    return GITLAB | target | urls | more


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
            "BUILD_REPOSITORY_URI": "{url}",
        },
        {"JENKINS_URL": "http://ci", "CHANGE_ID": "7", "CHANGE_TARGET": "main", "CHANGE_URL": "{url}/pull/7"},
    ],
)
def test_azure_and_jenkins_are_judged_by_the_target_branch(
    checkout: Checkout, system: dict[str, str]
) -> None:
    base, _, _ = evil(checkout)
    checkout.check_out("evil", 1)
    found = judge(checkout, {name: value.format(url=checkout.url) for name, value in system.items()})
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


FORKED = [
    {"CI_REPOSITORY_URL": "{fork}", "CI_PROJECT_URL": "{fork}", "CI_MERGE_REQUEST_PROJECT_URL": "{url}"},
    {"CI_REPOSITORY_URL": "{fork}", "CI_MERGE_REQUEST_PROJECT_URL": "{url}"},
    {"CI_REPOSITORY_URL": "{fork}", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_PROJECT_ID": "2"},
    {"CI_REPOSITORY_URL": "{fork}"},
]
AZURE = {
    "TF_BUILD": "True",
    "BUILD_REASON": "PullRequest",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
}
JENKINS = {"JENKINS_URL": "http://ci", "CHANGE_ID": "7", "CHANGE_TARGET": "main"}


@pytest.mark.parametrize(
    ("system", "known"),
    [
        *zip(
            [GITLAB | {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"} | urls for urls in FORKED],
            "1100",
            strict=True,
        ),
        (JENKINS | {"GIT_URL": "{fork}", "CHANGE_URL": "{url}/pull/7", "CHANGE_FORK": "x"}, "1"),
        (JENKINS | {"GIT_URL": "{fork}", "CHANGE_URL": "{url}/-/merge_requests/7"}, "1"),
        (JENKINS | {"GIT_URL": "{fork}", "CHANGE_URL": "{url}/pull-requests/7/overview"}, "1"),
        (JENKINS | {"GIT_URL": "{fork}", "CHANGE_FORK": "x"}, "0"),
        (JENKINS | {"GIT_URL": "{fork}"}, "0"),
        (JENKINS | {"GIT_URL": "{fork}", "CHANGE_URL": "{fork}/changes"}, "0"),
        (AZURE | {"BUILD_REPOSITORY_URI": "{url}", "SYSTEM_PULLREQUEST_ISFORK": "True"}, "1"),
        (
            AZURE
            | {"BUILD_REPOSITORY_URI": "{fork}", "SYSTEM_PULLREQUEST_ISFORK": "True"}
            | {"SYSTEM_PULLREQUEST_SOURCEREPOSITORYURI": "{fork}"},
            "0",
        ),
    ],
)
def test_a_forks_own_main_never_judges(checkout: Checkout, system: dict[str, str], known: str) -> None:
    base, head, _ = evil(checkout)
    fork = checkout.home / "srv" / "fork" / "bot"
    fork.parent.mkdir()
    git(checkout.home, "clone", "--quiet", "--bare", str(checkout.server), str(fork))
    git(fork, "update-ref", "refs/heads/main", head)
    checkout.check_out("evil", 1)
    git(checkout.workspace, "remote", "set-url", "origin", f"file://{fork}")
    named = {name: value.format(url=checkout.url, fork=f"file://{fork}") for name, value in system.items()}
    if known == "1":
        assert judge(checkout, named).commit == base
    else:
        assert refused(checkout, named) == "ci_base_missing"


def test_a_project_fetched_by_another_address_is_the_same_project(checkout: Checkout) -> None:
    for cloned in (
        "git@git.example:team/bot.git",
        "ssh://git@git.example:22/team/bot",
        "https://git.example/Team/bot/",
    ):
        event = event_of(JENKINS | {"GIT_URL": cloned, "CHANGE_URL": "https://git.example/team/bot/pull/7"})
        assert event.url == cloned
    gitlab_ci = {"CI_MERGE_REQUEST_PROJECT_URL": "https://x/t/b", "CI_PROJECT_URL": "https://x/t/b"}
    token = {"CI_REPOSITORY_URL": "https://gitlab-ci-token:s@x/t/b.git"}
    assert event_of(GITLAB | gitlab_ci | token).url == token["CI_REPOSITORY_URL"]


def test_gitlabs_external_pull_requests_are_changes(checkout: Checkout) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil", 1)
    names = {"TARGET_BRANCH_NAME": "main", "SOURCE_BRANCH_SHA": head, "SOURCE_REPOSITORY": "t/b"}
    names["TARGET_REPOSITORY"] = "t/b"
    external = {f"CI_EXTERNAL_PULL_REQUEST_{name}": value for name, value in names.items()}
    source = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "external_pull_request_event"}
    assert judge(checkout, source | external | {"CI_REPOSITORY_URL": checkout.url}).commit == base


CHANGES_ELSEWHERE = [
    {"BITBUCKET_PR_ID": "7", "BITBUCKET_PR_DESTINATION_BRANCH": "main", "BITBUCKET_COMMIT": "{head}"},
    {"TRAVIS_PULL_REQUEST": "7", "TRAVIS_BRANCH": "main", "TRAVIS_PULL_REQUEST_SHA": "{head}"},
    {"DRONE_PULL_REQUEST": "7", "DRONE_TARGET_BRANCH": "main", "DRONE_COMMIT_SHA": "{head}"},
    {"CI_COMMIT_PULL_REQUEST": "7", "CI_COMMIT_TARGET_BRANCH": "main", "CI_COMMIT_SHA": "{head}"},
    {"BUILDKITE_PULL_REQUEST": "7", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"},
    {"APPVEYOR_PULL_REQUEST_NUMBER": "7", "APPVEYOR_REPO_BRANCH": "main"},
    {"CODEBUILD_WEBHOOK_BASE_REF": "refs/heads/main"},
    {"PULL_NUMBER": "7", "PULL_BASE_REF": "main"},
    {"JENKINS_URL": "http://ci", "ghprbPullId": "7", "ghprbTargetBranch": "main"},
    {"JENKINS_URL": "http://ci", "gitlabMergeRequestIid": "7", "gitlabTargetBranch": "main"},
    {"JENKINS_URL": "http://ci", "GERRIT_CHANGE_NUMBER": "7", "GERRIT_BRANCH": "main"},
]


@pytest.mark.parametrize("system", CHANGES_ELSEWHERE)
def test_no_system_lets_a_change_be_judged_by_itself(checkout: Checkout, system: dict[str, str]) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil", 1)
    assert judge(checkout, {name: value.format(head=head) for name, value in system.items()}).commit == base
    assert judge(checkout, dict.fromkeys(system, "false")).commit == head  # what some say on a push


@pytest.mark.parametrize(
    "system",
    [
        {"CIRCLECI": "true", "CIRCLE_PULL_REQUEST": "https://x/y/pull/7"},
        {"GITHUB_ACTIONS": "true"},
        {"GITHUB_EVENT_NAME": "dynamic", "GITHUB_REF": "refs/pull/7/merge"},
        {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "parent_pipeline", "CI_MERGE_REQUEST_IID": "7"},
        {"TF_BUILD": "True", "BUILD_REASON": "Manual", "BUILD_SOURCEBRANCH": "refs/pull/7/merge"},
        {"JENKINS_URL": "http://ci", "CHANGE_URL": "https://x/y/pull/7"},
    ],
)
def test_a_change_that_names_no_base_is_not_judged(checkout: Checkout, system: dict[str, str]) -> None:
    evil(checkout)
    checkout.check_out("evil", 1)
    assert refused(checkout, system) in {"ci_base_missing", "ci_event"}


@pytest.mark.parametrize(
    "system",
    [
        {"GITHUB_EVENT_NAME": "push", "GITHUB_SHA": "{pushed}"},
        {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": "{pushed}"},
        {"TF_BUILD": "True", "BUILD_REASON": "IndividualCI", "BUILD_SOURCEVERSION": "{pushed}"},
        {"JENKINS_URL": "http://ci", "GIT_COMMIT": "{pushed}"},
    ],
)
def test_a_push_is_judged_by_what_was_pushed(checkout: Checkout, system: dict[str, str]) -> None:
    base, head, _ = evil(checkout)
    checkout.check_out("evil")
    for pushed, judges in ((base, base), (head, head), ("1" * 40, head)):  # the last is of another repository
        named = {name: value.format(pushed=pushed) for name, value in system.items()}
        assert judge(checkout, named).commit == judges
