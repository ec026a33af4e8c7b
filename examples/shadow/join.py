"""Two logs of the same requests, joined by request id; what is not comparable gets a name and is counted."""

import csv
import json
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Joined:
    """Rows for both sides, and what was left out: {reason: request ids}."""

    baseline: list
    candidate: list
    left_out: dict


def read(path):
    """The first line of each request, and how often a request was asked again."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = Counter(line["request"] for line in lines)
    first = {line["request"]: line for line in reversed(lines)}
    return first, [request for request, times in asked.items() if times > 1]


def truth(path):
    """{request: what it really showed}."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["request"]: int(row["truth"]) for row in csv.DictReader(lines)}


def join(production, shadow, labels):
    """Compare a request only if both models had their say on the same input.

    A shadow that failed on a request (here: a timeout) had its say: the request stays, without a result, and
    the policy reads it least favourably. Left out is what the candidate cannot be blamed or praised for.
    """
    left_out = {
        "not mirrored": [],
        "dropped before the shadow saw it": [],
        "the two saw different inputs": [],
    }
    baseline, candidate = [], []
    for request, line in sorted(production.items()):
        copy = shadow.get(request)
        if copy is None:
            left_out["not mirrored"].append(request)
        elif copy.get("status") == "dropped":
            left_out["dropped before the shadow saw it"].append(request)
        elif copy["input"] != line["input"]:
            left_out["the two saw different inputs"].append(request)
        else:
            baseline.append(_row(line, labels))
            candidate.append(_row(copy, labels))
    return Joined(baseline, candidate, left_out)


def _row(line, labels):
    """What may be compared: not the times (see README.md), nor what users did with one of the answers."""
    kept = {key: line[key] for key in ("request", "client", "input", "model")}
    answer = line.get("answer")
    label = labels[line["request"]]
    return kept | {"truth": label, "answer": answer, "correct": None if answer is None else answer == label}
