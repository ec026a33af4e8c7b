"""Preferences from a file of votes to a verdict: exact values, both orders, and ways to pass on nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from black_box import Answer, command, decide, with_reports, write_policy, write_rows
from scipy import stats

from gate.stats.preferences import preferences

BOTH = ("candidate_first", "baseline_first")
PLAIN = {"metric": "preference", "kind": "preference", "direction": "higher", "margin": 0.0}


def policy(**more: Any) -> dict[str, Any]:
    sections = {key: more.pop(key) for key in ("items", "slices", "guardrails", "artifacts") if key in more}
    return {"version": 1, "name": "p", "gating": PLAIN | more, **sections}


def both_orders(won: int, lost: int, tied: int, first: int = 0, second: int = 0) -> list[dict[str, Any]]:
    """Items won, lost and tied in both orders, and items whose verdict follows the first place, or second."""
    kinds = [
        ("candidate", "candidate", won),
        ("baseline", "baseline", lost),
        ("tie", "tie", tied),
        ("candidate", "baseline", first),
        ("baseline", "candidate", second),
    ]
    verdicts = [pair[:2] for pair in kinds for _ in range(pair[2])]
    return [
        {"id": f"i{k}", "preference": word, "order": order}
        for k, pair in enumerate(verdicts)
        for word, order in zip(pair, BOTH, strict=True)
    ]


def run(place: Path, wanted: Mapping[str, Any], votes: Sequence[Mapping[str, Any]], *more: object) -> Answer:
    """The votes are all there is: no file of the baseline."""
    done = command(
        *("run", "--policy", write_policy(place / "gate.yaml", wanted), "--baseline", "-"),
        *("--candidate", write_rows(place / "votes.jsonl", votes), "--report-dir", place / "report", *more),
    )
    return with_reports(done, place / "report")


def test_decided_items_have_the_exact_sign_test(tmp_path: Path) -> None:
    found = run(tmp_path, policy(), both_orders(40, 20, 15))
    block = found.gating
    assert found.verdict == "promote", found.out
    assert (block["method"], block["n"]) == ("mcnemar_exact", 75)
    assert block["delta"] == pytest.approx((40 - 20) / 75)
    assert block["p_value"] == pytest.approx(stats.binomtest(40, 60, alternative="greater").pvalue, rel=1e-9)
    assert (block["baseline"], block["candidate"]) == pytest.approx(((20 + 7.5) / 75, (40 + 7.5) / 75))


def test_a_lost_comparison_blocks_and_a_close_one_does_not_decide(tmp_path: Path) -> None:
    for name, votes, verdict in (("lost", (20, 40, 15), "block"), ("close", (31, 29, 15), "inconclusive")):
        (tmp_path / name).mkdir()
        assert run(tmp_path / name, policy(), both_orders(*votes)).verdict == verdict


def test_verdicts_that_follow_the_place_are_ties(tmp_path: Path) -> None:
    found = run(tmp_path, policy(), both_orders(40, 20, 5, first=10))
    assert found.gating["delta"] == pytest.approx(20 / 75)
    codes = {caution["code"] for caution in found.gating["cautions"]}
    assert {"order_consistency", "position_bias"} <= codes
    assert "65 of 75 items" in str(found.report)
    assert f"{2 * 0.5**10:.4f}" in found.out  # ten of ten, two-sided


@pytest.mark.parametrize(("most", "verdict"), [(0.1, "inconclusive"), (0.2, "promote")])
def test_too_many_of_them_decide_nothing(most: float, verdict: str, tmp_path: Path) -> None:
    found = run(tmp_path, policy(max_inconsistent=most), both_orders(40, 20, 5, first=6, second=4))
    assert found.verdict == verdict
    if verdict == "inconclusive":
        assert "followed the place on 13.3%" in found.out


@pytest.mark.parametrize("order", [None, "candidate_first", "baseline_first"])
def test_one_order_alone_claims_nothing_unless_it_is_declared_random(
    order: str | None, tmp_path: Path
) -> None:
    votes = [row | {"order": order} for row in both_orders(40, 5, 0)[::2]]
    (tmp_path / "plain").mkdir()
    found = run(tmp_path / "plain", policy(), votes)
    assert found.verdict == "inconclusive"
    assert "not controlled" in found.out
    declared = run(tmp_path, policy(order="randomized"), votes)
    assert declared.verdict == "promote"
    assert "order_randomized" in {caution["code"] for caution in declared.gating["cautions"]}


def test_a_veto_rests_on_no_uncontrolled_order_either(tmp_path: Path) -> None:
    votes = [row | {"order": None, "correct": 1} for row in both_orders(40, 5, 0)[::2]]
    old = [{"id": row["id"], "correct": k % 2} for k, row in enumerate(votes)]
    veto = {**PLAIN, "mode": "no_regression"}
    del veto["margin"]
    gating = {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01}
    found = decide(tmp_path, {"version": 1, "name": "p", "gating": gating, "guardrails": [veto]}, old, votes)
    assert found.status("guardrail:preference") == "inconclusive"
    assert found.verdict == "inconclusive"


def test_several_judges_count_an_item_once(tmp_path: Path) -> None:
    """Of three judges two prefer the candidate on each of 30 items: 1/3 each; by majority 1."""
    votes = [
        {"id": f"i{k}", "preference": word, "order": order, "judge": f"j{j}"}
        for k in range(40)
        for order in BOTH
        for j, word in enumerate(("candidate", "candidate", "baseline" if k < 30 else "candidate"))
    ]
    (tmp_path / "mean").mkdir()
    mean = run(tmp_path / "mean", policy(orders="mean"), votes).gating
    assert (mean["n"], mean["method"]) == (40, "t_guarded")
    assert mean["delta"] == pytest.approx((30 / 3 + 10) / 40)
    most = run(tmp_path, policy(votes="majority"), votes).gating
    assert (most["delta"], most["method"]) == (1.0, "mcnemar_exact")


def test_values_are_those_of_the_statistics(tmp_path: Path) -> None:
    votes = [
        {"id": f"i{k}", "preference": ("candidate", "tie", "baseline")[(k * j + k // 7) % 3], "order": order,
         "judge": f"j{j}"}
        for k in range(60) for order in BOTH for j in range(3)
    ]  # fmt: skip
    value = {"candidate": 1, "baseline": -1, "tie": 0}
    for number, (how, orders) in enumerate(
        (h, o) for h in ("mean", "majority") for o in ("consistent", "mean")
    ):
        place = tmp_path / str(number)
        place.mkdir()
        found = run(place, policy(votes=how, orders=orders), votes).gating
        expected = preferences(
            [v["id"] for v in votes],
            [value[v["preference"]] for v in votes],
            [v["order"] == BOTH[0] for v in votes],
            [v["judge"] for v in votes],
            votes=how,  # type: ignore[arg-type]
            orders=orders,  # type: ignore[arg-type]
        )
        assert found["delta"] == pytest.approx(float(expected.values.mean()), abs=1e-12)


def test_words_of_the_file_are_declared(tmp_path: Path) -> None:
    words = {"candidate": "B", "baseline": "A", "tie": "same"}
    votes = [row | {"preference": words[row["preference"]]} for row in both_orders(40, 20, 15)]
    (tmp_path / "plain").mkdir()
    assert "is no vote" in run(tmp_path / "plain", policy(), votes).error
    found = run(tmp_path, policy(artifacts={"labels": {"B": 1, "A": 0, "same": 0.5}}), votes)
    assert found.gating["delta"] == pytest.approx(20 / 75)


VOTES = both_orders(40, 20, 15)
FAULTS = [
    ("twice", [*VOTES, VOTES[0]], "the same id and repeat occur twice"),
    ("one order of some", VOTES[:-1], "both orders"),
    ("no vote", [VOTES[0] | {"preference": None}, *VOTES[1:]], "no usable number"),
    ("another order", [VOTES[0] | {"order": "left"}, *VOTES[1:]], "order is"),
    ("a part", [row | {"language": f"l{k % 2}"} for k, row in enumerate(VOTES)], "language is not the same"),
]


@pytest.mark.parametrize(
    ("votes", "words"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_what_is_no_vote_is_refused(votes: list[dict[str, Any]], words: str, tmp_path: Path) -> None:
    sliced = {"slices": {"by": ["language"]}} if "language" in votes[0] else {}
    assert words in run(tmp_path, policy(**sliced), votes).error


def test_a_missing_vote_takes_the_item_out_and_never_makes_a_win(tmp_path: Path) -> None:
    votes = [VOTES[0] | {"preference": None}, *VOTES[1:]]
    items = {"missing": "drop", "max_missing": 0.05}
    found = run(tmp_path, policy(items=items), votes).gating
    assert (found["n"], found["delta"]) == (74, pytest.approx(19 / 74))
    (tmp_path / "worst").mkdir()
    worst = run(tmp_path / "worst", policy(items={**items, "missing": "worst"}), votes).gating
    assert (worst["n"], worst["delta"]) == (75, pytest.approx(18 / 75))


def test_votes_beside_other_values_need_a_file_of_their_own(tmp_path: Path) -> None:
    votes = [row | {"correct": 1} for row in VOTES]
    old = [{"id": f"i{k}", "correct": k % 2} for k in range(75)]
    rail = {"metric": "correct", "kind": "binary", "direction": "higher", "mode": "no_regression"}
    assert "file of their own" in decide(tmp_path, policy(guardrails=[rail]), old, votes).error
    both = policy(set="votes")
    both["guardrails"] = [rail]
    place = tmp_path / "own"
    place.mkdir()
    new = [{"id": f"i{k}", "correct": 1} for k in range(75)]
    extra = ("--set", "votes", "-", write_rows(place / "votes.jsonl", VOTES))
    assert decide(place, both, old, new, *extra).verdict == "promote"


def test_clusters_and_slices_of_items(tmp_path: Path) -> None:
    votes = [
        row | {"doc": f"d{int(row['id'][1:]) % 25}", "part": "ab"[int(row["id"][1:]) % 2]} for row in VOTES
    ]
    wanted = policy(items={"cluster": "doc"}, slices={"by": ["part"]})
    found = run(tmp_path, wanted, votes)
    assert found.gating["method"].startswith("cluster")
    assert {found.status(f"slice:part={part}") for part in "ab"} <= {"pass", "fail"}


@pytest.mark.parametrize(
    ("more", "words"),
    [({"direction": "lower"}, "higher is better"), ({"margin": 5.0}, "between 0 and 1"),
     ({"test": "tango"}, "test tango"), ({"k": 5}, "takes no k"), ({"interval": "wald"}, "interval")],
)  # fmt: skip
def test_what_a_preference_cannot_be_is_said(more: dict[str, Any], words: str, tmp_path: Path) -> None:
    assert words in run(tmp_path, policy(**more), VOTES).error


@pytest.mark.parametrize(
    "mode",
    [{"mode": "limit", "min": 0.5}, {"mode": "churn", "max": 0.5}, {"mode": "worst_item", "max": 0.5}],
)
def test_only_a_proof_or_a_veto_rests_on_a_preference(mode: dict[str, Any], tmp_path: Path) -> None:
    rail = {key: value for key, value in PLAIN.items() if key != "margin"} | mode
    assert "takes no mode" in run(tmp_path, policy(guardrails=[rail]), VOTES).error


def test_order_and_ids_change_no_digit(tmp_path: Path) -> None:
    blocks = []
    for name, votes in (("a", VOTES), ("b", [row | {"id": "z" + row["id"][::-1]} for row in VOTES[::-1]])):
        (tmp_path / name).mkdir()
        blocks.append(run(tmp_path / name, policy(), votes).gating)
    assert blocks[0] == blocks[1]


def test_a_report_without_a_baseline_is_reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(tmp_path, policy(), VOTES, "--history", tmp_path / "history.jsonl")
    assert (
        command("verify", tmp_path / "report" / "report.json", "--history", tmp_path / "history.jsonl").code
        == 0
    )
    again = run(tmp_path, policy(), VOTES, "--history", tmp_path / "history.jsonl")
    assert again.report is not None
    assert again.report["cycles"]["replayed"] is True
