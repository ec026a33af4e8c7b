"""Every number that a report prints, worked out again from the rows by scipy and by hand."""

from __future__ import annotations

import math
from statistics import correlation, mean, stdev
from typing import Any

import pytest
from black_box import Answer, decide, policy
from scipy import stats

from gate.report.voice import share

N = 300
OTHER = [(1, 0)] * 9 + [(0, 1)] * 4 + [(1, 1)] * (N - 13)
BASELINE = [
    {"id": f"q{k}", "correct": int(k >= 60), "other": OTHER[k][0], "safe": int(k != 3), "ms": 100 + k % 7}
    for k in range(N)
]
CANDIDATE = [
    {
        "id": f"q{k}",
        "correct": int((k >= 20 or k < 2) and k != 250),
        "other": OTHER[k][1],
        "safe": int(k not in {5, 6, 7, 8, 9, 10}),
        "ms": 101 + k % 5,
    }
    for k in range(N)
]
POLICY = policy(
    guardrails=[
        {"metric": "other", "kind": "binary", "direction": "higher", "mode": "no_regression"},
        {"metric": "safe", "kind": "binary", "direction": "higher", "mode": "no_regression"},
        {"metric": "ms", "kind": "graded", "direction": "lower", "mode": "non_inferior", "tolerance": 2.0},
    ],
)
RULES = {"gating:correct": 1, "guardrail:other": 1, "guardrail:safe": 1, "guardrail:ms": -1}
"""Rule -> the sign of its direction."""


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    return decide(tmp_path_factory.mktemp("numbers"), POLICY, BASELINE, CANDIDATE)


def column(rule: str) -> tuple[list[float], list[float], list[float]]:
    """Baseline, candidate and gains of a rule's metric."""
    metric = rule.split(":")[1]
    old, new = ([float(row[metric]) for row in rows] for rows in (BASELINE, CANDIDATE))
    return old, new, [RULES[rule] * (b - a) for a, b in zip(old, new, strict=True)]


def block(answer: Answer, rule: str) -> dict[str, Any]:
    return answer.gating if rule.startswith("gating") else answer.rule(rule)


@pytest.mark.parametrize("rule", RULES)
def test_the_description_of_the_pairs(answer: Answer, rule: str) -> None:
    old, new, gains = column(rule)
    found = block(answer, rule)
    assert found["n"] == N
    assert found["baseline"] == pytest.approx(mean(old))
    assert found["candidate"] == pytest.approx(mean(new))
    assert found["delta"] == pytest.approx(mean(gains))
    assert found["sd_difference"] == pytest.approx(stdev(gains))
    assert found["correlation"] == pytest.approx(correlation(old, new))
    assert found["interval"]["low"] < found["delta"] < found["interval"]["high"]
    assert found["interval"]["confidence"] == 0.95


@pytest.mark.parametrize("rule", ["gating:correct", "guardrail:other", "guardrail:safe"])
def test_p_values_of_pass_fail_rules(answer: Answer, rule: str) -> None:
    gains = column(rule)[2]
    better, worse = gains.count(1), gains.count(-1)
    found = block(answer, rule)
    assert found["discordant"] == {"only_candidate": better, "only_baseline": worse}
    harm = not rule.startswith("gating")
    hits = worse if harm else better
    one_sided = stats.binomtest(hits, better + worse, alternative="greater").pvalue
    assert found["p_value"] == pytest.approx(one_sided)
    assert found["p_two_sided"] == pytest.approx(stats.binomtest(better, better + worse).pvalue)
    assert found["smallest_p"] == pytest.approx(0.5 ** (better + worse))


def test_holm_over_the_two_vetoes(answer: Answer) -> None:
    raw = {name: answer.rule(f"guardrail:{name}")["p_value"] for name in ("other", "safe")}
    small, large = sorted(raw, key=lambda name: raw[name])
    first = min(1.0, 2 * raw[small])
    assert answer.rule(f"guardrail:{small}")["p_adjusted"] == pytest.approx(first)
    assert answer.rule(f"guardrail:{large}")["p_adjusted"] == pytest.approx(max(first, raw[large]))
    assert answer.rule("guardrail:ms")["p_adjusted"] is None
    assert answer.gating["p_adjusted"] is None


