"""A file that is far too large to be a history is refused before it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.history.files import MOST_BYTES, load, locked
from gate.values import GateError


def test_a_huge_file_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.touch()
    os.truncate(path, 64 * MOST_BYTES)
    with pytest.raises(GateError) as caught:
        load(path)
    assert caught.value.code == "history_too_large"
    assert caught.value.where == str(path)
    with pytest.raises(GateError), locked(path):
        pass
