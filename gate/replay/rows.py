"""What came of a question as a row: an answer with its scores, or the status that says why there is none."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from gate.replay.faults import FaultError, Reply
from gate.replay.names import is_metric
from gate.replay.plan import Question

_AMOUNTS = {"input_tokens": "whole", "output_tokens": "whole", "cost": "number"}
_ANSWER = {"output", "error", *_AMOUNTS}


def answer_of(reply: Reply) -> dict[str, Any]:
    """The columns of an answer, or the FaultError that says what is wrong with it."""
    said = reply.value
    if said.get("error") not in {None, ""}:
        raise FaultError("error", f"the system said: {said['error']}")
    unknown = sorted(set(said) - _ANSWER)
    if unknown:
        raise FaultError("error", f"the answer has an unknown key {unknown[0][:60]!a}")
    if said.get("output") is None:
        raise FaultError("error", "the answer has no output")
    found = {"output": said["output"], "output_digest": output_digest(said["output"])}
    for name, kind in _AMOUNTS.items():
        if said.get(name) is not None:
            found[name] = _amount(name, said[name], kind)
    return found | {"latency_ms": round(reply.seconds * 1000, 3)}


def scores_of(reply: Reply) -> dict[str, float | bool]:
    """The scores of an answer, or a FaultError."""
    said = reply.value
    if said.get("error") not in {None, ""}:
        raise FaultError("scorer_error", f"the scorer said: {said['error']}")
    scores = said.get("scores")
    if set(said) != {"scores"} or not isinstance(scores, Mapping) or not scores:
        raise FaultError(
            "scorer_error", "the scorer's answer is {scores: {NAME: number, ...}} and nothing else"
        )
    for name, value in scores.items():
        if not is_metric(name):
            raise FaultError("scorer_error", f"no score can be called {name[:60]!a}")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise FaultError("scorer_error", f"the score {name} is no number (found {str(value)[:60]!a})")
    return dict(scores)


def row_of(question: Question, columns: Mapping[str, Any], faults: int) -> dict[str, Any]:
    """The row of the artifact. faults: attempts that the infrastructure spoiled before the last one."""
    exchange = question.exchange
    row: dict[str, Any] = {"id": exchange.id, "case": exchange.case}
    if exchange.turn:
        row["turn"] = exchange.turn
    if exchange.window is not None:
        row["window"] = exchange.window
    row |= {"repeat": question.repeat + 1, **exchange.fields, **columns}
    return row | {"faults": faults, "case_digest": exchange.digest}


def output_digest(output: Any) -> str:
    """SHA-256 of an output: of a text its bytes, of anything else its one JSON spelling."""
    text = output if isinstance(output, str) else json.dumps(output, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _amount(name: str, value: Any, kind: str) -> float:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if not numeric or not math.isfinite(value) or value < 0 or (kind == "whole" and value != int(value)):
        raise FaultError("error", f"{name} is no amount (found {str(value)[:60]!a})")
    return value  # type: ignore[no-any-return]
