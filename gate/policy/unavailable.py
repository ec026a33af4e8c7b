"""Names that belong to the policy format and are not built yet. Who builds one deletes its line."""

from __future__ import annotations

KEYS = {
    "judge": "",
    "anchor": "",
    "k": "gating guardrails",
    "threshold": "gating guardrails",
    "q": "gating guardrails",
}
"""Key -> the sections that have it (empty: the top level)."""

KINDS = frozenset(
    {
        "auc",
        "average_precision",
        "precision_at_k",
        "lift_at_k",
        "f1",
        "brier",
        "log_loss",
        "quantile",
        "ratio",
    }
)

TESTS = frozenset({"delong", "bootstrap_rows"})


def refusal(path: tuple[str | int, ...], value: object) -> str | None:
    """What to say when ``path`` is such a key or holds such a value; None if it is neither."""
    key = path[-1] if path else ""
    section = path[0] if len(path) > 1 else ""
    if key in KEYS and str(section) in KEYS[str(key)].split(" "):
        return f"`{key}` is not available in this version of gate"
    if (key == "kind" and value in KINDS) or (key == "test" and value in TESTS):
        return f"`{key}: {value}` is not available in this version of gate"
    return None
