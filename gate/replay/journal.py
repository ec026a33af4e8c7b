"""What was answered, one line an answer: appended only, so that a killed replay goes on where it was.

A line without an end is what a kill or a full disk leaves behind: it is cut off, and its question put again.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gate.artifacts.opening import open_artifact
from gate.safe import open_regular
from gate.values import GateError

SCHEMA = "gate.replay-journal/1"
NAME = "journal.jsonl"
_AGAIN = "run the same command again: what is finished is not repeated"


class Journal:
    """The journal of one replay, open and locked. count: how many questions there are.

    where: question -> the place of its last record, -1 where there is none. done: it is not put again.
    """

    def __init__(self, folder: Path, plan: str, count: int, started: str) -> None:
        self.path = folder / NAME
        self.where = np.full(count, -1, dtype=np.int64)
        self.done = np.zeros(count, dtype=np.bool_)
        self._folder = _locked(folder)
        try:
            if not os.path.lexists(self.path):
                _begin(self.path, {"schema": SCHEMA, "plan": plan, "started": started})
            self.started, self._size = self._read(plan)
            self._file = open_regular(self.path, os.O_RDWR)
            os.ftruncate(self._file, self._size)
        except BaseException:
            os.close(self._folder)
            raise

    def append(self, question: int, row: Mapping[str, Any], *, again: bool) -> None:
        """Keep what came of a question. again: it is put again when the replay is run again."""
        line = json.dumps({"question": question, "again": again, "row": row}, separators=(",", ":")) + "\n"
        data = line.encode()
        try:
            written = os.pwrite(self._file, data, self._size)
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._size + written)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise _unwritten(self.path, error) from None
        self.where[question], self.done[question] = self._size, not again
        self._size += len(data)

    def row(self, question: int) -> dict[str, Any]:
        """What came of it last."""
        place = int(self.where[question])
        data = bytearray()
        while not data.endswith(b"\n"):
            data += os.pread(self._file, 1 << 14, place + len(data))
            end = data.find(b"\n")
            if end >= 0:
                del data[end + 1 :]
        return dict(json.loads(data)["row"])

    def close(self) -> None:
        """Bring it to the disk and give up the lock."""
        os.fsync(self._file)
        os.close(self._file)
        os.close(self._folder)

    def _read(self, plan: str) -> tuple[str, int]:
        """When the replay began, and the length of all whole lines."""
        with open_artifact(str(self.path)) as file:
            line = file.readline()
            head = parsed(line)
            if head is None or head.get("schema") != SCHEMA:
                raise taken(self.path, "a file is there that is no journal of a replay")
            if head.get("plan") != plan:
                raise other_replay(self.path)
            size, number = len(line), 1
            while (line := file.readline()).endswith(b"\n"):
                number += 1
                self._note(parsed(line), size, number)
                size += len(line)
        return str(head["started"]), size

    def _note(self, record: dict[str, Any] | None, place: int, number: int) -> None:
        question = None if record is None else record.get("question")
        if record is None or not isinstance(question, int) or not 0 <= question < len(self.where):
            raise GateError(
                "journal_damaged",
                "a line of the journal is no record",
                where=f"{self.path}:{number}",
                help="restore the file, or replay into another folder",
            )
        self.where[question], self.done[question] = place, not record["again"]


def parsed(line: bytes) -> dict[str, Any] | None:
    """The object in a line, None where it holds none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def taken(path: Path, found: str) -> GateError:
    """The error for a file that somebody else wrote."""
    return GateError("output_taken", found, where=str(path), help="give the replay a folder of its own")


def other_replay(path: Path) -> GateError:
    """The error for what another suite left in the folder."""
    return GateError(
        "other_replay",
        "the folder holds another replay: the cases, a system, the scorer or the seed are not the same",
        where=str(path),
        help="answers of two suites are never pooled: give this one a folder of its own",
    )


def _locked(folder: Path) -> int:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in {errno.EAGAIN, errno.EACCES}:
            help_text = "wait for it, or give this one a folder of its own"
            message = "another replay is writing into this folder"
            raise GateError("replay_running", message, where=str(folder), help=help_text) from None
        raise
    return handle


def _begin(path: Path, head: Mapping[str, Any]) -> None:
    """The first line comes with the file: a journal without one is never seen."""
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_bytes(json.dumps(head).encode() + b"\n")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise _unwritten(path, error) from None


def _unwritten(path: Path, error: OSError) -> GateError:
    message = f"the journal cannot be written ({error.strerror or error})"
    return GateError("cannot_write", message, where=str(path), help=f"make room; then {_AGAIN}")
