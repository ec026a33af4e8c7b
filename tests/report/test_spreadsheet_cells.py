"""What a spreadsheet would take for a formula, in every width."""

from __future__ import annotations

import pytest

from gate.safe import csv_cell


@pytest.mark.parametrize(
    "sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u2212"]
)
@pytest.mark.parametrize("before", ["", " "])
def test_a_formula_is_quoted(sign: str, before: str) -> None:
    assert csv_cell(f"{before}{sign}1") == f"'{before}{sign}1"


@pytest.mark.parametrize("text", ["a=b", "\u00bd", "q-1", "'=1", ""])
def test_other_texts_stay(text: str) -> None:
    assert csv_cell(text) == text
