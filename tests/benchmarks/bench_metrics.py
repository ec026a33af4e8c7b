"""Speed of the metrics of a whole set, as ratios within one run: `python tests/benchmarks/bench_metrics.py`.

On two shared cores (numpy 2.4, scipy 1.17):
DeLong n=1,000,000 2.6 times its two argsorts without ties, up to 3.0 with ties. Average precision bootstrap
n=20,000, B=1,999 2.3 to 3.2 s, 127 MB; AUC the same; p95 1.4 s. F1 bootstrap n=1,000,000, B=9,999 18 ms.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from gate.stats.auc import auc_bootstrap, delong
from gate.stats.confusion import confusion_test, joint_cells
from gate.stats.labelled import labelled
from gate.stats.quantiles import quantile_difference
from gate.stats.ranking import average_precision
from gate.stats.results import Settings

LEVEL = 0.025
PEAK = """
import numpy as np, resource
from gate.stats.labelled import labelled
from gate.stats.ranking import average_precision
from gate.stats.results import Settings
rng = np.random.default_rng(1)
y, a, b = rng.random(20_000) < 0.2, rng.normal(size=20_000), rng.normal(size=20_000)
average_precision(labelled(y, a + y, b + y), Settings(0.0, 0.025, resamples=1_999))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def seconds(work, repeats=3):
    """Least CPU seconds of a few repeats."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def columns(n, decimals=None):
    rng = np.random.default_rng(n)
    label = rng.random(n) < 0.3
    base = rng.normal(size=n) + label
    old, new = base + 0.5 * rng.normal(size=n), base + 0.4 * rng.normal(size=n)
    return (
        (label, old, new) if decimals is None else (label, np.round(old, decimals), np.round(new, decimals))
    )


def delong_million():
    for name, decimals in (("no ties", None), ("about 700 distinct scores", 2), ("about 80", 1)):
        label, old, new = columns(1_000_000, decimals)
        sorts = seconds(lambda old=old, new=new: (np.argsort(old), np.argsort(new)), 5)
        whole = seconds(
            lambda label=label, old=old, new=new: delong(labelled(label, old, new), Settings(0.0, LEVEL)), 5
        )
        print(f"DeLong n=1,000,000, {name}: {whole * 1e3:.0f} ms, {whole / sorts:.1f} times its two argsorts")


def row_bootstraps():
    rows = labelled(*columns(20_000))
    for name, test in (("average precision", average_precision), ("AUC", auc_bootstrap)):
        cost = seconds(lambda test=test: test(rows, Settings(0.0, LEVEL, resamples=1_999)), 1)
        print(f"{name} bootstrap n=20,000, B=1,999: {cost:.1f} s")
    peak = subprocess.run([sys.executable, "-c", PEAK], check=True, capture_output=True, text=True).stdout
    print(f"  peak memory of a process that does it: {float(peak):.0f} MB")


def confusion_million():
    label, old, new = columns(1_000_000)
    old, new = old > 0.5, new > 0.5

    def both():
        cells = joint_cells(label, old, new)
        return confusion_test(cells, "f1", Settings(0.0, LEVEL, resamples=9_999))

    print(f"F1 bootstrap n=1,000,000, B=9,999: {seconds(both) * 1e3:.0f} ms, the counting included")


def quantiles():
    rng = np.random.default_rng(3)
    old = rng.gamma(2, 100, 20_000)
    new = old * rng.uniform(0.8, 1.2, 20_000)
    cost = seconds(lambda: quantile_difference(old, new, 0.95, Settings(0.0, LEVEL, resamples=1_999)), 1)
    print(f"p95 bootstrap n=20,000, B=1,999: {cost:.1f} s")


if __name__ == "__main__":
    delong_million()
    row_bootstraps()
    confusion_million()
    quantiles()
    print(f"peak memory here: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
