"""What a run is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gate.history.store import Store
from gate.pairing.local import pair_files
from gate.pairing.model import Pairer
from gate.policy.load import LoadedPolicy
from gate.run.intake import Files
from gate.run.stored import SCHEME, Stored
from gate.safe import quoted
from gate.values import GateError, Verdict

MAPPABLE = (Verdict.HOLD, Verdict.INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Request:
    """One ``gate run``. now: ISO time, for the records only. ci: what the CI system says of itself.

    store: a history in the place of the named one. stored: how a baseline from a store came to be one.

    policy_since: when the policy's deciding part was committed, ISO, empty if unknown; asked only where
    results say when they ran.

    labels: a file that gives the main files what they are compared with, by id.

    universe: all ids of a look in stages, where no file holds them all yet.

    runs: further runs of the baseline's system, each a file.

    pairer: where the two sides are read and matched.

    decides: False where nobody agreed beforehand that this policy judges; the report says so.
    """

    loaded: LoadedPolicy
    baseline: str
    candidates: tuple[str, ...]
    sets: Mapping[str, Files] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    universe: tuple[str, ...] = ()
    labels: str | None = None
    history: str | None = None
    store: Store | None = None
    stored: Stored | None = None
    expect_head: str | None = None
    read_only: bool = False
    reveal: bool = False
    pairer: Pairer = pair_files
    decides: bool = True
    policy_since: Callable[[], str] = str
    cycle: str | None = None
    baseline_id: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    now: str = ""
    tool_version: str = ""


def forgiven_verdicts(text: str) -> frozenset[str]:
    """Verdicts, with commas between, that a caller wants exit code 0 for."""
    words = {word.strip() for word in text.split(",") if word.strip()}
    unknown = sorted(words - set(MAPPABLE))
    if unknown:
        raise GateError(
            "usage",
            f"--exit-zero-on takes hold and inconclusive (found {unknown[0][:40]!a})",
            help="a block, an error or a bug never exits 0",
        )
    return frozenset(words)


def further_runs(baselines: Sequence[str]) -> tuple[str, ...]:
    """What follows the first baseline. A store keeps one run."""
    runs = tuple(baselines[1:])
    stored = next((path for path in baselines if path.startswith(SCHEME)), None)
    if runs and stored is not None:
        raise GateError("usage", f"several runs of a baseline are files (found {quoted(stored)})")
    return runs


def named_sets(sets: Iterable[Sequence[str]], candidates: Sequence[str]) -> Mapping[str, Files]:
    """Item sets from (name, baseline, candidate). Also refuses one candidate that is given twice."""
    files = [os.path.realpath(candidate) for candidate in candidates]
    if len(set(files)) < len(files):
        raise GateError("usage", "one candidate file is given twice", help="name each challenger once")
    found: dict[str, Files] = {}
    for name, baseline, candidate in sets:
        if name in found:
            raise GateError("usage", f"the item set {name[:40]!a} is given twice")
        found[name] = Files(baseline, candidate)
    if found and len(candidates) > 1:
        raise GateError(
            "usage",
            "--set has one candidate file, so it cannot be used with several --candidate",
            help="run the gate once for each challenger",
        )
    return found
