"""Recorded claims, three stand-ins for summarisers, and a scorer with two judges: made up, deterministic.

No model is called: a stand-in reads a claim's facts and leaves one out, or invents an amount, the more
readily the harder the claim is worded. What a real model does belongs behind ``http`` in the suite.
"""

import random
import re

COVERS = ("water", "fire", "theft", "glass")
PLACES = ("Ulm", "Bern", "Graz", "Metz", "Gent", "Brno")
FILLER = "The file also holds the usual letters about it, none of which changes anything."


def cases(count):
    """Recorded claims, a line each: the note that a system gets, and the facts for the scorer."""
    for number in range(count):
        rng = random.Random(number)  # noqa: S311 - the same claims on every machine
        facts = {
            "cover": rng.choice(COVERS),
            "place": rng.choice(PLACES),
            "day": f"{rng.randrange(1, 29)} March",
            "amount": str(rng.randrange(200, 9000)),
        }
        note = (
            f"Caller reports {facts['cover']} damage in {facts['place']} on {facts['day']}."
            f" Estimate {facts['amount']} euros. {FILLER}"
        )
        yield {
            "id": f"claim-{number:04d}",
            "input": {"note": note, "wording": round(rng.random(), 4)},
            "expected": facts,
            "fields": {"cover": facts["cover"]},
        }


def large(request):
    """The summariser that runs today: dear."""
    return _summary(request, slips=0.900, price=0.0040, padded=False)


def small(request):
    """The one that may replace it: a fifth of the price, it slips a little sooner and writes longer."""
    return _summary(request, slips=0.882, price=0.0008, padded=True)


def medium(request):
    """One that slips as often as the large one, on other claims."""
    return _summary(request, slips=0.900, price=0.0020, padded=False, shift=1)


def _summary(request, slips, price, padded, shift=0):
    claim = request["context"]["input"]
    noise = random.Random(request["seed"] + shift).gauss(0, 0.05)  # noqa: S311 - the same luck for both systems
    hard = claim["wording"] + noise
    cover, place, day, amount = re.search(
        r"reports (\w+) damage in (\w+) on (.+?)\. Estimate (\d+)", claim["note"]
    ).groups()  # type: ignore[union-attr]
    if hard > slips + 0.13:
        amount = str(int(amount) + 1000)
    text = f"{cover.capitalize()} damage, {place}"
    text += "" if hard > slips else f", {day}"
    text += f"; {amount} euros." + (f" {FILLER}" if padded else "")
    return {"output": text, "cost": price * (1.1 if hard > 0.5 else 1.0)}


def score(request):
    """What machines say of an output: is an amount invented, how many facts are there, and two judges."""
    text, facts = request["output"].lower(), request["expected"]
    found = [value.lower() in text for value in facts.values()]
    words = set(re.findall(r"\w+", request["context"]["input"]["note"].lower()))
    return {
        "invented": facts["amount"] not in text,
        "facts": sum(found) / len(found),
        "judge_facts": all(found),
        "judge_overlap": len(words & set(re.findall(r"\w+", text))) / len(words),
    }
