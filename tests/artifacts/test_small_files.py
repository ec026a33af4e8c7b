"""Small inputs of every kind answer within 10 s of CPU and 1.5 GB of memory asked for (rather less in truth).

The limits are the kernel's, in a process of its own; what the machine is busy with does not matter.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

POLICY = "version: 1\nname: t\ngating: {metric: correct, kind: binary, direction: higher, margin: 0.01}\n"
ROWS = 60


def bound() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_DATA, (1500 << 20, 1500 << 20))


def gate(*argv: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "gate", *map(str, argv)]
    return subprocess.run(words, capture_output=True, text=True, preexec_fn=bound, check=False)


def rle(path: Path) -> None:
    rows = "SELECT 'x' AS id, 1 AS correct FROM range(50000000)"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def long_ids(path: Path) -> None:
    rows = "SELECT repeat('x', 30000000) AS id, 1 AS correct FROM range(20)"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def one_text_for_all(path: Path) -> None:
    rows = "SELECT repeat('x', 2000) AS id, 1 AS correct FROM range(900000)"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")


def equal_lines(path: Path) -> None:
    with gzip.open(path, "wb", 9) as stream:
        noise = random.Random(1).randbytes(200_000).hex()
        for at in range(0, len(noise), 8000):
            stream.write(json.dumps({"id": 1, "correct": 1, "x": noise[at : at + 8000]}).encode() + b"\n")
        for _ in range(50):
            stream.write(b'{"id":1,"correct":1}\n' * 40_000)


def hollow_arrays(path: Path) -> None:
    values = np.zeros(40_000_000, dtype="u1")
    values[np.random.default_rng(1).integers(0, len(values), 120_000)] = 1
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in ("id", "correct"):
            data = io.BytesIO()
            np.save(data, values)
            archive.writestr(f"{name}.npy", data.getvalue())


BOMBS: dict[str, Callable[[Path], None]] = {
    "runs.parquet": rle,
    "long.parquet": long_ids,
    "shared.parquet": one_text_for_all,
    "lines.jsonl.gz": equal_lines,
    "arrays.npz": hollow_arrays,
}


def lines(count: int, shift: int = 0) -> Iterator[str]:
    for i in range(count):
        yield json.dumps({"id": i, "correct": (i + shift * (i % 3 > 0)) % 2, "s": i}) + "\n"


@pytest.mark.parametrize("name", BOMBS)
def test_what_unpacks_to_far_more_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY)
    (tmp_path / "ok.jsonl").write_text("".join(lines(ROWS)))
    BOMBS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size < 1_000_000
    answer = gate(
        "run",
        "--policy",
        tmp_path / "p.yaml",
        "--baseline",
        tmp_path / name,
        "--candidate",
        tmp_path / "ok.jsonl",
    )
    assert answer.returncode == 2, answer.stderr
    assert "help: " in answer.stderr


@pytest.mark.parametrize(
    ("more", "exits"),
    [("items: {cluster: s}\n", {0, 3}), ("slices: {by: [s]}\n", {2})],
    ids=["clusters", "slices"],
)
def test_a_group_for_every_item(more: str, exits: set[int], tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY + more)
    for name, shift in (("b", 0), ("c", 1)):
        (tmp_path / f"{name}.jsonl").write_text("".join(lines(25_000, shift)))
    sides = ["--baseline", tmp_path / "b.jsonl", "--candidate", tmp_path / "c.jsonl"]
    answer = gate("run", "--policy", tmp_path / "p.yaml", *sides)
    assert answer.returncode in exits, answer.stderr


@pytest.mark.parametrize("kind", ["waivers", "keys", "rules"])
def test_a_policy_with_a_thousand_faults(kind: str, tmp_path: Path) -> None:
    draw = random.Random(1)

    def word() -> str:
        return "".join(draw.choice("abcdefghij") for _ in range(180))

    rails = [
        f"- {{metric: {word()}, kind: binary, direction: lower, mode: limit, max: 0.5}}\n" for _ in range(50)
    ]
    text = {
        "waivers": "waivers:\n"
        + "".join(
            f'- {{rule: "guardrail:{word()}", owner: o, reason: r, expires: "2099-01-01"}}\n'
            for _ in range(1000)
        ),
        "keys": "".join(f"{word()}: 1\n" for _ in range(1000)),
        "rules": "".join(rail.replace("mode: limit", f"mode: {word()}") for rail in rails * 20),
    }[kind]
    (tmp_path / "p.yaml").write_text(
        POLICY + "guardrails:\n" + "".join(rails[: 50 if kind != "rules" else 0]) + text
    )
    answer = gate("check", tmp_path / "p.yaml")
    assert answer.returncode == 2, answer.stderr


def test_honest_rows_that_pack_well_are_read(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(POLICY)
    for side, share in (("b", 5), ("c", 6)):
        rows = f"SELECT 'q' || range AS id, (hash(range) % 10 < {share})::INT AS correct FROM range(600000)"  # noqa: S608 - own text
        duckdb.sql(f"COPY ({rows}) TO '{tmp_path / side}.parquet' (FORMAT parquet, COMPRESSION zstd)")
        with gzip.open(tmp_path / f"{side}.jsonl.gz", "wt", compresslevel=9) as stream:
            stream.writelines(
                json.dumps({"id": f"q{i}", "correct": i % share % 2}) + "\n" for i in range(300_000)
            )
    for suffix in ("parquet", "jsonl.gz"):
        sides = ["--baseline", tmp_path / f"b.{suffix}", "--candidate", tmp_path / f"c.{suffix}"]
        assert gate("run", "--policy", tmp_path / "p.yaml", *sides).returncode in {0, 1, 3}
