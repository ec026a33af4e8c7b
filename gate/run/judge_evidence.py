"""What is known of an automatic judge, and whether it is enough for its scores to decide."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from gate.cycles.history_cautions import moment
from gate.pairing.model import Paired
from gate.policy.load import LoadedPolicy
from gate.policy.model import Judge, Policy
from gate.report.model import JudgeEvidence
from gate.safe import NotRegularError, open_regular, quoted
from gate.values import GateError

LARGEST: Final = 1 << 20
"""Bytes of an evidence file."""
FEWEST: Final = 30
"""Items that people decided on, on both sides; with fewer nothing is claimed of a judge."""


class Number(Struct, frozen=True, forbid_unknown_fields=True):
    """An estimate with two-sided 95 % limits; an end that the data cannot bound is null."""

    n: int
    value: float
    low: float | None
    high: float | None


class Side(Struct, frozen=True, forbid_unknown_fields=True):
    """One system's outputs. bias: mean of judge - people. sensitivity: of what people pass, the share that
    the judge passes; specificity: of what people fail, the share that it fails. Null: there is none, or the
    scores are no pass/fail.
    """

    path: str
    sha256: str
    system: str | None
    sensitivity: Number | None
    specificity: Number | None
    bias: Number | None


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """A subset of the items: the judge's delta minus the people's. Not adjusted for how many there are."""

    column: str
    value: str
    bias: Number


class Finding(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing asked of a judge and what came of it."""

    rule: str
    status: Literal["pass", "fail", "inconclusive"]
    message: str


