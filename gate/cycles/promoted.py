"""Whether a candidate was promoted: the question a deployment asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gate.cycles.chain import History, latest
from gate.cycles.history_cautions import moment
from gate.cycles.record import Record
from gate.cycles.streak import least_favourable
from gate.safe import quoted

SHORTEST_DIGEST = 12


@dataclass(frozen=True, slots=True)
class Promotion:
    """The answer and its reason in one sentence. record: the promotion, also where it is too old."""

    promoted: bool
    reason: str
    record: Record | None = None


def was_promoted(
    history: History, candidate_digest: str, max_age_days: float | None = None, now: datetime | None = None
) -> Promotion:
    """Whether the candidate with this digest (12 hex digits are enough) was promoted, within an age if given.

    The age rests on the time that the record states; a record without one, or one from the future, proves no
    age. The last word of a look counts: a promotion whose waiver was withdrawn since is none.
    """
    wanted = candidate_digest.lower().removeprefix("sha256:")
    if len(wanted) < SHORTEST_DIGEST:
        return Promotion(False, f"a digest of at least {SHORTEST_DIGEST} characters is needed")
    names = {r.contender[1] for r in history.records if r.candidate["digest"].startswith(wanted)}
    about = [r for r in history.records if r.contender[1] in names or r.contender[1].startswith(wanted)]
    last = _last_words(history, [record for record in about if record.kind == "outcome"])
    promotions = [record for record in about if record.verdict == "promote"]
    found = [r for r in promotions if last.get(r.contender, "promote") == "promote"]
    if promotions and not found:
        return Promotion(False, f"the promotion in cycle {quoted(promotions[-1].cycle)} was withdrawn since")
    if not found:
        return Promotion(False, f"no record promotes the candidate {wanted[:SHORTEST_DIGEST]}")
    record = found[-1]
    cycle = quoted(record.cycle)
    if max_age_days is not None and not _young(record, max_age_days, now):
        return Promotion(False, f"promoted in cycle {cycle}, but not within {max_age_days:g} days", record)
    return Promotion(True, f"promoted in cycle {cycle}", record)


def _last_words(history: History, outcomes: list[Record]) -> dict[tuple[str, str], str]:
    """Look and candidate -> the verdict that stands; of two branches the less favourable."""
    words: dict[tuple[str, str], list[Record]] = {}
    for record in outcomes:
        words.setdefault(record.contender, []).append(record)
    return {key: least_favourable(latest(history, said)).verdict for key, said in words.items()}


def _young(record: Record, max_age_days: float, now: datetime | None) -> bool:
    when = moment(record.time)
    return when is not None and now is not None and abs(now - when) / timedelta(days=1) <= max_age_days
