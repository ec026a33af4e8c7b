"""An automatic judge held against what people decided on the same outputs of both systems."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gate.pairing.model import Paired, PairedTable
from gate.policy.load import loads
from gate.run.intake import Files, item_sets
from gate.run.judge_evidence import Finding, Floors, Found, Number, Part, Side, held, verdict_of
from gate.stats.judging import Estimate, agreement, correlation, mean_change, share_of
from gate.values import GateError, __version__

LEVEL: Final = 0.025
Floats = npt.NDArray[np.float64]
Word = Literal["binary", "graded"]
SMALLEST_PART: Final = 10


@dataclass(frozen=True, slots=True)
class Question:
    """Which columns hold the judge's word and the people's, and what may explain where they part.

    words: a decision of people -> its value, such as approve: 1, edit: 0, reject: 0. by: columns of the item.
    length: column with the length of an output. again: the judge's word when asked again.
    """

    metric: str
    human: str
    kind: Word = "binary"
    human_kind: Word = "binary"
    direction: Literal["higher", "lower"] = "higher"
    words: Mapping[str, float] | None = None
    id: str | None = None
    cluster: str | None = None
    by: tuple[str, ...] = ()
    length: str | None = None
    again: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The items that people decided on, on both sides: [baseline, candidate] of each column. sign: -1 where
    lower is better."""

    human: tuple[Floats, Floats]
    judge: tuple[Floats, Floats]
    kept: npt.NDArray[np.bool_]
    clusters: npt.NDArray[np.int64] | None
    sign: float

    @property
    def n(self) -> int:
        """Items."""
        return int(self.kept.sum())


def examined(question: Question, files: Files, floors: Floors, now: str) -> Found:
    """Read both files, compare judge and people. now: ISO time, part of the evidence.

    Errors: GateError for what cannot be read, for no item that people decided on, for a judge that is silent
    where people decided.
    """
    item_set = item_sets(
        loads(json.dumps(_policy(question)), "the question to the judge").policy, {None: files}
    )[None]
    seen = _seen(question, item_set.table)
    binary = question.kind == question.human_kind == "binary"
    one_unit = question.kind == question.human_kind
    labels = np.tile(np.arange(seen.n) if seen.clusters is None else seen.clusters, 2)
    words = (
        agreement(np.concatenate(seen.human), np.concatenate(seen.judge), labels, LEVEL) if binary else None
    )
    found = Found(
        tool_version=__version__,
        time=now,
        metric=question.metric,
        human=question.human,
        kind=question.kind,
        human_kind=question.human_kind,
        direction=question.direction,
        judge=_named(item_set, question.metric),
        n_items=seen.n,
        left_out=int(seen.kept.size - seen.n),
        baseline=_side(item_set.baseline.source, seen, 0, binary=binary, one_unit=one_unit),
        candidate=_side(item_set.candidate.source, seen, 1, binary=binary, one_unit=one_unit),
        agreement=None if words is None else number(words.share),
        kappa=None if words is None else number(words.kappa),
        human_delta=_change(*seen.human, seen, question.human_kind),
        judge_delta=_change(*seen.judge, seen, question.kind),
        bias=_bias(seen, np.ones(seen.n, dtype=bool), question.kind) if one_unit else None,
        parts=tuple(_parts(question, item_set.table, seen)) if one_unit else (),
        length=_length(question, item_set.table, seen) if one_unit else None,
        inconsistent=_inconsistent(question, item_set.table, seen),
        verdict="inconclusive",
        reasons=(),
        cautions=(),
    )
    return _decided(found, held(found, floors))


def _decided(found: Found, reasons: tuple[Finding, ...]) -> Found:
    from msgspec.structs import replace  # noqa: PLC0415

    return replace(found, verdict=verdict_of(reasons), reasons=reasons, cautions=tuple(_cautions(found)))


def _policy(question: Question) -> dict[str, Any]:
    """The columns, read by the rules by which a gate reads them."""

    def rail(metric: str, kind: str, direction: str = "higher") -> dict[str, Any]:
        return {"metric": metric, "kind": kind, "direction": direction, "mode": "no_regression"}

    metric, way = question.metric, question.direction
    rails = [rail(question.human, question.human_kind, way)]
    if question.again is not None:
        rails.append(rail(question.again, question.kind, way))
    if question.length is not None:
        rails.append(rail(question.length, "graded"))
    made: dict[str, Any] = {
        "version": 1,
        "name": "judge",
        "gating": {"metric": metric, "kind": question.kind, "direction": way, "margin": 0.0},
        "guardrails": rails,
        "items": {"min": 1, "missing": "drop", "max_missing": 1.0},
    }
    items = {"id": question.id, "cluster": question.cluster}
    made["items"] |= {key: name for key, name in items.items() if name is not None}
    if question.by:
        made["slices"] = {"by": list(question.by), "min_items": 1}
    if question.words:
        made["artifacts"] = {"labels": dict(question.words)}
    return made


