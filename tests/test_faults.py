"""Faults that were seen in tools of this kind, each as a behaviour that the gate must not have.

Where an expected number is not a count it comes from scipy, statsmodels or whole-number arithmetic.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from black_box import BINARY, GRADED, Answer, command, decide, policy, tables, write_policy, write_rows
from scipy import stats
from seed_data import count_table, rows_of
from statsmodels.stats.multitest import multipletests

from gate.stats import binary, graded
from gate.stats.methods import METHODS, named_tests
from gate.stats.pairs import pair
from gate.stats.procedures import run

Rows = list[dict[str, Any]]
GRADED_TESTS = [test.id for test in named_tests("pairs", "graded") if test.id != "bca_sign_flip"]
WORSE_TO_BETTER = ["block", "inconclusive", "promote"]


# order, ids, format and seeds do not matter

MIXED = policy(
    gating={"test": "auto"},
    guardrails=[
        {"metric": "speed", "kind": "graded", "direction": "lower", "tolerance": 0.5},
        {"metric": "unsafe", "kind": "binary", "direction": "lower", "mode": "no_regression"},
        {"metric": "speed2", "kind": "graded", "direction": "higher", "tolerance": 0.5, "test": "bootstrap"},
    ],
    slices={"by": ["language"]},
    watch=["words"],
)


def mixed_rows() -> tuple[Rows, Rows]:
    source = random.Random(20_260_101)
    sides: tuple[Rows, Rows] = ([], [])
    for number in range(120):
        hard = source.random()
        for side, rows in enumerate(sides):
            rows.append(
                {
                    "id": f"item {number}",
                    "language": "en" if number % 3 else "fr",
                    "correct": int(source.random() < 0.35 + 0.25 * side + 0.3 * hard),
                    "speed": round(source.gauss(3 + hard, 1), 4),
                    "speed2": round(source.gauss(3 + hard, 1), 4),
                    "unsafe": int(source.random() < 0.05),
                    "words": round(source.gauss(100, 9), 1),
                }
            )
    return sides


def figures(answer: Answer) -> str:
    """The report as text, without the places that name files, ids and their digests."""
    assert answer.report is not None, answer.err
    report = dict(answer.report)
    for name in ("provenance", "changes", "signature"):
        report.pop(name)
    report["pairing"] = {k: v for k, v in report["pairing"].items() if k != "items_digest"}
    report["cycles"] = {k: v for k, v in report["cycles"].items() if k != "cycle"}
    return json.dumps(report, sort_keys=True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return decide(tmp_path_factory.mktemp("plain"), MIXED, *mixed_rows())


def test_row_order_changes_no_digit(plain: Answer, tmp_path: Path) -> None:
    sides = mixed_rows()
    for number, rows in enumerate(sides):
        random.Random(number).shuffle(rows)
    answer = decide(tmp_path, MIXED, *sides)
    assert figures(answer) == figures(plain)
    assert answer.report is not None
    assert plain.report is not None
    for name in ("changes", "signature"):
        assert answer.report[name] == plain.report[name]
    for side in ("baseline", "candidate"):
        one, other = (found["provenance"][side]["digest"] for found in (answer.report, plain.report))
        assert one == other


def test_other_ids_change_no_digit(plain: Answer, tmp_path: Path) -> None:
    names = [f"k{number}" for number in range(120)]
    random.Random(5).shuffle(names)
    renamed = [[{**row, "id": names[int(row["id"][5:])]} for row in side] for side in mixed_rows()]
    assert figures(decide(tmp_path, MIXED, *renamed)) == figures(plain)


def test_another_format_changes_no_digit(plain: Answer, tmp_path: Path) -> None:
    assert figures(decide(tmp_path, MIXED, *mixed_rows(), suffix=".csv")) == figures(plain)


def test_policy_comments_and_the_order_of_keys_change_no_digit(plain: Answer, tmp_path: Path) -> None:
    turned = json.dumps(dict(reversed(list(MIXED.items()))), indent=1)
    answer = decide(tmp_path, "# agreed\n" + turned, *mixed_rows())
    assert answer.report is not None
    assert plain.report is not None
    same = {"file_digest": None}
    assert answer.report["policy"] | same == plain.report["policy"] | same
    assert answer.gating == plain.gating


@pytest.mark.parametrize("test", ["bootstrap", "bootstrap_bca", "bootstrap_t", "sign_flip"])
def test_repetition_gives_the_same_bytes(test: str, tmp_path: Path) -> None:
    rows = [[{"id": row["id"], "score": row["speed"]} for row in side] for side in mixed_rows()]
    found = set()
    for _ in range(3):
        decide(tmp_path, policy(GRADED, gating={"test": test}), *rows)
        found.add((tmp_path / "report" / "report.json").read_bytes())
        random.random()  # a global generator that moved on must not matter
        np.random.default_rng()
    assert len(found) == 1


def test_fresh_processes_with_other_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    write_policy(tmp_path / "gate.yaml", MIXED)
    for name, rows in zip(("baseline", "candidate"), mixed_rows(), strict=True):
        write_rows(tmp_path / f"{name}.jsonl", rows)
    outputs = {run_process(tmp_path, "--json", "-", PYTHONHASHSEED=seed).stdout for seed in ("1", "77")}
    assert len(outputs) == 1


# few items, intervals inside the scale, interval and p are one event


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_interval_and_p_are_one_event_for_pass_fail(alpha: float) -> None:
    level = alpha / 2
    for b in range(13):
        for c in range(13):
            found = binary.mcnemar_exact(b, c, 60, 0.0, level)
            assert (found.interval.low > 0) == (found.p_greater < level), (b, c)
            assert (found.interval.high < 0) == (found.p_less < level), (b, c)
            assert -1 <= found.interval.low <= (b - c) / 60 <= found.interval.high <= 1, (b, c)


@pytest.mark.parametrize("test", ["t_guarded", "paired_t", "bootstrap", "sign_flip", "bootstrap_t"])
def test_interval_and_p_are_one_event_for_graded_scores(test: str) -> None:
    source = np.random.default_rng(11)
    for shift in np.linspace(-0.9, 0.9, 9):
        values = source.gamma(2.0, 0.5, 40) - 1 + shift
        found = run(test, pair(np.zeros(40), values), 0.0, 0.025)
        assert (found.interval.low > 0) == (found.p_greater < 0.025), shift
        assert (found.interval.high < 0) == (found.p_less < 0.025), shift


@pytest.mark.parametrize(("b", "c", "both"), [(4, 0, 1), (5, 0, 0), (1, 0, 4), (0, 5, 0)])
def test_five_items_prove_nothing(b: int, c: int, both: int, tmp_path: Path) -> None:
    answer = decide(tmp_path, policy(items={"min": 1}), *count_table(b, c, both, 5))
    assert answer.verdict == "inconclusive"
    low, high = answer.gating["interval"]["low"], answer.gating["interval"]["high"]
    assert -1 <= low <= 0 <= high <= 1
    assert answer.gating["p_two_sided"] == pytest.approx(stats.binomtest(max(b, c), b + c).pvalue)


def test_five_graded_items_with_one_loss(tmp_path: Path) -> None:
    """Signs of five items, one of them lost, cannot be better than 2 (1 + 5) / 32 = 0.375 two-sided."""
    gains = [0.9, 0.8, 1.0, 0.7, -0.1]
    rows = rows_of([(0.0, gain) for gain in gains], "score")
    wanted = policy(GRADED, gating={"test": "sign_flip"}, items={"min": 1})
    answer = decide(tmp_path, wanted, *rows)
    # all sums of signed gains that reach the observed one: all plus, and -0.1 turned
    assert answer.gating["p_value"] == pytest.approx(2 / 32)
    assert answer.verdict == "inconclusive"


def test_one_better_item_never_makes_the_verdict_worse(tmp_path: Path) -> None:
    """Seven items: the second table is the first with one gain raised from 0.4 to 1.0."""
    tables_ = ([0.4] * 4 + [0.0] * 3, [0.4] * 3 + [1.0] + [0.0] * 3)
    found = []
    for gains in tables_:
        rows = rows_of([(0.0, gain) for gain in gains], "score")
        found.append(decide(tmp_path, policy(GRADED, items={"min": 1}), *rows).verdict or "")
    assert WORSE_TO_BETTER.index(found[1]) >= WORSE_TO_BETTER.index(found[0])


def test_more_wins_never_make_a_pass_fail_verdict_worse(tmp_path: Path) -> None:
    found = []
    for b in range(0, 60, 6):
        answer = decide(tmp_path, BINARY, *count_table(b, 20, 200 - b, 400))
        found.append(WORSE_TO_BETTER.index(answer.verdict or ""))
    assert found == sorted(found)
    assert {0, 2} < set(found)


# nothing differs


@pytest.mark.parametrize("test", ["auto", *sorted(m.id for m in METHODS.values() if m.form == "counts")])
def test_equal_pass_fail_scores_are_never_significant(test: str, tmp_path: Path) -> None:
    rows = count_table(0, 0, 60, 100)
    answer = decide(tmp_path, policy(gating={"test": test}), rows[0], rows[1][::-1])
    assert answer.verdict == "inconclusive"
    assert answer.gating["p_value"] is None or answer.gating["p_value"] >= 0.5
    interval = answer.gating["interval"]
    assert interval is None or interval["low"] <= 0 <= interval["high"]


@pytest.mark.parametrize("test", ["auto", *GRADED_TESTS])
def test_equal_graded_scores_are_never_significant(test: str, tmp_path: Path) -> None:
    rows = rows_of([(k % 9 / 10, k % 9 / 10) for k in range(100)], "score")
    wanted = policy(GRADED, gating={"test": test, "scale": [0, 1]})
    answer = decide(tmp_path, wanted, rows[0], rows[1][::-1])
    assert answer.verdict == "inconclusive"
    assert answer.gating["p_value"] is None or answer.gating["p_value"] >= 0.5


def test_no_discordant_pair_in_fifty_leaves_the_interval_that_fifty_allow(tmp_path: Path) -> None:
    """Tango's interval for 0 and 0 of 50 is +-z^2 / (n + z^2) = +-0.0713."""
    answer = decide(tmp_path, policy(gating={"interval": "tango"}), *count_table(0, 0, 30, 50))
    shown = answer.gating["interval_requested"]
    z2 = stats.norm.ppf(0.975) ** 2
    assert (shown["low"], shown["high"]) == pytest.approx((-z2 / (50 + z2), z2 / (50 + z2)), abs=1e-6)
    assert round(shown["high"], 4) == 0.0713


