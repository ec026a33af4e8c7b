"""One run of the gate against one history: begin a look, compute, finish it.

    session = open_session("history.jsonl", now=..., tool=...)
    looks = session.begin([attempt], rules)          # the intent is on disk before anything is computed
    ... compute at looks[0].level ...
    states = session.finish(looks, [outcome])        # read again under the lock, assessed, recorded

A run that dies in between leaves its intent, and the look counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate.cycles.assess import BLESSED, CycleState, Outcome, assess, one_winner, provisional
from gate.cycles.attempt import Attempt, Rules
from gate.cycles.band import DIFFERENCES
from gate.cycles.chain import History
from gate.cycles.counted_looks import item_sets
from gate.cycles.looks import Look, plan_looks
from gate.cycles.record import Record, Scalar
from gate.history.checks import require_head
from gate.history.store import LocalStore, Store
from gate.values import Caution, GateError


@dataclass(frozen=True, slots=True)
class Session:
    """A history in use. store: None without a history. now: ISO time for the records, information only."""

    store: Store | None
    now: str = ""
    tool: str = ""
    read_only: bool = False
    cautions: tuple[Caution, ...] = ()

    def begin(self, attempts: Sequence[Attempt], rules: Rules) -> tuple[Look, ...]:
        """Plan the look and record its intent for each candidate; none for a replay or identical sides."""
        if self.store is None and rules.needs_history:
            raise GateError(
                "history_needed",
                "required above 1, looks, stages, fresh windows, history_required, on_baseline_fall: hold "
                "and on_alarm: hold need a history (none was given)",
                help="give one with --history FILE",
            )
        if self.store is None or self.read_only:
            history = self.store.read() if self.store else History((), ())
            looks = plan_looks(history, attempts, rules)
            return tuple(self._with_cautions(replace(look, recorded=False), history) for look in looks)

        def step(history: History) -> tuple[list[Record], tuple[Look, ...]]:
            looks = plan_looks(history, attempts, rules)
            known = {digest for digest, items in item_sets(history.records).items() if items.marks}
            records = [self._intent(look, known) for look in looks if _is_new(look)]
            return records, tuple(self._with_cautions(look, history) for look in looks)

        return self.store.transact(step)

    def finish(self, looks: Sequence[Look], outcomes: Sequence[Outcome]) -> tuple[CycleState, ...]:
        """Assess the outcomes against the history as it is now, and record them."""
        if self.store is None or self.read_only:
            history = self.store.read() if self.store else History((), ())
            return _assessed(history, looks, outcomes)

        def step(history: History) -> tuple[list[Record], tuple[CycleState, ...]]:
            states = _assessed(history, looks, outcomes)
            records: list[Record] = []
            for look, outcome, state in zip(looks, outcomes, states, strict=True):
                _require_intent(history, look)
                records += self._finished(look, outcome, state)
            return records, states

        return self.store.transact(step)

    def void(self, attempt: Attempt, note: str, looks: Sequence[Look] = ()) -> None:
        """Record that this run broke off before any metric value was computed. Then no look was spent.

        ``attempt`` may be as empty as the run was early. With ``looks``, their intents are taken back.
        """
        if self.store is None or self.read_only:
            return
        records = [provisional(look, "", Outcome(""))._replace(kind="void", level=None) for look in looks]
        if not looks:
            records = [_void_of(attempt)]
        stamped = [self._stamp(record._replace(note=note[:500], result={})) for record in records]
        self.store.transact(lambda _: (stamped, None))

    def _with_cautions(self, look: Look, history: History) -> Look:
        extra = self.cautions + history.cautions
        if self.read_only:
            extra += (Caution("look_unrecorded", "look unrecorded: the history was opened read-only"),)
        return replace(look, cautions=look.cautions + extra)

    def _stamp(self, record: Record) -> Record:
        return record._replace(time=self.now, tool=self.tool)

    def _intent(self, look: Look, known: set[str]) -> Record:
        holdout = look.attempt.items.as_holdout(
            look.window, with_marks=look.attempt.items.digest not in known
        )
        known.add(look.attempt.items.digest)
        alarms = tuple(sorted({caution.code for caution in look.faults + look.cautions}))
        draft = provisional(look, "", Outcome(""))
        return self._stamp(draft._replace(kind="intent", holdout=holdout, result={}, alarms=alarms))

    def _finished(self, look: Look, outcome: Outcome, state: CycleState) -> list[Record]:
        draft = provisional(look, state.status, outcome, state.held)
        if state.replayed:
            newly_shown = outcome.revealed and look.replay and look.replay.result.get("printed") is False
            return [self._stamp(draft._replace(kind="worn", result={}))] if newly_shown else []
        if look.attempt.identical:
            return [self._stamp(draft._replace(kind="void", note="identical", level=None, status=""))]
        alarms = tuple(sorted({caution.code for caution in state.faults + state.cautions}))
        facts: dict[str, Scalar] = {
            "printed": state.numbers_shown,
            "scope": state.scope,
            "sign_flip_p": state.sign_flip_p,
        }
        result = dict(draft.result) | facts
        record = draft._replace(
            alarms=alarms,
            claim=state.claim,
            result=result if state.numbers_shown else _withheld(result, look, state),
            state=_telling_state(draft.state, shown=state.numbers_shown)
            | ({"restarted": state.restarted} if state.restarted else {}),
            streak=state.passed,
            verdict=state.verdict,
        )
        plain = draft._replace(level=None, status="", result={})
        records = [record]
        records += [plain._replace(kind="waiver", note=rule[:500]) for rule in outcome.waived]
        if state.verdict == "promote":
            blessed = {BLESSED: outcome.blessed} if outcome.blessed else {}
            made = plain._replace(kind="promotion", streak=state.passed, verdict="promote")
            records.append(made._replace(state=dict(plain.state) | blessed))
        return [self._stamp(each) for each in records]


def _assessed(history: History, looks: Sequence[Look], outcomes: Sequence[Outcome]) -> tuple[CycleState, ...]:
    return one_winner([assess(history, *pair) for pair in zip(looks, outcomes, strict=True)], outcomes)


_TELLING = frozenset({"b", "c", "high", "low", "p", "p_adjusted", "sd", "seed"})
_TESTED = frozenset({"delta", "sign_flip_p"})


def _withheld(result: Mapping[str, Scalar], look: Look, state: CycleState) -> dict[str, Scalar]:
    """The result without what the report withholds; ``gate run --reveal`` computes it from the files again.

    A test over cycles needs the gains of those that passed, and the baseline's mean shows a fall.
    """
    tested = look.rules.test is not None and state.status == "pass"
    telling = _TELLING if tested else _TELLING | _TESTED
    return {key: None if key in telling else value for key, value in result.items()}


def _telling_state(state: Mapping[str, Scalar], *, shown: bool) -> dict[str, Scalar]:
    """The digest of the differences holds their mean and spread."""
    return {key: value for key, value in state.items() if shown or key != DIFFERENCES}


def _is_new(look: Look) -> bool:
    return look.replay is None and not look.attempt.identical


def _require_intent(history: History, look: Look) -> None:
    if _is_new(look) and not any(r.kind == "intent" and r.id == look.id for r in history.records):
        raise GateError(
            "history_lost",
            "the record with which this run began is no longer in the history",
            where=history.where,
            help="someone replaced the file while the gate ran; restore it and run again",
        )


def _void_of(attempt: Attempt) -> Record:
    return Record(
        kind="void",
        cycle=attempt.cycle,
        metric=attempt.metric,
        policy=attempt.policy,
        policy_digest=attempt.policy_digest,
        decision_digest=attempt.decision_digest,
        ci=dict(attempt.ci),
    )


def open_session(
    place: str | None,
    *,
    store: Store | None = None,
    must_exist: bool = False,
    expect_head: str | None = None,
    read_only: bool = False,
    now: str = "",
    tool: str = "",
) -> Session:
    """Open the history named by ``--history``.

    A missing one is started, with a caution, unless it ``must_exist`` (the policy declares looks or
    history_required), a head is expected, or it is opened read-only. ``place``: a path, or
    ``git:REMOTE#BRANCH[:PATH]``; ``store`` takes its place.
    """
    if place is None and store is None:
        return Session(None, now, tool, read_only)
    session = Session(store or store_for(str(place)), now, tool, read_only)
    return _started(session, may_start=not (must_exist or expect_head or read_only), expect_head=expect_head)


def _started(session: Session, *, may_start: bool, expect_head: str | None) -> Session:
    store = session.store
    if store is None:
        return session
    try:
        history = store.read()
    except GateError as error:
        if error.code != "history_missing" or not may_start:
            raise
        return _start(session, store)
    if expect_head:
        require_head(history, expect_head)
    return session


def _start(session: Session, store: Store) -> Session:
    try:
        store.create(now=session.now, tool=session.tool)
    except GateError as error:
        if error.code != "history_exists":
            raise
        return session  # another run started it first: use that one
    text = "there was no history yet: this run started one"
    return replace(session, cautions=(Caution("history_started", text),))


def store_for(place: str) -> Store:
    """The store that ``--history`` names."""
    if place.startswith("git:"):
        from gate.history.branch import git_place  # noqa: PLC0415 - most runs need no git
        from gate.history.git_store import GitStore  # noqa: PLC0415

        return GitStore.at(git_place(place))
    return LocalStore(Path(place))
