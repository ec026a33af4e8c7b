"""How many small faults would the tests notice? ``python tests/mutation/study.py [ROOM ...] [--sample N]``

Every worker has a copy of the project. A mutant is written into the copy, the tests meant for its module run
until the first failure, and the module is put back. A mutant that no test fails for is a survivor: it must
stand in ``equal.yaml`` with the reason why it changes no behaviour, or it is a gap. At least 95 % of the
mutants that change behaviour must be noticed; the exit code says whether they were.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutants import Mutant, mutants

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
EQUAL = Path(__file__).resolve().parent / "equal.yaml"
REQUIRED = 0.95
PATIENCE = 4
"""Times as long as without a mutant, until a mutant counts as noticed because its tests hang."""

RUNS = [
    "tests/test_core.py",
    "tests/test_cases.py",
    "tests/test_faults.py",
    "tests/test_policy_key_effects.py",
]
TESTS = {
    "decide": [
        "tests/test_decide.py",
        "tests/test_multiplicity.py",
        *RUNS,
        "tests/planning/test_selftest.py",
    ],
    "estimands": [
        "tests/measure",
        "tests/report/test_numbers.py",
        *RUNS,
        "tests/planning/test_selftest.py",
    ],
    "measure": [
        "tests/measure",
        "tests/test_sanity.py",
        "tests/report/test_numbers.py",
        *RUNS,
        "tests/report/test_items.py",
        "tests/planning/test_selftest.py",
    ],
    "cycles": ["tests/history", *RUNS],
    "policy": ["tests/policy", *RUNS],
    "pairing": ["tests/pairing", "tests/artifacts/test_ids.py", *RUNS],
    "stats": ["tests/stats/test_digits.py", "tests/stats", *RUNS, "tests/planning/test_power.py"],
}
"""Room of ``gate`` -> the tests meant for it, the nearest first."""


@dataclass(frozen=True, slots=True)
class Case:
    """One mutant of one module.

    name: how a survivor is named in ``equal.yaml``, stable while its line stays as it is. Where a function
    holds the same change in several places, the name says which of how many it is.
    """

    module: str
    room: str
    mutant: Mutant
    name: str


def cases(rooms: Sequence[str]) -> list[Case]:
    """Every mutant of these rooms."""
    return [case for room in rooms for path in _modules(room) for case in _named(path, room)]


def _named(path: Path, room: str) -> Iterator[Case]:
    module, found = path.relative_to(ROOT).as_posix(), mutants(path.read_text(encoding="utf-8"))
    names = [f"{module}:{m.where}: {_line(m.before)} -> {_line(m.after)}" for m in found]
    places, seen = Counter(names), Counter[str]()
    for mutant, name in zip(found, names, strict=True):
        seen[name] += 1
        which = f" ({seen[name]} of {places[name]})" if places[name] > 1 else ""
        yield Case(module, room, mutant, name + which)


def _line(source: str) -> str:
    return " ".join(source.split())


def _modules(room: str) -> Iterator[Path]:
    file = ROOT / "gate" / f"{room}.py"
    yield from [file] if file.exists() else sorted((ROOT / "gate" / room).rglob("*.py"))


def survives(case: Case, copy: Path, *, patience: float) -> bool:
    """Whether no test fails with this mutant in place. patience: in seconds."""
    path = copy / case.module
    source = path.read_text(encoding="utf-8")
    path.write_text(case.mutant.applied(source), encoding="utf-8")
    try:
        return _tests_pass(copy, list(_nearest_first(copy, case)), patience)
    finally:
        path.write_text(source, encoding="utf-8")


def _nearest_first(copy: Path, case: Case) -> Iterator[str]:
    """The tests of the room; of a folder those first that name the module most often."""
    word = Path(case.module).stem
    for test in TESTS[case.room]:
        files = [(path, path.read_text(encoding="utf-8")) for path in sorted((copy / test).glob("test_*.py"))]
        files.sort(key=lambda file: -file[1].count(word))
        yield from [path.relative_to(copy).as_posix() for path, _ in files] or [test]


def _copied(place: Path) -> Path:
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "__pycache__", ".*cache*", ".hypothesis", "dist", "build"
    )
    return Path(shutil.copytree(ROOT, place, ignore=left_out))


def _seconds(copy: Path, room: str) -> float | None:
    """How long the tests of a room take without any mutant; None where they fail."""
    began = time.monotonic()
    return time.monotonic() - began if _tests_pass(copy, TESTS[room], 3600) else None


def _tests_pass(copy: Path, tests: Sequence[str], patience: float) -> bool:
    """Whether the tests pass on the copy; tests that hang are tests that notice."""
    found = [test for test in tests if (copy / test).exists()]
    environment = os.environ | {
        "PYTHONPATH": str(copy),  # before the project that is installed here, also for what a test starts
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    argv = [sys.executable, "-m", "pytest", "-n0", "-x", "-q", "-p", "no:cacheprovider", *found]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        argv, cwd=copy, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    ) as tests_run:
        try:
            return tests_run.wait(patience) == 0
        except subprocess.TimeoutExpired:
            os.killpg(tests_run.pid, signal.SIGKILL)
            return False


def known_equal() -> dict[str, str]:
    """Survivors that change no behaviour -> why."""
    return dict(yaml.safe_load(EQUAL.read_text(encoding="utf-8")) or {})


def study(rooms: Sequence[str], sample: int, seed: int, workers: int) -> int:
    """Run the sample of each room; print survivors as they are found and the share noticed."""
    every = {room: cases([room]) for room in rooms}
    chosen = [case for room in rooms for case in _sampled(every[room], sample, f"{seed}:{room}")]
    _tell_stale({case.name for room in rooms for case in every[room]}, rooms)
    with tempfile.TemporaryDirectory(prefix="mutation-") as space, ThreadPoolExecutor(workers) as pool:
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(workers):
            copies.put(_copied(Path(space) / str(number)))

        def on_a_copy(job: Callable[[Path], T]) -> T:
            copy = copies.get()
            try:
                return job(copy)
            finally:
                copies.put(copy)

        clean = list(pool.map(on_a_copy, [partial(_seconds, room=room) for room in rooms]))
        took = {room: seconds for room, seconds in zip(rooms, clean, strict=True) if seconds is not None}
        if len(took) < len(rooms):
            failing = ", ".join(sorted(set(rooms) - took.keys()))
            print(f"the tests fail without any mutant, so nothing can be learnt: {failing}")
            return 2
        jobs = [partial(survives, case, patience=60 + PATIENCE * took[case.room]) for case in chosen]
        found = pool.map(on_a_copy, jobs)
        return _told(rooms, zip(chosen, found, strict=True))


def _sampled(every: list[Case], size: int, seed: str) -> list[Case]:
    return random.Random(seed).sample(every, min(size, len(every)))


def _told(rooms: Sequence[str], results: Iterable[tuple[Case, bool]]) -> int:
    equal = known_equal()
    tally = {room: Counter[str]() for room in rooms}
    for case, survived in results:
        kind = "noticed" if not survived else "equal" if case.name in equal else "survived"
        tally[case.room][kind] += 1
        if kind == "survived":
            print(f"SURVIVED {case.module}:{case.mutant.line}  {case.name}", flush=True)
    for room, counts in (*tally.items(), ("all", sum(tally.values(), Counter()))):
        numbers = ", ".join(f"{counts[kind]} {kind}" for kind in ("noticed", "equal", "survived"))
        print(f"{room:13} {numbers}: {_share(counts):.1%} of those that change behaviour")
    return 0 if _share(sum(tally.values(), Counter())) >= REQUIRED else 1


def _tell_stale(names: set[str], rooms: Sequence[str]) -> None:
    """Entries of ``equal.yaml`` whose line was changed: they say nothing any more."""
    for name in known_equal():
        if name not in names and name.split("/")[1].split(":")[0].removesuffix(".py") in rooms:
            print(f"STALE {name}", flush=True)


def _share(counts: Counter[str]) -> float:
    return counts["noticed"] / max(counts["noticed"] + counts["survived"], 1)


def main() -> int:
    """The command line of the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=[], metavar="ROOM", help=f"of {', '.join(TESTS)}")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each room (default 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    told = parser.parse_args()
    return study(told.rooms or list(TESTS), told.sample, told.seed, told.workers)


if __name__ == "__main__":
    sys.exit(main())
