"""What a history means: looks, streaks, claims. Pure: records in, values out, no file, no clock."""

from gate.cycles.assess import CycleState, Outcome, assess
from gate.cycles.attempt import Attempt, Rules, rules_of
from gate.cycles.chain import History
from gate.cycles.items import ItemSet, item_set
from gate.cycles.looks import Look, plan_look, plan_looks
from gate.cycles.record import Record

__all__ = [
    "Attempt",
    "CycleState",
    "History",
    "ItemSet",
    "Look",
    "Outcome",
    "Record",
    "Rules",
    "assess",
    "item_set",
    "plan_look",
    "plan_looks",
    "rules_of",
]
