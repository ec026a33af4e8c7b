"""The gate, read aloud: policy and files in, a report out, with the history in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.cycles.attempt import Attempt, rules_of
from gate.cycles.chart import run_chart_points
from gate.cycles.looks import Look
from gate.decide.multiplicity import challengers, families
from gate.decide.verdict import decided
from gate.history.session import Session, open_session
from gate.measure.every_rule import Measured, measure
from gate.policy.model import Policy
from gate.report.model import Point, Report, Reports
from gate.run.identity import Sets, attempt_of
from gate.run.intake import Files, item_sets
from gate.run.request import Request
from gate.run.stages import held_open, stage_of, stage_rules, staging
from gate.run.stored import baseline_faults, blessing, kept, refuse_other
from gate.run.summary import (
    Judged,
    Waivers,
    evidence_for,
    for_history,
    history_faults,
    sum_up,
    unread_faults,
    waived_rules,
)
from gate.values import GateError, Verdict


def evaluate(request: Request) -> Report | Reports:
    """Decide every candidate. The history is read before the artifacts: a broken run leaves a trace.

    One candidate gives its report; several give all of theirs with the verdict and the winner over them.
    Errors: :class:`GateError` where nothing can be decided.
    """
    _refuse_too_many(request)
    kept_history = request.history is not None or request.store is not None
    refuse_other(request.loaded, request.stored, history=kept_history)
    session = _session(request)
    read, looks, measured = _measured(request, session)
    waivers = waived_rules(request.loaded.policy, request.now)
    judged = [
        _judged(request, sets, found, look, waivers)
        for sets, found, look in zip(read, measured, looks, strict=True)
    ]
    outcomes = [for_history(one, revealed=request.reveal, digests=kept_history) for one in judged]
    if not request.read_only:
        paths = zip(request.candidates, read, strict=True)
        outcomes = kept(request.stored, request.loaded.policy, paths, outcomes)
    states = session.finish(looks, outcomes)
    past = run_chart_points(session.store.read(), looks[0].attempt.metric) if session.store else []
    points = [Point(**point) for point in past]
    reports = tuple(
        sum_up(request, one, state, waivers, points) for one, state in zip(judged, states, strict=True)
    )
    return reports[0] if len(reports) == 1 else _over_all(reports)


def judge_look(request: Request, sets: Sets, look: Look) -> Judged:
    """One candidate's sets at one look, by every rule; no file and no history is touched."""
    (measured,) = _compared(request.loaded.policy, [sets], [look])
    return _judged(request, sets, measured, look, waived_rules(request.loaded.policy, request.now))


def _over_all(reports: tuple[Report, ...]) -> Reports:
    """The best verdict of any challenger. The largest delta among the promoted wins, the first of equals."""
    found = {report.verdict for report in reports}
    order = (Verdict.PROMOTE, Verdict.HOLD, Verdict.INCONCLUSIVE, Verdict.BLOCK)
    verdict = next(word for word in order if word in found)
    promoted = [report for report in reports if report.verdict == Verdict.PROMOTE]
    winner = max(promoted, key=lambda report: report.gating.delta or 0.0, default=None)
    return Reports(
        verdict=verdict,
        exit_code=verdict.exit_code,
        winner=None if winner is None else winner.provenance.candidate.path,
        reports=reports,
        decides=all(report.decides for report in reports),
    )


def _refuse_too_many(request: Request) -> None:
    declared, found = request.loaded.policy.challengers, len(request.candidates)
    if request.loaded.policy.items.stages is not None:
        declared = 1
        if request.runs:
            raise GateError("usage", "stages follow one run of the baseline, and several are given")
    if declared is not None and found > declared:
        raise GateError(
            "too_many_challengers",
            f"the policy declares {declared} challengers (found {found} candidates)",
            help="leave candidates out; a larger number in the policy corrects each gain for more of them",
        )


def _session(request: Request) -> Session:
    cycles = request.loaded.policy.cycles
    return open_session(
        request.history,
        store=request.store,
        must_exist=cycles.looks is not None or cycles.history_required,
        expect_head=request.expect_head,
        read_only=request.read_only,
        now=request.now,
        tool=request.tool_version,
    )


def _measured(
    request: Request, session: Session
) -> tuple[list[Sets], tuple[Look, ...], tuple[Measured, ...]]:
    """Read every candidate, record the intent to look, measure. What breaks off here has spent no look."""
    policy = request.loaded.policy
    attempts: tuple[Attempt, ...] = ()
    looks: tuple[Look, ...] = ()
    try:
        read = [_read(request, candidate) for candidate in request.candidates]
        for sets in read:
            evidence_for(request, sets)
        attempts = tuple(attempt_of(request, sets) for sets in read)
        looks = session.begin(attempts, rules_of(policy))
        return read, looks, _compared(policy, read, looks)
    except GateError as error:
        session.void(attempts[0] if attempts else attempt_of(request, None), str(error), looks)
        raise


def _read(request: Request, candidate: str) -> Sets:
    files: dict[str | None, Files] = {None: Files(request.baseline, candidate, request.labels, request.runs)}
    files.update(request.sets)
    stages = stage_rules(request.loaded, request.universe)
    return item_sets(request.loaded.policy, files, request.pairer, stages)


def _compared(policy: Policy, read: Sequence[Sets], looks: Sequence[Look]) -> tuple[Measured, ...]:
    """Every candidate's comparisons; with several, the gating p-values are adjusted over all of them."""
    found = [
        measure(
            policy,
            {name: item_set.table for name, item_set in sets.items()},
            look.level,
            stage_of(sets, look),
        )
        for sets, look in zip(read, looks, strict=True)
    ]
    gating = challengers([m.comparisons[0] for m in found], policy.correction, policy.challengers)
    return tuple(
        replace(m, comparisons=(first, *m.comparisons[1:])) for m, first in zip(found, gating, strict=True)
    )


def _judged(request: Request, sets: Sets, measured: Measured, look: Look, waivers: Waivers) -> Judged:
    """Correct, then ask every rule; what the history holds against this look is a reason like any other."""
    comparisons, described = families(measured.comparisons, request.loaded.policy.correction)
    policy = request.loaded.policy
    stale = baseline_faults(policy, blessing(request.stored, policy, request.now))
    faults = (*unread_faults(measured.unread), *history_faults(look), *stale)
    reasons = decided(comparisons, faults, waivers.active)
    reasons = held_open(reasons, comparisons, stage_of(sets, look))
    stage = staging(policy, sets, look, comparisons, reasons)
    return Judged(
        sets, comparisons, described, measured.not_assessed, reasons, measured.unread, policy, stage
    )
