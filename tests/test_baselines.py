"""A baseline is a thing that is kept: blessed, found again by its digest, replaced by what was promoted."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, command

from gate.history.baselines import Blessed, bless, entries, keep, latest
from gate.history.session import store_for
from gate.history.shelf import shelf_at
from gate.values import GateError

NOW = "2026-05-01T00:00:00+00:00"


def rows(better: int, n: int = 300) -> str:
    return "".join(json.dumps({"id": f"q{i}", "correct": i % 3 > 0 or i < better}) + "\n" for i in range(n))


def policy(**more: Any) -> str:
    return json.dumps({**BINARY, "baseline": {"name": "main"}, **more})


@pytest.fixture(params=["folder", "branch"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "store")
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote.git"], check=True)
    return f"git:{tmp_path}/remote.git#baselines"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> str:
    """Three results, a policy that blesses, and a store in which the first is the baseline."""
    monkeypatch.chdir(tmp_path)
    for name, better in (("a", 0), ("b", 60), ("c", 120)):
        Path(f"{name}.jsonl").write_text(rows(better))
    Path("gate.yaml").write_text(policy(bless="on_promote"))
    assert command("baseline", "bless", "a.jsonl", "--as", "main", "--store", place).code == 0
    return place


def run(place: str, candidate: str, *more: str, baseline: str = "store:main") -> Any:
    words = ("run", "--policy", "gate.yaml", "--baseline", baseline, "--store", place)
    return command(*words, "--candidate", candidate, "--history", "h.jsonl", "--json", "r.json", *more)


def listed(place: str, *more: str) -> list[list[str]]:
    out = command("baseline", "list", "--store", place, *more).out
    return [line.split() for line in out.splitlines()]


def sha256(path: str) -> str:
    import hashlib

    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_what_is_promoted_is_the_next_baseline(world: str) -> None:
    assert run(world, "b.jsonl").code == 0
    assert [line[1] for line in listed(world, "--history", "h.jsonl")] == [
        sha256("a.jsonl")[:12],
        sha256("b.jsonl")[:12],
    ]
    assert run(world, "a.jsonl").code == 1, "it is compared with the new baseline"
    assert json.loads(Path("r.json").read_text())["provenance"]["baseline"]["sha256"] == sha256("b.jsonl")
    assert run(world, "c.jsonl").code == 0
    report = json.loads(Path("r.json").read_text())
    assert "baseline_is_winning_run" in {caution["code"] for caution in report["cautions"]}
    assert command("baseline", "show", "main", "--store", world, "--history", "h.jsonl").out.startswith(
        f"main  {sha256('c.jsonl')[:12]}"
    )


def test_what_is_not_promoted_is_not_blessed(world: str) -> None:
    Path("gate.yaml").write_text(policy(bless="on_promote", cycles={"required": 2}))
    assert run(world, "b.jsonl").code == 4
    assert run(world, "a.jsonl", "--cycle", "x").code == 3
    assert len(listed(world, "--history", "h.jsonl")) == 1


def test_results_come_back_byte_by_byte(world: str) -> None:
    assert command("baseline", "export", "main", "--store", world, "--out", "back.jsonl").code == 0
    assert Path("back.jsonl").read_bytes() == Path("a.jsonl").read_bytes()
    assert command("baseline", "export", "main", "--store", world, "--out", "back.jsonl").code == 2


def test_the_report_is_that_of_the_file_and_reproduces(world: str) -> None:
    run(world, "b.jsonl")
    stored = json.loads(Path("r.json").read_text())
    assert command("verify", "r.json", "--store", world, "--history", "h.jsonl").code == 0
    assert "--store" in command("verify", "r.json", "--history", "h.jsonl").err
    Path("plain.yaml").write_text(json.dumps(BINARY))
    words = ("run", "--policy", "plain.yaml", "--baseline", "a.jsonl", "--candidate", "b.jsonl")
    command(*words, "--json", "p.json")
    plain = json.loads(Path("p.json").read_text())
    assert stored["gating"] == plain["gating"]
    assert stored["pairing"] == plain["pairing"]


def test_a_file_in_the_place_of_the_named_baseline_is_refused(world: str) -> None:
    assert "names the baseline 'main'" in run(world, "b.jsonl", baseline="a.jsonl").err
    command("baseline", "bless", "b.jsonl", "--as", "other", "--store", world)
    assert "store:other" in run(world, "c.jsonl", baseline="store:other").err
    assert "there is no baseline 'none'" in run(world, "c.jsonl", baseline="store:none").err
    assert "not a name" in run(world, "c.jsonl", baseline="store:../a").err


@pytest.mark.parametrize(("days", "code"), [(29, 0), (30, 0), (31, 3), (-1, 3)])
def test_an_old_baseline_decides_nothing(world: str, days: int, code: int) -> None:
    from datetime import UTC, datetime, timedelta

    then = (datetime.now(UTC) - timedelta(days=days, minutes=5 if days > 0 else -5)).isoformat()
    bless(shelf_at(world), "main", Path("a.jsonl").read_bytes(), now=then)
    Path("gate.yaml").write_text(policy(baseline={"name": "main", "max_age_days": 30}))
    if days < 0:  # newer than now, so it is the newest
        assert run(world, "b.jsonl").code == code
        return
    words = ("--policy", "gate.yaml", "--candidate", "b.jsonl", "--json", "r.json")
    place = f"{world}"
    found = [entry for entry in entries(shelf_at(place)) if entry.time == then]
    assert len(found) == 1
    # the first blessing is of today, so a store with the old one alone is asked
    alone = str(Path("alone").absolute())
    bless(shelf_at(alone), "main", Path("a.jsonl").read_bytes(), now=then)
    told = command("run", "--baseline", "store:main", "--store", alone, *words)
    assert told.code == code
    if code == 3:
        assert "gate baseline bless RESULTS --as main" in told.out
    assert command("verify", "r.json", "--store", alone).code == 0


def test_blessing_needs_a_history_and_a_name(world: str) -> None:
    words = ("run", "--policy", "gate.yaml", "--baseline", "store:main", "--candidate", "b.jsonl")
    assert "needs a history" in command(*words, "--store", world).error
    assert "needs the store" in command(*words, "--history", "h.jsonl").error
    Path("gate.yaml").write_text(json.dumps({**BINARY, "bless": "on_promote"}))
    assert "baseline: {name: NAME}" in command("check", "gate.yaml").err


def test_a_read_only_run_blesses_nothing(world: str) -> None:
    command("history", "init", "h.jsonl")
    assert run(world, "b.jsonl", "--history-mode", "read-only").code == 0
    assert len(listed(world, "--history", "h.jsonl")) == 1


def test_a_run_that_is_killed_before_its_record_loses_and_doubles_nothing(world: str) -> None:
    data = Path("b.jsonl").read_bytes()
    assert keep(shelf_at(world), data) == sha256("b.jsonl")
    assert len(listed(world)) == 1
    assert run(world, "b.jsonl").code == 0
    assert len(listed(world, "--history", "h.jsonl")) == 2
    assert run(world, "b.jsonl").code == 3, "the candidate is the baseline now"


def test_the_last_of_two_blessings_counts_whoever_made_it(world: str) -> None:
    run(world, "b.jsonl")
    command("baseline", "bless", "c.jsonl", "--as", "main", "--store", world)
    found = entries(shelf_at(world), store_for("h.jsonl").read())
    promoted = next(entry for entry in found if entry.cycle)
    late = "2999-01-01T00:00:00+00:00"
    bless(shelf_at(world), "main", Path("a.jsonl").read_bytes(), now=late)
    newest = latest(entries(shelf_at(world), store_for("h.jsonl").read()), "main", "")
    assert (promoted.sha256, newest.sha256) == (sha256("b.jsonl"), sha256("a.jsonl"))


FOLDER_ONLY = pytest.mark.parametrize("place", ["folder"], indirect=True)


@FOLDER_ONLY
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda blob, names: blob.write_bytes(b"x"), "damaged"),
        (lambda blob, names: blob.write_bytes(blob.read_bytes()[:-3]), "damaged"),
        (lambda blob, names: blob.unlink(), "not in the store any more"),
        (lambda blob, names: (blob.unlink(), blob.symlink_to("/dev/zero")), "blob"),
        (lambda blob, names: names.write_bytes(names.read_bytes()[:-1]), "changed, cut"),
        (lambda blob, names: names.write_bytes(names.read_bytes().replace(b'"main"', b'"mine"')), ""),
        (lambda blob, names: names.write_bytes(names.read_bytes() * 2), "changed, cut"),
        (lambda blob, names: names.write_bytes(b"[1]\n"), "changed, cut"),
        (lambda blob, names: names.write_bytes(b"\xff\n"), "changed, cut"),
        (lambda blob, names: names.write_bytes(b"[" * 99_999 + b"\n"), "changed, cut"),
        (lambda blob, names: names.unlink(), "there is no baseline"),
    ],
)
def test_a_damaged_store_is_never_a_baseline(world: str, damage: Any, said: str) -> None:
    blob = next((Path(world) / "blobs").iterdir())
    damage(blob, Path(world) / "names.jsonl")
    told = run(world, "b.jsonl")
    assert told.code == 2
    assert said in told.err
    assert "Traceback" not in told.err


@FOLDER_ONLY
def test_another_blob_under_the_name_of_the_baseline_is_noticed(world: str) -> None:
    import zstandard

    blob = next((Path(world) / "blobs").iterdir())
    blob.write_bytes(zstandard.compress(rows(-1, 299).encode()))
    assert "not those that were blessed" in run(world, "b.jsonl").err
    assert command("baseline", "bless", "a.jsonl", "--as", "main", "--store", world).code == 0
    assert run(world, "b.jsonl").code == 0, "blessing the same results again mends the blob"


def test_a_store_that_is_full_says_so(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.history.baselines.LARGEST_STORE", 100)
    assert "prune" in command("baseline", "bless", "b.jsonl", "--as", "main", "--store", world).err
    assert len(listed(world)) == 1


def test_pruning_keeps_the_newest_of_each_name(world: str) -> None:
    for name in ("b", "c"):
        command("baseline", "bless", f"{name}.jsonl", "--as", "main", "--store", world)
    assert command("baseline", "prune", "--keep", "1", "--store", world).out == "removed: 2\n"
    assert command("baseline", "show", "main", "--store", world).code == 0
    assert run(world, "b.jsonl").code == 1


def test_what_is_no_result_file_is_not_blessed(world: str) -> None:
    Path("pickle").write_bytes(b"\x80\x04K\x01.")
    for path in ("pickle", "nothing", "."):
        assert command("baseline", "bless", path, "--as", "main", "--store", world).code == 2
    assert "not a name" in command("baseline", "bless", "b.jsonl", "--as", "../x", "--store", world).err
    assert len(listed(world)) == 1


def test_a_first_look_at_the_baseline(world: str) -> None:
    look = command("compare", "store:main", "b.jsonl", "--store", world)
    assert look.code == 0
    assert look.out == command("baseline", "diff", "store:main", "b.jsonl", "--store", world).out
    assert "store:main -> b.jsonl" in look.out


@FOLDER_ONLY
def test_parquet_comes_back_as_parquet(world: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        for name in ("a", "b"):
            connection.execute(f"COPY (FROM '{name}.jsonl') TO '{name}.parquet'")
    command("baseline", "bless", "a.parquet", "--as", "main", "--store", world)
    assert run(world, "b.parquet").code == 0
    assert json.loads(Path("r.json").read_text())["provenance"]["baseline"]["format"] == "parquet"


def test_two_who_bless_at_once_both_stand_in_the_book(world: str) -> None:
    threads = [
        threading.Thread(
            target=bless,
            args=(shelf_at(world), "main", rows(k).encode()),
            kwargs={"now": NOW, "note": str(k)},
        )
        for k in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.note for entry in entries(shelf_at(world))} == {"", *"012345"}


PROMOTE = "import sys; from gate.cli.main import console; sys.argv[1:] = {words!r}; console()"


def test_two_promotions_at_once_are_both_recorded(world: str) -> None:
    command("history", "init", "h.jsonl")
    made = []
    for name in ("b", "c"):
        words = ["run", "--policy", "gate.yaml", "--baseline", "store:main", "--store", world]
        words += ["--candidate", f"{name}.jsonl", "--history", "h.jsonl", "--cycle", name]
        made.append(subprocess.Popen([sys.executable, "-c", PROMOTE.format(words=words)]))
    assert {one.wait() for one in made} <= {0, 1}
    found = entries(shelf_at(world), store_for("h.jsonl").read())
    assert {entry.sha256 for entry in found if entry.cycle} <= {sha256("b.jsonl"), sha256("c.jsonl")}
    assert any(entry.cycle for entry in found)
    assert command("baseline", "show", "main", "--store", world, "--history", "h.jsonl").code == 0


@pytest.mark.parametrize("place", ["branch"], indirect=True)
def test_a_branch_that_was_pushed_over_is_noticed(world: str, tmp_path: Path) -> None:
    """The history still names what it blessed; the branch of before does not hold it."""
    remote = tmp_path / "remote.git"
    before = subprocess.run(
        ["git", "-C", remote, "rev-parse", "baselines"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert run(world, "b.jsonl").code == 0
    subprocess.run(["git", "-C", remote, "update-ref", "refs/heads/baselines", before], check=True)
    assert "not in the store any more" in run(world, "c.jsonl").err


def test_a_blessing_states_when_and_why(world: str) -> None:
    entry = bless(shelf_at(world), "main", b"{}", now=NOW, note="by hand")
    assert entry == Blessed("main", entry.sha256, NOW, "by hand")
    with pytest.raises(GateError):
        bless(shelf_at(world), "a b", b"{}", now=NOW)
