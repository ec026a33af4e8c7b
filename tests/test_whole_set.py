"""Metrics of the whole set from two files to a verdict: values of other programs, ways to pass on nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import Answer, command, decide, with_reports, write_policy, write_rows

ORACLES = Path(__file__).parent / "oracles"
TABLE = json.loads((ORACLES / "set_level.json").read_text(encoding="utf-8"))
DATA, EXPECTED = TABLE["data"], {row["id"]: row["expected"] for row in TABLE["rows"]}
CONFUSION = ("f1", "precision", "recall", "balanced_accuracy", "matthews")


def policy(kind: str, guardrails: Sequence[Mapping[str, Any]] = (), **more: Any) -> dict[str, Any]:
    items = {"label": "gold"} | more.pop("items", {})
    sections = {key: more.pop(key) for key in ("slices", "watch", "artifacts", "challengers") if key in more}
    gating = {"metric": "score", "kind": kind, "direction": "higher", "margin": 0.0} | more
    return {"version": 1, "name": "p", "gating": gating, "guardrails": list(guardrails), "items": items} | (
        sections
    )


def rows(labels: Sequence[Any], scores: Sequence[float], **columns: Sequence[Any]) -> list[dict[str, Any]]:
    more = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    more = more or [{} for _ in labels]
    return [
        {"id": f"i{k}", "gold": label, "score": score, **extra}
        for k, (label, score, extra) in enumerate(zip(labels, scores, more, strict=True))
    ]


def answer(place: Path, wanted: Mapping[str, Any], labels: Any, old: Any, new: Any, **columns: Any) -> Answer:
    return decide(place, wanted, rows(labels, old, **columns), rows(labels, new, **columns))


def of_data(place: Path, wanted: Mapping[str, Any], name: str) -> Answer:
    data = DATA[name]
    return answer(place, wanted, data["labels"], data["baseline"], data["candidate"])


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200", "rare120"])
def test_the_auc_is_that_of_scikit_learn_and_its_test_that_of_all_pairs(name: str, tmp_path: Path) -> None:
    found = of_data(tmp_path, policy("auc"), name).gating
    assert [found["baseline"], found["candidate"]] == pytest.approx(EXPECTED[f"sk_auc_{name}"], abs=1e-12)
    delta, _, p, _ = EXPECTED[f"all_pairs_delong_{name}_0.0"]
    assert found["method"] == "delong"
    assert (found["delta"], found["p_value"]) == pytest.approx((delta, p), abs=1e-9)
    ends = [found["interval"]["low"], found["interval"]["high"]]
    assert ends == pytest.approx(EXPECTED[f"all_pairs_delong_ci_{name}"], abs=1e-9)


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200", "rare120"])
def test_a_tolerance_on_the_auc_is_tested_as_all_pairs_test_it(name: str, tmp_path: Path) -> None:
    rail = {"metric": "score", "kind": "auc", "direction": "higher", "tolerance": 0.05}
    found = of_data(tmp_path, policy("auc", [rail]), name).rule("guardrail:score")
    assert found["p_value"] == pytest.approx(EXPECTED[f"all_pairs_delong_{name}_-0.05"][2], abs=1e-9)
    few = name == "rare120"  # nine positives
    assert found["status"] == ("inconclusive" if few or found["p_value"] > 0.025 else "pass")


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200"])
@pytest.mark.parametrize("kind", CONFUSION)
def test_f1_and_its_like_are_those_of_scikit_learn(kind: str, name: str, tmp_path: Path) -> None:
    found = of_data(tmp_path, policy(kind, threshold=0.3), name).gating
    assert [found["baseline"], found["candidate"]] == pytest.approx(EXPECTED[f"sk_{kind}_{name}"], abs=1e-12)
    assert (found["method"], found["kind"]) == ("bootstrap_rows", kind)


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200"])
@pytest.mark.parametrize("kind", ["precision_at_k", "recall_at_k", "lift_at_k"])
@pytest.mark.parametrize("k", [8, 25, 0.1])
def test_what_stands_on_top_is_the_mean_over_all_orders_of_ties(
    k: float, kind: str, name: str, tmp_path: Path
) -> None:
    found = of_data(tmp_path, policy(kind, k=k), name).gating
    expected = EXPECTED[f"orders_{kind}_{k}_{name}"]
    assert [found["baseline"], found["candidate"]] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200", "rare120"])
def test_average_precision_is_that_of_scikit_learn(name: str, tmp_path: Path) -> None:
    found = of_data(tmp_path, policy("average_precision"), name).gating
    assert [found["baseline"], found["candidate"]] == pytest.approx(EXPECTED[f"sk_ap_{name}"], abs=1e-12)


@pytest.mark.parametrize("name", ["smooth80", "tied90", "coarse200"])
@pytest.mark.parametrize("kind", ["brier", "log_loss"])
def test_losses_of_probabilities_are_means_over_items(kind: str, name: str, tmp_path: Path) -> None:
    """The table's probabilities are the logistic function of its scores, to six digits."""
    data = DATA[name]
    old, new = (np.round(1 / (1 + np.exp(-np.array(data[side]))), 6) for side in ("baseline", "candidate"))
    found = answer(tmp_path, policy(kind, direction="lower"), data["labels"], old, new).gating
    assert [found["baseline"], found["candidate"]] == pytest.approx(EXPECTED[f"sk_{kind}_{name}"], abs=1e-9)
    assert found["delta"] == pytest.approx(found["baseline"] - found["candidate"])
    assert found["method"] == "t_guarded"


