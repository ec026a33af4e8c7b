"""Which history a change's run reads. A change must not bring the record of its own past."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from gate.ci.inputs import Inputs
from gate.git.repository import Repository, is_object_id
from gate.history.files import first_record
from gate.history.session import store_for
from gate.policy.model import Policy
from gate.values import GateError

KEPT = "judging-history.jsonl"
"""The copy that the run reads, beside its reports."""


@dataclass(frozen=True, slots=True)
class Lent:
    """The inputs with the history that this run may read, and a sentence about it."""

    inputs: Inputs
    note: str = ""


def lent_history(
    found: Inputs, repository: Repository, commit: str, folder: Path, policy: Policy, *, decides: bool
) -> Lent:
    """The base side's copy, or what the change did not bring, read only; nothing else can record a past.

    A history on a branch (``git:``) stays as it is where the run decides: the change cannot write there.
    commit: the base side's, or no id where it is unknown.
    """
    if not found.history:
        return Lent(found)
    if found.history.startswith("git:"):
        return Lent(found) if decides else _of_branch(found, folder)
    names = _names(found.history, repository.root)
    copy = next((data for name in names if (data := _file(repository, commit, name)) is not None), None)
    if copy is not None:
        return Lent(_kept(found, folder, copy), f"History: {found.history} of the base side, read only.")
    brought = any(_brings(repository, name) for name in names)
    if (repository.root / found.history).exists() and not brought:
        return Lent(replace(found, history_mode="read-only"), f"History: {found.history}, read only.")
    if policy.cycles.looks is not None or policy.cycles.history_required:
        raise GateError(
            "history_missing",
            "the base side has no such history, and one that the change brings is not read",
            where=found.history,
            help="start one on the base branch (gate history init), or keep it on a branch: git:origin#NAME",
        )
    return Lent(_empty(found, folder), f"History: the base side has no {found.history}; none is kept.")


def _of_branch(found: Inputs, folder: Path) -> Lent:
    try:
        store_for(found.history).read()
    except GateError as error:
        if error.code != "history_missing" or found.history_mode == "read-only":
            raise
        return Lent(_empty(found, folder))
    return Lent(replace(found, history_mode="read-only"))


def _empty(found: Inputs, folder: Path) -> Inputs:
    return _kept(found, folder, first_record(now="", tool="")[1])


def _kept(found: Inputs, folder: Path, data: bytes) -> Inputs:
    path = folder / KEPT
    path.write_bytes(data)
    return replace(found, history=str(path), history_mode="read-only")


def _names(path: str, root: Path) -> list[str]:
    """The path in the repository as it is written and with its links resolved; none outside of it."""
    top = os.path.abspath(root)  # noqa: PTH100 - normpath without touching links
    written = os.path.relpath(os.path.abspath(root / path), top)  # noqa: PTH100
    real = os.path.relpath(os.path.realpath(root / path), os.path.realpath(root))
    return [name for name in dict.fromkeys((written, real)) if name.split("/")[0] != ".."]


def _file(repository: Repository, commit: str, name: str) -> bytes | None:
    known = is_object_id(commit) and (repository.root / ".git").exists()
    return repository.file(commit, name) if known and repository.has(commit) else None


def _brings(repository: Repository, name: str) -> bool:
    """Whether the checked-out commit holds something under this name."""
    try:
        return _file(repository, repository.head(), name) is not None
    except GateError:
        return True  # a link, a submodule or what cannot be read: not known to come from elsewhere
