"""How a cell becomes a number: by written rules for the declared kind, never by guessing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

import numpy as np

from gate.artifacts.records import ABSENT
from gate.artifacts.strict_json import NoNumber
from gate.artifacts.table import BoolArray, FloatArray, Missing
from gate.safe import quoted
from gate.values import GateError

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Text that is a number. Not ``1_000``, ``0x1F``, ``1,5`` or ``85%``."""
NO_VALUE = frozenset({"", "nan", "null", "none", "na", "n/a", "inf", "+inf", "-inf", "infinity", "+infinity"})
NO_VALUE |= {"-infinity", "-nan", "+nan", "<na>", "#n/a", "nat"}
BOOLS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True)
class Rule:
    """What the policy declared for one metric. text: the file has no types (CSV)."""

    metric: str
    kind: str
    words: Mapping[str, float]
    text: bool = False
    decimal_comma: bool = False


class _NoValue(Exception):  # noqa: N818
    """The cell holds no number; the argument says what stood there."""


class _Unfit(Exception):  # noqa: N818
    """The cell is of another type than the metric; the arguments say what was found and what helps."""


Column = tuple[FloatArray, Missing]


class Places(Protocol):
    """How to name a row."""

    def place(self, row: int) -> str:
        """The row's place in the file."""
        ...

    def where(self, row: int) -> str:
        """The row's place for an error."""
        ...


def numbers(cells: Sequence[Any], rule: Rule, failed: BoolArray, ids: Sequence[str], at: Places) -> Column:
    """The values of one metric and what is missing in it. Rows whose run failed are not looked at."""
    values = _plain_numbers(cells, rule)
    sure = np.isfinite(values)
    if rule.kind == "binary":
        sure &= (values == 0.0) | (values == 1.0)
    values[~sure | failed] = np.nan
    count, shown = 0, []
    for row in np.flatnonzero(~sure & ~failed).tolist():
        try:
            values[row] = number(cells[row], rule)
        except _NoValue as gap:
            count += 1
            if count <= 5:
                shown.append((ids[row], at.place(row), str(gap)))
        except _Unfit as unfit:
            found, help_text = unfit.args
            raise GateError(
                "invalid_value",
                f"metric {quoted(rule.metric)}, item {quoted(ids[row])}: {found}",
                where=at.where(row),
                help=help_text,
            ) from None
    return values, Missing(count, tuple(shown))


def _plain_numbers(cells: Sequence[Any], rule: Rule) -> FloatArray:
    """The column at once, as far as it is plain numbers; what is not, is no finite number here."""
    kinds = set(map(type, cells))
    plain = {int, float, bool} if rule.kind in _TRUTH else {int, float}
    if kinds == {str}:
        return _plain_texts(cells, rule)
    chosen = np.fromiter(map(plain.__contains__, map(type, cells)), np.bool_, len(cells))
    values = np.full(len(cells), np.nan)
    with suppress(OverflowError):  # an integer beyond float64
        values[chosen] = np.array(list(compress(cells, chosen)), dtype=np.float64)
    return values


def _plain_texts(cells: Sequence[str], rule: Rule) -> FloatArray:
    """Each distinct text once where there are few; else those that are nothing but a number."""
    distinct = set(cells)
    if len(distinct) <= len(cells) // _FEW:
        known = {text: parsed(text, rule) for text in distinct}
        found = [known[text] for text in cells]
        return np.array(found, dtype=np.float64)  # None is NaN
    if not rule.text or rule.words:
        return np.full(len(cells), np.nan)
    number_or_gap = (text if NUMBER.fullmatch(text) else "nan" for text in cells)
    return np.fromiter(map(float, number_or_gap), np.float64, len(cells))


_TRUTH = {"binary", "prediction"}
"""Kinds of metrics that true and false are values of."""
_FEW = 8
"""A text that occurs about so often is converted once."""


def number(cell: Any, rule: Rule) -> float:
    """One cell as a number, or the reason why not."""
    kind = type(cell)
    if kind is float or kind is int:
        return _checked(_finite(cell), rule)
    if kind is bool:
        return _boolean(float(cell), rule)
    if kind is str:
        return _text(cell, rule)
    if cell is None:
        raise _NoValue("null")
    if cell is ABSENT:
        raise _NoValue("absent")
    if isinstance(cell, NoNumber):
        raise _NoValue(cell.token)
    raise _Unfit(
        f"a {'list' if isinstance(cell, list) else 'nested object'} is no number",
        "map the metric to a number",
    )


def parsed(cell: Any, rule: Rule) -> float | None:
    """One cell as a number, None if it is none."""
    try:
        return number(cell, rule)
    except (_NoValue, _Unfit):
        return None


def _finite(cell: float) -> float:
    try:
        value = float(cell)
    except OverflowError:
        raise _NoValue("an integer beyond the range of float64") from None
    if math.isfinite(value):
        return value
    raise _NoValue("NaN" if math.isnan(value) else "a number beyond the range of float64 (such as 1e400)")


def _checked(value: float, rule: Rule) -> float:
    if rule.kind == "binary" and value not in {0.0, 1.0}:
        raise _Unfit(
            f"kind binary takes 0/1, true/false or declared words (found {value:g})",
            "declare kind: graded, or map the metric to its pass/fail column",
        )
    return value


def _boolean(value: float, rule: Rule) -> float:
    if rule.kind not in _TRUTH:
        raise _Unfit(
            f"a boolean in a metric of kind {rule.kind} (found {'true' if value else 'false'})",
            "declare kind: binary for pass/fail metrics",
        )
    return value


def _text(cell: str, rule: Rule) -> float:
    if cell in rule.words:
        return _checked(rule.words[cell], rule)
    bare = cell.strip()
    if bare in rule.words:
        return _checked(rule.words[bare], rule)
    if bare.lower() in NO_VALUE:
        raise _NoValue(bare or "empty")
    if rule.text:
        return _written(bare, rule)
    if NUMBER.fullmatch(bare):
        raise _Unfit(
            f"a number written as text (found {quoted(cell)})", "write numbers as JSON numbers, not as text"
        )
    raise _no_word(cell)


def _written(bare: str, rule: Rule) -> float:
    """A cell of a file without types."""
    truth = BOOLS.get(bare.lower())
    if truth is not None:
        return _boolean(truth, rule)
    plain = bare.replace(",", ".", 1) if rule.decimal_comma and "." not in bare else bare
    if NUMBER.fullmatch(plain):
        value = float(plain)
        if math.isinf(value):
            raise _NoValue(bare[:40])
        return _checked(value, rule)
    if bare.endswith("%"):
        raise _Unfit(
            f"a percentage (found {quoted(bare)})", "write 0.85 instead of 85%; the unit must not be guessed"
        )
    raise _no_word(bare)


def _no_word(cell: str) -> _Unfit:
    return _Unfit(
        f"text is no value (found {quoted(cell)})",
        "declare the words in the policy: artifacts: {labels: {pass: [...], fail: [...]}}",
    )