@pytest.mark.parametrize("name", ["smooth80", "coarse200"])
def test_accuracy_compares_words_and_goes_to_mcnemars_test(name: str, tmp_path: Path) -> None:
    data = DATA[name]
    words = {0: "ham", 1: "spam"}
    said = [[words[int(score >= 0.3)] for score in data[side]] for side in ("baseline", "candidate")]
    found = answer(tmp_path, policy("accuracy"), [words[y] for y in data["labels"]], *said).gating
    assert [found["baseline"], found["candidate"]] == pytest.approx(EXPECTED[f"sk_accuracy_{name}"])
    assert found["method"] == "mcnemar_exact"
    right = [[s == words[y] for s, y in zip(side, data["labels"], strict=True)] for side in said]
    only_new = sum(b and not a for a, b in zip(*right, strict=True))
    assert found["discordant"]["only_candidate"] == only_new


@pytest.mark.parametrize("name", ["smooth80", "tied90", "rare120"])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.95, 0.99])
def test_a_quantile_is_that_of_scipy_and_needs_ten_items_beyond_it(
    q: float, name: str, tmp_path: Path
) -> None:
    wanted = policy("quantile", q=q, direction="lower") | {"items": {}}
    found = of_data(tmp_path, wanted, name).gating
    expected = EXPECTED[f"mquantiles_{q:g}_{name}"]
    assert [found["baseline"], found["candidate"]] == pytest.approx(expected, abs=1e-12)
    assert found["delta"] == pytest.approx(found["baseline"] - found["candidate"], abs=1e-12)
    beyond = int(len(DATA[name]["labels"]) * min(q, 1 - q) + 1e-9)
    assert ("must lie beyond" in (found.get("insufficient") or "")) is (beyond < 10)


@pytest.mark.parametrize("n", [60, 150])
def test_a_ratio_of_sums_has_the_standard_error_of_its_gradient(n: int, tmp_path: Path) -> None:
    row = next(row for row in TABLE["rows"] if row["id"] == f"gradient_ratio_{n}_False_0.0")
    sides = row["call"]["ratio"]
    files = [
        [{"id": f"i{k}", "cost": x, "n": y} for k, (x, y) in enumerate(zip(*pair, strict=True))]
        for pair in (sides[:2], sides[2:])
    ]
    wanted = policy("ratio", metric="cost", denominator="n") | {"items": {}}
    found = decide(tmp_path, wanted, *files).gating
    assert found["method"] == "ratio_delta"
    assert found["baseline"] == pytest.approx(sum(sides[0]) / sum(sides[1]))
    delta, _, p = row["expected"][:3]
    assert found["delta"] == pytest.approx(delta, abs=1e-9)
    assert found["p_value"] == pytest.approx(p, abs=1e-9)


