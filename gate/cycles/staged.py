"""One evaluation over several stages is one look: what its later stages must find as it was left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.cycles.attempt import Attempt, StagePlace
from gate.cycles.counted_looks import counted_looks
from gate.cycles.record import Record
from gate.values import Caution, GateError


def refuse_other_stages(records: Iterable[Record], attempt: Attempt, stage: StagePlace) -> None:
    """Errors: an earlier stage's items or the candidate are other ones; a later stage was looked at."""
    for record in _own(records, stage.evaluation):
        number = record.state.get("stage")
        if not isinstance(number, int) or number < 1:
            continue
        if number > stage.number:
            raise GateError(
                "stage_passed",
                f"stage {number} of this evaluation is in the history already (found stage {stage.number})",
                help="give the results of all items that were scored so far",
            )
        for side, known in (("candidate", stage.prefixes), ("baseline", stage.baselines)):
            if record.identities[side] == known[number - 1]:
                continue
            raise GateError(
                "stage_changed",
                f"the {side}'s results on the items of stage {number} are not those that were looked at",
                help="add new items and leave the others alone; a candidate scored anew from the first item "
                "on is a new look",
            )
        if record.candidate["id"] != attempt.candidate_id:
            raise GateError(
                "candidate_changed",
                f"stage {number} was of the candidate {record.candidate['id'][:60]!a} (found "
                f"{attempt.candidate_id[:60]!a})",
                help="an evaluation is of one frozen candidate; score another one from the first item on",
            )


def evaluation_closed(records: Sequence[Record], attempt: Attempt) -> Caution | None:
    """An evaluation that has ended, or that another look of its line has overtaken, promotes nothing more."""
    if attempt.stage is None:
        return None
    name = attempt.stage.evaluation
    own = _own(records, name)
    if not own:
        return None
    if any(record.status in {"pass", "fail"} for record in own):
        text = "this evaluation ended at an earlier stage, and its verdict stands"
        return Caution("evaluation_closed", f"{text}: new items are a new look")
    looks = counted_looks(records, attempt.metric).first
    began = _place(records, own[0])
    for look, first in looks.items():
        if look != name and first.candidate["lineage"] == attempt.lineage and _place(records, first) > began:
            text = f"the look of cycle {first.cycle[:60]!a} began before this evaluation had ended"
            return Caution("evaluation_closed", f"{text}, and closed it: score the candidate anew")
    return None


def _own(records: Iterable[Record], evaluation: str) -> list[Record]:
    return [record for record in records if record.kind == "outcome" and record.id == evaluation]


def _place(records: Sequence[Record], wanted: Record) -> int:
    return next(at for at, record in enumerate(records) if record.digest == wanted.digest)
