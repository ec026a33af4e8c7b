"""Two readers of claims, made up: each misreads some wordings, the larger one fewer. And their scorer."""

import random


def small(request):
    """Answer as the reader that runs today."""
    return _read(request, bar=0.62)


def large(request):
    """Answer as the reader that may replace it."""
    return _read(request, bar=0.74)


def _read(request, bar):
    claim = request["context"]["input"]
    noise = random.Random(request["seed"]).gauss(0, 0.08)  # noqa: S311 - the same seed for both
    if claim["wording"] + noise > bar:
        return {"output": "not sure", "input_tokens": 120, "output_tokens": 2}
    found = claim["kind"] if claim["ask"].startswith("which") else claim["amount"]
    return {"output": found, "input_tokens": 120, "output_tokens": 4}


def score(request):
    """Right or wrong; whose answer it is, nobody says."""
    return {"correct": request["output"] == request["expected"]}
