"""A baseline from a store in a job: read by changes, blessed only by what may promote."""

from __future__ import annotations

import json
from pathlib import Path

from gate.history.baselines import bless, entries
from gate.history.session import store_for
from gate.history.shelf import shelf_at

from .jobs import BETTER, POLICY, Checkout, decide, rows, write_results
from .scenarios import change, told

BLESSING = POLICY + "baseline: {name: main}\nbless: on_promote\n"
STORE = {"baseline": "store:main"}


def a_store(tmp_path: Path) -> str:
    import subprocess

    remote = tmp_path / "store.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    place = f"git:{remote}#baselines"
    data = "".join(json.dumps(row) + "\n" for row in rows(*BETTER)[0]).encode()
    bless(shelf_at(place), "main", data, now="2026-01-01T00:00:00+00:00")
    return place


def test_a_change_is_compared_with_the_kept_baseline_and_blesses_nothing(
    checkout: Checkout, tmp_path: Path
) -> None:
    place = a_store(tmp_path)
    checkout.commit({"gate.yaml": BLESSING}, "a store")
    started = change({}, BETTER)(checkout)
    done = decide(checkout, checkout.environment(*started), **STORE, store=place, history="h.jsonl")
    told(done, "promote", 0)
    report = json.loads(Path(done.outputs["report-json"]).read_text("utf-8"))
    assert report["provenance"]["blessing"]["name"] == "main"
    with shelf_at(place).reader() as read:
        assert len(read.sizes()) == 1, "a change writes nothing into the store"


def test_the_default_branch_blesses_what_it_promotes(checkout: Checkout, tmp_path: Path) -> None:
    place = a_store(tmp_path)
    checkout.commit({"gate.yaml": BLESSING}, "a store")
    checkout.check_out("main", depth=1)
    write_results(checkout.workspace, BETTER)
    environment = checkout.environment("push", {}, checkout.head("main"))
    done = decide(checkout, environment, **STORE, store=place, history="h.jsonl")
    told(done, "promote", 0)
    history = store_for(str(checkout.workspace / "h.jsonl")).read()
    assert len(entries(shelf_at(place), history)) == 2


def test_a_store_outside_is_refused(pushed: Checkout) -> None:
    environment = pushed.environment("push", {}, pushed.head("main"))
    done = decide(pushed, environment, **STORE, store="/etc")
    told(done, "error", 2)
    assert "must lie in the workspace" in done.outputs["reason"]
