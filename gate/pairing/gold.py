"""What a gold label says: yes or no of an item, and the metrics whose values it makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from gate.artifacts.magnitude import outside_scale
from gate.artifacts.table import BoolArray, FloatArray, ItemTable, Missing, ObjectArray
from gate.artifacts.values import NUMBER
from gate.pairing.model import MetricRule, PairingRules
from gate.pairing.side import absent
from gate.safe import examples, quoted
from gate.stats.item_scores import log_losses, squared_errors
from gate.values import GateError

_YES_NO = {"1": 1.0, "true": 1.0, "0": 0.0, "false": 0.0}


def scored(table: ItemTable, rules: PairingRules) -> ItemTable:
    """The table with the values of its metrics that a label makes, one a run; failed runs have none.

    Errors: no label on a run; a label that is neither yes nor no, a probability outside [0, 1].
    """
    made = {name: rule for name, rule in rules.metrics.items() if rule.made and _is_there(table, name)}
    if not made or not table.values.keys() | table.columns.keys():
        return table
    assert rules.label is not None, "the policy names the column of labels"
    labels = table.columns.get(rules.label)
    if labels is None:
        return table
    _refuse_absent(rules.label, labels, table)
    values, missing, cautions = dict(table.values), dict(table.missing), list(table.cautions)
    for name, rule in made.items():
        if rule.made == "accuracy":
            values[name], missing[name] = _correct(labels, table.columns[name], table)
            continue
        values[name], told = _from_probability(name, rule, labels, table, rules)
        cautions += told
    return replace(table, values=values, missing=missing, cautions=tuple(cautions))


def _is_there(table: ItemTable, name: str) -> bool:
    return name in table.values or name in table.columns


def _refuse_absent(column: str, labels: ObjectArray, table: ItemTable) -> None:
    without = absent(labels) & ~table.failed
    if bool(without.any()):
        raise GateError(
            "label_missing",
            f"{int(without.sum())} rows have no {column} ({examples(list(table.ids[without]))})",
            where=table.source.path,
            help="write the gold label of every item",
        )


def _correct(labels: ObjectArray, said: ObjectArray, table: ItemTable) -> tuple[FloatArray, Missing]:
    """1 where the prediction is the label, else 0; a run without a prediction has no value."""
    right = [_word(gold) == _word(text) for gold, text in zip(labels, said, strict=True)]
    gaps = absent(said) & ~table.failed
    found = np.where(absent(said), np.nan, np.array(right, dtype=np.float64))
    shown = tuple((str(table.ids[row]), "", "empty") for row in np.flatnonzero(gaps)[:5].tolist())
    return found, Missing(int(gaps.sum()), shown)


def _word(text: str | None) -> str | float | None:
    """1, 1.0 and " 1" are one word."""
    if text is None:
        return None
    bare = text.strip()
    return float(bare) if NUMBER.fullmatch(bare) else bare


def _from_probability(
    name: str, rule: MetricRule, labels: ObjectArray, table: ItemTable, rules: PairingRules
) -> tuple[FloatArray, list[tuple[str, str]]]:
    fault = outside_scale(name, (0.0, 1.0), table)
    if fault is not None:
        raise GateError(
            fault.code,
            fault.message.replace("the declared scale ", ""),
            where=fault.where,
            help=f"{rule.made} takes probabilities of the positive label, not scores or logits",
        )
    probabilities = table.values[name]
    known = np.isfinite(probabilities) & ~table.failed
    positive = positives(rules.label or "", labels, rules.label_words, table.ids, table.source.path, known)
    inside = np.clip(probabilities[known], 0.0, 1.0)
    found = np.full(len(probabilities), np.nan)
    if rule.made == "brier":
        found[known] = squared_errors(positive[known], inside)
        return found, []
    losses = log_losses(positive[known], inside)
    found[known] = losses.values
    if not losses.clipped:
        return found, []
    text = f"{losses.clipped} probabilities of {name!a} are 0 or 1 and count as 1e-15 away from it"
    return found, [("probability_clipped", f"{text}: their true log loss is larger")]


def positives(
    column: str,
    labels: ObjectArray,
    words: Mapping[str, float],
    ids: ObjectArray,
    path: str,
    wanted: BoolArray,
) -> BoolArray:
    """True where the label says yes; False where it says no, and outside ``wanted``.

    Errors: a wanted label that is neither 0/1, true/false nor a declared word.
    """
    known = {text: _yes_no(text, words) for text in set(labels[wanted])}
    unknown = {text for text, value in known.items() if value is None}
    if unknown:
        where = [row for row in np.flatnonzero(wanted).tolist() if labels[row] in unknown]
        raise GateError(
            "label_not_yes_no",
            f"{column} must say yes or no (found {_shown(unknown)} on {len(where)} items: "
            f"{examples([str(ids[row]) for row in where])})",
            where=path,
            help="write 0 or 1, or say what the words mean: artifacts: {labels: {pass: [...], fail: [...]}}",
        )
    yes = {text for text, value in known.items() if value == 1.0}
    return np.fromiter((text in yes for text in labels), np.bool_, len(labels)) & wanted


def _shown(texts: Iterable[str | None]) -> str:
    return ", ".join(sorted("nothing" if text is None else quoted(text) for text in texts)[:3])


def _yes_no(text: str | None, words: Mapping[str, float]) -> float | None:
    if text is None:
        return None
    bare = text.strip()
    found = words.get(text, words.get(bare, _YES_NO.get(bare.lower())))
    if found is None and NUMBER.fullmatch(bare):
        found = float(bare)
    return found if found in {0.0, 1.0} else None
