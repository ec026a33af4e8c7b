"""Names that belong to the policy format and are not built yet. Who builds one deletes its line."""

from __future__ import annotations

KEYS = {
    "anchor": "",
}
"""Key -> the sections that have it (empty: the top level)."""

ECE = (
    "`kind: ece` is no metric to decide on: where two systems are calibrated equally well, the expected "
    "calibration error favours the one that says less (a constant 0.5 wins 7 of 10 times); kind: brier or "
    "log_loss weighs calibration and sharpness together"
)


def refusal(path: tuple[str | int, ...], value: object) -> str | None:
    """What to say when ``path`` is such a key or holds such a value; None if it is neither."""
    key = path[-1] if path else ""
    section = path[0] if len(path) > 1 else ""
    if key in KEYS and str(section) in KEYS[str(key)].split(" "):
        return f"`{key}` is not available in this version of gate"
    if key == "kind" and value in {"ece", "calibration_error", "expected_calibration_error"}:
        return ECE
    return None
