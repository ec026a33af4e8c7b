"""The bytes of a policy, or of another YAML file, as text: opened without following traps, plain UTF-8 only.

what: what the file is called in errors, and how their codes begin.
"""

from __future__ import annotations

import os
import re

from gate.safe import NotRegularError, open_regular
from gate.values import GateError

MAX_BYTES = 1 << 20
# Controls, foreign line ends, bidirectional overrides, byte order mark: what a reviewer cannot see.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e"
    "\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


def read(path: str, what: str = "policy") -> bytes:
    """The bytes of a regular file of at most 1 MiB; anything else is a GateError."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(MAX_BYTES + 1) or b""  # None: a file of the kernel's with nothing to say yet
    except NotRegularError:
        raise GateError(
            f"{what}_not_a_file", f"the {what} is not a regular file", where=path, help="name a YAML file"
        ) from None
    except (OSError, ValueError) as error:
        raise _unopened(path, error, what) from None
    if len(data) > MAX_BYTES:
        raise too_large(path, what)
    return data


def too_large(path: str, what: str = "policy") -> GateError:
    """The error for a file above the limit."""
    return GateError(
        f"{what}_too_large",
        f"the {what} is larger than {MAX_BYTES} bytes",
        where=f"{path}:1",
        help=f"is this the right file? a {what} is a page of YAML",
    )


def _unopened(path: str, error: OSError | ValueError, what: str) -> GateError:
    if isinstance(error, FileNotFoundError):
        advice = "see: gate init" if what == "policy" else "name a YAML file"
        return GateError(f"{what}_missing", f"there is no such {what} file", where=path, help=advice)
    # A link is not opened; the operating systems do not agree on the number it fails with.
    if isinstance(error, OSError) and os.path.islink(path):  # noqa: PTH114
        return GateError(
            f"{what}_is_a_link",
            f"the {what} is a symbolic link",
            where=path,
            help="name the file it points to",
        )
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return GateError(
        f"{what}_unreadable", f"the {what} cannot be read ({reason})", where=path, help="check the rights"
    )


def decode(data: bytes, path: str, what: str = "policy") -> str:
    """Bytes to text; a byte that is not UTF-8 is named with its line."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start : error.start + 1].hex()
        message = f"the {what} is not UTF-8 (found byte 0x{found})"
        raise GateError(
            f"{what}_not_utf8", message, where=f"{path}:{line}", help="save it as UTF-8"
        ) from None


def check_visible(text: str, path: str, what: str = "policy") -> None:
    """Refuse characters that make a file read differently from what it shows."""
    found = _UNSEEN.search(text)
    if not found:
        return
    line = text.count("\n", 0, found.start()) + 1
    character = f"U+{ord(found[0]):04X}"
    mark = found[0] == "\ufeff" and found.start() == 0
    fault = "begins with a byte order mark" if mark else "holds an invisible or control character"
    advice = "save it as UTF-8 without BOM" if mark else f"remove {character}; in quoted text write an escape"
    raise GateError(
        f"{what}_unseen_character",
        f"the {what} {fault} (found {character})",
        where=f"{path}:{line}",
        help=advice,
    )
