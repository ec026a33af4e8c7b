"""Which format a file is, from its bytes. The name of the file is never looked at."""

from __future__ import annotations

import json

from gate.artifacts import limits
from gate.artifacts.content import Content, line_too_long
from gate.artifacts.encoding import BOM, refuse_wide
from gate.artifacts.sniff import document_formats, row_formats
from gate.values import GateError

_MAGIC = (
    (b"PK\x05\x06", "an empty zip archive", ""),
    (b"\x93NUMPY", "a bare .npy array", "save named arrays with numpy.savez, or write CSV or Parquet"),
    (b"ARROW1", "Arrow/Feather", "write Parquet"),
    (b"FEA1", "Feather", "write Parquet"),
    (b"\x89HDF", "HDF5", "write Parquet"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file", "export the sheet as CSV"),
    (b"%PDF", "a PDF", "export the table as CSV"),
    (b"BZh", "bzip2", "use gzip or zstd"),
    (b"\xfd7zXZ", "xz", "use gzip or zstd"),
    (b"Obj\x01", "Avro", "write Parquet"),
    (b"ORC", "ORC", "write Parquet"),
    (b"\x1f\x8b", "packed twice", "unpack it once"),
    (b"\x28\xb5\x2f\xfd", "packed twice", "unpack it once"),
)


def detect_content(content: Content, declared: str = "auto") -> str:
    """The format's name, or a GateError that says what the file is instead, or that it may be several.

    declared: of several that it may be, the one that the policy names.
    """
    head = content.head
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(content)
    if head.startswith(b"\x80") and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}:
        raise _unknown(content, "a pickle, which can run code", "write CSV, JSON Lines, Parquet or NPZ")
    for magic, name, help_text in _MAGIC:
        if head.startswith(magic):
            raise _unknown(content, name, help_text)
    refuse_wide(head, content.path)
    text = head.removeprefix(BOM).lstrip(b" \t\r\n")
    if not text:
        raise GateError("no_items", "the file holds only blanks", where=content.path)
    if text[:1] in {b"{", b"["} or text[:2] in {b"//", b"/*"}:
        return _only(_json_formats(text, content), declared, content.path)
    if text[:1] == b"<":
        return "junit"
    if b"\x00" in head[:1024]:
        raise _unknown(content, "binary data", "write CSV, JSON Lines or Parquet")
    return _table_kind(text)


def _only(found: list[str], declared: str, path: str) -> str:
    """What cannot be told from another format is never guessed."""
    if declared in found or len(found) == 1:
        return declared if declared in found else found[0]
    raise GateError(
        "ambiguous_format",
        f"the file may be {' or '.join(found)}",
        where=path,
        help=f"say which it is: artifacts: {{format: {found[0]}}}",
    )


def _json_formats(text: bytes, content: Content) -> list[str]:
    """The tools by the document's keys, or by those of the first line."""
    if _json_kind(text, content) == "json":
        return document_formats(content.document())
    first, _ = _two_lines(content)
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return ["jsonl"]  # the reader says what is wrong with it
    return row_formats(row) if isinstance(row, dict) else ["jsonl"]


def is_json_lines(content: Content) -> bool:
    """Whether a JSON file is one object a line."""
    text = content.head.removeprefix(BOM).lstrip(b" \t\r\n")
    return _json_kind(text, content) == "jsonl"


def _json_kind(text: bytes, content: Content) -> str:
    """JSON Lines if the first line is an object by itself and another line follows; else one document."""
    if text[:1] != b"{":
        return "json"
    first, rest = _two_lines(content)
    if not rest:
        return "json"
    broken_line = rest.startswith(b"{") and not first.endswith((b"{", b"[", b","))
    return "jsonl" if broken_line or _whole(first) else "json"


def _two_lines(content: Content) -> tuple[bytes, bytes]:
    """The first line that is not blank, cut at the longest line allowed, and the start of the next one."""
    content.file.seek(0)
    found: list[bytes] = []
    while len(found) < 2 and (line := content.file.readline(limits.LINE_BYTES)):
        if bare := line.removeprefix(BOM).strip():
            found.append(bare)
        if content.size > limits.DOCUMENT_BYTES and len(line) == limits.LINE_BYTES:
            raise line_too_long(content.path)
        while not line.endswith(b"\n") and (line := content.file.readline(limits.LINE_BYTES)):
            pass
    found += [b"", b""]
    return found[0], found[1]


def _whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _zip_kind(content: Content) -> str:
    from gate.artifacts.archive import Archive  # noqa: PLC0415

    names = Archive(content).names
    if "header.json" in names or any(name.startswith("_journal/") for name in names):
        return "inspect"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    office = "[Content_Types].xml" in names
    pickled = any(name.endswith(("data.pkl", ".pkl")) for name in names)
    found = (
        "an Excel or Office file" if office else "a PyTorch file (a pickle)" if pickled else "a zip archive"
    )
    raise _unknown(content, found, "export the table as CSV" if office else "give the result file itself")


def _table_kind(text: bytes) -> str:
    header = text.partition(b"\n")[0]
    return "tsv" if header.count(b"\t") > max(header.count(mark) for mark in (b",", b";", b"|")) else "csv"


def _unknown(content: Content, found: str, help_text: str) -> GateError:
    return GateError(
        "unknown_format",
        f"no result format that is read (it looks like {found})",
        where=content.path,
        help=help_text or "`gate formats` lists what is read",
    )
