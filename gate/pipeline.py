"""The gate, read aloud: policy and files in, a decided run out, with the history in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gate.cycles.attempt import Attempt, rules_of
from gate.cycles.looks import Look
from gate.cycles.series import series
from gate.decide import decided
from gate.errors import GateError
from gate.history.session import Session, open_session
from gate.history.store import Store
from gate.identity import Sets, attempt_of
from gate.intake import Files, item_sets
from gate.measuring import Measured, measure
from gate.multiplicity import challengers, families
from gate.outcome import Decided
from gate.policy.load import LoadedPolicy
from gate.policy.model import Policy
from gate.summing_up import Judged, Waivers, for_history, history_faults, sum_up, unread_faults, waived_rules


@dataclass(frozen=True, slots=True)
class Request:
    """One ``gate run``. now: ISO time, for the records only. ci: what the CI system says of itself.

    store: a history in the place of the named one.

    policy_since: when the policy's deciding part was committed, ISO, empty if unknown; asked only where
    results say when they ran.

    decides: False where nobody agreed beforehand that this policy judges; the report says so.
    """

    loaded: LoadedPolicy
    baseline: str
    candidates: tuple[str, ...]
    sets: Mapping[str, Files] = field(default_factory=dict)
    history: str | None = None
    store: Store | None = None
    expect_head: str | None = None
    read_only: bool = False
    reveal: bool = False
    decides: bool = True
    policy_since: Callable[[], str] = str
    cycle: str | None = None
    baseline_id: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    now: str = ""
    tool_version: str = ""


def run(request: Request) -> tuple[Decided, ...]:
    """Decide every candidate. The history is read before the artifacts: a broken run leaves a trace."""
    _refuse_too_many(request)
    session = _session(request)
    read, looks, measured = _measured(request, session)
    waivers = waived_rules(request.loaded.policy, request.now)
    judged = [
        _judged(request, sets, found, look, waivers)
        for sets, found, look in zip(read, measured, looks, strict=True)
    ]
    states = session.finish(looks, [for_history(one, revealed=request.reveal) for one in judged])
    past = series(session.store.read(), looks[0].attempt.metric) if session.store else []
    return tuple(
        sum_up(request, one, state, waivers, past) for one, state in zip(judged, states, strict=True)
    )


def _refuse_too_many(request: Request) -> None:
    declared, found = request.loaded.policy.challengers, len(request.candidates)
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
        attempts = tuple(attempt_of(request, sets) for sets in read)
        looks = session.begin(attempts, rules_of(policy))
        return read, looks, _compared(policy, read, looks)
    except GateError as error:
        session.void(attempts[0] if attempts else attempt_of(request, None), str(error), looks)
        raise


def _read(request: Request, candidate: str) -> Sets:
    files: dict[str | None, Files] = {None: Files(request.baseline, candidate)}
    files.update(request.sets)
    return item_sets(request.loaded.policy, files)


def _compared(policy: Policy, read: Sequence[Sets], looks: Sequence[Look]) -> tuple[Measured, ...]:
    """Every candidate's comparisons; with several, the gating p-values are adjusted over all of them."""
    found = [
        measure(policy, {name: item_set.table for name, item_set in sets.items()}, look.level)
        for sets, look in zip(read, looks, strict=True)
    ]
    gating = challengers([m.comparisons[0] for m in found], policy.correction, policy.challengers)
    return tuple(
        replace(m, comparisons=(first, *m.comparisons[1:])) for m, first in zip(found, gating, strict=True)
    )


def _judged(request: Request, sets: Sets, measured: Measured, look: Look, waivers: Waivers) -> Judged:
    """Correct, then ask every rule; what the history holds against this look is a reason like any other."""
    comparisons, described = families(measured.comparisons, request.loaded.policy.correction)
    faults = (*unread_faults(measured.unread), *history_faults(look))
    reasons = decided(comparisons, faults, waivers.active)
    return Judged(sets, comparisons, described, measured.not_assessed, reasons, measured.unread)
