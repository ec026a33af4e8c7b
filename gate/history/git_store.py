"""``git:REMOTE#BRANCH[:PATH]``: a history in a git branch that nothing else is in.

Each step fetches the branch's last commit into a repository of its own, verifies the history in it, decides
on what was fetched, commits the longer file and pushes it without force. If someone was faster, the server
refuses, and all of it begins again after a random pause.
"""

from __future__ import annotations

from dataclasses import dataclass

from gate.cycles.chain import History
from gate.history.branch import Branch, Fetched, GitPlace
from gate.history.files import first_record, link
from gate.history.reading import parse
from gate.history.store import Step, T
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class GitStore:
    """The history in one file of a branch."""

    branch: Branch

    @classmethod
    def at(cls, place: GitPlace) -> GitStore:
        """The store that the place names here and now."""
        return cls(Branch.at(place))

    @property
    def where(self) -> str:
        """The place without secrets."""
        return str(self.branch.place)

    def create(self, *, now: str, tool: str) -> None:
        """The first commit of the branch, or the file in a branch that has others."""
        path = self.branch.place.path
        with self.branch.fetched() as fetched:
            _, data = first_record(now=now, tool=tool)
            if fetched.file(path) is not None or not fetched.push({path: data}, "Start the history"):
                raise GateError("history_exists", "there is already a history here", where=self.where)

    def read(self) -> History:
        """The verified history."""
        with self.branch.fetched() as fetched:
            return parse(self._data(fetched), self.where)

    def transact(self, step: Step[T]) -> T:
        """Fetch, decide, push; again from the start while others are faster."""
        for fetched in self.branch.tries():
            old = self._data(fetched)
            history = parse(old, self.where)
            records, value = step(history)
            if not records:
                return value
            _, data = link(history, records)
            subject = ", ".join(f"{record.kind} {record.cycle}" for record in records)[:200]
            if fetched.push({self.branch.place.path: old + data}, subject):
                return value
        raise AssertionError("tries() ends with an error")

    def _data(self, fetched: Fetched) -> bytes:
        found = fetched.file(self.branch.place.path)
        if found is None:
            what = "this file is not in the branch" if fetched.exists else "there is no such branch"
            help_text = "start one with: gate history init"
            raise GateError("history_missing", what, where=self.where, help=help_text)
        return found
