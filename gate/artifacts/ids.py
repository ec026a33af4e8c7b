"""Ids are text. How a cell becomes one, and which ids no reader may accept."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from gate.artifacts import limits
from gate.artifacts.records import ABSENT
from gate.artifacts.sort import Sort
from gate.safe import examples, quoted
from gate.values import GateError

Where = Callable[[int], str]
"""Row -> ``FILE:LINE`` for an error."""
_BAD = {
    "Cc": "a control",
    "Cf": "an invisible or bidi",
    "Cs": "a lone surrogate",
    "Zl": "a line",
    "Zp": "a line",
}


def id_texts(cells: Sequence[Any], what: str, where: Where, *, text: bool) -> list[str]:
    """Every cell as id text: integers keep all digits, floats only where all of them are integral."""
    kinds = set(map(type, cells))
    if kinds == {str}:
        return _float_text(list(cells)) if text else list(cells)
    if kinds == {int}:
        return list(map(str, cells))
    if kinds == {float}:
        return [_integral(cell, what, where, row) for row, cell in enumerate(cells)]
    return [_mixed(cell, what, where, row) for row, cell in enumerate(cells)]


def _float_text(cells: list[str]) -> list[str]:
    """A CSV column that was float as a whole (``1.0``, ``2.0``) is integers."""
    if all(cell.endswith(".0") and cell[:-2].isascii() and cell[:-2].isdigit() for cell in cells):
        return [cell[:-2] for cell in cells]
    return cells


def _integral(cell: float, what: str, where: Where, row: int) -> str:
    if not cell.is_integer():  # NaN and infinity are none either
        raise _refused(what, "a float that is no whole number", where(row))
    if abs(cell) > 2**53:
        raise _refused(what, "a float above 2^53, which has lost digits", where(row))
    return str(int(cell))


def _mixed(cell: Any, what: str, where: Where, row: int) -> str:
    if type(cell) is str:
        return cell
    if type(cell) is int:
        return str(cell)
    kinds = {bool: "a boolean", float: "a float among other types", dict: "an object", list: "a list"}
    if cell is None or cell is ABSENT:
        raise _refused(what, "absent" if cell is ABSENT else "null", where(row))
    raise _refused(what, kinds.get(type(cell), "not text"), where(row))


def _refused(what: str, found: str, where: str) -> GateError:
    return GateError(
        "invalid_id",
        f"{what} must be text or a whole number (found {found})",
        where=where,
        help="give every row an id of its own, as text",
    )


def check_ids(ids: Sequence[str], what: str, where: Where) -> None:
    """Refuse empty, endless and deceptive ids. Cheap where all are printable ASCII."""
    joined = "".join(ids)
    printable = joined.isascii() and joined.isprintable()
    if not printable:
        for row, text in enumerate(ids):
            _check_characters(text, what, where, row)
    blank = not all(ids) if printable and " " not in joined else not all(map(str.strip, ids))
    if blank or max(map(len, ids), default=0) > limits.ID_CHARS:
        for row, text in enumerate(ids):
            if not text.strip():
                raise _refused(what, "empty", where(row))
            if len(text) > limits.ID_CHARS:
                raise _refused(what, f"{len(text):,} characters", where(row))


def _check_characters(text: str, what: str, where: Where, row: int) -> None:
    for letter in text:
        kind = _BAD.get(unicodedata.category(letter))
        if kind is not None:
            raise GateError(
                "invalid_id",
                f"{what} {quoted(text)} holds {kind} character (U+{ord(letter):04X})",
                where=where(row),
                help="write ids without control, zero-width and bidi characters",
            )


def is_content(text: str) -> bool:
    """Whether an id is an input's own text (a question of several lines, a page) and no name for it."""
    return len(text) > limits.ID_CHARS or "\n" in text or "\t" in text or "\r" in text


def content_id(text: str) -> str:
    """An id made of an input's own text: escapes for what ids may not hold, a digest for what is too long."""
    safe = "".join(_escape(letter) for letter in text.strip()) or "(empty)"
    if len(safe) <= 200:
        return safe
    return f"{safe[:160]} #{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _escape(letter: str) -> str:
    if letter == "\n":
        return "\\n"
    return letter if unicodedata.category(letter) not in _BAD else f"\\u{ord(letter):04x}"


def refuse_duplicates(ids: Sequence[str], repeats: Sequence[str] | None, sort: Sort, where: Where) -> None:
    """Refuse an id (or an id and repeat) that occurs twice, as written or after Unicode normalisation."""
    if bool(sort.twice.any()):
        raise _duplicates(sorted(sort.rows[sort.twice].tolist()), ids, repeats, where)
    if "".join(ids).isascii():
        return
    first: dict[str, str] = {}
    for row, text in enumerate(ids):
        other = first.setdefault(unicodedata.normalize("NFC", text), text)
        if other != text:
            raise GateError(
                "duplicate_ids",
                f"two ids differ only in encoding ({quoted(other)} and {quoted(text)} are equal in NFC)",
                where=where(row),
                help="normalise ids to NFC where they are written",
            )


def _duplicates(rows: Sequence[int], ids: Sequence[str], repeats: object, where: Where) -> GateError:
    """rows: all but the first of each id."""
    doubled = list(dict.fromkeys(ids[row] for row in rows))
    found = f"{len(doubled)} id{'s' if len(doubled) > 1 else ''}: {examples(doubled)}"
    what = "ids occur more than once" if repeats is None else "the same id and repeat occur twice"
    return GateError(
        "duplicate_ids",
        f"{what} ({found})",
        where=where(rows[0]),
        help="write one row an item, or declare items.repeat if these are repeated runs"
        if repeats is None
        else "each run of an item needs its own repeat value",
    )


def near_collisions(ids: Sequence[str]) -> list[str]:
    """Distinct ids that become equal to another one after NFKC, case folding and stripping; sorted."""
    joined = "\n".join(ids)
    if joined.isascii() and joined.lower() == joined and " " not in joined:
        return []
    if joined.isascii():
        folded = joined.lower().split("\n")
    else:
        folded = unicodedata.normalize("NFKC", joined).casefold().split("\n")
    if len(folded) != len(ids):  # an id that folds into a line break: cannot happen for ids that were checked
        folded = [unicodedata.normalize("NFKC", text).casefold() for text in ids]
    if " " in joined:
        folded = [text.strip() for text in folded]
    groups: dict[str, list[str]] = {}
    for text, fold in zip(ids, folded, strict=True):
        groups.setdefault(fold, []).append(text)
    return sorted(text for group in groups.values() if len(group) > 1 for text in group)
