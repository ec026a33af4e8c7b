"""Stands for the people who read the outputs: in life, this file is a queue of work and not a program.

They approve a summary with all four facts, edit one that lacks the day and reject an invented amount; on two
claims of a hundred they are not content with anything, as people are. Each decision is about that very output
of that system.
"""

import hashlib
import json
import sys
from pathlib import Path


def decide(row, facts):
    """Approve, edit or reject one output."""
    text = row["output"].lower()
    if hashlib.sha256(row["id"].encode()).digest()[0] < 5:  # of 256
        return "edit"
    if facts["amount"] not in text:
        return "reject"
    return "approve" if facts["day"].lower() in text else "edit"


def main(folder, cases, decisions):
    """Add a decision for each output that waits for one."""
    facts = {case["id"]: case["expected"] for case in map(json.loads, cases.open(encoding="utf-8"))}
    waiting = (folder / "to-decide.jsonl").read_text(encoding="utf-8").splitlines()
    with decisions.open("a", encoding="utf-8") as file:
        for row in map(json.loads, waiting):
            row["decision"] = decide(row, facts[row["id"]])
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
