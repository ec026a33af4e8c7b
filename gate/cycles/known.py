"""What production said of a cycle's candidate later, and how often the gate was right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gate.cycles.record import Record
from gate.stats.rates import Rate
from gate.values import GateError

KEY: Final = "known"
"""Key of a record's state: ``good`` or ``bad``."""


@dataclass(frozen=True, slots=True)
class Right:
    """promoted, blocked: of the cycles with a known outcome, how many promotions were bad, and how many
    candidates that were not promoted were good. unknown: promotions of which nothing is known.
    """

    promoted: Rate
    blocked: Rate
    unknown: int


def known_record(records: Sequence[Record], cycle: str, outcome: Literal["good", "bad"], note: str) -> Record:
    """The record of what is known of the latest outcome of a cycle. Errors: there is no such cycle."""
    about = next((r for r in reversed(records) if r.kind == "outcome" and r.cycle == cycle), None)
    if about is None:
        names = list(dict.fromkeys(r.cycle for r in records if r.kind == "outcome"))
        found = ", ".join(names[-3:]) or "none"
        raise GateError(
            "no_cycle", f"the history holds no outcome of cycle {cycle!a} (the last are: {found})"
        )
    return Record(
        kind="known",
        id=about.id,
        cycle=cycle,
        metric=about.metric,
        policy=about.policy,
        decision_digest=about.decision_digest,
        candidate=about.candidate,
        state={KEY: outcome},
        note=note,
    )


def known_outcomes(records: Iterable[Record], metric: str) -> dict[str, str]:
    """Cycle -> the last word on it."""
    return {
        r.cycle: str(r.state[KEY])
        for r in records
        if r.kind == "known" and r.metric == metric and KEY in r.state
    }


def how_often_right(records: Sequence[Record], metric: str) -> Right | None:
    """Over the last verdict on each cycle; None where no outcome is known."""
    known = known_outcomes(records, metric)
    if not known:
        return None
    verdicts = {r.cycle: r.verdict for r in records if r.kind == "outcome" and r.metric == metric}
    promoted = [
        known[cycle] for cycle, verdict in verdicts.items() if verdict == "promote" and cycle in known
    ]
    others = [known[cycle] for cycle, verdict in verdicts.items() if verdict != "promote" and cycle in known]
    unknown = sum(verdict == "promote" and cycle not in known for cycle, verdict in verdicts.items())
    wrong = Rate(promoted.count("bad"), len(promoted)), Rate(others.count("good"), len(others))
    return Right(*wrong, unknown)


def right_lines(found: Right) -> list[str]:
    """As ``gate history show`` prints it, with 95 % Wilson intervals."""
    lines = [_line("promoted", "bad", found.promoted), _line("not promoted", "good", found.blocked)]
    if found.unknown:
        lines.append(f"nothing is known of {found.unknown} promoted")
    return ["what production said: " + "; ".join(line for line in lines if line)]


def _line(what: str, wrong: str, rate: Rate) -> str:
    if not rate.trials:
        return ""
    low, high = rate.interval()
    return f"of {rate.trials} {what} {rate.count} were {wrong} ({low:.0%} to {high:.0%})"
