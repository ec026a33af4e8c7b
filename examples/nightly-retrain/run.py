"""Twelve nights: train, score both models on the night's rows, ask the gate, promote only on its word."""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

import digits

from gate import evaluate
from gate.cli.main import main

HERE = Path(__file__).parent


def night(number, images, labels, out, registry):
    """One night: the report, and the name of the model that runs afterwards."""
    store, folder = out / "registry", out / f"night-{number:02d}"
    running, baseline = registry.production(store)
    name, candidate = f"digits-{number:02d}", digits.retrain(images, labels, number)
    registry.register(store, name, candidate)
    rows = digits.window(number)
    for file, system, model in (("baseline", running, baseline), ("candidate", name, candidate)):
        write(folder / f"{file}.jsonl", digits.score(model, system, images, labels, rows))
    report = evaluate(
        HERE / "gate.yaml",
        folder / "baseline.jsonl",
        folder / "candidate.jsonl",
        history=out / "history.jsonl",
        cycle=f"night {number:02d}",
    )
    (folder / "report.html").write_text(report.to_html(), encoding="utf-8")
    (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
    if report.verdict.value == "promote":
        registry.promote(store, name)
    return report, running


def write(path, rows):
    """JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def gate(*words):
    """A command of the gate."""
    if main([*map(str, words)], sys.stdout, sys.stderr) != 0:
        raise SystemExit(f"gate {words[0]} failed")


def run(out, nights=digits.NIGHTS, registry="file"):
    """All nights into an empty folder; a line for each."""
    chosen = import_module(f"registry_{registry}")
    out.mkdir(parents=True)
    gate("history", "init", out / "history.jsonl")
    images, labels = digits.load()
    chosen.register(out / "registry", "digits-00", digits.first_model(images, labels))
    chosen.promote(out / "registry", "digits-00")
    for number in range(1, nights + 1):
        report, running = night(number, images, labels, out, chosen)
        auc = f"AUC {report.gating.baseline:.3f} -> {report.gating.candidate:.3f}"
        print(  # noqa: T201
            f"night {number:2d}  {report.verdict.value:12s}  {auc}"
            f"  against {running}  runs now: {chosen.production(out / 'registry')[0]}",
            flush=True,
        )
    gate("history", "show", out / "history.jsonl")
    gate("history", "site", out / "history.jsonl", out / "public")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder that does not exist yet")
    parser.add_argument("--nights", type=int, default=digits.NIGHTS)
    parser.add_argument("--registry", choices=["file", "mlflow"], default="file")
    asked = parser.parse_args()
    if asked.out.exists():
        parser.error(f"{asked.out} exists already")
    run(asked.out, asked.nights, asked.registry)
