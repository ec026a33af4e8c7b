"""The process in which a Python callable answers: a JSON line in, a JSON line out, stdout kept for answers.

Started by its path with ``python -P host.py (system|scorer) module:function``, in the suite's folder. It
needs the standard library only, so that nothing of the gate stands in the way of the callable's own imports.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO


def main() -> None:
    """Import the function, say that it is there, answer until the questions end."""
    kind, target = sys.argv[1:]
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the function prints must not be taken for answers
    sys.path.insert(0, str(os.getcwd()))  # noqa: PTH109 - pathlib would be one more import a process
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(module), name)
    _say(channel, {"ready": True})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _say(channel, {**_answer(function, request, kind), "id": request["id"]})


def _answer(function: Callable[[Any], Any], request: dict[str, Any], kind: str) -> dict[str, Any]:
    try:
        found = function(request)
        if kind == "scorer":
            found = {"scores": found}
        elif not isinstance(found, dict) or not ("output" in found or "error" in found):
            found = {"output": found}
        return json.loads(json.dumps(found, default=_plain, allow_nan=False))  # type: ignore[no-any-return]
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _plain(value: Any) -> Any:
    """A NumPy number as a number."""
    return value.item()


def _say(channel: BinaryIO, value: dict[str, Any]) -> None:
    channel.write(json.dumps(value).encode() + b"\n")
    channel.flush()


if __name__ == "__main__":
    main()
