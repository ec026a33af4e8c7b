"""Scores of an Inspect sample as metrics, read as the tool itself turns them into numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.values import NUMBER

_GRADES = {"C": 1, "I": 0, "P": 0.5, "N": 0}
_WORDS = {"yes": 1, "true": 1, "no": 0, "false": 0}


def metrics_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """``scorer``, or ``scorer.key`` where a score is an object; a key alone where no other score has it."""
    scores = sample.get("scores")
    if not isinstance(scores, Mapping):
        return {}
    found = dict(pair for scorer, score in scores.items() for pair in _values(scorer, score))
    keys = Counter(
        name.partition(".")[2] for name in found if "." in name and name.partition(".")[0] in scores
    )
    for name in list(found):
        scorer, _, key = name.partition(".")
        if key and scorer in scores and keys[key] == 1:
            found.setdefault(key, found[name])
    return found


def _values(scorer: str, score: Any) -> Iterator[tuple[str, Any]]:
    value = score.get("value") if isinstance(score, Mapping) else score
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{scorer}.{key}", _number(inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield f"{scorer}.{index}", _number(inner)
    else:
        yield scorer, _number(value)


def _number(value: Any) -> Any:
    """Grades and numbers in text become numbers; other text stays, for words the policy declares."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return value
    bare = value.strip()
    if value in _GRADES:
        return _GRADES[value]
    if bare.lower() in _WORDS:
        return _WORDS[bare.lower()]
    return float(bare) if NUMBER.fullmatch(bare) else value