# exact decimals

ONE_POINT = policy(gating={"margin": 0.01})


@pytest.mark.parametrize("percent", range(1, 99))
def test_an_exact_gain_of_one_point_reaches_a_margin_of_one_point(percent: int, tmp_path: Path) -> None:
    """10 of 1000 items are won and none lost (p = 2^-10); and 40 graded items with gains of 0 and 0.02."""
    answer = decide(tmp_path, ONE_POINT, *count_table(10, 0, 10 * percent, 1000), suffix=".csv")
    assert (answer.code, answer.gating["delta"]) == (0, pytest.approx(0.01, abs=1e-15))
    base = percent / 100
    rows = rows_of([(base, round(base + 0.02 * (k % 2), 2)) for k in range(40)], "score")
    answer = decide(tmp_path, policy(GRADED), *rows, suffix=".csv")
    assert (answer.code, answer.gating["margin_rules"]["observed"]) == (0, True)


def test_an_exact_relative_gain_reaches_a_relative_margin(tmp_path: Path) -> None:
    """0.80 to 0.84 is 5 % of 0.80; half the items gain 0.02 and half 0.06."""
    rows = rows_of([(0.8, 0.82 if k % 2 else 0.86) for k in range(60)], "score")
    answer = decide(tmp_path, policy(GRADED, gating={"margin": {"relative": 0.05}}), *rows)
    assert answer.code == 0
    assert answer.gating["margin"] == pytest.approx(0.04)


