"""Since when a policy's deciding part is committed, as its repository tells.

Whatever cannot be told for sure is unknown, an empty text: a policy that is not committed, a shallow clone, a
repository with missing or forged objects, one that is too large to look through.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gate.ci.base_policy import WORKTREE, repository_of
from gate.git.repository import Repository
from gate.policy import source
from gate.policy.load import loads
from gate.values import GateError

MOST_VERSIONS: Final = 500
Version = tuple[str, str]
"""A commit, and the policy's path in it."""
_COMMITTED: Final = re.compile(rb"^committer .*> (\d{1,11}) [+-]\d{4}$", re.MULTILINE)


def checkout_since(path: str, digest: str) -> str:
    """For a policy in the work tree: UTC as ISO text, where HEAD has its deciding part as well."""
    folder = Path(os.path.realpath(Path(path).parent))
    root = next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)
    if root is None:
        return ""
    inside = (folder / Path(path).name).relative_to(root).as_posix()
    with Repository(root, None) as repository:
        return _since_or_unknown(repository, "", inside, digest)


def commit_since(commit: str, path: str, workspace: Path, digest: str) -> str:
    """For the policy that judges a job: the same as of ``commit``, which may be ``worktree``."""
    if commit == WORKTREE:
        return checkout_since(str(workspace / path), digest)
    opened, inside = repository_of(path, workspace, None)
    with opened as repository:
        return _since_or_unknown(repository, commit, inside, digest)


def _since_or_unknown(repository: Repository, commit: str, path: str, digest: str) -> str:
    try:
        return _since(repository, commit or repository.head(), path, digest)
    except GateError:
        return ""


def _since(repository: Repository, commit: str, path: str, digest: str) -> str:
    """The time of the first commit whose policy has this decision digest."""
    if not commit or not path.isprintable() or repository.is_shallow():
        return ""
    found = _versions(repository, commit, path)
    if len(found) > MOST_VERSIONS or not _deciding(repository, [(commit, path)], digest):
        return ""
    first = _deciding(repository, found, digest)
    if first is None or _digest(repository.file(*first)) != digest:  # now with every object on the way
        return ""
    return _time(repository, first[0])


def _deciding(repository: Repository, versions: list[Version], digest: str) -> Version | None:
    """The first of them with this decision digest."""
    seen: set[str] = set()
    blobs = repository.blobs([f"{commit}:{path}" for commit, path in versions])
    for version, (blob, size) in zip(versions, blobs, strict=True):
        if blob in seen or size > source.MAX_BYTES:
            continue
        seen.add(blob)
        if _digest(repository.content(blob, "blob")) == digest:
            return version
    return None


def _versions(repository: Repository, commit: str, path: str) -> list[Version]:
    """Every commit that touched the policy, the oldest first, also under earlier names."""
    found: list[Version] = []
    while path and path.isprintable() and len(found) <= MOST_VERSIONS:
        touching = repository.touching(commit, path, MOST_VERSIONS + 1)
        found = [*((one, path) for one in touching), *found]
        commit, path = repository.renamed_from(touching[0], path) if touching else ("", "")
    return found


def _digest(data: bytes | None) -> str:
    """The decision digest; empty where these bytes are no policy."""
    try:
        return "" if data is None else loads(source.decode(data, "policy")).decision_digest
    except GateError:
        return ""


def _time(repository: Repository, commit: str) -> str:
    """No commit is older than its parents, whatever date it was given."""
    stated = list(_times(repository, [commit, *repository.parents(commit)]))
    if None in stated:
        return ""
    latest = max(time for time in stated if time is not None)
    return datetime.fromtimestamp(latest, UTC).isoformat()


def _times(repository: Repository, commits: list[str]) -> Iterator[int | None]:
    for commit in commits:
        head, _, _ = (repository.content(commit, "commit") or b"").partition(b"\n\n")
        found = _COMMITTED.search(head)
        yield int(found[1]) if found else None
