"""Two rankers over one small collection: per-query nDCG of both, and the gate's verdict."""

import argparse
import csv
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DEPTH = 10


def table(name):
    """A tab-separated file of this folder as {first column: row}."""
    with (HERE / name).open(encoding="utf-8", newline="") as lines:
        return {next(iter(row.values())): row for row in csv.DictReader(lines, delimiter="\t")}


def judgements():
    """{query: {document: grade}} from the qrels, in TREC's format."""
    grades = {}
    for line in (HERE / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        grades.setdefault(query, {})[document] = int(grade)
    return grades


def recompute():
    """Rank again with the real libraries; the runs are kept in TREC's format."""
    import rankers

    documents = {name: row["text"] for name, row in table("corpus.tsv").items()}
    queries = {name: row["text"] for name, row in table("queries.tsv").items()}
    for system in (rankers.tfidf, rankers.bm25):
        lines = [
            f"{query} Q0 {document} {rank} {score:.6f} {system.__name__}\n"
            for query, found in system(documents, queries).items()
            for rank, (document, score) in enumerate(found, start=1)
        ]
        (HERE / f"{system.__name__}.run").write_text("".join(lines), encoding="utf-8")


def ranking(system):
    """{query: [document, ...]}, best first, from a run."""
    found = {}
    for line in (HERE / f"{system}.run").read_text(encoding="utf-8").splitlines():
        query, _, document, *_ = line.split()
        found.setdefault(query, []).append(document)
    return found


def ndcg(grades, found):
    """NDCG at 10 of one query, in [0, 1] (Jarvelin and Kekalainen 2002): the grade over log2 of rank + 1."""

    def gain(row):
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(row[:DEPTH]))

    ideal = sorted(grades.values(), reverse=True)
    return gain([grades.get(document, 0) for document in found]) / gain(ideal)


def score(system, file):
    """One row a query. A query for which nothing was found has the value 0: it is not missing."""
    queries, grades, runs = table("queries.tsv"), judgements(), ranking(system)
    with file.open("w", encoding="utf-8", newline="") as lines:
        rows = csv.writer(lines)
        rows.writerow(["query", "topic", "text", "ndcg", "nothing_found"])
        for name, row in queries.items():
            found = runs.get(name, [])
            hit = any(document in grades[name] for document in found[:DEPTH])
            rows.writerow([name, row["topic"], row["text"], ndcg(grades[name], found), int(not hit)])


def main(out):
    """Score both runs and ask the gate; the exit code is the gate's."""
    out.mkdir(parents=True, exist_ok=True)
    score("tfidf", out / "baseline.csv")
    score("bm25", out / "candidate.csv")
    words = ["--policy", HERE / "gate.yaml", "--baseline", out / "baseline.csv"]
    words += ["--candidate", out / "candidate.csv", "--report-dir", out / "report"]
    return subprocess.run([sys.executable, "-m", "gate", "run", *map(str, words)], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a folder for results and report")
    parser.add_argument("--recompute", action="store_true", help="rank again (requirements.txt)")
    asked = parser.parse_args()
    if asked.recompute:
        recompute()
    sys.exit(main(asked.out))
