"""A folder of past cycles: which files are a cycle's two sides, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gate.cycles.attempt import Attempt
from gate.run.identity import attempt_of
from gate.run.intake import Files, ItemSet, item_sets
from gate.run.request import Request
from gate.safe import examples, quoted
from gate.values import GateError

SIDES = ("baseline", "candidate")
LAYOUT = "a folder a cycle with baseline.* and candidate.*, or files NAME-baseline.* and NAME-candidate.*"


@dataclass(frozen=True, slots=True)
class PastFiles:
    """One cycle's two files."""

    name: str
    files: Files


@dataclass(frozen=True, slots=True)
class Past:
    """One cycle, read and paired as the policy says."""

    name: str
    files: Files
    found: ItemSet
    attempt: Attempt


def cycles_in(folder: str) -> tuple[PastFiles, ...]:
    """Every cycle of the folder, by name; numbers in names count as numbers.

    Errors: no such folder, no cycle in it, a cycle with one side or with two files for a side.
    """
    place = Path(folder)
    if not place.is_dir():
        raise GateError("no_folder", "there is no such folder", where=folder, help=f"give {LAYOUT}")
    found: dict[str, dict[str, list[Path]]] = {}
    for cycle, side, path in _sides(place):
        found.setdefault(cycle, {}).setdefault(side, []).append(path)
    if not found:
        raise GateError("no_cycles", "no cycle was found in this folder", where=folder, help=f"give {LAYOUT}")
    return tuple(_cycle(folder, name, found[name]) for name in sorted(found, key=_natural))


def read_cycles(request: Request, folder: str) -> tuple[Past, ...]:
    """Read every cycle. A fault in a file is an error that names the cycle."""
    return tuple(_read(request, cycle) for cycle in cycles_in(folder))


def _read(request: Request, cycle: PastFiles) -> Past:
    files = cycle.files
    asked = replace(request, baseline=files.baseline, candidates=(files.candidate,), cycle=cycle.name)
    try:
        sets = item_sets(request.loaded.policy, {None: files})
    except GateError as error:
        text = f"cycle {quoted(cycle.name)}: {error.message}"
        raise GateError(error.code, text, where=error.where, help=error.help) from error
    return Past(cycle.name, files, sets[None], attempt_of(asked, sets))


def _sides(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """(cycle, side, file) of everything that is named like one."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            for path in sorted(entry.iterdir()):
                if path.is_file() and (side := path.name.partition(".")[0]) in SIDES:
                    yield entry.name, side, path
        elif named := re.fullmatch(r"(.+)[-_.](baseline|candidate)(?:\.[^-]*)?", entry.name):
            yield named[1], named[2], entry


def _cycle(folder: str, name: str, sides: dict[str, list[Path]]) -> PastFiles:
    for side in SIDES:
        paths = sides.get(side, [])
        if len(paths) != 1:
            found = "none" if not paths else examples([path.name for path in paths])
            raise GateError(
                "cycle_incomplete",
                f"cycle {quoted(name)} needs one {side} file (found {found})",
                where=folder,
                help=f"complete it or move it away; a cycle is {LAYOUT}",
            )
    baseline, candidate = (str(sides[side][0]) for side in SIDES)
    return PastFiles(name, Files(baseline, candidate))


def _natural(name: str) -> list[tuple[int, str]]:
    """night2 comes before night10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
