"""Which outages are studied first? Rankings over two years of cases, season by season, through the gate."""

import argparse
import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import rankers
from study import LOST, load

from gate import evaluate

HERE = Path(__file__).parent
PAIRS = ("legacy:screened", "legacy:fast", "static:screened", "legacy:highest", "highest:screened")


def recompute():
    """The AC study and the learned rankings anew; takes minutes (requirements.txt)."""
    import truth

    truth.keep()
    rankers.learn(load())


def scores(study, named):
    """For each case recall at 5 and whether the worst outage was missed.

    Recall is (critical outages among the five) / (critical outages, or 5 if there are more). Outages that are
    equally bad are all the worst, and one of them is enough.
    """
    rows = np.arange(len(named))[:, None]
    found = study.critical[rows, named].sum(axis=1)
    worst = study.severity.max(axis=1)
    recall = found / np.clip(study.critical.sum(axis=1), 1, rankers.TOP)
    return recall, study.severity[rows, named].max(axis=1) < worst


def write(study, name, out):
    """One file a window: {window: path}."""
    recall, missed = scores(study, getattr(rankers, name)(study))
    rows = {}
    for k in np.flatnonzero(study.counted & ~study.year(rankers.TRAINED)):
        case, worst = study.cases[k], int(study.severity[k].max())
        told = "lost" if worst == LOST else f"{worst / 10:.1f} %"
        row = [f"{case.date}-{case.hour:02d}h", case.date, case.topology, recall[k], int(missed[k]), told]
        rows.setdefault(case.window, []).append(row)
    paths = {}
    for window, lines in rows.items():
        paths[window] = out / window / f"{name}.csv"
        paths[window].parent.mkdir(parents=True, exist_ok=True)
        with paths[window].open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["case", "day", "topology", "recall_at_5", "missed_worst", "worst"])
            table.writerows(lines)
    return paths


def compare(baseline, candidate, files, out):
    """One candidate through all windows, each a cycle: a folder with the reports and the history."""
    folder = out / f"{baseline}-{candidate}"
    folder.mkdir()
    reports = []
    for window, path in files[baseline].items():
        report = evaluate(
            HERE / "gate.yaml", path, files[candidate][window], history=folder / "history.jsonl", cycle=window
        )
        for kind, text in (("html", report.to_html()), ("json", report.to_json())):
            (folder / f"{window}.{kind}").write_text(text, encoding="utf-8")
        reports.append(report)
    gate("history", "site", folder / "history.jsonl", folder / "public")
    return reports


def gate(*words):
    """A command of the gate; it speaks only of faults."""
    subprocess.run([sys.executable, "-m", "gate", *map(str, words)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def tell(baseline, candidate, reports):
    """One block of lines for a pair."""
    print(f"\n{candidate} for {baseline}")  # noqa: T201
    for report in reports:
        gating, missed = report.gating, report.guardrails[0]
        print(  # noqa: T201
            f"  {report.cycles.cycle:12s} {report.verdict.value:12s} recall {gating.baseline:.3f} -> "
            f"{gating.candidate:.3f}  worst missed {missed.baseline:5.1%} -> {missed.candidate:5.1%}",
            flush=True,
        )


def main(out, pairs=PAIRS):
    """All pairs into an empty folder."""
    study = load()
    out.mkdir(parents=True)
    later = ~study.year(rankers.TRAINED)
    overloaded, none = later & ~study.secure, later & study.secure & ~study.counted
    print(  # noqa: T201
        f"{later.sum()} cases of two years: {overloaded.sum()} overloaded before any outage, "
        f"{none.sum()} without a critical outage, {(later & study.counted).sum()} counted"
    )
    names = sorted({name for pair in pairs for name in pair.split(":")})
    files = {name: write(study, name, out / "results") for name in names}
    for baseline, candidate in (pair.split(":") for pair in pairs):
        tell(baseline, candidate, compare(baseline, candidate, files, out))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--recompute", action="store_true", help="the AC study and the learning anew")
    parser.add_argument("--pairs", nargs="+", choices=PAIRS, default=PAIRS, metavar="BASELINE:CANDIDATE")
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} is there already")
    if asked.recompute:
        recompute()
    main(asked.out, asked.pairs)