def test_an_exact_loss_of_the_limit_is_within_it(tmp_path: Path) -> None:
    for lost in range(1, 20):
        rail = {
            "metric": "other",
            "kind": "binary",
            "direction": "higher",
            "mode": "churn",
            "max": lost / 100,
        }
        blocks = [
            {"n": lost, "baseline": {"correct": 0, "other": 1}, "candidate": {"correct": 1, "other": 0}},
            {
                "n": 100 - lost,
                "baseline": {"correct": 0, "other": 1},
                "candidate": {"correct": 1, "other": 1},
            },
        ]
        sides = tables(blocks)
        answer = decide(tmp_path, policy(guardrails=[rail]), sides["baseline"], sides["candidate"])
        assert answer.code == 0, lost


# corrections are what they are called


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("bonferroni", "bonferroni"),
        ("holm", "holm"),
        ("hochberg", "simes-hochberg"),
        ("bh", "fdr_bh"),
        ("by", "fdr_by"),
        ("none", ""),
    ],
)
def test_corrections(name: str, oracle: str, tmp_path: Path) -> None:
    losses = {"m1": (3, 12), "m2": (4, 12), "m3": (5, 9), "m4": (6, 20), "m5": (9, 9)}
    rails = [
        {"metric": metric, "kind": "binary", "direction": "higher", "mode": "no_regression"}
        for metric in losses
    ]
    rows: tuple[Rows, Rows] = count_table(40, 5, 155, 200)
    for metric, (b, c) in losses.items():
        for side, other in zip(rows, count_table(b, c, 150, 200, metric), strict=True):
            for row, more in zip(side, other, strict=True):
                row[metric] = more[metric]
    answer = decide(tmp_path, policy(guardrails=rails, correction=name), *rows)
    raw = [stats.binom.sf(c - 1, b + c, 0.5) for b, c in losses.values()]
    wanted = multipletests(raw, method=oracle)[1] if oracle else raw
    blocks = [answer.rule(f"guardrail:{metric}") for metric in losses]
    assert [block["p_value"] for block in blocks] == pytest.approx(raw, rel=1e-9)
    found = [block["p_value"] if block["p_adjusted"] is None else block["p_adjusted"] for block in blocks]
    assert found == pytest.approx(list(wanted), rel=1e-9)
    failed = [block["status"] == "fail" for block in blocks]
    assert failed == [bool(p < 0.025) for p in wanted]
    assert answer.verdict == ("block" if any(failed) else "promote")


