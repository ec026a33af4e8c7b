"""That every line of JSON Lines is one flat object with the keys of the first line, by its bytes alone.

The engine is more lenient than JSON: it reads trailing commas, ``nan`` and ``inf`` in any case, any depth and
any number of digits, and skips keys that nobody asked for. None of that is in lines that pass here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.content import Content
from gate.artifacts.large.scan import OddBytesError, Places, line_blocks
from gate.artifacts.limits import DIGITS

_AFTER_TEXT = set(" \t\r,:]}")


def _table(letters: str) -> NDArray[np.bool_]:
    found = np.zeros(256, dtype=np.bool_)
    found[list(letters.encode("ascii"))] = True
    return found


_VALUE = _table('"0123456789tf')  # text, a number, true, false
_NUMBER = _table("-0123456789")
_DIGIT = _table("0123456789")
_BLANK = _table(" \t\r")
_BEFORE_BLANK = _table('" \t\r')
_NO_VALUE = _table(", \t\r")


def key_bytes(names: Sequence[str], *, ascii_only: bool) -> list[bytes] | None:
    """The keys as they stand in a line, in quotes; None where bytes do not tell what is a key."""
    if not all(name and name[0] not in _AFTER_TEXT and {"\\", '"'}.isdisjoint(name) for name in names):
        return None
    return [json.dumps(name, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") for name in names]


def flat_lines(content: Content, keys: Sequence[bytes]) -> int | None:
    """How many lines there are, if all are ``{key: scalar, ...}`` with these keys; else None.

    Given that the engine could read the lines as JSON.
    """
    count = 0
    try:
        for data, ends in line_blocks(content):
            if not _all_flat(data, ends, keys):
                return None
            count += ends.size
    except OddBytesError:
        return None
    return count


def _all_flat(data: bytes, ends: Places, keys: Sequence[bytes]) -> bool:
    """Whether each line of ``data`` is ``{key: scalar, ...}`` with these keys; ``ends``: of all its lines."""
    codes: NDArray[np.uint8] = np.frombuffer(data, dtype=np.uint8)
    colons = np.flatnonzero(codes == ord(":"))
    if colons.size != ends.size * len(keys):  # then texts hold colons
        colons = _of_keys(codes, colons)
        if colons.size != ends.size * len(keys):
            return False
    places = np.ascontiguousarray(colons.reshape(ends.size, len(keys)).T)
    if not ((places[-1] < ends).all() and (places[0, 1:] > ends[:-1]).all()):
        return False
    if not (_end_in_values(codes, ends) and all(map(_stand, repeat(data), keys, places))):
        return False
    values = colons + 1 + (codes.take(colons + 1) == ord(" "))
    return _all_scalars(data, codes, values) and not _endless(codes, values, ends)


def _of_keys(codes: NDArray[np.uint8], colons: Places) -> Places:
    """Those colons that are not plainly inside of a text: after a quote, or with a blank between them."""
    before, two_before = codes[colons - 1], codes[colons - 2]
    escaped = (two_before == ord("\\")) & (codes[colons - 3] != ord("\\"))
    spaced = _BLANK[before] & _BEFORE_BLANK[two_before]
    kept: Places = colons[(before == ord('"')) & ~escaped | spaced]
    return kept


def _end_in_values(codes: NDArray[np.uint8], ends: Places) -> bool:
    """Whether each line ends like ``value}``, without a comma or blank before the brace."""
    closed = codes.take(ends - 1) == ord("}")
    return bool(closed.all()) and not bool(_NO_VALUE.take(codes.take(ends - 2)).any())


def _stand(data: bytes, key: bytes, colons: Places) -> bool:
    """Whether a key stands before each of these colons, its first quote not escaped."""
    width = len(key) + 1
    if colons[0] < width:
        return False
    windows = np.ndarray((len(data) - width + 1,), dtype=f"V{width}", buffer=data, strides=(1,))
    found: NDArray[np.void] = windows[colons - width]
    first: bytes = found[0].tobytes()[:1]
    return first != b"\\" and found.tobytes() == (first + key) * len(colons)


def _all_scalars(data: bytes, codes: NDArray[np.uint8], values: Places) -> bool:
    """Whether text, a number, true, false, null, NaN or Infinity begins at each place."""
    plain = _VALUE.take(codes.take(values, mode="clip"))
    if plain.all():
        return True
    odd = values[~plain]
    first, second = codes.take(odd, mode="clip"), codes.take(odd + 1, mode="clip")
    null = (first == ord("n")) & (second == ord("u"))
    negative = (first == ord("-")) & _DIGIT[second]
    rest = odd[~(null | negative)]
    return all(data.startswith((b"NaN", b"Infinity", b"-Infinity"), place) for place in rest.tolist())


def _endless(codes: NDArray[np.uint8], values: Places, ends: Places) -> bool:
    """Whether a number may have more digits than are read."""
    if int(ends[0]) <= DIGITS and (ends.size == 1 or int((ends[1:] - ends[:-1]).max()) <= DIGITS):
        return False
    wide = np.diff(values, append=ends[-1]) > DIGITS
    return bool((_NUMBER[codes.take(values, mode="clip")] & wide).any())
