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

from gate.errors import GateError

Kind = Literal["queue", "change", "triggered", "trusted"]
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@-]*")
_BY_OTHERS = frozenset({"workflow_run", "issue_comment", "issues", "discussion", "discussion_comment"})
LARGEST_EVENT = 1 << 25


@dataclass(frozen=True, slots=True)
class Event:
    """kind: ``queue`` a merge queue's candidate; ``change`` a pull or merge request; ``triggered`` started by
    someone's act on the default branch's workflow; ``trusted`` a push, a schedule, a hand.

    sha: the commit the system says it runs. head: the request's own last commit. base_ref: the branch it is
    for. base_sha: that branch's commit as the event knew it, which may be old. Unknown ones are empty.
    """

    kind: Kind
    name: str
    sha: str = ""
    head: str = ""
    base_ref: str = ""
    base_sha: str = ""
    url: str = ""

    @property
    def untrusted(self) -> bool:
        """Whether the checked-out files may come from someone who may not change the policy."""
        return self.kind in {"queue", "change"}


def event_of(environ: Mapping[str, str]) -> Event:
    """The event of GitHub, GitLab, Azure or Jenkins; outside all of them, a hand's."""
    if environ.get("GITHUB_EVENT_NAME"):
        return _github(environ)
    if environ.get("GITLAB_CI"):
        return _gitlab(environ)
    if environ.get("TF_BUILD"):
        return _azure(environ)
    if environ.get("JENKINS_URL"):
        return _jenkins(environ)
    return Event("trusted", "a run by hand")


def is_object_id(text: str) -> bool:
    """A full commit id. Short ones and names can be made to mean something else."""
    return _OBJECT_ID.fullmatch(text) is not None


def is_branch(text: str) -> bool:
    """A branch name without anything that git reads as more than a name."""
    doubtful = (".." in text, "@{" in text, "//" in text, text.endswith((".", "/", ".lock")))
    return _BRANCH.fullmatch(text) is not None and not any(doubtful)


def _github(environ: Mapping[str, str]) -> Event:
    name = environ["GITHUB_EVENT_NAME"]
    body = _body(environ.get("GITHUB_EVENT_PATH", ""))
    sha = _id(environ.get("GITHUB_SHA"))
    server, repository = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_REPOSITORY", "")
    url = f"{server}/{repository}" if server and repository else ""
    if name == "merge_group":
        base = _id(_at(body, "merge_group", "base_sha"))
        return Event("queue", name, sha=sha, base_sha=base, url=url)
    if isinstance(body.get("pull_request"), dict):
        return Event(
            "change",
            name,
            sha=sha,
            head=_id(_at(body, "pull_request", "head", "sha")),
            base_ref=_branch(_at(body, "pull_request", "base", "ref")),
            base_sha=_id(_at(body, "pull_request", "base", "sha")),
            url=url,
        )
    if name.startswith("pull_request"):
        raise _unreadable(f"the event {name} names no pull request")
    kind: Kind = "triggered" if name in _BY_OTHERS else "trusted"
    return Event(kind, name, sha=sha, url=url)


def _gitlab(environ: Mapping[str, str]) -> Event:
    source = environ.get("CI_PIPELINE_SOURCE", "")
    sha = _id(environ.get("CI_COMMIT_SHA"))
    url = environ.get("CI_REPOSITORY_URL", "")
    target = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    if source != "merge_request_event" and not target:
        return Event("trusted", source or "a pipeline", sha=sha, url=url)
    older = environ.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA") or environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    return Event(
        "change",
        "merge request",
        sha=sha,
        head=_id(environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")),
        base_ref=_branch(target),
        base_sha=_id(older),
        url=url,
    )


def _azure(environ: Mapping[str, str]) -> Event:
    sha, url = _id(environ.get("BUILD_SOURCEVERSION")), environ.get("BUILD_REPOSITORY_URI", "")
    target = environ.get("SYSTEM_PULLREQUEST_TARGETBRANCH", "")
    if environ.get("BUILD_REASON") != "PullRequest" and not target:
        return Event("trusted", "a build", sha=sha, url=url)
    head = _id(environ.get("SYSTEM_PULLREQUEST_SOURCECOMMITID"))
    base = _branch(target.removeprefix("refs/heads/"))
    return Event("change", "pull request", sha=sha, head=head, base_ref=base, url=url)


def _jenkins(environ: Mapping[str, str]) -> Event:
    sha, url = _id(environ.get("GIT_COMMIT")), environ.get("GIT_URL", "")
    if not environ.get("CHANGE_ID"):
        return Event("trusted", "a build", sha=sha, url=url)
    base = _branch(environ.get("CHANGE_TARGET", ""))
    return Event("change", "change request", sha=sha, base_ref=base, url=url)


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
    return GateError("ci_event", what, help="set policy-ref to a full commit id or refs/heads/NAME")
