"""Small files and short ways to read them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gate.artifacts import ItemTable, ReadRequest, read
from gate.values import GateError


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return str(path)


def jsonl(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def ask(**changes: Any) -> ReadRequest:
    return ReadRequest(**({"metrics": {"score": "binary"}} | changes))


def table(folder: Path, content: str | bytes, name: str = "a.txt", **changes: Any) -> ItemTable:
    return read(write(folder, name, content), ask(**changes))


def refusal(folder: Path, content: str | bytes, name: str = "a.txt", **changes: Any) -> GateError:
    """The GateError that reading gives; no other outcome is accepted."""
    with pytest.raises(GateError) as caught:
        table(folder, content, name, **changes)
    error = caught.value
    assert error.message
    assert len(str(error)) < 2000
    assert str(error).isprintable()
    return error


def values(found: ItemTable, metric: str = "score") -> dict[str, float | None]:
    """Id -> value, None where missing."""
    column = found.values[metric]
    return {
        key: None if np.isnan(value) else float(value) for key, value in zip(found.ids, column, strict=True)
    }