def test_a_ratio_in_clusters_counts_clusters(tmp_path: Path) -> None:
    """Each cluster doubled in itself: the items are twice as many, the evidence is the same."""
    rng = np.random.default_rng(3)
    old, new = rng.lognormal(0, 0.4, 60).round(3), rng.lognormal(-0.1, 0.4, 60).round(3)
    answers = []
    for times in (1, 2):
        place = tmp_path / str(times)
        place.mkdir()
        files = [
            [
                {"id": f"{j}-{k}", "cost": x, "n": 1, "doc": f"d{k}"}
                for k, x in enumerate(side.tolist())
                for j in range(times)
            ]
            for side in (old, new)
        ]
        wanted = policy("ratio", metric="cost", denominator="n", direction="lower") | {
            "items": {"cluster": "doc"}
        }
        answers.append(decide(place, wanted, *files).gating)
    assert answers[0]["p_value"] == pytest.approx(answers[1]["p_value"], rel=1e-9)


def test_a_ratio_without_its_denominator_is_refused(tmp_path: Path) -> None:
    files = [[{"id": f"i{k}", "cost": 1.0 + k} for k in range(60)]] * 2
    assert (
        "'n'"
        in decide(tmp_path, policy("ratio", metric="cost", denominator="n") | {"items": {}}, *files).error
    )


# 30 positives and 70 negatives, ranked at random before and almost perfectly after
Y = [1] * 30 + [0] * 70
OLD = [(7 * k % 100) / 100 for k in range(100)]
NEW = [(100 - k) / 100 if k % 10 else OLD[k] for k in range(100)]
KINDS = [("auc", {}), ("average_precision", {}), ("precision_at_k", {"k": 0.3}), ("recall_at_k", {"k": 30}),
         ("lift_at_k", {"k": 0.3}), *((kind, {"threshold": 0.6}) for kind in CONFUSION)]  # fmt: skip
EVERY = pytest.mark.parametrize(("kind", "keys"), KINDS, ids=[kind for kind, _ in KINDS])


@EVERY
def test_a_clear_gain_is_promoted_and_its_loss_is_not(
    kind: str, keys: dict[str, Any], tmp_path: Path
) -> None:
    for name, sides, verdict in (("up", (OLD, NEW), "promote"), ("down", (NEW, OLD), "block")):
        (tmp_path / name).mkdir()
        found = answer(tmp_path / name, policy(kind, **keys), Y, *sides)
        assert found.verdict == verdict, found.out


