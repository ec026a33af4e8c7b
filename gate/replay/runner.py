"""Puts the questions: a bounded number at a time, each finished one into the journal before the next."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

from gate.replay.faults import FaultError, Reply
from gate.replay.journal import Journal
from gate.replay.names import SIDES
from gate.replay.plan import Plan, Question
from gate.replay.programs import Asked, opened
from gate.replay.rows import answer_of, row_of, scores_of
from gate.values import GateError

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
DOWN_AFTER = 20
"""Runs in a row that the infrastructure spoiled on one side: it is down, and the rest can wait."""


def run(
    plan: Plan,
    journal: Journal,
    environ: Mapping[str, str],
    step: Callable[[str], None],
    wanted: Collection[str] | None = None,
) -> None:
    """Put every question that is not finished. step: called after each. wanted: ids of what is asked for."""
    try:
        asyncio.run(_run(plan, journal, environ, step, _left(plan, journal, wanted)))
    except BaseExceptionGroup as several:
        told = [error for error in several.exceptions if isinstance(error, GateError)]
        raise (told or several.exceptions)[0] from None


async def _run(
    plan: Plan,
    journal: Journal,
    environ: Mapping[str, str],
    step: Callable[[str], None],
    left: Iterator[Question],
) -> None:
    suite, folder = plan.loaded.suite, plan.loaded.folder
    async with AsyncExitStack() as stack:
        systems = []
        for side in SIDES:
            system = opened(getattr(suite.systems, side), "system", f"{side} system", suite, folder, environ)
            stack.push_async_callback(system.close)
            systems.append(system)
        scorer = None
        if suite.scorer is not None:
            scorer = opened(suite.scorer, "scorer", "scorer", suite, folder, environ)
            stack.push_async_callback(scorer.close)
        work = _Work(plan, journal, systems, scorer, step)
        async with asyncio.TaskGroup() as group:
            for _ in range(suite.concurrency):
                group.create_task(work.through(left))


def _left(plan: Plan, journal: Journal, wanted: Collection[str] | None) -> Iterator[Question]:
    if not journal.done.all():
        for question in plan.questions():
            if not journal.done[question.number] and (wanted is None or question.exchange.id in wanted):
                yield question


class _Work:
    """What the workers share."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        systems: list[Asked],
        scorer: Asked | None,
        step: Callable[[str], None],
    ) -> None:
        self._plan, self._journal, self._systems, self._scorer = plan, journal, systems, scorer
        self._step = step
        self._down = [0, 0]

    async def through(self, questions: Iterator[Question]) -> None:
        """Take the next question until none is left."""
        for question in questions:
            row, again = await self._row(question)
            self._journal.append(question.number, row, again=again)
            self._step(question.exchange.id)
            self._watch(question.side, row, again=again)

    async def _row(self, question: Question) -> tuple[dict[str, Any], bool]:
        """The row of a question, and whether it is worth putting again another day."""
        asked = self._request(question)
        faults = 0
        try:
            reply, faults = await self._asked(self._systems[question.side], asked, question)
            columns = answer_of(reply)
            if self._scorer is not None:
                columns["scores"] = await self._scored(self._scorer, question, columns)
            return row_of(question, {"status": "ok", **columns}, faults), False
        except _SpentError as spent:
            fault, faults = spent.fault, spent.faults
        except FaultError as found:
            fault = found
        columns = {"status": fault.status, "error": fault.text}
        return row_of(question, columns, faults), fault.again

    def _request(self, question: Question) -> bytes:
        """What a system is told: the recorded context byte by byte, and nothing about the other system."""
        exchange = question.exchange
        head = {
            "id": f"{exchange.id}@{question.repeat + 1}",
            "seed": self._plan.seed_of(exchange, question.repeat),
        }
        return json.dumps(head).encode()[:-1] + b', "context": ' + exchange.context + b"}"

    async def _asked(self, whom: Asked, asked: bytes, question: Question) -> tuple[Reply, int]:
        """The reply and the number of attempts that were spoiled. An answer is never asked for again."""
        key = f"{question.exchange.id}@{question.repeat + 1}"
        faults = 0
        while True:
            try:
                return await whom.ask(asked, key), faults
            except FaultError as fault:
                if not fault.again:
                    raise
                faults += 1
                wait = FIRST_WAIT * 2 ** (faults - 1) if fault.wait is None else fault.wait
                if faults > self._plan.loaded.suite.retries or wait > LONGEST_WAIT:
                    raise _SpentError(fault, faults) from None
            await asyncio.sleep(wait)

    async def _scored(self, scorer: Asked, question: Question, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The scores; the scorer is not told whose answer it is."""
        exchange = question.exchange
        asked = {
            "id": f"{exchange.id}@{question.repeat + 1}",
            "context": json.loads(exchange.context),
            "expected": exchange.expected,
            "output": columns["output"],
        }
        try:
            reply, _ = await self._asked(scorer, json.dumps(asked).encode(), question)
            scores = scores_of(reply)
        except _SpentError as spent:
            raise FaultError("scorer_error", f"the scorer: {spent.fault.text}", again=True) from None
        except FaultError as fault:
            raise FaultError("scorer_error", f"the scorer: {fault.text}") from None
        both = sorted(scores.keys() & exchange.fields.keys())
        if both:
            message = f"{both[0]!a} is a score and a field of the case {exchange.case!a}"
            raise GateError("name_taken", message, help="call one of them otherwise")
        return dict(scores)

    def _watch(self, side: int, row: Mapping[str, Any], *, again: bool) -> None:
        self._down[side] = self._down[side] + 1 if again else 0
        if self._down[side] >= DOWN_AFTER:
            raise GateError(
                "system_down",
                f"of the last {DOWN_AFTER} runs of the {SIDES[side]} none was answered and scored "
                f"(the last: {row['status']}, {row['error']})",
                help="when it is back, run the same command again: what is finished is not repeated",
            )


class _SpentError(Exception):
    """All attempts were spoiled by the infrastructure."""

    def __init__(self, fault: FaultError, faults: int) -> None:
        super().__init__(fault.text)
        self.fault, self.faults = fault, faults