def test_student_is_the_floor_of_the_graded_test(answer: Answer) -> None:
    """t_guarded is the larger of Student's p and a skew-corrected one; the two ends surround Student's."""
    gains = column("guardrail:ms")[2]
    student = stats.ttest_1samp(gains, -2.0, alternative="greater").pvalue
    found = answer.rule("guardrail:ms")
    assert found["p_value"] >= student * (1 - 1e-9)
    half = stats.t.ppf(0.975, N - 1) * stdev(gains) / math.sqrt(N)
    assert found["interval"]["low"] == pytest.approx(mean(gains) - half, abs=0.01)
    assert found["interval"]["high"] == pytest.approx(mean(gains) + half, abs=0.01)


@pytest.mark.parametrize("rule", ["gating:correct", "guardrail:ms"])
def test_smallest_effect_and_items_needed(answer: Answer, rule: str) -> None:
    gains = column(rule)[2]
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    found = block(answer, rule)
    assert found["mde"] == pytest.approx(z * stdev(gains) / math.sqrt(N), rel=1e-6)
    effect = {"gating:correct": 0.01, "guardrail:ms": 2.0}[rule]
    assert found["items_needed"] == math.ceil(z**2 * stdev(gains) ** 2 / effect**2)


def test_values_for_readers_of_the_literature(answer: Answer) -> None:
    gains = column("gating:correct")[2]
    better, worse = gains.count(1), gains.count(-1)
    found = answer.gating["reference"]
    assert found["mcnemar_exact_p"] == pytest.approx(stats.binomtest(better, better + worse).pvalue)
    edwards = (abs(better - worse) - 1) ** 2 / (better + worse)
    assert found["mcnemar_chi2_p"] == pytest.approx(stats.chi2.sf(edwards, 1))
    drawn = stats.bootstrap((gains,), lambda x, axis: x.mean(axis), n_resamples=9999, method="percentile")
    assert found["bootstrap_low"] == pytest.approx(drawn.confidence_interval.low, abs=0.007)
    assert found["bootstrap_high"] == pytest.approx(drawn.confidence_interval.high, abs=0.007)


@pytest.mark.parametrize("rule", RULES)
def test_the_table_of_numbers_prints_them(answer: Answer, rule: str) -> None:
    """Low before high, the adjusted p where there is one, each with four decimals."""
    found = block(answer, rule)
    line = next(
        text
        for text in answer.markdown.splitlines()
        if f"<code>{rule}</code>" in text and "[" in text and text.count("|") == 11
    )
    low, high = found["interval"]["low"], found["interval"]["high"]
    assert f"[{low:+.4f}, {high:+.4f}]" in line
    assert f"| {N} |" in line
    assert f"{found['delta']:+.4f}" in line
    p = found["p_value"] if found["p_adjusted"] is None else found["p_adjusted"]
    printed = "< 0.0001" if p < 0.0001 else f"{p:.4f}"
    assert f"| {printed}{' adj.' if found['p_adjusted'] is not None else ''} |" in line


def test_the_terminal_prints_the_same(answer: Answer) -> None:
    """In points, low before high, in the sentence and in the rule's row; latency as it moved, + is slower."""
    found = answer.gating
    ends = [found["delta"], found["interval"]["low"], found["interval"]["high"]]
    shown = "{} points [{}, {}]".format(*(f"{100 * value:+.1f}" for value in ends))
    assert answer.out.count(shown) >= 2
    latency = answer.rule("guardrail:ms")
    row = next(line for line in answer.out.splitlines() if line.startswith("  pass") and " ms " in line)
    assert f"{latency['baseline']:.1f} -> {latency['candidate']:.1f}" in row
    ends = [-latency["interval"][end] for end in ("high", "low")]
    assert "[{:+.1f}, {:+.1f}]".format(*ends) in row
    assert "up to 2.0 slower" in row


@pytest.mark.parametrize(
    ("found", "said"),
    [(0.1, "10 %"), (0.29, "29 %"), (0.035, "3.5 %"), (0.999, "99.9 %"), (1.7e308, "inf %")],
)
def test_a_share_is_said_in_percent_however_large(found: float, said: str) -> None:
    assert share(found) == said