@EVERY
def test_equal_scores_have_p_1_and_are_no_pass(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    """Other bytes, the same curve: an order-preserving change of all scores, or none at all."""
    for name, shift in (("same", 0.0), ("note", 0.0)):
        (tmp_path / name).mkdir()
        old, new = rows(Y, OLD), rows(Y, [score + shift for score in OLD])
        if name == "note":
            old = [{**row, "note": "x"} for row in old]
        found = decide(tmp_path / name, policy(kind, **keys), old, new)
        assert found.verdict == "inconclusive"
        assert found.gating["p_value"] == 1.0


def test_a_rise_of_all_scores_changes_no_curve(tmp_path: Path) -> None:
    found = answer(tmp_path, policy("auc"), Y, OLD, [2 * score + 1 for score in OLD])
    assert (found.verdict, found.gating["delta"], found.gating["p_value"]) == ("inconclusive", 0.0, 1.0)


def test_scores_one_bit_apart_are_apart(tmp_path: Path) -> None:
    """60 ties between a positive and a negative, broken by the last bit: half a pair is won 60 x 60 times."""
    labels = [1] * 60 + [0] * 60
    old = [0.5] * 120
    new = [float(np.nextafter(0.5, 1))] * 60 + [0.5] * 60
    found = answer(tmp_path, policy("auc"), labels, old, new).gating
    assert (found["baseline"], found["candidate"]) == (0.5, 1.0)


@EVERY
def test_too_few_rows_or_positives_pass_nothing(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    few = [k for k in range(100) if Y[k] == 0 or k < 9]
    for name, chosen in (("rows", range(0, 100, 3)), ("positives", few)):
        (tmp_path / name).mkdir()
        old, new = ([side[k] for k in chosen] for side in (OLD, NEW))
        found = answer(tmp_path / name, policy(kind, **keys), [Y[k] for k in chosen], old, new)
        assert found.verdict == "inconclusive", found.out
        veto = {"metric": "score", "kind": kind, "direction": "higher", "mode": "no_regression", **keys}
        (tmp_path / f"{name}-veto").mkdir()
        clear = [{"correct": 0}] * len(old), [{"correct": 1}] * len(old)
        made = [
            [row | more for row, more in zip(rows([Y[k] for k in chosen], side), extra, strict=True)]
            for side, extra in zip((old, old), clear, strict=True)
        ]
        made[1] = [row | {"score": row["score"] + 1e-9 * (n % 2)} for n, row in enumerate(made[1])]
        gating = {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01}
        wanted = policy("auc", [veto]) | {"gating": gating}
        found = decide(tmp_path / f"{name}-veto", wanted, *made)
        assert found.status("guardrail:score") == "inconclusive", found.out


def test_one_label_alone_has_no_auc(tmp_path: Path) -> None:
    found = answer(tmp_path, policy("auc"), [1] * 100, OLD, NEW)
    assert found.verdict == "inconclusive"
    assert found.gating["baseline"] is None
    assert "one label" in found.out


def test_labels_that_differ_between_the_files_are_refused(tmp_path: Path) -> None:
    turned = [1 - Y[0], *Y[1:]]
    found = decide(tmp_path, policy("auc"), rows(Y, OLD), rows(turned, NEW))
    assert "not_comparable" in found.error or "gold differs between the two files on 1 items" in found.error


@pytest.mark.parametrize("label", [2, "maybe", None, ""])
def test_a_label_that_says_neither_yes_nor_no_is_refused(label: Any, tmp_path: Path) -> None:
    labels = [label, *Y[1:]]
    assert "gold" in answer(tmp_path, policy("auc"), labels, OLD, NEW).error


def test_the_policy_says_what_words_of_labels_mean(tmp_path: Path) -> None:
    words = {"artifacts": {"labels": {"pass": ["bad loan"], "fail": ["good loan"]}}}
    labels = ["bad loan" if y else "good loan" for y in Y]
    assert "must say yes or no" in answer(tmp_path, policy("auc"), labels, OLD, NEW).error
    found = answer(tmp_path, policy("auc", **words), labels, OLD, NEW)
    numbers = answer(tmp_path, policy("auc"), Y, OLD, NEW)
    assert found.gating["delta"] == numbers.gating["delta"]


@pytest.mark.parametrize("label", ["true", True, 1, 1.0, "1"])
def test_yes_is_one_thing_however_it_is_written(label: Any, tmp_path: Path) -> None:
    found = answer(tmp_path, policy("auc"), [label if y else 0 for y in Y], OLD, NEW)
    assert found.verdict == "promote", found.err


@EVERY
def test_rows_ids_and_order_change_no_digit(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    order = [(37 * k) % 100 for k in range(100)]
    blocks = []
    for name, places in (("a", range(100)), ("b", order)):
        (tmp_path / name).mkdir()
        found = answer(
            tmp_path / name, policy(kind, **keys), *([side[k] for k in places] for side in (Y, OLD, NEW))
        )
        blocks.append(found.gating)
    assert blocks[0] == blocks[1]


def test_the_row_bootstrap_stands_beside_delong(tmp_path: Path) -> None:
    found = answer(tmp_path, policy("auc"), Y, OLD, NEW)
    beside = found.gating["reference"]
    by_name = answer(tmp_path, policy("auc", test="bootstrap_rows"), Y, OLD, NEW).gating
    assert beside == {
        "bootstrap_low": by_name["interval"]["low"],
        "bootstrap_high": by_name["interval"]["high"],
    }
    assert "by the row bootstrap [" in found.markdown
    assert "reference" not in by_name


@pytest.mark.parametrize(
    ("least", "proven", "exit_code"), [(0.7, False, 0), (0.99, False, 1), (0.7, True, 0), (0.9, True, 3)]
)
def test_a_limit_looks_at_the_candidate_alone(
    least: float, proven: bool, exit_code: int, tmp_path: Path
) -> None:
    rail = {"metric": "score", "kind": "auc", "direction": "higher", "mode": "limit", "min": least}
    found = answer(tmp_path, policy("auc", [rail | {"proven": proven}]), Y, OLD, NEW)
    block = found.rule("guardrail:score")
    assert block["candidate"] == found.gating["candidate"]
    assert block["baseline"] == found.gating["baseline"]
    assert {"pass": 0, "fail": 1, "inconclusive": 3}[block["status"]] == exit_code, block


@EVERY
def test_a_limit_is_not_proven_on_few_rows(kind: str, keys: dict[str, Any], tmp_path: Path) -> None:
    chosen = range(0, 100, 3)
    rail = {
        "metric": "score",
        "kind": kind,
        "direction": "higher",
        "mode": "limit",
        "min": -1.0 if kind == "matthews" else 0.0,
    }
    sides = ([side[k] for k in chosen] for side in (Y, OLD, NEW))
    found = answer(tmp_path, policy(kind, [rail | keys | {"proven": True}], **keys), *sides)
    assert found.status("guardrail:score") == "inconclusive", found.out


@EVERY
def test_a_proven_limit_on_enough_rows_is_the_interval_of_one_side(
    kind: str, keys: dict[str, Any], tmp_path: Path
) -> None:
    rail = {"metric": "score", "kind": kind, "direction": "higher", "mode": "limit", "min": 0.01}
    found = answer(tmp_path, policy(kind, [rail | keys | {"proven": True}], **keys), Y, OLD, NEW)
    block = found.rule("guardrail:score")
    assert block["interval"]["low"] <= block["candidate"] <= block["interval"]["high"]
    assert block["interval"]["low"] < block["interval"]["high"]
    assert block["status"] == "pass"


def test_a_share_of_the_baseline_is_an_amount_and_says_so(tmp_path: Path) -> None:
    found = answer(tmp_path, policy("auc", margin={"relative": 0.1}), Y, OLD, NEW)
    assert found.gating["margin"] == pytest.approx(0.1 * found.gating["baseline"])
    assert {caution["code"] for caution in found.gating["cautions"]} >= {"relative_plugged_in"}


def test_slices_that_cannot_carry_the_metric_are_reported_and_not_gated(tmp_path: Path) -> None:
    large = [("a" if k % 2 else "b") if k < 96 else "c" for k in range(400)]
    big = (
        [y for y in Y for _ in range(4)],
        [s for s in OLD for _ in range(4)],
        [s for s in NEW for _ in range(4)],
    )
    slices = {"by": ["part"], "min_items": 30}
    found = answer(tmp_path, policy("auc", slices=slices), *big, part=large)
    statuses = {name: found.status(f"slice:part={name}") for name in "abc"}
    assert statuses == {"a": "not_gated", "b": "not_gated", "c": "pass"}
    assert {entry["rule"] for entry in found.report["not_assessed"]} >= {"slice:part=a", "slice:part=b"}


def test_each_challenger_is_corrected(tmp_path: Path) -> None:
    for name, side in (("old", OLD), ("one", NEW), ("two", [s + 0.001 * (k % 3) for k, s in enumerate(NEW)])):
        write_rows(tmp_path / f"{name}.jsonl", rows(Y, side))
    write_policy(tmp_path / "gate.yaml", policy("auc", challengers=4))
    done = command("run", "--policy", tmp_path / "gate.yaml", "--baseline", tmp_path / "old.jsonl",
                   "--candidate", tmp_path / "one.jsonl", "--candidate", tmp_path / "two.jsonl",
                   "--report-dir", tmp_path / "report")  # fmt: skip
    assert with_reports(done, tmp_path / "report").code == 0
    reports = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))["reports"]
    for report in reports:
        assert report["gating"]["p_adjusted"] >= 3 * report["gating"]["p_value"]


CHURN = {"metric": "score", "kind": "auc", "direction": "higher", "mode": "churn", "max": 0.1}
REFUSED = [
    ("kind: ece favours the blander", policy("ece"), "calibration"),
    ("no label", policy("auc") | {"items": {}}, "gold labels"),
    ("no k", policy("precision_at_k"), "needs k"),
    ("half a row", policy("precision_at_k", k=1.5), "whole number"),
    ("k elsewhere", policy("auc", k=5), "takes no k"),
    ("a direction", policy("auc", direction="lower"), "higher is better"),
    ("another direction", policy("brier"), "lower is better"),
    ("clusters", policy("auc", items={"cluster": "doc"}), "independent"),
    ("runs", policy("auc", items={"repeat": "run"}), "ensemble"),
    ("seeds", policy("auc", items={"unit": "seed"}), "seed"),
    ("worst", policy("auc", items={"missing": "worst", "max_missing": 0.1}), "least favourable"),
    ("must_pass", policy("auc", items={"must_pass": ["i1"]}), "one item"),
    ("guaranteed", policy("auc", assurance="guaranteed"), "guaranteed"),
    ("a scale", policy("auc", scale=[0, 1]), "scale"),
    ("another test", policy("auc", test="paired_t"), "test paired_t"),
    ("delong on f1", policy("f1", test="delong"), "test delong"),
    ("an interval", policy("auc", interval="wald"), "interval"),
    ("percent", policy("auc", margin=2.0), "between 0 and 1"),
    ("worst_item", policy("auc", [CHURN | {"mode": "worst_item"}]), "whole set"),
    ("tail", policy("auc", [CHURN | {"mode": "tail", "share": 0.1}]), "whole set"),
    ("churn", policy("auc", [CHURN]),
     "whole set"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_a_metric_of_the_whole_set_cannot_do_is_said(
    wanted: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert words in answer(tmp_path, wanted, Y, OLD, NEW).error


def test_one_column_is_two_metrics_under_two_names(tmp_path: Path) -> None:
    loss = {"metric": "score", "kind": "brier", "direction": "lower", "tolerance": 0.05}
    told = answer(tmp_path, policy("auc", [loss]), Y, OLD, NEW)
    assert "mapping" in told.error
    named = policy("auc", [loss | {"metric": "p"}], artifacts={"mapping": {"p": "score"}})
    found = answer(tmp_path, named, Y, OLD, NEW)
    assert found.rule("guardrail:p")["kind"] == "brier"


def test_probabilities_beyond_0_and_1_are_refused(tmp_path: Path) -> None:
    wanted = policy("log_loss", direction="lower")
    assert "probabilities" in answer(tmp_path, wanted, Y, OLD, [5.0, *NEW[1:]]).error
    certain = answer(tmp_path, wanted, Y, OLD, [0.0, *NEW[1:]])
    assert "probability_clipped" in certain.cautions()
    assert certain.gating["candidate"] > 0.3  # -log(1e-15) / 100 is 0.345


def test_groups_are_the_items(tmp_path: Path) -> None:
    """Of two rows in each of 40 groups the positive one stands first in 10 before and in all after."""
    labels = [1, 0] * 40
    old = [(1.0, 0.0)[(k + j) % 2] if k >= 10 else (1.0, 0.0)[j] for k in range(40) for j in range(2)]
    new = [1.0, 0.0] * 40
    case = [f"q{k}" for k in range(40) for _ in range(2)]
    found = answer(tmp_path, policy("precision_at_k", k=1, group="case"), labels, old, new, case=case).gating
    first = sum(old[2 * k] > old[2 * k + 1] for k in range(40))
    assert (found["n"], found["baseline"], found["candidate"]) == (40, first / 40, 1.0)
    assert found["method"] == "t_guarded"


def test_groups_without_a_positive_are_left_out_and_said(tmp_path: Path) -> None:
    labels = [1, 0] * 40 + [0, 0] * 5
    old, new = [0.0, 1.0] * 45, [1.0, 0.0] * 45
    case = [f"q{k}" for k in range(45) for _ in range(2)]
    found = answer(tmp_path, policy("average_precision", group="case"), labels, old, new, case=case).gating
    assert (found["n"], found["baseline"], found["candidate"]) == (40, 0.5, 1.0)
    assert "groups_without_positive" in {caution["code"] for caution in found["cautions"]}


@pytest.mark.parametrize("value", [None, "only"])
def test_a_row_without_a_group_is_refused_and_one_group_is_one_item(value: Any, tmp_path: Path) -> None:
    case = [value, *["only"] * 99]
    found = answer(tmp_path, policy("average_precision", group="case"), Y, OLD, NEW, case=case)
    assert found.code == (2 if value is None else 3)


def test_planning_says_that_it_cannot(tmp_path: Path) -> None:
    write_policy(tmp_path / "gate.yaml", policy("auc"))
    path = write_rows(tmp_path / "a.jsonl", rows(Y, OLD))
    for words in (("plan",), ("selftest",), ("check",)):
        options = ["--policy", tmp_path / "gate.yaml"] if words == ("plan",) else [tmp_path / "gate.yaml"]
        done = command(*words, *options, "--baseline", path)
        assert "cannot be simulated" in done.error
    plain = command("check", tmp_path / "gate.yaml")
    assert "held to a nominal 0.025 (delong" in plain.out