def test_watched_metrics_are_corrected_by_bh_and_two_sided(tmp_path: Path) -> None:
    source = np.random.default_rng(3)
    values = {f"w{k}": source.normal(0.1 * k, 1, 200) for k in range(4)}
    rows = count_table(40, 5, 155, 200)
    for metric, gains in values.items():
        for row_old, row_new, gain in zip(*rows, gains, strict=True):
            row_old[metric], row_new[metric] = 0.0, float(gain)
    answer = decide(tmp_path, policy(watch=list(values)), *rows)
    blocks = [answer.rule(f"watch:{metric}") for metric in values]
    raw = [block["p_two_sided"] for block in blocks]
    students = [stats.ttest_1samp(gains, 0.0).pvalue for gains in values.values()]
    assert raw == pytest.approx(students, abs=0.02), "near Student's p for normal data"
    assert [block["p_adjusted"] for block in blocks] == pytest.approx(multipletests(raw, method="fdr_bh")[1])


def test_twenty_quiet_guardrails_do_not_block_by_number(tmp_path: Path) -> None:
    """Twenty vetoes with one-sided p 0.0392 each and one with 0.0207: no correction would block."""
    rows = count_table(40, 5, 155, 200)
    rails = []
    for k in range(20):
        b, c = (6, 15) if k else (5, 14)
        for side, other in zip(rows, count_table(b, c, 150, 200, f"m{k}"), strict=True):
            for row, more in zip(side, other, strict=True):
                row[f"m{k}"] = more[f"m{k}"]
        rails.append({"metric": f"m{k}", "kind": "binary", "direction": "higher", "mode": "no_regression"})
    assert decide(tmp_path, policy(guardrails=rails), *rows).verdict == "promote"