def _seen(question: Question, table: PairedTable) -> Seen:
    human, judge = table.metrics[question.human], table.metrics[question.metric]
    kept = np.isfinite(human.baseline) & np.isfinite(human.candidate)
    if not bool(kept.any()):
        raise GateError(
            "no_human_decisions",
            f"no item has a decision of people on both sides (column {question.human!a})",
            help="let people decide on the baseline's and on the candidate's output of the same items",
        )
    silent = int((kept & ~(np.isfinite(judge.baseline) & np.isfinite(judge.candidate))).sum())
    if silent:
        raise GateError(
            "judge_silent",
            f"the judge says nothing on {silent} items that people decided on (column {question.metric!a})",
            help="let it judge them, or leave these items out of both files",
        )
    return Seen(
        (human.baseline[kept], human.candidate[kept]),
        (judge.baseline[kept], judge.candidate[kept]),
        kept,
        None if table.clusters is None else table.clusters[kept],
        1.0 if question.direction == "higher" else -1.0,
    )


def _named(item_set: Paired, metric: str) -> str:
    """Who scored, as both files state it; pairing has refused two that differ."""
    first, second = (side.scored_by.get(metric, "") for side in (item_set.baseline, item_set.candidate))
    if first != second:
        raise GateError(
            "not_comparable",
            "only one of the two files says how the metric was scored, or they say it differently",
            where=item_set.candidate.source.path,
            help="let one judge score both sides",
        )
    return first


def number(found: Estimate | None) -> Number | None:
    """For the evidence: ends that nothing bounds are null."""
    return None if found is None else _number(found)


def _number(found: Estimate) -> Number:
    low, high = (end if math.isfinite(end) else None for end in (found.low, found.high))
    return Number(found.n, found.value, low, high)


def _change(before: Floats, after: Floats, seen: Seen, kind: Word) -> Number:
    reach = 1.0 if kind == "binary" else None
    return _number(mean_change(seen.sign * before, seen.sign * after, seen.clusters, LEVEL, reach))


def _bias(seen: Seen, rows: npt.NDArray[np.bool_], kind: Word) -> Number:
    """Mean over items of the judge's change minus the people's."""
    people, judge = (seen.sign * (pair[1] - pair[0])[rows] for pair in (seen.human, seen.judge))
    clusters = None if seen.clusters is None else seen.clusters[rows]
    return _number(mean_change(people, judge, clusters, LEVEL, 2.0 if kind == "binary" else None))


def _side(source: Any, seen: Seen, index: int, *, binary: bool, one_unit: bool) -> Side:
    human, judge = seen.human[index], seen.judge[index]
    rates: list[Number | None] = [None, None]
    if binary:
        rates = [
            number(share_of(int((judge[human == word] == word).sum()), int((human == word).sum()), LEVEL))
            for word in (1.0, 0.0)
        ]
    reach = 1.0 if binary else None
    bias = _number(mean_change(human, judge, seen.clusters, LEVEL, reach)) if one_unit else None
    return Side(source.path, source.sha256, source.system, rates[0], rates[1], bias)


def _parts(question: Question, table: PairedTable, seen: Seen) -> Iterator[Part]:
    for column in question.by:
        words = table.columns[column][seen.kept]
        for word in sorted({str(word) for word in words if word is not None}):
            rows = np.fromiter((one == word for one in words), bool, words.size)
            if int(rows.sum()) >= SMALLEST_PART:
                yield Part(column, word, _bias(seen, rows, question.kind))


def _length(question: Question, table: PairedTable, seen: Seen) -> Number | None:
    if question.length is None:
        return None
    length = table.metrics[question.length]
    longer = (length.candidate - length.baseline)[seen.kept]
    bias = seen.sign * ((seen.judge[1] - seen.judge[0]) - (seen.human[1] - seen.human[0]))
    known = np.isfinite(longer)
    return number(correlation(longer[known], bias[known], LEVEL))


def _inconsistent(question: Question, table: PairedTable, seen: Seen) -> Number | None:
    """Over the outputs that it judged twice; both sides together."""
    if question.again is None:
        return None
    again = table.metrics[question.again]
    first = np.concatenate(seen.judge)
    second = np.concatenate((again.baseline[seen.kept], again.candidate[seen.kept]))
    known = np.isfinite(second)
    other = int((first[known] != second[known]).sum())
    return number(share_of(other, int(known.sum()), LEVEL))


def _cautions(found: Found) -> Iterator[str]:
    if not found.judge:
        yield "the results do not say which judge scored them: the evidence serves any without a name"
    if found.agreement is not None and found.agreement.value == 1:
        yield "judge and people agree on every output: is the people's column really theirs?"
    if found.left_out:
        yield f"{found.left_out} items without a decision of people on both sides are left out"
    low, high = _side_gap(found)
    if low > high:
        yield "the judge is kinder to one system than to the other (the intervals of its bias do not meet)"
    if _excludes_zero(found.length):
        yield "where the candidate's output is longer, the judge's difference is another than the people's"
    for part in found.parts:
        if _excludes_zero(part.bias):
            yield f"the judge's delta is not the people's in {part.column}={part.value} (not adjusted)"


def _side_gap(found: Found) -> tuple[float, float]:
    first, second = found.baseline.bias, found.candidate.bias
    if first is None or second is None or None in {first.low, first.high, second.low, second.high}:
        return 0.0, 0.0
    return max(first.low or 0.0, second.low or 0.0), min(first.high or 0.0, second.high or 0.0)


def _excludes_zero(number: Number | None) -> bool:
    if number is None:
        return False
    return (number.low is not None and number.low > 0) or (number.high is not None and number.high < 0)
