"""Judgements which side is better: the votes on an item, in one order or both, become its one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gate.artifacts.table import BoolArray, FloatArray, ItemTable, Missing, ObjectArray
from gate.pairing.model import IndexArray, MetricRule, PairedMetric, PairingRules
from gate.pairing.side import absent
from gate.safe import examples, quoted
from gate.stats.preferences import PositionBias, item_preferences, position_caution
from gate.values import Caution, GateError

WORDS = {"candidate": 1.0, "baseline": -1.0, "tie": 0.0}
ORDERS = {"candidate_first": True, "baseline_first": False}
ORDER, JUDGE = "order", "judge"
"""Columns of a file of votes; a mapping gives them other names."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of the votes of one metric. position: None where items have votes in one order only.

    averaged: an item's value may lie between -1, 0 and 1.
    """

    position: PositionBias | None
    averaged: bool


def counted(table: ItemTable, rules: PairingRules) -> tuple[ItemTable, Mapping[str, Counted]]:
    """The candidate's table with one row an item, and its preferences from -1 (baseline) to 1 (candidate).

    An item one of whose votes is missing or failed has no value: who voted may not depend on the answer.
    Errors: a vote that is no word; an order on some rows only, both orders on some
    items only; columns that differ within an item.
    """
    wanted = {name: rule for name, rule in rules.metrics.items() if rule.votes is not None}
    if not wanted:
        return table, {}
    ids, items = np.unique(table.ids.astype(str), return_inverse=True)
    found: dict[str, Counted] = {}
    values, missing = {}, dict(table.missing)
    for name, rule in wanted.items():
        values[name], missing[name], found[name] = _values(name, rule, table, items, len(ids), rules)
    rows = np.zeros(len(ids), dtype=np.int64)
    rows[items[::-1]] = np.arange(len(items))[::-1]  # the first of each item
    own = {ORDER, JUDGE, *wanted}
    columns = {name: text for name, text in table.columns.items() if name not in own}
    clusters = {} if table.clusters is None else {"the cluster": table.clusters}
    for name, text in {**columns, **clusters}.items():
        _refuse_unequal(name, text, text[rows][items], table)
    if len(ids) < len(items) and table.values.keys() - wanted.keys():
        raise GateError(
            "votes_beside_values",
            f"the file holds several votes an item, and {', '.join(sorted(table.values))} as well",
            where=table.source.path,
            help="give the votes a file of their own: --set NAME - VOTES, and set: NAME in the rule",
        )
    collapsed = replace(
        table,
        ids=table.ids[rows],
        values={**{name: column[rows] for name, column in table.values.items()}, **values},
        missing=missing,
        failed=np.bincount(items, weights=table.failed) > 0,
        repeats=None,
        clusters=None if table.clusters is None else table.clusters[rows],
        columns={name: text[rows] for name, text in columns.items()},
        lines=None if table.lines is None else table.lines[rows],
        ascending=None,
        stated=tuple(one for one in table.stated if isinstance(one.value, str)),
    )
    return collapsed, found


def _values(
    name: str, rule: MetricRule, table: ItemTable, items: IndexArray, count: int, rules: PairingRules
) -> tuple[FloatArray, Missing, Counted]:
    assert rule.votes is not None
    votes, gaps = _votes(name, table, rules.label_words)
    lost = np.bincount(items, weights=gaps | table.failed) > 0
    used = ~lost[items]
    values = np.full(count, np.nan)
    first = _first(table, used)
    position, averaged = None, False
    if used.any():
        judges = table.columns[JUDGE][used].astype(str) if JUDGE in table.columns else None
        own, position = item_preferences(
            items[used],
            votes[used],
            None if first is None else first[used],
            judges,
            votes=rule.votes.votes,
            orders=rule.votes.orders,
        )
        values[np.unique(items[used])] = own
        cells = 2 * items[used] + (0 if first is None else first[used])
        several = rule.votes.votes == "mean" and len(np.unique(cells)) < len(cells)
        averaged = several or (rule.votes.orders == "mean" and position is not None)
    shown = tuple((str(table.ids[row]), "", "no vote") for row in np.flatnonzero(gaps)[:5].tolist())
    return values, Missing(int(gaps.sum()), shown), Counted(position, averaged)


def _votes(name: str, table: ItemTable, words: Mapping[str, float]) -> tuple[FloatArray, BoolArray]:
    """1, 0 or -1 of each row, and which rows have none though their run did not fail."""
    known = WORDS | {word: 2 * value - 1 for word, value in words.items()}
    texts = table.columns[name]
    votes = np.zeros(len(texts))
    for text in set(texts[~table.failed & ~absent(texts)]):
        value = known.get(text, known.get(text.strip().lower()))
        if value not in {-1.0, 0.0, 1.0}:
            row = next(row for row, other in enumerate(texts) if other == text)
            raise GateError(
                "invalid_value",
                f"metric {quoted(name)}, item {quoted(str(table.ids[row]))}: {quoted(text)} is no vote",
                where=table.source.path,
                help="write candidate, baseline or tie, or say what the words mean: "
                "artifacts: {labels: {WORD: 1, OTHER: 0, EQUAL: 0.5}}",
            )
        votes[np.asarray(texts == text, dtype=np.bool_)] = value
    return votes, absent(texts) & ~table.failed


def _first(table: ItemTable, used: BoolArray) -> BoolArray | None:
    """Whether the candidate was shown first; None where the file does not say."""
    texts = table.columns.get(ORDER)
    if texts is None or bool(absent(texts[used]).all()):
        return None
    unknown = {str(text) for text in texts[used] if text not in ORDERS}
    if unknown:
        raise GateError(
            "invalid_value",
            f"{ORDER} is {examples(sorted(unknown))} on some rows",
            where=table.source.path,
            help=f"write {' or '.join(ORDERS)} on every row, or leave the column out",
        )
    return np.fromiter((text == "candidate_first" for text in texts), np.bool_, len(texts))


def _refuse_unequal(name: str, text: ObjectArray, own: ObjectArray, table: ItemTable) -> None:
    different = np.asarray(text != own, dtype=np.bool_)
    if bool(different.any()):
        raise GateError(
            "column_inconsistent",
            f"{name} is not the same on all votes of an item ({examples(list(table.ids[different]))})",
            where=table.source.path,
            help=f"{name} belongs to the item: write the same text on each of its votes",
        )


def preferred(metric: PairedMetric, rule: MetricRule, found: Counted) -> PairedMetric:
    """The share of the votes that each side has on each item, ties halved; they differ by the preference."""
    assert rule.votes is not None
    other = None if metric.other is None else preferred(metric.other, rule, found)
    values = metric.candidate
    return replace(
        metric,
        baseline=0.5 * (1 - values),
        candidate=0.5 * (1 + values),
        averaged=found.averaged,
        other=other,
        notes=tuple(_notes(rule, found.position)),
        doubt=_doubt(rule, found.position),
    )


def _notes(rule: MetricRule, position: PositionBias | None) -> list[Caution]:
    assert rule.votes is not None
    if position is None:
        if not rule.votes.randomized:
            return []
        return [Caution("order_randomized", "the policy declares a random order of presentation; believed")]
    text = (
        f"the verdict was the same in both orders on {position.agree} of {position.items} items; what was "
        f"shown first won both times on {position.first_both}, what was second on {position.second_both} "
        f"(two-sided p {position.p_value:.4f})"
    )
    biased = position_caution(position)
    return [Caution("order_consistency", text), *([] if biased is None else [biased])]


def _doubt(rule: MetricRule, position: PositionBias | None) -> str:
    """Why these votes carry no claim, empty if they do."""
    assert rule.votes is not None
    if position is None:
        if rule.votes.randomized:
            return ""
        return (
            "the place in which an answer is shown is not controlled: "
            "let every item be judged in both orders, or declare order: randomized"
        )
    most = rule.votes.max_inconsistent
    if most is not None and position.inconsistency > most:
        return (
            f"the verdict followed the place on {position.inconsistency:.1%} of the items, more than "
            f"max_inconsistent {most:g}: repair the judge first"
        )
    return ""
