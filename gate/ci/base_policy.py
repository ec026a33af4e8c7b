"""Which commit's policy judges this job. A change must not loosen the gate that judges it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gate.ci.event import Event, is_branch
from gate.git.repository import Repository, is_object_id
from gate.policy import source
from gate.safe import quoted
from gate.values import GateError

WORKTREE: Final = "worktree"
_DEEPER: Final = "check out with fetch-depth: 2 or more, or set policy-ref to a full commit id"


@dataclass(frozen=True, slots=True)
class Commit:
    """id: the commit. words: what it is. stale: it may be older than the base branch is now."""

    id: str
    words: str
    stale: bool = False


@dataclass(frozen=True, slots=True)
class PolicyText:
    """A policy's text with where it came from. commit: its id, or ``worktree``."""

    text: str
    commit: str
    words: str
    stale: bool = False


def read_policy(path: str, ref: str, event: Event, workspace: Path) -> PolicyText | None:
    """The policy that judges this job; None where the deciding commit has none under this path."""
    if ref == WORKTREE:
        text = source.decode(source.read(str(workspace / path)), path)
        return PolicyText(text, WORKTREE, "the checked-out files, not a commit")
    opened, inside = repository_of(path, workspace, event.url)
    with opened as repository:
        commit = policy_commit(ref, event, repository)
        data = repository.file(commit.id, inside)
    if data is None:
        return None
    if len(data) > source.MAX_BYTES:
        raise source.too_large(path)
    return PolicyText(source.decode(data, path), commit.id, commit.words, commit.stale)


def repository_of(path: str, workspace: Path, url: str | None) -> tuple[Repository, str]:
    """The checkout that holds the policy, and the policy's path in it.

    The workspace itself where it is one; else the nearest folder above the policy (``checkout`` with a path).
    """
    check_path(path)
    parts = path.split("/")
    for depth in [0, *range(len(parts) - 1, 0, -1)]:
        root = workspace.joinpath(*parts[:depth])
        if (root / ".git").exists() and not any(_is_link(workspace, parts[:k]) for k in range(1, depth + 1)):
            return Repository(root, url if depth == 0 or url is None else ""), "/".join(parts[depth:])
    raise GateError(
        "ci_no_repository",
        "the workspace holds no git repository to read the policy from",
        where=path,
        help="check the repository out before the gate; policy-ref: worktree reads a plain file",
    )


def check_path(path: str) -> None:
    """A path inside the repository, without anything that means more than a name."""
    parts = path.split("/")
    bad = any(part in {"", ".", "..", ".git"} for part in parts) or not path.isprintable()
    if bad or path.startswith("-") or set(path) & set(':\\*?"<>|') or len(path) > 1024:
        raise GateError(
            "ci_policy_path",
            f"policy must be a plain path inside the repository (found {quoted(path)})",
            help="write it like config/gate.yaml",
        )


def _is_link(workspace: Path, parts: list[str]) -> bool:
    return os.path.islink(workspace.joinpath(*parts))  # noqa: PTH114 - Path.is_symlink swallows errors


def policy_commit(ref: str, event: Event, repository: Repository) -> Commit:
    """The commit that ``policy-ref`` means for this event."""
    if ref == "auto":
        return _auto(event, repository)
    if is_object_id(ref):
        if not repository.has(ref):
            raise _unreachable(f"the commit {ref[:12]} of policy-ref")
        return Commit(ref, "the commit that policy-ref names")
    branch = ref.removeprefix("refs/heads/")
    if branch == ref or not is_branch(branch):
        raise GateError(
            "ci_policy_ref",
            f"policy-ref must be auto, worktree, a full commit id or refs/heads/NAME (found {quoted(ref)})",
            help="leave it out: auto takes the base side's policy",
        )
    tip = repository.tip(branch)
    if not tip:
        raise _unreachable(f"the branch {branch} of policy-ref")
    return Commit(tip, f"the tip of {branch}")


def _auto(event: Event, repository: Repository) -> Commit:
    if event.kind == "queue":
        if not event.base_sha or not repository.has(event.base_sha):
            raise _unreachable("the base of the merge queue")
        return Commit(event.base_sha, "the base of the merge queue")
    if event.kind == "change":
        return _of_change(event, repository)
    if event.kind == "triggered":
        if not event.sha or not repository.has(event.sha):
            raise _unreachable(f"the commit of the event {event.name}")
        return Commit(event.sha, f"the commit of the event {event.name}")
    head = repository.head()
    if not head:
        raise _unreachable("the checked-out commit")
    if event.sha not in ("", head) and repository.has(event.sha):
        return Commit(event.sha, "the commit that was pushed, which is not the checked-out one")
    return Commit(head, "the checked-out commit")


def _of_change(event: Event, repository: Repository) -> Commit:
    """The merge commit's first parent, the base branch's tip, the event's base: the first that can be had."""
    verified = _merged_onto(event, repository)
    if verified and repository.has(verified):
        return Commit(verified, "the base side of the verified merge commit")
    tip = repository.tip(event.base_ref) if event.base_ref else ""
    if tip:
        return Commit(tip, f"the tip of the base branch {event.base_ref}")
    if event.base_sha and repository.has(event.base_sha):
        return Commit(event.base_sha, "the base commit from the event (may be old)", stale=True)
    raise _unreachable("the base side of this change")


def _merged_onto(event: Event, repository: Repository) -> str:
    """The first parent of the CI system's own merge commit.

    Only if the checkout is the commit that the system made, and it merges exactly the request's head. With
    any other checkout the first parent is the author's own commit.
    """
    if not event.sha or not event.head or repository.head() != event.sha:
        return ""
    parents = repository.parents(event.sha)
    if len(parents) != 2 or parents[1] != event.head:
        return ""
    return parents[0]


def _unreachable(what: str) -> GateError:
    return GateError(
        "ci_base_missing",
        f"{what} is not in this clone and cannot be fetched",
        help=_DEEPER,
    )
