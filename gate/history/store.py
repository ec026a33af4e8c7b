"""Where a history lives. A store reads it, and runs a step on it that no other writer can come between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from gate.cycles.chain import History
from gate.cycles.record import Record
from gate.history.files import first_record, init, link, load, locked
from gate.history.reading import uncollected
from gate.values import GateError

T = TypeVar("T")
Step = Callable[[History], tuple[Sequence[Record], T]]
"""Answers a history with records to append and a value. May be called again on a newer history."""


class Store(Protocol):
    """A place that holds one history."""

    @property
    def where(self) -> str:
        """The place, for messages."""
        ...

    def create(self, *, now: str, tool: str) -> None:
        """Start a history here; an error if there is one."""
        ...

    def read(self) -> History:
        """The verified history."""
        ...

    def transact(self, step: Step[T]) -> T:
        """Run ``step`` on the newest history, append its records durably, and return its value."""
        ...


@dataclass(frozen=True, slots=True)
class LocalStore:
    """A file."""

    path: Path

    @property
    def where(self) -> str:
        """The path."""
        return str(self.path)

    def create(self, *, now: str, tool: str) -> None:
        """A new file with its first record."""
        init(self.path, now=now, tool=tool)

    def read(self) -> History:
        """The verified history."""
        return load(self.path)

    def transact(self, step: Step[T]) -> T:
        """The step under the file's lock."""
        with uncollected(), locked(self.path) as held:
            records, value = step(held.history)
            if records:
                held.append(*records)
        return value


@dataclass(slots=True)
class MemoryStore:
    """A history as it stood at some moment, with what a run makes of it. None: there was none yet."""

    history: History | None

    @property
    def where(self) -> str:
        """The place that it was read from."""
        return self.history.where if self.history else ""

    def create(self, *, now: str, tool: str) -> None:
        """Start it."""
        record, _ = first_record(now=now, tool=tool)
        self.history = History((record,), (record.digest,))

    def read(self) -> History:
        """As it stands."""
        if self.history is None:
            raise GateError("history_missing", "there is no history here")
        return self.history

    def transact(self, step: Step[T]) -> T:
        """The step, whose records are kept here alone."""
        history = self.read()
        records, value = step(history)
        sealed, _ = link(history, records)
        if sealed:
            self.history = History(history.records + sealed, (sealed[-1].digest,), history.where)
        return value
