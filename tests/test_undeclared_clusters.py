"""A column by which items seem to belong together is spoken of in every run that does not declare it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, Answer, decide, policy

CODE = "cluster_undeclared"


def run(place: Path, column: str, group_size: int, suffix: str = ".jsonl", **more: Any) -> Answer:
    chance = random.Random(3)
    sides = [
        [{"id": f"q{k}", "correct": int(chance.random() < 0.8), column: k // group_size} for k in range(240)]
        for _ in range(2)
    ]
    return decide(place, policy(BINARY, **more), *sides, suffix=suffix)


@pytest.mark.parametrize("column", ["conversation_id", "documentId", "topic_id", "session_id"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_it_is_seen_by_name_and_values(tmp_path: Path, column: str, suffix: str) -> None:
    found = run(tmp_path, column, 8, suffix)
    assert CODE in found.cautions()
    assert "30 values on 240 items" in str(found.report)


@pytest.mark.parametrize(
    ("column", "size", "more"),
    [
        ("conversation_id", 8, {"items": {"cluster": "conversation_id"}}),
        ("conversation_id", 1, {}),  # every item its own
        ("conversation_id", 80, {}),  # three groups: no test of clusters could use them
        ("length_id", 8, {}),
        ("conversation_id", 8, {"slices": {"by": ["conversation_id"], "min_items": 30}}),
    ],
)
def test_it_is_not_spoken_of_where_it_is_declared_or_no_group(
    tmp_path: Path, column: str, size: int, more: dict[str, Any]
) -> None:
    assert CODE not in run(tmp_path, column, size, **more).cautions()
