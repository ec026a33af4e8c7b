"""How often the gate is wrong: false promotions and power of its defaults, through the public API.

    python -m tests.calibration.study --replicates 1000 --out tests/calibration/results.json
    python -m tests.calibration.study --table        the table of docs/calibration.md from the saved results

The same seed gives the same table, whatever the number of processes.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import stats

from gate import evaluate, load_policy
from gate.cli.progress import Progress
from gate.values import Verdict, __version__
from tests.calibration import looks
from tests.calibration.scenarios import PRACTICES, SCENARIOS

SEED = 20261201
BATCH = 25
LEVEL = 0.025
RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Batch:
    """Replicates first .. first + count of one scenario with one true gain."""

    scenario: int
    gain: bool
    first: int
    count: int


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args(argv)
    if args.table:
        print("\n".join(table(json.loads(args.out.read_text(encoding="utf-8")))))
        return 0
    found = study(args.replicates, args.processes)
    args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(found)))
    return 0


def study(
    replicates: int, processes: int | None = None, scenarios: Sequence[int] | None = None
) -> dict[str, Any]:
    """Counts of promotions by scenario, by what is asked, without and with the true gain."""
    chosen = range(len(SCENARIOS)) if scenarios is None else scenarios
    work = [batch for k in chosen for batch in _batches(k, replicates)]
    counts = {k: {side: {} for side in ("none", "gain")} for k in chosen}
    tries = {k: {"none": 0, "gain": 0} for k in chosen}
    progress = Progress(sys.stderr, "calibration", len(work))
    with ProcessPoolExecutor(processes) as pool:
        for batch, found in zip(work, pool.map(promoted, work), strict=True):
            side = "gain" if batch.gain else "none"
            tries[batch.scenario][side] += batch.count
            for name, number in found.items():
                known = counts[batch.scenario][side]
                known[name] = known.get(name, 0) + number
            progress(SCENARIOS[batch.scenario].name)
        several = {
            name: list(pool.map(partial(run, SEED), range(max(1, replicates // 5))))
            for name, run in looks.LOOKS.items()
        }
    return {
        "seed": SEED,
        "versions": {
            "gate": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
        "scenarios": [
            {
                "name": SCENARIOS[k].name,
                "words": SCENARIOS[k].words,
                "gain": SCENARIOS[k].gain,
                "tries": tries[k],
                "promoted": counts[k],
            }
            for k in chosen
        ],
        "looks": {name: {"tries": len(found), "promoted": sum(found)} for name, found in several.items()},
    }


def _batches(k: int, replicates: int) -> Iterator[Batch]:
    scenario = SCENARIOS[k]
    wanted = max(1, replicates // scenario.few)
    for gain, most in ((False, wanted), (True, max(1, wanted // 4))):
        yield from (Batch(k, gain, first, min(BATCH, most - first)) for first in range(0, most, BATCH))


def promoted(batch: Batch) -> dict[str, int]:
    """How many of these replicates each procedure promotes."""
    scenario = SCENARIOS[batch.scenario]
    loaded = load_policy(scenario.policy)
    found = dict.fromkeys(("gate", *scenario.others), 0)
    for replicate in range(batch.first, batch.first + batch.count):
        rng = np.random.default_rng([SEED, batch.scenario, int(batch.gain), replicate])
        data = scenario.draw(rng, scenario.gain if batch.gain else 0.0)
        found["gate"] += int(evaluate(loaded, data.baseline, data.candidate).verdict == Verdict.PROMOTE)
        for name in scenario.others:
            found[name] += int(PRACTICES[name](data, rng))
    return found


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """Markdown: false promotions with a 95 % interval, power, and what others do on the same data."""
    yield "| scenario | false promotions | power at a gain of | others: false promotions (power) |"
    yield "|---|---|---|---|"
    for row in found["scenarios"]:
        none, gain = row["promoted"]["none"], row["promoted"]["gain"]
        others = "; ".join(
            f"{name} {none[name] / row['tries']['none']:.1%} ({gain[name] / row['tries']['gain']:.0%})"
            for name in none
            if name != "gate"
        )
        power = f"{gain['gate'] / row['tries']['gain']:.0%} at {row['gain']:g}"
        yield f"| {row['name']} | {rate(none['gate'], row['tries']['none'])} | {power} | {others or '-'} |"
    yield ""
    yield "| several looks, nothing changed | promoted at least once |"
    yield "|---|---|"
    for name, row in found["looks"].items():
        yield f"| {name} | {rate(row['promoted'], row['tries'])} |"
    yield ""
    yield from exceptions(found)
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    yield ""
    yield f"Seed {found['seed']}; {versions}."


def rate(hits: int, tries: int) -> str:
    """``2.1 % (1.4 to 3.1, of 1,000)``: the interval is Wilson's."""
    low, high = stats.binomtest(hits, tries).proportion_ci(0.95, method="wilson")
    return f"{hits / tries:.1%} ({100 * low:.1f} to {100 * high:.1f}, of {tries:,})"


def exceptions(found: Mapping[str, Any]) -> Iterator[str]:
    """The scenarios whose false promotions are above 2.5 % beyond chance, by name."""
    yield "Above the nominal 2.5 % beyond chance:"
    yield ""
    none = True
    for row in found["scenarios"]:
        hits, tries = row["promoted"]["none"]["gate"], row["tries"]["none"]
        if stats.binomtest(hits, tries, LEVEL, alternative="greater").pvalue < 0.01:
            none = False
            yield f"- {row['name']}: {rate(hits, tries)}{': ' + row['words'] if row['words'] else ''}"
    if none:
        yield "- none"


if __name__ == "__main__":
    sys.exit(main())
