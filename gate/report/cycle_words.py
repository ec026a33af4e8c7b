"""What a report says of its cycle and its streak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.report.figures import probability
from gate.words import count

Report = Mapping[str, Any]
WINDOWS = {
    "fresh": "no earlier look at these items is recorded",
    "overlap": "some of these items were looked at before",
    "reused": "these items were looked at before",
}


def cycles(report: Report) -> str:
    """How many passing cycles there are and what they say."""
    block = report["cycles"]
    passed, required = block["passed"], block["required"]
    text = f"{passed} of {count(required, 'required cycle')} passed"
    text = f"{text}, {block['scope']}" if block.get("scope") else text
    if block.get("held"):
        return f"{text} (this one is held: {block['held']})"
    anew = block.get("restarted") and passed < required
    return f"{text} (counted anew: {block['restarted']})" if anew else text


def cycle_details(report: Report) -> list[str]:
    """What else there is to say about this cycle."""
    block = report["cycles"]
    seen = WINDOWS.get(block["window"], f"{block['window']} window")
    found = [f"cycle {block['cycle']}, look {block['look']}, {seen}"]
    if block.get("sign_flip_p") is not None and block["passed"] > 1:
        found.append(f"sign-flip {probability(block['sign_flip_p'])} over the streak")
    if block.get("replayed"):
        found.append("a replay of artifacts that were decided before: the recorded verdict stands")
    if not block.get("recorded", True):
        found.append("look unrecorded")
    return found
