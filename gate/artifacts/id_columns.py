"""Which columns of a mapped file could identify its items, by their names and values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gate.artifacts.values import Rule, parsed

_ID_NAMES = (
    *(
        "id",
        "item_id",
        "sample_id",
        "example_id",
        "task_id",
        "doc_id",
        "question_id",
        "instance_id",
        "case_id",
    ),
    *(
        "test_id",
        "uid",
        "uuid",
        "key",
        "name",
        "index",
        "item",
        "question",
        "input",
        "user_input",
        "prompt",
        "inputs",
    ),
)
_OUTPUTS = frozenset(
    {"output", "outputs", "answer", "answers", "response", "responses", "completion", "completions"}
    | {"prediction", "predictions", "generated", "generation", "actual", "result"}
)
"""Words of what a model said, which is no name of an item."""
_PLAIN = Rule("", "graded", {}, text=True)


def id_columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, frozenset[str]]:
    """Columns that could identify items, likely ones first, with their values.

    Usual names, then names that end in id, then whatever differs in every row; never what the model said.
    """
    lower = {name.lower(): name for name in reversed(list(columns))}
    ends = {name.rpartition(".")[2]: name for name in reversed(lower)}
    usual = [lower[name] for wanted in _ID_NAMES for name in (wanted, ends.get(wanted)) if name in lower]
    names = [name for name in usual if _could_name(columns[name])]
    asked = [name for name in columns if _OUTPUTS.isdisjoint(words_of(name))]
    named = [name for name in asked if words_of(name)[-1:] == ["id"] and _could_name(columns[name])]
    different = [name for name in asked if _differs(columns[name])]
    names += [name for name in different if _is_text(columns[name])] + named + different
    found = {name: frozenset(map(str, columns[name])) for name in dict.fromkeys(names)}
    # At least as many items as rows of each: the names of two metrics, or of three runs, are no items.
    many = {name: values for name, values in found.items() if len(values) ** 2 >= len(columns[name])}
    return many or found


def _differs(cells: Sequence[Any]) -> bool:
    return _could_name(cells) and len(set(cells)) == len(cells)


def words_of(name: str) -> list[str]:
    """``outputs.gptScore`` -> outputs, gpt, score."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())


def _could_name(cells: Sequence[Any]) -> bool:
    return all(type(cell) in {str, int} and cell != "" for cell in cells)


def _is_text(cells: Sequence[Any]) -> bool:
    return all(type(cell) is str and cell for cell in cells) and not all(
        parsed(cell, _PLAIN) is not None for cell in cells
    )