class Found(Struct, frozen=True, forbid_unknown_fields=True, tag_field="schema", tag="gate.judge/1"):
    """What ``gate judge`` found. metric: the judge's column; human: the people's. kind, human_kind: binary or
    graded. judge: what the results state of how the metric was scored, empty where they state nothing.

    left_out: items without a decision of people on both sides. Deltas are candidate - baseline, positive is
    better; bias: the judge's delta minus the people's, null where the two are not in one unit. length: the
    correlation, over items, of that difference with how much longer the candidate's output is. inconsistent:
    share of the outputs that the judge judged otherwise when asked again.
    """

    tool_version: str
    time: str
    metric: str
    human: str
    kind: Literal["binary", "graded"]
    human_kind: Literal["binary", "graded"]
    direction: Literal["higher", "lower"]
    judge: str
    n_items: int
    left_out: int
    baseline: Side
    candidate: Side
    agreement: Number | None
    kappa: Number | None
    human_delta: Number
    judge_delta: Number
    bias: Number | None
    parts: tuple[Part, ...]
    length: Number | None
    inconsistent: Number | None
    verdict: Literal["valid", "not_valid", "inconclusive"]
    reasons: tuple[Finding, ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Floors:
    """The least that is asked; None: not asked."""

    min_kappa: float | None = None
    max_delta_bias: float | None = None
    max_inconsistent: float | None = None


def held(found: Found, floors: Floors) -> tuple[Finding, ...]:
    """Every question to the judge with its answer. Only what is shown passes: a wide interval is no pass."""
    return tuple(_answers(found, floors))


def verdict_of(reasons: tuple[Finding, ...]) -> Literal["valid", "not_valid", "inconclusive"]:
    """Valid only if something was asked and everything passed."""
    statuses = {reason.status for reason in reasons}
    if "fail" in statuses:
        return "not_valid"
    return "valid" if statuses == {"pass"} else "inconclusive"


def _answers(found: Found, floors: Floors) -> Iterator[Finding]:
    human, judge = _shown(found.human_delta), _shown(found.judge_delta)
    if human * judge < 0:
        text = "the judge reverses the decision: it prefers the {} where people prefer the {}"
        sides = ("candidate", "baseline")
        yield Finding("sign", "fail", text.format(*sides if judge > 0 else sides[::-1]))
    if found.n_items < FEWEST:
        few = f"people decided on {found.n_items} items on both sides; at least {FEWEST} are asked for"
        yield Finding("items", "inconclusive", few)
    if floors.min_kappa is None and floors.max_delta_bias is None:
        text = "nothing was asked of the judge: give min_kappa or max_delta_bias"
        yield Finding("floors", "inconclusive", text)
    if floors.max_delta_bias is not None:
        yield _within("delta_bias", found.bias, floors.max_delta_bias)
    if floors.min_kappa is not None:
        yield _at_least("kappa", found.kappa, floors.min_kappa)
    if floors.max_inconsistent is not None:
        yield _at_most("inconsistent", found.inconsistent, floors.max_inconsistent)


def _shown(delta: Number) -> int:
    """The sign that the interval shows; 0 where it holds 0."""
    return int(delta.low is not None and delta.low > 0) - int(delta.high is not None and delta.high < 0)


def _unknown(rule: str, what: str) -> Finding:
    return Finding(rule, "inconclusive", f"{what} is not known from these results")


def _within(rule: str, bias: Number | None, most: float) -> Finding:
    if bias is None:
        return _unknown(rule, "how far the judge's delta is from the people's")
    low, high = _ends(bias)
    text = f"the judge's delta is {bias.value:+.4g} from the people's, {_interval(bias)}; at most {most:g}"
    if low > most or high < -most:
        return Finding(rule, "fail", text)
    return Finding(rule, "pass" if -most <= low and high <= most else "inconclusive", text)


def _at_least(rule: str, kappa: Number | None, least: float) -> Finding:
    if kappa is None:
        return _unknown(rule, "kappa")
    low, high = _ends(kappa)
    text = f"kappa is {kappa.value:.3f}, {_interval(kappa)}; its lower limit must be at least {least:g}"
    return Finding(rule, "pass" if low >= least else "fail" if high < least else "inconclusive", text)


def _at_most(rule: str, share: Number | None, most: float) -> Finding:
    if share is None:
        return _unknown(rule, "how often the judge contradicts itself")
    text = f"asked again, the judge contradicts itself on {share.value:.1%} of {share.n} outputs; at most "
    return Finding(rule, "pass" if share.value <= most else "fail", f"{text}{most:.1%}")


def _ends(number: Number) -> tuple[float, float]:
    low, high = number.low, number.high
    return -math.inf if low is None else low, math.inf if high is None else high


def _interval(number: Number) -> str:
    low, high = _ends(number)
    return f"95 % interval {low:.4g} to {high:.4g}"


def believed(loaded: LoadedPolicy, item_set: Paired, now: str) -> JudgeEvidence:
    """The evidence that the policy asks for, if it serves this run. Errors: GateError ``judge_...``."""
    wanted = loaded.policy.judge
    assert wanted is not None
    path = str(Path(loaded.path).parent / wanted.evidence.file)
    found = _read(path, wanted.evidence.sha256)
    _same_question(found, loaded.policy, item_set, path)
    age = _age(found, wanted, now, path)
    floors = Floors(wanted.min_kappa, wanted.max_delta_bias, wanted.max_inconsistent)
    reasons = held(found, floors)
    if verdict_of(reasons) != "valid":
        failed = "; ".join(reason.message for reason in reasons if reason.status != "pass")
        help_text = "let people decide on more outputs, or gate on what people say"
        raise GateError("judge_not_believed", failed, where=path, help=help_text)
    return JudgeEvidence(
        path=path, sha256=wanted.evidence.sha256, time=found.time, judge=found.judge, age_days=age
    )


def _read(path: str, sha256: str) -> Found:
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError, NotRegularError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise GateError(
            "judge_evidence_missing",
            f"the evidence for the judge cannot be read ({why or error})",
            where=path,
            help="gate judge writes it: gate judge BASELINE CANDIDATE --judge M --human COLUMN -o FILE",
        ) from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise GateError(
            "judge_evidence_changed",
            f"the evidence for the judge is not what the policy names (SHA-256 {digest}, agreed {sha256})",
            where=path,
            help="bring that file back, or agree on a policy with the new digest",
        )
    try:
        return msgspec.json.decode(data, type=Found)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        message = f"this is no evidence of gate judge ({quoted(str(error), 120)[1:-1]})"
        raise GateError("judge_evidence_invalid", message, where=path) from error


def _same_question(found: Found, policy: Policy, item_set: Paired, path: str) -> None:
    """Evidence for one metric and one judge says nothing of another."""
    gating = policy.gating
    metric = policy.artifacts.mapping.get(gating.metric, gating.metric)
    for what, agreed, shown in (
        ("metric", metric, found.metric),
        ("direction", gating.direction, found.direction),
        ("kind", gating.kind, found.kind),
    ):
        if agreed != shown:
            raise _other(what, shown, agreed, path)
    for side in (item_set.baseline, item_set.candidate):
        named = side.scored_by.get(gating.metric, "")
        if named != found.judge:
            raise _other("judge", found.judge or "one without a name", named or "not named", path)


def _other(what: str, shown: str, used: str, path: str) -> GateError:
    return GateError(
        f"judge_other_{what}",
        f"the evidence is for another {what} ({quoted(shown)}; in this run {quoted(used)})",
        where=path,
        help="validate this judge: gate judge, on outputs that people decided on",
    )


def _age(found: Found, wanted: Judge, now: str, path: str) -> int | None:
    """Whole days; None where the policy does not ask. Not known, or of tomorrow, is too old."""
    if wanted.max_age_days is None:
        return None
    then, today = moment(found.time), moment(now)
    age = "of an unknown age"
    if then is not None and today is not None and then <= today:
        days = (today - then) / timedelta(days=1)
        if days <= wanted.max_age_days:
            return int(days)
        age = f"{days:.1f} days old"
    raise GateError(
        "judge_evidence_stale",
        f"the evidence for the judge is {age} (at most {wanted.max_age_days:g} days)",
        where=path,
        help="judges change: validate it again with gate judge",
    )
