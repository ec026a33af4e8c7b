"""What started this job, in one form for every CI system. Only ids and branch names are read, and checked.

An event carries text that strangers wrote (titles, branch names, labels): nothing else of it is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gate.git.repository import is_object_id
from gate.values import GateError

Kind = Literal["queue", "change", "triggered", "trusted"]
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@-]*")
_PAGE = re.compile(r"(.+?)(?:/-)?/(?:pull|pulls|pull-requests|pullrequest|merge_requests)/\d+(?:/.*)?")
"""A change request's page on GitHub, Gitea, Bitbucket, Azure and GitLab."""
LARGEST_EVENT = 1 << 25
_ELSEWHERE = (
    ("BITBUCKET_PR_ID", "BITBUCKET_PR_DESTINATION_BRANCH", "BITBUCKET_COMMIT"),
    ("CIRCLE_PULL_REQUEST", "", "CIRCLE_SHA1"),
    ("TRAVIS_PULL_REQUEST", "TRAVIS_BRANCH", "TRAVIS_PULL_REQUEST_SHA"),
    ("DRONE_PULL_REQUEST", "DRONE_TARGET_BRANCH", "DRONE_COMMIT_SHA"),
    ("CI_COMMIT_PULL_REQUEST", "CI_COMMIT_TARGET_BRANCH", "CI_COMMIT_SHA"),
    ("BUILDKITE_PULL_REQUEST", "BUILDKITE_PULL_REQUEST_BASE_BRANCH", "BUILDKITE_COMMIT"),
    ("APPVEYOR_PULL_REQUEST_NUMBER", "APPVEYOR_REPO_BRANCH", "APPVEYOR_PULL_REQUEST_HEAD_COMMIT"),
    ("CODEBUILD_WEBHOOK_BASE_REF", "CODEBUILD_WEBHOOK_BASE_REF", "CODEBUILD_RESOLVED_SOURCE_VERSION"),
    ("PULL_NUMBER", "PULL_BASE_REF", "PULL_PULL_SHA"),
    ("ghprbPullId", "ghprbTargetBranch", "ghprbActualCommit"),
    ("gitlabMergeRequestIid", "gitlabTargetBranch", "gitlabMergeRequestLastCommit"),
    ("GERRIT_CHANGE_NUMBER", "GERRIT_BRANCH", "GERRIT_PATCHSET_REVISION"),
)
"""How other systems and plugins say that they run a change: a sign of it, target branch, last commit."""


@dataclass(frozen=True, slots=True)
class Event:
    """kind: ``queue`` a merge queue's candidate; ``change`` a pull or merge request; ``triggered`` started by
    something else than a commit (a schedule, a dispatch, a comment, another run), so that the checkout may be
    of another commit than the event's; ``trusted`` a push, a hand.

    sha: the commit the system says it runs. head: the request's own last commit. base_ref: the branch it is
    for. base_sha: that branch's commit as the event knew it, which may be old. Unknown ones are empty.
    """

    kind: Kind
    name: str
    sha: str = ""
    head: str = ""
    base_ref: str = ""
    base_sha: str = ""
    url: str | None = ""
    """Of the repository that is asked to take the change; None where the system does not say."""

    @property
    def untrusted(self) -> bool:
        """Whether the checked-out files may come from someone who may not change the policy."""
        return self.kind in {"queue", "change"}


def event_of(environ: Mapping[str, str]) -> Event:
    """The event of GitHub, GitLab, Azure or Jenkins; outside all of them, a hand's."""
    if environ.get("GITHUB_EVENT_NAME") or environ.get("GITHUB_ACTIONS") == "true":
        return _github(environ)
    if environ.get("GITLAB_CI"):
        return _gitlab(environ)
    if environ.get("TF_BUILD"):
        return _azure(environ)
    change = _elsewhere(environ)
    if change is not None:
        return change
    if environ.get("JENKINS_URL"):
        return _jenkins(environ)
    return Event("trusted", "a run by hand")