# items needed


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.05])
@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 1), (3, 3), (9, 4), (4, 9), (12, 5), (30, 18)])
def test_items_needed_are_a_positive_number_or_a_reason(
    b: int, c: int, margin: float, tmp_path: Path
) -> None:
    answer = decide(tmp_path, policy(gating={"margin": margin}), *count_table(b, c, 50, 120))
    assert answer.report is not None
    step, needed = answer.report["next_step"], answer.gating["items_needed"]
    assert step
    assert not re.search(r"-\s?\d", step)
    assert needed is None or (isinstance(needed, int) and needed >= 2)
    if answer.verdict == "inconclusive":
        more = re.search(r"score about ([\d,]+) new items?", step)
        if more:
            assert int(more[1].replace(",", "")) >= 1
        else:
            assert re.search(r"need not help|never differ|undecided|same file was given", step), step


# large counts and little memory


@pytest.mark.parametrize(("b", "c"), [(1500, 1300), (900, 700), (30_000, 29_000)])
def test_more_than_1023_discordant_pairs(b: int, c: int) -> None:
    found = binary.mcnemar_exact(b, c, 100_000, 0.0, 0.025)
    exact = stats.binomtest(b, b + c).pvalue
    assert found.p_two_sided == pytest.approx(exact, rel=1e-7)
    assert found.interval.low > 0


def test_exact_p_in_whole_numbers() -> None:
    b, c = 640, 560
    tail = Fraction(sum(math.comb(b + c, k) for k in range(b, b + c + 1)), 2 ** (b + c))
    found = binary.mcnemar_exact(b, c, 2000, 0.0, 0.025)
    assert found.p_greater == pytest.approx(float(tail), rel=1e-9)


@pytest.mark.parametrize("test", ["bootstrap", "sign_flip", "t_guarded"])
def test_resampling_many_items_keeps_no_matrix(test: str) -> None:
    """40,000 items by 9,999 resamples would be 0.4 GB as a matrix of signs, 3 GB as one of indices."""
    values = np.random.default_rng(1).normal(0.01, 1, 40_000)
    pairs = pair(np.zeros(40_000), values)
    tracemalloc.start()
    found = run(test, pairs, 0.0, 0.025)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
    student = stats.ttest_1samp(values, 0.0, alternative="greater").pvalue
    assert found.p_greater == pytest.approx(
        student, abs=4 * (0.44 * 0.56 / 10_000) ** 0.5
    )  # four Monte Carlo errors


def test_t_guarded_is_never_below_student() -> None:
    source = np.random.default_rng(8)
    for _ in range(20):
        values = source.exponential(1.0, 25) - 0.7
        found = graded.t_guarded(pair(np.zeros(25), values), 0.0, 0.025)
        student = stats.ttest_1samp(values, 0.0, alternative="greater").pvalue
        assert found.p_greater >= student * (1 - 1e-9)


# broken, empty and odd files


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\xef\xbb\xbf",
        b"[]",
        b"{}",
        b"null",
        b'{"columns": ["id", "correct"], "data": []}',
        b"id",
    ],
)
def test_files_without_items(content: bytes, tmp_path: Path) -> None:
    good = write_rows(tmp_path / "good.jsonl", count_table(0, 0, 60, 100)[0])
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(content)
    assert decide(tmp_path, BINARY, good, empty).error
    assert decide(tmp_path, BINARY, empty, good).error


