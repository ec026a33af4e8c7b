"""A judge whose bar wanders through the day, beside people whose bar does not. Made up, as its notes are.

It reads the closing notes of the old agent in the morning and those of the new one in the evening; by then it
is stricter. Asked again next morning it contradicts itself.
"""

import random

MORNING, EVENING = 0.00, 0.12  # how much stricter than people


def notes(system, tasks):
    """A row a task: what people say of the note, what the judge says, and what it says when asked again."""
    when, better = (EVENING, 0.04) if system == "agent-2" else (MORNING, 0.0)
    for task in tasks:
        clear = random.Random(f"{task['task']} note").random() + better  # noqa: S311
        yield {
            "id": task["task"],
            "system": system,
            "people": int(clear > 0.4),
            "judge_ok": int(clear > 0.4 + when),
            "again": int(clear > 0.4 + MORNING),
        }
