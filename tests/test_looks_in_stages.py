"""A look in stages, as a user runs it: what it asks for, what it promotes, and what nobody gets out of it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from black_box import BINARY, GRADED, Answer, command, policy, write_policy, write_rows
from scipy import stats

from gate.pairing.stages import stage_order
from gate.policy.digest import decision_digest
from gate.policy.load import load

FIFTHS = [0.2, 0.4, 0.6, 0.8, 1.0]
STAGED = policy(BINARY, gating={"margin": 0}, items={"stages": FIFTHS})


class World:
    """A policy, a baseline of n items that all fail unless named, and a candidate that is scored as asked."""

    def __init__(self, folder: Path, wanted: dict[str, Any], n: int = 500) -> None:
        self.folder, self.wanted, self.n = folder, wanted, n
        self.policy = write_policy(folder / "gate.json", wanted)
        self.order = stage_order([f"i{k:04d}" for k in range(n)], load(str(self.policy)).decision_digest)

    def run(self, wins: set[int], losses: set[int], scored: int, *more: object, **names: Any) -> Answer:
        """wins, losses: places in the order. scored: so many items of the order."""
        metric = self.wanted["gating"]["metric"]
        base = [{"id": item, metric: int(at in losses)} for at, item in enumerate(self.order)]
        rows = [{"id": item, metric: int(at in wins)} for at, item in enumerate(self.order[:scored])]
        return self.decide(base, rows, *more, **names)

    def decide(self, base: Any, rows: Any, *more: object, history: str | None = "h.jsonl") -> Answer:
        baseline = write_rows(self.folder / "base.jsonl", base)
        candidate = write_rows(self.folder / "cand.jsonl", rows)
        words = ["run", "--policy", self.policy, "--baseline", baseline, "--candidate", candidate]
        words += ["--json", self.folder / "r.json", "--next", self.folder / "next.txt", *more]
        words += ["--history", self.folder / history] if history else []
        answer = command(*words)
        found = json.loads((self.folder / "r.json").read_text()) if answer.code != 2 else None
        return Answer(answer.code, answer.out, answer.err, found)


def stages(answer: Answer) -> dict[str, Any]:
    assert answer.report is not None, answer.err
    return dict(answer.report["stages"])


def test_the_first_list_is_known_before_anything_is_scored(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    base = write_rows(tmp_path / "base.jsonl", [{"id": item, "correct": 1} for item in reversed(world.order)])
    listed = command("stages", "--policy", world.policy, "--baseline", base)
    assert listed.out.split() == list(world.order[:100])
    found = json.loads(command("stages", "--policy", world.policy, "--baseline", base, "--json").out)
    assert (found["n"], found["ids"]) == (100, list(world.order[:100]))


def test_a_stage_asks_for_the_next_items_in_their_order(tmp_path: Path) -> None:
    answer = World(tmp_path, STAGED).run({1, 5, 9}, {2}, 100)
    assert (answer.code, answer.verdict) == (3, "inconclusive")
    found = stages(answer)
    assert (found["stage"], found["of"], found["n"], found["move"]) == (1, 5, 100, "continue")
    order = World(tmp_path, STAGED).order
    assert found["next"]["ids"] == list(order[100:200]) == (tmp_path / "next.txt").read_text().split()
    assert found["p_value"] is None
    assert answer.report["next_step"].startswith("continue: score these 100 items next")
    assert "stage 1 of 5 (100 of 500 items): continue with 100 items" in answer.out


def test_a_clear_gain_stops_early_and_saves(tmp_path: Path) -> None:
    wanted = {**STAGED, "report": {"cost_per_item": 0.5}}
    answer = World(tmp_path, wanted).run(set(range(40)), set(), 100)
    assert answer.verdict == "promote"
    found = stages(answer)
    assert (found["saved_items"], found["saved_share"], found["saved_cost"]) == (400, 0.8, 200.0)
    assert "saved 400 items (80 %)" in answer.out
    assert "stopped_early" in answer.cautions()
    assert 0 < found["gain_low"] < found["gain_median"] <= answer.gating["delta"]
    assert (tmp_path / "next.txt").read_text() == ""


def test_a_clear_loss_stops_early(tmp_path: Path) -> None:
    assert World(tmp_path, STAGED).run(set(), set(range(40)), 100).verdict == "block"


def test_what_the_plain_level_would_promote_goes_on(tmp_path: Path) -> None:
    """15 to 3 has p = .0038: enough for a look at 18 discordant items, not for a fifth of an evaluation."""
    wins, losses = set(range(15)), set(range(15, 18))
    assert stats.binom.sf(14, 18, 0.5) < 0.025
    answer = World(tmp_path, STAGED).run(wins, losses, 100)
    assert stages(answer)["move"] == "continue"
    assert answer.gating["interval"]["low"] < 0


def test_the_level_by_enumeration_through_the_command(tmp_path: Path) -> None:
    """Every pattern of wins and losses on the discordant items of two stages: the share that promotes at any
    stage is at most the level, and is what the report says was spent."""
    wanted = policy(BINARY, gating={"margin": 0}, alpha=0.5, items={"stages": [0.5, 1.0], "min": 2})
    promoted = spent = 0
    for number, signs in enumerate(itertools.product([0, 1], repeat=6)):
        world = World(tmp_path, wanted, n=10)
        wins = {at for at, sign in enumerate(signs) if sign}
        losses = set(range(6)) - wins
        crossed = False
        for scored in (5, 10):
            answer = world.run(wins, losses, scored, history=f"h{number}.jsonl")
            crossed |= answer.verdict == "promote"
            if stages(answer)["move"] != "continue":
                break
        promoted += crossed
        spent = max(spent, stages(answer)["spent"])
    assert promoted / 2**6 == pytest.approx(spent, abs=1e-12)
    assert 0.1 < promoted / 2**6 <= 0.25


# attacks


@pytest.fixture
def begun(tmp_path: Path) -> World:
    """After a first stage that continues."""
    world = World(tmp_path, STAGED)
    assert stages(world.run({1, 5, 9}, {2}, 100))["move"] == "continue"
    return world


def test_all_stages_are_one_look(begun: World) -> None:
    answer = begun.run({1, 5, 9, 120}, {2}, 200)
    assert stages(answer)["stage"] == 2
    assert answer.report["cycles"]["look"] == 1


def test_without_a_history_nothing_is_looked_at(tmp_path: Path) -> None:
    answer = World(tmp_path, STAGED).run(set(range(40)), set(), 100, history=None)
    assert "stages" in answer.error


def test_a_history_that_is_not_written_promotes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    command("history", "init", tmp_path / "h.jsonl")
    assert world.run(set(range(40)), set(), 100, "--history-mode", "read-only").verdict == "hold"


def test_earlier_items_that_changed_are_refused(begun: World) -> None:
    assert stages(begun.run({1, 5, 9}, {2}, 200))["stage"] == 2
    assert "stage 2 are not those" in begun.run({1, 5, 9, 150}, {2}, 300).error


def test_a_candidate_scored_anew_is_a_new_look(begun: World) -> None:
    answer = begun.run({1, 5, 9, 11}, {2}, 200)
    assert answer.report["cycles"]["look"] == 2


def test_another_candidate_in_the_same_evaluation_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path, policy(STAGED, artifacts={"mapping": {}}))
    rows = [{"id": item, "correct": 0} for item in world.order]
    wins = [{"id": item, "correct": int(at < 5)} for at, item in enumerate(world.order)]
    assert stages(world.decide(rows, wins[:100]))["move"] == "continue"
    changed = [*wins[:50], {"id": world.order[50], "correct": 1}, *wins[51:100]]
    answer = world.decide(rows, [*changed, *wins[100:200]])
    assert answer.report["cycles"]["look"] == 2


def test_an_earlier_stage_after_a_later_one_is_refused_or_a_replay(begun: World) -> None:
    assert stages(begun.run({1, 5, 9}, {2}, 300))["stage"] == 3
    assert begun.run({1, 5, 9}, {2}, 100).report["cycles"]["replayed"] is True
    assert "stage 3 of this evaluation is in the history" in begun.run({1, 5, 9}, {2}, 200).error


def test_a_skipped_stage_changes_no_boundary(tmp_path: Path) -> None:
    wins, losses = set(range(0, 300, 9)), set(range(1, 300, 30))
    whole, skipping = World(tmp_path, STAGED), World(tmp_path, STAGED)
    for scored in (100, 200, 300):
        answer = whole.run(wins, losses, scored, history="a.jsonl")
    other = skipping.run(wins, losses, 300, history="b.jsonl")
    assert stages(answer)["boundary_wins"] == stages(other)["boundary_wins"]
    assert stages(answer)["spent"] == stages(other)["spent"]


def test_items_beyond_the_stage_are_not_looked_at(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    base = [{"id": item, "correct": 0} for item in world.order]
    rows = [{"id": item, "correct": int(at >= 100)} for at, item in enumerate(world.order[:180])]
    answer = world.decide(base, rows)
    assert (stages(answer)["n"], stages(answer)["beyond"], answer.gating["delta"]) == (100, 80, 0.0)
    assert "items_beyond_stage" in answer.cautions()


def test_items_of_ones_own_choice_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    base = [{"id": item, "correct": 0} for item in world.order]
    chosen = [{"id": item, "correct": 1} for item in world.order[150:400]]
    assert "lacks 100 of the 100 items of the first stage" in world.decide(base, chosen).error
    foreign = [{"id": item, "correct": 1} for item in [*world.order[:100], "other"]]
    assert "not among the items" in world.decide(base, foreign).error


def test_another_policy_has_another_order_and_is_another_look(begun: World) -> None:
    looser = policy(STAGED, alpha=0.1)
    world = World(begun.folder, looser)
    assert world.order != begun.order
    rows = [{"id": item, "correct": 0} for item in begun.order]
    assert "of the first stage" in world.decide(rows, rows[:100]).error
    answer = world.run({1, 5, 9}, {2}, 100)
    assert answer.report["cycles"]["look"] == 2


def test_an_ended_evaluation_promotes_nothing_more(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    assert world.run(set(), set(range(40)), 100).verdict == "block"
    answer = world.run(set(range(100, 300)), set(range(40)), 300)
    assert answer.verdict != "promote"
    assert "evaluation_closed" in answer.cautions()


def test_another_look_closes_an_open_evaluation(begun: World) -> None:
    """Else one could begin many, and finish those that look well."""
    begun.run({3, 4}, {2}, 100)
    answer = begun.run({1, 5, 9, *range(100, 200)}, {2}, 200)
    assert answer.verdict == "inconclusive"
    assert "evaluation_closed" in answer.cautions()
    assert stages(answer)["move"] == "end"


def streak(folder: Path, *moves: tuple[set[int], int]) -> list[int]:
    """Passing cycles after each run of a policy that asks for three."""
    world = World(folder, policy(STAGED, cycles={"required": 3, "windows": "reused"}))
    return [world.run(wins, set(), scored).report["cycles"]["passed"] for wins, scored in moves]


def test_a_stage_that_continues_adds_no_pass_and_resets_none(tmp_path: Path) -> None:
    first, second = set(range(40)), {0, *range(40, 60)}
    assert streak(tmp_path, (first, 100), ({1, 2}, 100), ({1, 2, *range(100, 160)}, 200)) == [1, 1, 2]
    (tmp_path / "h.jsonl").unlink()
    left_open = ({1, 2}, 100)
    assert streak(tmp_path, (first, 100), left_open, (second | set(range(60, 90)), 100)) == [1, 1, 1]


def test_a_veto_between_its_levels_keeps_the_evaluation_open(tmp_path: Path) -> None:
    """8 of 100 items slower than before and none faster: p = .0039 is a veto, but not at a fifth."""
    rail = {"metric": "safe", "kind": "binary", "direction": "higher", "mode": "no_regression"}
    world = World(tmp_path, policy(STAGED, guardrails=[rail]))
    base = [{"id": item, "correct": 0, "safe": 1} for item in world.order]

    def rows(lost: int) -> list[dict[str, Any]]:
        return [
            {"id": i, "correct": int(k < 40), "safe": int(k >= lost)} for k, i in enumerate(world.order[:100])
        ]

    assert stages(world.decide(base, rows(8)))["move"] == "continue"
    assert world.decide(base, rows(60), history="b.jsonl").verdict == "block"
    assert world.decide(base, rows(2), history="c.jsonl").verdict == "promote"


def test_graded_scores_wait_for_100_items(tmp_path: Path) -> None:
    wanted = policy(GRADED, gating={"margin": 0}, items={"stages": [0.5, 1.0]})
    world = World(tmp_path, wanted, n=120)
    base = [{"id": item, "score": 0.0} for item in world.order]
    rows = [{"id": item, "score": 1 + k % 7 / 10} for k, item in enumerate(world.order)]
    assert stages(world.decide(base, rows[:60]))["move"] == "continue"
    assert world.decide(base, rows).verdict == "promote"


def test_futility_stops_a_hopeless_candidate(tmp_path: Path) -> None:
    wanted = policy(STAGED, gating={"margin": 0.05}, items={"futility": 0.1})
    answer = World(tmp_path, wanted).run(set(range(0, 400, 5)), set(range(1, 380, 5)), 400)
    found = stages(answer)
    assert (answer.code, found["move"], found["next"]) == (3, "futile", None)
    assert found["conditional_power"] < 0.1
    assert answer.report["next_step"].startswith("stop: even if the true gain is 0.0500")


def test_a_report_of_a_stage_is_reproduced(begun: World) -> None:
    found = command("verify", begun.folder / "r.json", "--history", begun.folder / "h.jsonl")
    assert found.code == 0, found.out


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"items": {"stages": [0.5]}}, "2 to 10 rising shares"),
        ({"items": {"stages": [0.5, 0.4, 1.0]}}, "2 to 10 rising shares"),
        ({"items": {"stages": [0.5, 0.9]}}, "2 to 10 rising shares"),
        ({"items": {"stages": FIFTHS, "missing": "drop"}}, "outcomes would choose"),
        ({"items": {"stages": FIFTHS, "must_pass": ["a"]}}, "must_pass items"),
        ({"items": {"stages": FIFTHS}, "challengers": 2}, "one candidate"),
        ({"items": {"stages": FIFTHS, "futility": 0.1}, "gating": {"margin": 0}}, "planned gain"),
        ({"items": {"futility": 0.1}}, "there are none"),
        ({"items": {"stages": FIFTHS}, "cycles": {"feedback": "verdict"}}, "hides them"),
        (
            {"items": {"stages": FIFTHS}, "slices": {"by": ["a"], "mode": "non_inferior", "tolerance": 0.1}},
            "slices",
        ),
    ],
)
def test_what_has_no_stages_is_refused(sections: dict[str, Any], said: str, tmp_path: Path) -> None:
    answer = command("check", write_policy(tmp_path / "p.json", policy(BINARY, **sections)))
    assert said in answer.error


def test_the_default_changes_no_digest() -> None:
    from gate.policy.model import Policy

    plain = Policy.model_validate(policy(BINARY))
    priced = Policy.model_validate(policy(BINARY, report={"cost_per_item": 0.1}))
    assert decision_digest(plain) == decision_digest(priced)


def test_several_runs_of_a_baseline_have_no_stages(tmp_path: Path) -> None:
    world = World(tmp_path, STAGED)
    other = write_rows(tmp_path / "other.jsonl", [{"id": item, "correct": 1} for item in world.order])
    assert "one run of the baseline" in world.run({1}, set(), 100, "--baseline", other).error
