"""Processes that answer: one for each question, or one for many. None outlives what it is asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gate.replay.faults import ANSWER_BYTES, FaultError, Reply, object_of, start_of
from gate.values import GateError

_STDERR_BYTES = 4096
_KILLED = {-signal.SIGKILL, -signal.SIGTERM}
"""Ended from outside. Any other signal is a crash of its own, which must not be tried away."""
HOST = Path(__file__).with_name("host.py")
START_SECONDS = 60.0
"""For the imports of a callable, before the first question is put."""


class Child:
    """A process in a group of its own, with its standard error read along."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._last = b""
        self._reader = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(cls, argv: Sequence[str], folder: Path, what: str) -> Child:
        """Start it, or say that it is not there: that is no matter of one case."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                start_new_session=True,
                limit=ANSWER_BYTES,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise GateError(
                "cannot_start",
                f"the {what} cannot be started: {argv[0]!a} ({reason})",
                help="name a program that is there, with its path or beside the suite",
            ) from None
        return cls(process)

    async def line(self, question: bytes) -> bytes:
        """Put one line, take one line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            if question:
                self._process.stdin.write(question + b"\n")
                await self._process.stdin.drain()
            raw = await self._process.stdout.readline()
        except ValueError:
            raise _too_long() from None
        except OSError:
            raw = b""
        if not raw.endswith(b"\n"):
            raise await self._ended(raw)
        return raw

    async def whole(self, question: bytes) -> bytes:
        """Put one question, take all that is said until the end."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        found = bytearray()
        with contextlib.suppress(OSError):  # it may answer without reading the question
            stdin.write(question + b"\n")
            await stdin.drain()
        stdin.close()
        while block := await stdout.read(1 << 16):
            found += block
            if len(found) > ANSWER_BYTES:
                raise _too_long()
        if await self._process.wait() != 0:
            raise await self._ended(bytes(found))
        return bytes(found)

    async def stop(self) -> None:
        """End it and all that it started, and leave no pipe open."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):  # a grandchild in a group of its own may hold a pipe
            await asyncio.wait_for(self._process.wait(), 5.0)
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    async def last_words(self) -> str:
        """The last line of its standard error."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reader), 0.2)
        lines = self._last.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while block := await self._process.stderr.read(1 << 14):
            self._last = (self._last + block)[-_STDERR_BYTES:]

    async def _ended(self, said: bytes) -> FaultError:
        """Why a process that ended gave no answer."""
        try:
            code = await asyncio.wait_for(self._process.wait(), 1.0)
        except TimeoutError:
            return FaultError("error", "it closed its output without an answer")
        words = await self.last_words()
        tail = f": {words}" if words else f" (said {start_of(said)})" if said else ""
        if code in _KILLED:
            return FaultError("killed", f"the process was killed by signal {-code}{tail}", again=True)
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        return FaultError("error", f"the process ended without an answer ({how}){tail}")


def _too_long() -> FaultError:
    return FaultError("error", f"the answer is longer than {ANSWER_BYTES >> 20} MiB")


def _own(found: dict[str, Any], key: str) -> dict[str, Any]:
    """The answer without its id, which must be that of the question: else it may be to another one."""
    if found.pop("id", None) != key:
        raise FaultError("error", f"the answer does not repeat the id {key!a} of the question")
    return found


class OneShot:
    """A process for each question."""

    def __init__(self, argv: Sequence[str], folder: Path, what: str, timeout: float) -> None:
        self._argv, self._folder, self._what, self._timeout = argv, folder, what, timeout

    async def ask(self, question: bytes, key: str) -> Reply:
        """The answer; it need not repeat the id, because nobody else was asked."""
        began = time.perf_counter()
        child = await Child.start(self._argv, self._folder, self._what)
        try:
            async with asyncio.timeout(self._timeout):
                raw = await child.whole(question)
        except TimeoutError:
            raise FaultError("timeout", f"no answer within {self._timeout:g} s") from None
        finally:
            await child.stop()
        seconds = time.perf_counter() - began
        found = object_of(raw)
        if found.pop("id", key) != key:
            raise FaultError("error", "the answer is to another question")
        return Reply(found, seconds)

    async def close(self) -> None:
        """Nothing is left open between questions."""


class Server:
    """Processes for many questions each, as many as questions are put at a time."""

    def __init__(
        self, argv: Sequence[str], folder: Path, what: str, timeout: float, *, greets: bool = False
    ) -> None:
        self._argv, self._folder, self._what, self._timeout = argv, folder, what, timeout
        self._greets = greets
        self._idle: list[Child] = []

    @classmethod
    def of_callable(cls, target: str, kind: str, folder: Path, what: str, timeout: float) -> Server:
        """A process that hosts a Python function."""
        argv = (sys.executable, "-P", str(HOST), kind, target)
        return cls(argv, folder, f"{what} {target}", timeout, greets=True)

    async def ask(self, question: bytes, key: str) -> Reply:
        """The answer to this question and to no other."""
        child = self._idle.pop() if self._idle else await self._started()
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                raw = await child.line(question)
            seconds = time.perf_counter() - began
            found = _own(object_of(raw), key)
        except TimeoutError:
            await child.stop()
            raise FaultError("timeout", f"no answer within {self._timeout:g} s") from None
        except BaseException:  # what it says from now on may belong to anything
            await child.stop()
            raise
        self._idle.append(child)
        return Reply(found, seconds)

    async def _started(self) -> Child:
        child = await Child.start(self._argv, self._folder, self._what)
        if self._greets:
            try:
                async with asyncio.timeout(max(START_SECONDS, self._timeout)):
                    await child.line(b"")
            except (FaultError, TimeoutError) as error:
                words = await child.last_words() or str(error)
                await child.stop()
                if isinstance(error, FaultError) and error.again:
                    raise
                raise GateError(
                    "cannot_start",
                    f"the {self._what} does not start ({words})",
                    help="the module must be importable from the suite's folder and hold the function",
                ) from None
            except BaseException:
                await child.stop()
                raise
        return child

    async def close(self) -> None:
        """End all processes."""
        idle, self._idle = self._idle, []
        for child in idle:
            await child.stop()