def test_nan_in_a_watched_metric_does_not_gate_and_is_said(tmp_path: Path) -> None:
    rows = count_table(40, 5, 155, 200)
    for side in rows:
        for row in side:
            row["words"] = 7.0
    rows[1][3]["words"] = math.nan
    answer = decide(tmp_path, policy(watch=["words"]), *rows)
    assert answer.code in {0, 2}
    if answer.code == 0:
        assert answer.report is not None
        assert "words" in json.dumps([answer.report["not_assessed"], answer.report["cautions"]])


@pytest.mark.parametrize("mode", ["limit", "churn", "no_regression", "non_inferior"])
@pytest.mark.parametrize("side", [0, 1])
def test_nan_in_a_guardrail_is_an_error(mode: str, side: int, tmp_path: Path) -> None:
    keys = {"limit": {"max": 9}, "churn": {"max": 0.5}, "non_inferior": {"tolerance": 1}}.get(mode, {})
    rail = {"metric": "words", "kind": "graded", "direction": "lower", "mode": mode, **keys}
    rows = count_table(40, 5, 155, 200)
    for number, rows_ in enumerate(rows):
        for k, row in enumerate(rows_):
            row["words"] = 7.0 + k % 3 + number * (k % 2) / 10
    rows[side][3]["words"] = math.nan
    answer = decide(tmp_path, policy(guardrails=[rail]), *rows)
    if mode == "limit" and side == 0:
        assert answer.code == 0, "a limit looks at the candidate only"
    else:
        assert "item-00003" in answer.error


def test_epochs_that_one_side_lacks_are_counted(tmp_path: Path) -> None:
    old = [{"id": f"q{k}", "run": run, "correct": k % 2} for k in range(60) for run in range(4)]
    new = [{"id": f"q{k}", "run": 0, "correct": int(k % 4 > 0)} for k in range(60)]
    answer = decide(tmp_path, policy(items={"repeat": "run"}), old, new)
    assert answer.report is not None
    found = answer.report["pairing"]
    assert (answer.gating["n"], found["repeats_baseline"], found["repeats_candidate"]) == (60, 4, 1)


def test_every_epoch_counts(tmp_path: Path) -> None:
    """The candidate is better in every epoch but the first."""
    old = [{"id": f"q{k}", "run": run, "correct": 0} for k in range(60) for run in range(4)]
    new = [{**row, "correct": int(row["run"] > k % 2)} for k, row in enumerate(old)]
    answer = decide(tmp_path, policy(items={"repeat": "run"}), old, new)
    mean = sum(row["correct"] for row in new) / len(new)
    assert answer.gating["delta"] == pytest.approx(mean)


@pytest.mark.parametrize("same", ["baseline", "candidate", "policy", "history"])
@pytest.mark.parametrize("option", ["--json", "--report-dir"])
def test_a_report_never_replaces_what_the_run_was_given(option: str, same: str, tmp_path: Path) -> None:
    """A slip in a pipeline's variables must not cost the baseline or the history."""
    folder = tmp_path / "in"
    folder.mkdir()
    names = {"policy": "gate.yaml", "baseline": "b.jsonl", "candidate": "c.jsonl", "history": "h.jsonl"}
    names[same] = "report.json"
    paths = {role: folder / name for role, name in names.items()}
    write_policy(paths["policy"], BINARY)
    for role, rows in zip(("baseline", "candidate"), count_table(40, 5, 155, 200), strict=True):
        write_rows(paths[role], rows)
    assert command("history", "init", paths["history"]).code == 0
    before = {role: path.read_bytes() for role, path in paths.items()}
    given = [word for role, path in paths.items() for word in (f"--{role}", path)]
    target = paths[same] if option == "--json" else folder
    answer = command("run", *given, option, target)
    assert answer.error
    assert "report.json" in answer.err
    for role in ("policy", "baseline", "candidate"):
        assert paths[role].read_bytes() == before[role]
    assert paths["history"].read_bytes().startswith(before["history"])


