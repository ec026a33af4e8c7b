"""Baselines kept by the digest of their bytes, beside the history: ``store:NAME`` in the place of a path.

A store is a directory, or a git branch (``git:REMOTE#BRANCH``). It holds ``blobs/SHA256.zst`` and
``names.jsonl``: a line for each time that results were blessed under a name, linked to the lines before it.
A promotion blesses by its history record (``bless: on_promote``): the blob is written first, then the record,
so a run that is killed between the two leaves an unused blob and nothing else. The newest of both counts.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from gate.artifacts.opening import InMemory
from gate.cycles.assess import BLESSED
from gate.cycles.chain import History
from gate.cycles.history_cautions import moment
from gate.history.shelf import Reader, Shelf
from gate.safe import examples, quoted
from gate.values import GateError

LARGEST_FILE: Final = 64 << 20
LARGEST_STORE: Final = 1 << 30
_NAMES: Final = "names.jsonl"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Blessed:
    """Results that were made the baseline of this name. cycle: whose promotion did it, "" if a person did."""

    name: str
    sha256: str
    time: str
    note: str = ""
    cycle: str = ""


def checked_name(name: str) -> str:
    """A name that is safe in paths, logs and commands."""
    if not _NAME.fullmatch(name):
        raise GateError(
            "usage",
            f"not a name for a baseline (found {quoted(name)})",
            help="letters, digits, dots, dashes and underscores, at most 64",
        )
    return name


def bless(shelf: Shelf, name: str, data: bytes, *, now: str, note: str = "") -> Blessed:
    """Keep these results and make them the baseline of this name."""
    checked_name(name)
    sha256, files = _blob(data, shelf.where)

    def step(read: Reader) -> tuple[Mapping[str, bytes | None], Blessed]:
        old = read.file(_NAMES) or b""
        entry = Blessed(name, sha256, now, note[:500])
        _entries(old, shelf.where)
        line = json.dumps(asdict(entry) | {"prev": _link(old)}, sort_keys=True).encode() + b"\n"
        return {**_missing(read, files), _NAMES: old + line}, entry

    return shelf.change(step)


def keep(shelf: Shelf, data: bytes) -> str:
    """Keep the bytes of a candidate that may be promoted; their SHA-256."""
    sha256, files = _blob(data, shelf.where)
    shelf.change(lambda read: (_missing(read, files), None))
    return sha256


def entries(shelf: Shelf, history: History | None = None) -> tuple[Blessed, ...]:
    """Every blessing, oldest first: the store's own and the history's promotions."""
    with shelf.reader() as read:
        own = _entries(read.file(_NAMES) or b"", shelf.where)
    return tuple(sorted([*own, *_promoted(history)], key=_when))


def latest(found: Sequence[Blessed], name: str, where: str) -> Blessed:
    """The baseline of this name."""
    checked_name(name)
    named = [entry for entry in found if entry.name == name]
    if not named:
        known = examples(sorted({entry.name for entry in found}))
        raise GateError(
            "baseline_unknown",
            f"there is no baseline {quoted(name)} in the store (there are: {known or 'none'})",
            where=where,
            help=f"start it with: gate baseline bless RESULTS --as {name} --store STORE",
        )
    return named[-1]


def fetch(shelf: Shelf, entry: Blessed) -> InMemory:
    """The results, whose digest is checked on every read."""
    with shelf.reader() as read:
        packed = read.file(_path(entry.sha256))
    if packed is None:
        raise GateError(
            "baseline_missing",
            f"the results of {quoted(entry.name)} are not in the store any more ({entry.sha256[:12]})",
            where=shelf.where,
            help="bring them back from a copy, or bless other results: gate baseline bless",
        )
    data = _unpacked(packed, shelf.where)
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise GateError(
            "baseline_tampered",
            f"the results of {quoted(entry.name)} are not those that were blessed ({entry.sha256[:12]})",
            where=shelf.where,
            help="someone changed the store; bring it back from a copy and look who could write to it",
        )
    return InMemory(f"store:{entry.name}", data)


def prune(shelf: Shelf, most: int, history: History | None) -> int:
    """Remove blobs that are not among the newest ``most`` of any name; how many."""
    kept: set[str] = set()
    found = entries(shelf, history)
    for name in {entry.name for entry in found}:
        kept |= {entry.sha256 for entry in [e for e in found if e.name == name][-most:]}

    def step(read: Reader) -> tuple[Mapping[str, bytes | None], int]:
        gone = [path for path in read.sizes() if path.removeprefix("blobs/").removesuffix(".zst") not in kept]
        return dict.fromkeys(gone), len(gone)

    return shelf.change(step)


def _blob(data: bytes, where: str) -> tuple[str, Mapping[str, bytes]]:
    import zstandard  # noqa: PLC0415 - only stores pack

    packed = zstandard.ZstdCompressor(level=10, write_checksum=False).compress(data)
    if len(packed) > LARGEST_FILE:
        raise GateError(
            "baseline_too_large",
            f"the results take {len(packed):,} bytes even compressed (at most {LARGEST_FILE:,})",
            where=where,
            help="write Parquet with the columns that the policy names",
        )
    sha256 = hashlib.sha256(data).hexdigest()
    return sha256, {_path(sha256): packed}


def _missing(read: Reader, files: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Those that are not there yet, if there is room for them. A damaged one is written again."""
    sizes = read.sizes()
    wanted = {path: data for path, data in files.items() if read.file(path) != data}
    if sum(sizes.values()) + sum(map(len, wanted.values())) > LARGEST_STORE:
        raise GateError(
            "baseline_store_full",
            f"the store holds {sum(sizes.values()):,} bytes (at most {LARGEST_STORE:,})",
            help="gate baseline prune --keep 5 --store STORE",
        )
    return dict(wanted)