def _elsewhere(environ: Mapping[str, str]) -> Event | None:
    """The change that another system or a plugin runs. It is judged by its base, or not at all."""
    for sign, target, head in _ELSEWHERE:
        if environ.get(sign, "").lower() not in {"", "false"}:
            base = _branch(environ.get(target, "").removeprefix("refs/heads/"))
            return Event("change", "change request", head=_id(environ.get(head)), base_ref=base)
    return None


def is_branch(text: str) -> bool:
    """A branch name without anything that git reads as more than a name."""
    doubtful = (".." in text, "@{" in text, "//" in text, text.endswith((".", "/", ".lock")))
    return _BRANCH.fullmatch(text) is not None and not any(doubtful)


def _github(environ: Mapping[str, str]) -> Event:
    name = environ.get("GITHUB_EVENT_NAME", "")
    if not name:
        raise _unreadable("the runner names no event (GITHUB_EVENT_NAME)")
    body = _body(environ.get("GITHUB_EVENT_PATH", ""))
    sha = _id(environ.get("GITHUB_SHA"))
    server, repository = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_REPOSITORY", "")
    url = f"{server}/{repository}" if server and repository else None
    if name == "merge_group":
        base = _id(_at(body, "merge_group", "base_sha"))
        return Event("queue", name, sha=sha, base_sha=base, url=url)
    if isinstance(body.get("pull_request"), dict):
        return Event(
            "change",
            name,
            sha="" if name == "pull_request_target" else sha,  # there it is the base branch's
            head=_id(_at(body, "pull_request", "head", "sha")),
            base_ref=_branch(_at(body, "pull_request", "base", "ref")),
            base_sha=_id(_at(body, "pull_request", "base", "sha")),
            url=url,
        )
    if name.startswith("pull_request") or environ.get("GITHUB_REF", "").startswith("refs/pull/"):
        raise _unreadable(f"the event {name} names no pull request")
    return Event("trusted" if name == "push" else "triggered", name, sha=sha, url=url or "")


def _gitlab(environ: Mapping[str, str]) -> Event:
    source = environ.get("CI_PIPELINE_SOURCE", "")
    sha = _id(environ.get("CI_COMMIT_SHA"))
    target = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    if source == "external_pull_request_event":
        return _gitlab_external(environ, sha)
    request = source == "merge_request_event" or environ.get("CI_MERGE_REQUEST_IID")
    if not request and not target:
        kind: Kind = "triggered" if sha and source not in {"", "push"} else "trusted"
        return Event(kind, source or "a pipeline", sha=sha, url=environ.get("CI_REPOSITORY_URL", ""))
    older = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA") or environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    return Event(
        "change",
        "merge request",
        sha=sha,
        head=_id(environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")),
        base_ref=_branch(target),
        base_sha=_id(older),
        url=_gitlab_target(environ),
    )


def _gitlab_target(environ: Mapping[str, str]) -> str | None:
    """The target project. CI_REPOSITORY_URL is the one in which the pipeline runs, which may be the fork."""
    target, own = (environ.get(f"CI_{name}PROJECT_URL", "") for name in ("MERGE_REQUEST_", ""))
    numbers = {environ.get(f"CI_{name}PROJECT_ID", "") for name in ("MERGE_REQUEST_", "")}
    same = target == own if target and own else len(numbers) == 1 and "" not in numbers
    return (environ.get("CI_REPOSITORY_URL") if same else None) or target or None


def _gitlab_external(environ: Mapping[str, str], sha: str) -> Event:
    prefix = "CI_EXTERNAL_PULL_REQUEST_"
    sides = {environ.get(f"{prefix}{side}_REPOSITORY", "") for side in ("SOURCE", "TARGET")}
    return Event(
        "change",
        "external pull request",
        sha=sha,
        head=_id(environ.get(f"{prefix}SOURCE_BRANCH_SHA")),
        base_ref=_branch(environ.get(f"{prefix}TARGET_BRANCH_NAME")),
        base_sha=_id(environ.get(f"{prefix}TARGET_BRANCH_SHA")),
        url=environ.get("CI_REPOSITORY_URL") if len(sides) == 1 and "" not in sides else None,
    )