def test_a_report_that_cannot_be_written_leaves_no_promotion_behind(tmp_path: Path) -> None:
    """--json names a folder: exit 2, so no file of this run may say promote."""
    files = [write_rows(tmp_path / f"{k}.jsonl", rows) for k, rows in enumerate(count_table(40, 5, 155, 200))]
    rules = write_policy(tmp_path / "gate.yaml", BINARY)
    answer = command(
        *("run", "--policy", rules, "--baseline", files[0], "--candidate", files[1]),
        *("--report-dir", tmp_path / "out", "--json", tmp_path),
    )
    assert answer.error
    assert "help: " in answer.err
    assert not answer.out.startswith("promote")
    assert not (tmp_path / "out" / "report.json").exists()


def test_long_ids_and_hostile_text_are_inert(tmp_path: Path) -> None:
    rows = count_table(40, 5, 155, 200)
    for side in rows:
        side[0]["id"] = "x" * 250
        for row, number in zip(side, range(6), strict=False):
            if number:
                row["id"] = f"{number}|<img src=x>@team ](http://x) `## PASS` %0A::set-output"
    answer = decide(tmp_path, policy(name="p | <b>"), *rows)
    assert answer.code == 0, answer.err
    assert "<img" not in answer.markdown
    assert "@team" not in answer.markdown
    assert "](http" not in answer.markdown
    assert "\n## PASS" not in answer.markdown
    assert len(answer.markdown) < 60_000


@pytest.mark.parametrize("words", [["--exit-zero-on", "block"], ["--exit-zero-on", "promote"], ["--nope"]])
def test_flags_that_do_not_exist(words: list[str], tmp_path: Path) -> None:
    assert decide(tmp_path, BINARY, *count_table(40, 5, 155, 200), *words).error


@pytest.mark.parametrize(("b", "c", "code"), [(9, 9, 0), (5, 40, 1), (40, 5, 0)])
def test_exit_zero_on_inconclusive(b: int, c: int, code: int, tmp_path: Path) -> None:
    sides = count_table(b, c, 150, 200)
    files = [write_rows(tmp_path / f"{k}.jsonl", rows) for k, rows in enumerate(sides)]
    rules = write_policy(tmp_path / "gate.yaml", BINARY)
    answer = command(
        *("run", "--policy", rules, "--baseline", files[0], "--candidate", files[1]),
        *("--exit-zero-on", "hold,inconclusive"),
    )
    assert answer.code == code
    bad = command(
        *("run", "--policy", rules, "--baseline", files[0], "--candidate", tmp_path / "none"),
        *("--exit-zero-on", "hold,inconclusive"),
    )
    assert bad.code == 2


@pytest.mark.parametrize("option", ["--policy", "--history"])
def test_an_option_that_counts_once_is_not_given_twice(option: str, tmp_path: Path) -> None:
    """The last of two policies would win without a word; of a baseline there may be several runs."""
    sides = count_table(40, 5, 155, 200)
    files = [write_rows(tmp_path / f"{k}.jsonl", rows) for k, rows in enumerate(sides)]
    rules = write_policy(tmp_path / "gate.yaml", BINARY)
    values: dict[str, object] = {
        "--policy": rules,
        "--baseline": files[0],
        "--history": tmp_path / "h.jsonl",
    }
    given = [word for pair_ in values.items() for word in pair_]
    answer = command("run", *given, "--candidate", files[1], option, values[option])
    assert option in answer.error


def test_one_challenger_is_not_given_twice(tmp_path: Path) -> None:
    sides = count_table(40, 5, 155, 200)
    twice = write_rows(tmp_path / "candidate.jsonl", sides[1])
    assert decide(tmp_path, BINARY, sides[0], twice, "--candidate", twice).error