def _path(sha256: str) -> str:
    return f"blobs/{sha256}.zst"


def _unpacked(packed: bytes, where: str) -> bytes:
    import zstandard  # noqa: PLC0415

    from gate.artifacts import limits  # noqa: PLC0415

    try:
        found: bytes = zstandard.ZstdDecompressor().decompress(packed, max_output_size=limits.UNPACKED_BYTES)
    except zstandard.ZstdError:
        raise GateError("baseline_tampered", "a blob of the store is damaged", where=where) from None
    return found


def _when(entry: Blessed) -> float:
    """Seconds; what states no time is older than what does."""
    found = moment(entry.time)
    return found.timestamp() if found else -math.inf


def _entries(data: bytes, where: str) -> tuple[Blessed, ...]:
    """The lines of ``names.jsonl``, each of which names the digest of all before it."""
    found: list[Blessed] = []
    position = 0
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        entry = _entry(line)
        if entry is None or not line.endswith(b"\n") or entry[1] != _link(data[:position]):
            raise GateError(
                "baseline_names_damaged",
                "a line was changed, cut or put in another place",
                where=f"{where}/{_NAMES}:{number}",
                help="bring the store back from a copy; a line is only ever added",
            )
        found.append(entry[0])
        position += len(line)
    return tuple(found)


def _entry(line: bytes) -> tuple[Blessed, str] | None:
    try:
        value = json.loads(line)
        prev = value.pop("prev")
        entry = Blessed(**value)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None
    texts = all(isinstance(text, str) for text in (prev, *asdict(entry).values()))
    good = texts and _NAME.fullmatch(entry.name) and _SHA256.fullmatch(entry.sha256) and moment(entry.time)
    return (entry, prev) if good else None


def _link(before: bytes) -> str:
    return hashlib.sha256(before).hexdigest()


def _promoted(history: History | None) -> Iterable[Blessed]:
    """What promotions blessed."""
    for record in history.records if history else ():
        name, mark, sha256 = str(record.state.get(BLESSED) or "").rpartition(":")
        if record.kind == "promotion" and mark and _NAME.fullmatch(name) and _SHA256.fullmatch(sha256):
            yield Blessed(name, sha256, record.time, "", record.cycle)


def listing(found: Iterable[Blessed]) -> Iterator[str]:
    """One line a blessing, for people."""
    for entry in found:
        by = f"promoted in cycle {entry.cycle}" if entry.cycle else entry.note or "blessed by hand"
        yield f"{entry.name}  {entry.sha256[:12]}  {entry.time}  {by}"
