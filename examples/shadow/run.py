"""Shadow mode: join the logs of production and shadow, say what is not comparable, and ask the gate."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from join import join, read, truth

HERE = Path(__file__).parent


def write(path, rows):
    """JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def tell(production, labels, joined, again):
    """What was compared, what was not, and whether production did otherwise on what was left out."""

    def right(requests):
        return sum(production[r]["answer"] == labels[r] for r in requests) / len(requests)

    compared = [row["request"] for row in joined.baseline]
    failed = sum(row["correct"] is None for row in joined.candidate)
    rows = [("in production's log", list(production)), ("compared", compared), *joined.left_out.items()]
    for reason, requests in rows:
        if requests:
            print(f"{len(requests):5d}  {reason:36s}  production right on {right(requests):.1%}")  # noqa: T201
    print(f"{failed:5d}  of the compared: the shadow gave no answer, read as wrong")  # noqa: T201
    print(f"{len(again):5d}  asked more than once: the first answer counts on both sides\n", flush=True)  # noqa: T201


def main(out, logs):
    """Join, tell, decide; the exit code is the gate's."""
    out.mkdir(parents=True, exist_ok=True)
    (production, again), (shadow, _) = (read(logs / f"{name}.jsonl") for name in ("production", "shadow"))
    labels = truth(logs / "truth.csv")
    joined = join(production, shadow, labels)
    tell(production, labels, joined, again)
    write(out / "baseline.jsonl", joined.baseline)
    write(out / "candidate.jsonl", joined.candidate)
    words = ["--policy", HERE / "gate.yaml", "--baseline", out / "baseline.jsonl"]
    words += ["--candidate", out / "candidate.jsonl", "--report-dir", out / "report"]
    return subprocess.run([sys.executable, "-m", "gate", "run", *map(str, words)], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder for results and report")
    parser.add_argument("--live", action="store_true", help="run the service and log anew (requirements.txt)")
    asked = parser.parse_args()
    logs = HERE
    if asked.live:
        from serve import record

        logs = asked.out
        logs.mkdir(parents=True, exist_ok=True)
        record(logs)
    sys.exit(main(asked.out, logs))
