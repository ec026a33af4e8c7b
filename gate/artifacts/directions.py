"""Which way is better, as far as the name of a metric tells: word by word, never by a part of a word."""

from __future__ import annotations

import re

HIGHER = frozenset(
    (
        *("correct", "right", "ok", "pass", "passed", "success", "successful", "resolved", "solved"),
        *("accuracy", "acc", "match", "score", "rating", "reward", "quality", "f1", "win"),
        *(
            "won",
            "relevance",
            "relevant",
            "faithfulness",
            "faithful",
            "helpful",
            "helpfulness",
            "precision",
            "recall",
        ),
        *(
            "ndcg",
            "mrr",
            "bleu",
            "rouge",
            "similarity",
            "satisfaction",
            "groundedness",
            "coherence",
            "fluency",
        ),
        *("safe", "valid"),
    )
)
LOWER = frozenset(
    (
        *("latency", "duration", "time", "seconds", "secs", "ms", "cost", "price", "usd"),
        *("token", "tokens", "loss", "error", "errors", "wer", "cer", "perplexity", "ppl"),
        *("bias", "brier", "unsafe", "harmful", "violation", "violations", "distance", "rmse", "mae"),
        *("mse", "failed", "failure", "failures"),
    )
)
LOWER_STEMS = ("toxic", "hallucinat")
REVERSING = frozenset(
    (
        *("no", "non", "not", "without", "free", "less", "saved", "saving", "savings", "avoided", "caught"),
        *("prevented", "reduced", "reduction", "inverse", "inverted", "detection", "detected", "handling"),
        *("handled", "recovery", "recovered", "resistance", "robustness", "efficiency", "effectiveness"),
        "improvement",
    )
)
"""Words beside which no other tells: time saved, free of errors, not relevant."""
PHRASES = tuple(frozenset(words.split()) for words in ("on time", "tokens per second", "tokens per s"))
"""Words that together say something else than each alone."""
OWN_COLUMNS = frozenset({"csv", "tsv", "json", "jsonl", "parquet", "npz"})
"""Formats without directions of their own: there the name is all there is."""


def direction_of(name: str, format_name: str, surveyed: str | None) -> str | None:
    """``higher``, ``lower``, or None where nothing tells. surveyed: what a first look at the file says.

    A tool's own format may know better than the name; where the two contradict, a person has to say.
    """
    by_name = direction_by_name(name)
    if format_name in OWN_COLUMNS or surveyed is None:
        return by_name
    return surveyed if by_name in {None, surveyed} else None


def direction_by_name(name: str) -> str | None:
    """By the last part of a dotted name that tells; words of both kinds tell nothing."""
    for part in reversed(name.split(".")):
        words = set(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", part).lower()))
        if words & REVERSING or any(phrase <= words for phrase in PHRASES):
            return None
        higher = bool(words & HIGHER)
        lower = bool(words & LOWER) or any(word.startswith(LOWER_STEMS) for word in words)
        if higher or lower:
            return None if higher and lower else "higher" if higher else "lower"
    return None
