"""The gate, read aloud: policy and files in, a decided run out, with the history in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gate.cycles.assess import Outcome
from gate.cycles.attempt import Attempt, rules_of
from gate.cycles.looks import Look
from gate.cycles.series import series
from gate.decide import decided, outcome
from gate.errors import GateError
from gate.history.session import Session, open_session
from gate.identity import attempt_of
from gate.intake import Files, ItemSet, item_sets
from gate.measuring import Measured, measure
from gate.multiplicity import challengers, families
from gate.outcome import Decided
from gate.policy.load import LoadedPolicy
from gate.summing_up import flat_result, history_faults, sum_up, waived_rules


@dataclass(frozen=True, slots=True)
class Request:
    """One ``gate run``. now: ISO time, for the records only. ci: what the CI system says of itself."""

    loaded: LoadedPolicy
    baseline: str
    candidates: tuple[str, ...]
    sets: Mapping[str, Files] = field(default_factory=dict)
    history: str | None = None
    expect_head: str | None = None
    read_only: bool = False
    reveal: bool = False
    cycle: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    now: str = ""
    tool_version: str = ""


def run(request: Request) -> tuple[Decided, ...]:
    """Decide every candidate. The history is read before the artifacts: a broken run leaves a trace."""
    session = _session(request)
    attempts: tuple[Attempt, ...] = ()
    looks: tuple[Look, ...] = ()
    rules = rules_of(request.loaded.policy)
    try:
        read = [_read(request, candidate) for candidate in request.candidates]
        attempts = tuple(attempt_of(request, sets) for sets in read)
        looks = session.begin(attempts, rules)
        measured = _measured(request, read, [look.level for look in looks])
    except GateError as error:
        if error.code != "history_needed":
            session.void(attempts[0] if attempts else attempt_of(request, None), str(error), looks)
        raise
    corrected = [families(m.comparisons, request.loaded.policy.correction) for m in measured]
    waivers = waived_rules(request.loaded.policy, request.now)
    reasons = [
        decided(comparisons, history_faults(look), waivers.active)
        for (comparisons, _), look in zip(corrected, looks, strict=True)
    ]
    outcomes = [
        Outcome(outcome(found), *flat_result(comparisons, found), revealed=request.reveal)
        for found, (comparisons, _) in zip(reasons, corrected, strict=True)
    ]
    states = session.finish(looks, outcomes)
    past = series(session.store.read(), attempts[0].metric) if session.store else []
    return tuple(
        sum_up(request, sets, m, adjusted, found, state, waivers, past)
        for sets, m, adjusted, found, state in zip(read, measured, corrected, reasons, states, strict=True)
    )


def _session(request: Request) -> Session:
    cycles = request.loaded.policy.cycles
    return open_session(
        request.history,
        must_exist=cycles.looks is not None or cycles.history_required,
        expect_head=request.expect_head,
        read_only=request.read_only,
        now=request.now,
        tool=request.tool_version,
    )


def _read(request: Request, candidate: str) -> Mapping[str | None, ItemSet]:
    files: dict[str | None, Files] = {None: Files(request.baseline, candidate)}
    files.update(request.sets)
    return item_sets(request.loaded.policy, files)


def _measured(
    request: Request, read: list[Mapping[str | None, ItemSet]], levels: list[float]
) -> list[Measured]:
    """Every candidate's comparisons; with several, the gating p-values are adjusted over all of them."""
    policy = request.loaded.policy
    found = [
        measure(policy, {name: item_set.table for name, item_set in sets.items()}, level)
        for sets, level in zip(read, levels, strict=True)
    ]
    gating = challengers([m.comparisons[0] for m in found], policy.correction)
    return [
        replace(m, comparisons=(first, *m.comparisons[1:])) for m, first in zip(found, gating, strict=True)
    ]
