"""Several challengers in one look: at most one of them is promoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.cycles.assess import CycleState, Outcome
from gate.values import Caution

NOT_WINNER = "not_winner"


def one_winner(states: Sequence[CycleState], outcomes: Sequence[Outcome]) -> tuple[CycleState, ...]:
    """The largest delta among those promoted now wins, the first of equals; the others are on hold.

    A promotion that is only replayed was recorded before, and stays what it is.
    """
    promoted = [k for k, state in enumerate(states) if state.verdict == "promote" and not state.replayed]
    if len(promoted) < 2:
        return tuple(states)
    winner = max(promoted, key=lambda k: (outcomes[k].delta or 0.0, -k))
    return tuple(
        _beaten(state, states[winner].cycle) if k in promoted and k != winner else state
        for k, state in enumerate(states)
    )


def _beaten(state: CycleState, winner: str) -> CycleState:
    text = f"this candidate passed too, but another of the same look gained more (cycle {winner})"
    return replace(state, verdict="hold", cautions=(*state.cautions, Caution(NOT_WINNER, text)))