def _azure(environ: Mapping[str, str]) -> Event:
    sha, url = _id(environ.get("BUILD_SOURCEVERSION")), environ.get("BUILD_REPOSITORY_URI", "")
    target = environ.get("SYSTEM_PULLREQUEST_TARGETBRANCH", "")
    request = environ.get("BUILD_REASON") == "PullRequest"
    if not request and not target and not environ.get("BUILD_SOURCEBRANCH", "").startswith("refs/pull/"):
        pushed = environ.get("BUILD_REASON", "") in {"", "IndividualCI", "BatchedCI"}
        return Event("triggered" if sha and not pushed else "trusted", "a build", sha=sha, url=url)
    if environ.get("SYSTEM_PULLREQUEST_ISFORK", "").lower() == "true":
        url = "" if url == environ.get("SYSTEM_PULLREQUEST_SOURCEREPOSITORYURI") else url
    head = _id(environ.get("SYSTEM_PULLREQUEST_SOURCECOMMITID"))
    base = _branch(target.removeprefix("refs/heads/"))
    return Event("change", "pull request", sha=sha, head=head, base_ref=base, url=url or None)


def _jenkins(environ: Mapping[str, str]) -> Event:
    sha, url = _id(environ.get("GIT_COMMIT")), environ.get("GIT_URL", "")
    if not any(environ.get(name) for name in ("CHANGE_ID", "CHANGE_TARGET", "CHANGE_URL")):
        return Event("trusted", "a build", sha=sha, url=url)
    base = _branch(environ.get("CHANGE_TARGET", ""))
    return Event("change", "change request", sha=sha, base_ref=base, url=_jenkins_target(environ))


def _jenkins_target(environ: Mapping[str, str]) -> str | None:
    """The project that the change's page belongs to. GIT_URL is what was cloned, which may be the fork."""
    page = _PAGE.fullmatch(environ.get("CHANGE_URL", ""))
    if page is None:
        return None
    cloned = environ.get("GIT_URL", "")
    return cloned if _project(cloned) == _project(page[1]) else page[1]


def _project(url: str) -> str:
    """host/path of a repository's address: however it is fetched, it is the same project."""
    plain = re.sub(r"^[a-z+]+://", "", url.strip().lower())
    plain = re.sub(r"^[^/@]*@", "", plain)
    plain = re.sub(r"^([^/:]+):(?:\d+/)?", r"\1/", plain)
    return plain.rstrip("/").removesuffix(".git").replace("//", "/")


def _body(path: str) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_EVENT + 1)
        found = json.loads(data) if len(data) <= LARGEST_EVENT else None
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _unreadable("the event file cannot be read")
    return found


def _at(body: object, *keys: str) -> object:
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body


def _id(value: object) -> str:
    return value if isinstance(value, str) and is_object_id(value) else ""


def _branch(value: object) -> str:
    return value if isinstance(value, str) and is_branch(value) else ""


def _unreadable(what: str) -> GateError:
    return GateError(
        "ci_event", what, help="give the gate the variables and the event file as the runner set them"
    )


def ci_facts(environ: Mapping[str, str]) -> dict[str, str]:
    """What the CI system says about this run, for the history's records."""
    names: dict[str, Any] = {
        "run_id": ("GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILD_BUILDID", "BUILD_ID"),
        "run_attempt": ("GITHUB_RUN_ATTEMPT",),
        "sha": ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "GIT_COMMIT"),
        "ref": ("GITHUB_REF", "CI_COMMIT_REF_NAME", "BUILD_SOURCEBRANCH", "GIT_BRANCH"),
        "actor": ("GITHUB_ACTOR", "GITLAB_USER_LOGIN"),
    }
    found = {key: next((environ[n] for n in options if environ.get(n)), "") for key, options in names.items()}
    return {key: value[:200] for key, value in found.items() if value}