def test_a_cycle_name_used_again_is_said(tmp_path: Path) -> None:
    """A job that always passes --cycle nightly would wait for its second cycle for ever."""
    wanted = policy(cycles={"required": 2, "windows": "fresh"})
    for number in range(2):
        sides = count_table(40 + number, 5, 150, 200)
        rows = [[{**row, "id": f"{number}-{row['id']}"} for row in side] for side in sides]
        more = ["--history", tmp_path / "h.jsonl", "--cycle", "nightly"]
        answer = decide(tmp_path, wanted, *rows, *more)
    assert answer.report is not None
    if answer.report["cycles"]["passed"] < 2:
        told = [caution["message"] for caution in answer.report["cautions"]]
        assert any("nightly" in text for text in (*told, answer.report["next_step"]))


@pytest.mark.parametrize("documents", [1, 2, 4])
def test_too_few_clusters_ask_for_clusters(documents: int, tmp_path: Path) -> None:
    rows = count_table(40, 5, 155, 200)
    for side in rows:
        for number, row in enumerate(side):
            row["doc"] = f"d{number % documents}"
    answer = decide(tmp_path, policy(items={"cluster": "doc"}), *rows)
    assert answer.verdict == "inconclusive"
    assert answer.report is not None
    assert "cluster" in answer.report["next_step"], "more items of the same documents do not help"


# real processes


def run_process(
    folder: Path, *more: str, stdout: Any = subprocess.PIPE, stderr: Any = subprocess.PIPE, **env: str
) -> subprocess.CompletedProcess[bytes]:
    given = ["--policy", "gate.yaml", "--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl"]
    return subprocess.run(
        [sys.executable, "-m", "gate", "run", *given, *more],
        cwd=folder,
        stdout=stdout,
        stderr=stderr,
        env=environment(env),
        timeout=60,
        check=False,
    )


def environment(more: Mapping[str, str]) -> dict[str, str]:
    root = Path(__file__).resolve().parent.parent
    return {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(root), **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_policy(tmp_path / "gate.yaml", BINARY)
    for name, rows in zip(("baseline", "candidate"), count_table(40, 5, 155, 200), strict=True):
        write_rows(tmp_path / f"{name}.jsonl", rows)
    return tmp_path


def test_a_plain_locale_and_no_home(folder: Path) -> None:
    done = run_process(folder, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"promote")


@pytest.mark.parametrize("more", [(), ("--json", "-")])
def test_a_full_disk_behind_stdout_is_never_a_verdict(more: tuple[str, ...], folder: Path) -> None:
    """Exit 1 would mean block, 0 promote: what was not delivered is neither."""
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = run_process(folder, *more, stdout=full)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_bug_and_no_block(closed: str, folder: Path) -> None:
    given = "--policy gate.yaml --baseline baseline.jsonl"
    line = f"exec {sys.executable} -m gate run {given}"
    for candidate, codes in (("candidate.jsonl", {0, 2}), ("none.jsonl", {2})):
        done = subprocess.run(
            ["sh", "-c", f"{line} --candidate {candidate} {closed}"],
            cwd=folder,
            capture_output=True,
            env=environment({}),
            timeout=60,
            check=False,
        )
        assert done.returncode in codes, (candidate, done.stderr)
        assert b"Traceback" not in done.stderr


def test_runs_at_once_on_one_history(folder: Path) -> None:
    running = []
    for k in range(3):
        rows = count_table(40 + k, 5, 150, 200)[1]
        write_rows(folder / f"c{k}.jsonl", rows)
        given = ["--policy", "gate.yaml", "--baseline", "baseline.jsonl", "--history", "h.jsonl"]
        argv = [sys.executable, "-m", "gate", "run", *given, "--candidate", f"c{k}.jsonl"]
        running.append(subprocess.Popen(argv, cwd=folder, env=environment({}), stdout=subprocess.DEVNULL))
    codes = [one.wait(timeout=60) for one in running]
    assert set(codes) <= {0, 1, 3}
    assert command("history", "verify", folder / "h.jsonl").code == 0
    kinds = [json.loads(line)["kind"] for line in (folder / "h.jsonl").read_text().splitlines()]
    assert kinds.count("outcome") == 3
