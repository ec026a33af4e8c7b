"""The words that a policy declares, as they are looked for in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.rows import row_word


def pass_fail_words(labels: Mapping[str, Any]) -> dict[str, float]:
    """``{pass: [yes, ok], fail: [no]}`` or ``{yes: 1, no: 0}`` -> word -> value."""
    words: dict[str, float] = {}
    for key, value in labels.items():
        if isinstance(value, list):
            words.update({str(word): 1.0 if key == "pass" else 0.0 for word in value})
        else:
            words[key] = float(value)
    return words


def run_words(named: Mapping[str, list[Any]]) -> dict[str, tuple[str, ...]]:
    """Words as they are written in a file: ``true`` and ``503`` are words too."""
    return {
        column: tuple(str(word).lower() if isinstance(word, bool) else str(word) for word in words)
        for column, words in named.items()
    }


def row_words(named: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """``{name: correctness}`` or ``{name: [a, b]}``."""
    return {
        column: tuple(map(row_word, words if isinstance(words, list) else [words]))
        for column, words in named.items()
    }
