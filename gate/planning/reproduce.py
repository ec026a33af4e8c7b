"""A saved report against the same run made again: the first difference, and the moments it may be of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.cycles.chain import History, Order, order_of
from gate.cycles.record import Record
from gate.pairing.model import NO_FILE
from gate.report.model import Report
from gate.run.identity import recordable
from gate.safe import quoted
from gate.values import GateError

MOST_MOMENTS = 100
"""Each is one more run of the gate; a report is nearly always of one of the first."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The history as a run may have found it, and what CI said of itself then. None: there was none yet."""

    history: History | None
    ci: Mapping[str, str]


def moments(history: History, report: Report) -> list[Moment]:
    """When this report may have been made: now, before each run that the history holds, at a branch's end.

    A run that the history holds explains its report alone: only what it found when it was recorded.
    """
    records, order = history.records, order_of(history.records)
    starts = [k for k, record in enumerate(records) if record.kind in {"intent", "outcome"}]
    own = [k for k in starts if _is_of(report, records[k])]
    alone = bool(own) and report.cycles.recorded and not report.cycles.replayed
    if alone:
        starts = [k for k in own if records[k].is_first or records[k].baseline["id"] == _baseline_id(report)]
    starts.sort(key=lambda k: (k not in own, k))
    started = any(caution.code == "history_started" for caution in report.cautions)
    found = [
        Moment(_known_at(history, order, records[k], started=started), records[k].ci)
        for k in starts[:MOST_MOMENTS]
    ]
    if alone:
        return found
    ends = {parent for record in records if len(record.prev) > 1 for parent in record.prev}
    branches = [
        Moment(_of(history, [*_ancestors(records, order, end), end]), {})
        for end in records
        if end.digest in ends or (len(history.heads) > 1 and end.digest in history.heads)
    ]
    return [*found, *branches[:MOST_MOMENTS], Moment(history, {})]


def _is_of(report: Report, record: Record) -> bool:
    """Whether the record is of the report's candidate, by either schema's digest."""
    parts = (part.partition(":") for part in report.signature.split("|"))
    digest = next((value for name, _, value in parts if name == "candidate"), "")
    return any(known.startswith(digest) for known in (record.contender[1], record.candidate["digest"]))


def _baseline_id(report: Report) -> str:
    """The baseline's system as the report states it, given or in its results."""
    baseline = report.provenance.baseline
    own = baseline.system or (baseline.facts or {}).get("model") or ""
    return recordable(str(report.provenance.baseline_id or own))


def _known_at(history: History, order: Order, record: Record, *, started: bool) -> History | None:
    """The history as the writer of the record found it; none where the run itself started it."""
    before = _ancestors(history.records, order, record)
    return None if started and len(before) == 1 else _of(history, before)


def _ancestors(records: Sequence[Record], order: Order, record: Record) -> list[Record]:
    """What its writer had in sight: of a branch that was merged later, nothing."""
    return [other for other in records if order.precedes(other, record)]


def _of(history: History, records: Sequence[Record]) -> History:
    seen = {digest for record in records for digest in record.prev}
    heads = tuple(sorted(record.digest for record in records if record.digest not in seen))
    return History(tuple(records), heads, history.where)


def first_difference(saved: Any, fresh: Any, path: str = "") -> str | None:
    """``path: saved ..., again ...`` of the first field that differs, in the order of a sorted report."""
    if isinstance(saved, dict) and isinstance(fresh, dict):
        for key in sorted(saved.keys() | fresh.keys()):
            place = f"{path}.{key}" if path else key
            if key not in saved or key not in fresh:
                return f"{place}: only in the {'saved report' if key in saved else 'reproduction'}"
            found = first_difference(saved[key], fresh[key], place)
            if found is not None:
                return found
        return None
    if isinstance(saved, list) and isinstance(fresh, list):
        if len(saved) != len(fresh):
            return f"{path}: {len(saved)} entries saved, {len(fresh)} again"
        pairs = (
            first_difference(a, b, f"{path}[{k}]") for k, (a, b) in enumerate(zip(saved, fresh, strict=True))
        )
        return next((found for found in pairs if found is not None), None)
    same = type(saved) is type(fresh) and saved == fresh
    return None if same else f"{path}: saved {_shown(saved)}, again {_shown(fresh)}"


def rests_on_history(report: Report) -> bool:
    """Whether an earlier look or a required streak had a say in it."""
    return report.cycles.required > 1 or report.cycles.look > 1 or report.cycles.replayed


def refuse_part(report: Report) -> None:
    """The report of a replay in stages rests on all ids of its suite, which its files do not hold."""
    if report.stages is not None and report.stages.of_suite:
        raise GateError(
            "nothing_to_reproduce",
            "the report is of a replay in stages, whose files hold the items of these stages only",
            help="run the same gate replay again: with its history it ends in the same report",
        )


def files_of(report: Report) -> Iterator[tuple[str, str, str]]:
    """(what, path, SHA-256) of every file behind a report."""
    provenance = report.provenance
    yield "policy", _stated(provenance.policy, "policy"), _stated(report.policy.file_digest, "file_digest")
    if provenance.judge is not None:
        yield "evidence for the judge", provenance.judge.path, provenance.judge.sha256
    if provenance.labels is not None:
        yield "labels", provenance.labels.path, _stated(provenance.labels.sha256, "sha256")
    for run in provenance.baseline_runs or ():
        yield "run of the baseline", run.path, _stated(run.sha256, "sha256")
    sets = {"": provenance, **{f" of set {name}": pair for name, pair in (provenance.sets or {}).items()}}
    for name, pair in sets.items():
        for side, source in (("baseline", pair.baseline), ("candidate", pair.candidate)):
            if source.path == NO_FILE:  # a set that only has limits or votes
                continue
            yield f"{side}{name}", _stated(source.path, "path"), _stated(source.sha256, "sha256")


def _stated(value: str | None, key: str) -> str:
    if not value:
        raise GateError(
            "report_incomplete",
            f"the report does not say which files it was made from ({key} is missing)",
            help="give the report as gate run wrote it",
        )
    return value


def other_file(what: str, path: str, found: str, wanted: str) -> GateError:
    """The file is there and is another one."""
    return GateError(
        "file_changed",
        f"the {what} is not the one that the report was made from (SHA-256 {found[:12]}, then {wanted[:12]})",
        where=path,
        help="bring the file of that run back, or decide anew with gate run",
    )


def no_file(what: str, path: str) -> GateError:
    """The file is not where the report says."""
    return GateError(
        "file_moved",
        f"the {what} of the report is not there",
        where=path,
        help="run gate verify in the folder in which gate run was run, with the files where they were",
    )


def needs_history() -> GateError:
    """The report rests on earlier looks."""
    return GateError(
        "history_needed",
        "the report rests on a history: earlier looks set its level, its streak or its verdict",
        help="add --history FILE; it is only read",
    )


def other_version(written: str, running: str) -> GateError:
    """Only the version that wrote a report promises its bytes."""
    return GateError(
        "version_differs",
        f"the report was written by gate {quoted(written)}, this is {running}",
        help="verify with the version that wrote it, or decide anew with gate run",
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return quoted(text, 60) if isinstance(value, str) else text[:60]
