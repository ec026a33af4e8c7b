"""A help desk with orders, tools that are sometimes busy, and two agents that work with them.

The agents are stand-ins: a rule with luck in the place of a model. What they do is done, call by call, on the
orders of the task, and a task is solved if the orders are as they should be when the agent stops. The same
run of the same task has the same luck with both agents.
"""

import random

LIMIT = 6  # calls; an agent that needs more is stopped
PRICE = 0.002  # a call, with the tokens around it


class Busy(Exception):  # noqa: N818 - an answer of the tool
    """The tool was busy; the next call may work."""


class Down(Exception):  # noqa: N818
    """The desk itself broke: nobody's result."""


class TimeUp(Exception):  # noqa: N818
    """The agent used up its calls."""


def tasks(count):
    """Refunds to be made: orders with the amounts that are right, and how hard the letter is to read."""
    rng = random.Random(19)  # noqa: S311
    for number in range(count):
        wanted = {f"o{k}": rng.randrange(10, 90) for k in range(rng.randrange(1, 4))}
        yield {"task": f"task-{number:03d}", "wanted": wanted, "hard": round(rng.random(), 4)}


class Desk:
    """The orders of one run."""

    def __init__(self, rng):
        self.rng, self.refunds, self.calls = rng, {}, 0

    def call(self, order, amount=None):
        """Refund an amount, or say what was refunded."""
        if self.calls == LIMIT:
            raise TimeUp
        self.calls += 1
        luck = self.rng.random()
        if luck < 0.002:
            raise Down
        if luck < 0.10:
            raise Busy
        if amount is not None:
            self.refunds[order] = amount
        return self.refunds.get(order)


def read(letter, hard, rng):
    """The amount in the letter, as the agent reads it."""
    return letter + (10 if rng.random() < 0.25 * hard**2 else 0)


def patient(desk, order, amount=None):
    """Call until the tool answers."""
    while True:
        try:
            return desk.call(order, amount)
        except Busy:
            continue


def agent_1(task, desk, rng):
    """What runs today: tries each call twice, then goes on without it."""
    for order, amount in task["wanted"].items():
        seen = read(amount, task["hard"], rng)
        for _ in range(2):
            try:
                desk.call(order, seen)
                break
            except Busy:
                continue


def agent_2(task, desk, rng):
    """What may replace it: calls until there is an answer, and reads a letter twice where it is in doubt."""
    for order, amount in task["wanted"].items():
        seen = read(amount, task["hard"], rng)
        patient(desk, order, seen)
        if task["hard"] > 0.6:
            again = read(amount, task["hard"], rng)
            if again != seen:
                patient(desk, order, min(again, seen))


AGENTS = {"agent-1": agent_1, "agent-2": agent_2}


def run_task(name, task, run):
    """One run: what came of it and what it cost. A desk that broke is a failed run, without any result."""
    desk = Desk(random.Random(f"{task['task']} {run} tools"))  # noqa: S311
    row = {"task": task["task"], "run": run, "system": name, "status": "ok"}
    timeout = 0
    try:
        AGENTS[name](task, desk, random.Random(f"{task['task']} {run} letters"))  # noqa: S311
    except Down:
        return {**row, "status": "error"}
    except TimeUp:
        timeout = 1
    solved = int(desk.refunds == task["wanted"])
    cost = round(PRICE * desk.calls, 4)
    return {**row, "solved": solved, "timeout": timeout, "calls": desk.calls, "cost": cost}
