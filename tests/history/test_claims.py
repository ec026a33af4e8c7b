"""What a policy claims, who was promoted, which waivers hold, and the chart."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from history_world import attempt, nights, run, session

from gate.cycles import Rules, rules_of
from gate.cycles.chart import draw
from gate.cycles.policy_claims import check_rules, policy_claims
from gate.cycles.promoted import was_promoted
from gate.cycles.waivers import active_waivers
from gate.history import load
from gate.policy.model import Policy, Waiver
from gate.values import GateError


@pytest.mark.parametrize(("alpha", "fewest"), [(0.1, 4), (0.05, 5), (0.01, 7)])
def test_a_cycle_test_that_cannot_pass_is_refused(alpha, fewest):
    for required in range(1, fewest):
        with pytest.raises(GateError) as caught:
            check_rules(Rules(required=required, test="sign_flip", alpha=alpha))
        assert (caught.value.code, f"to {fewest} or more" in caught.value.help) == ("policy", True)
    assert check_rules(Rules(required=fewest, test="sign_flip", alpha=alpha))


def test_few_cycles_are_a_caution():
    def told(required):
        return [c.code for c in check_rules(Rules(required=required, test="sign_flip"))]

    assert [told(required) for required in (5, 9, 10)] == [["few_cycles"], ["few_cycles"], []]
    assert check_rules(Rules(required=2)) == ()


def test_claims_on_fresh_windows():
    claims = policy_claims(Rules(required=3, windows="fresh", looks=250))
    assert (claims["n_max"], claims["level"]) == (1600, 0.025)
    assert claims["false_promotion"] == pytest.approx(0.00377158536)
    assert claims["expected_cycles"] == pytest.approx({"0.5": 14.0, "0.8": 4.765625, "0.95": 3.3270156})
    assert claims["cautions"] == ()
    tight = policy_claims(Rules(required=2, windows="fresh", looks=250))
    assert tight["level"] == pytest.approx(0.01)
    assert tight["false_promotion"] <= 0.025
    single = policy_claims(Rules(windows="fresh"))
    assert (single["n_max"], [c.code for c in single["cautions"]]) == (1, ["looks_undeclared"])


def test_claims_on_reused_items():
    ledger = policy_claims(Rules(looks=9))
    assert (ledger["n_max"], ledger["level"], ledger["false_promotion"]) == (None, 0.0025, 0.025)
    open_ended = policy_claims(Rules())
    assert open_ended["false_promotion"]["0"] == pytest.approx(1 - 0.975**10)
    assert all(isinstance(sentence, str) for sentence in (*ledger["sentences"], *open_ended["sentences"]))


def test_rules_of_a_policy():
    gating = {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01}
    policy = Policy.model_validate(
        {
            "version": 1,
            "name": "p",
            "alpha": 0.1,
            "gating": gating,
            "cycles": {"required": 2, "looks": 4, "feedback": "verdict"},
            "items": {"may_shrink": True},
        }
    )
    wanted = Rules(required=2, looks=4, feedback="verdict", may_shrink=True, alpha=0.1)
    assert rules_of(policy) == wanted
    assert rules_of(policy).level == 0.05


def test_waivers_hold_to_their_last_day():
    waivers = [
        Waiver(rule=rule, owner="release team", reason="known", expires=day)
        for rule, day in [("a", "2026-02-28"), ("b", "2026-03-01"), ("c", "2026-03-02")]
    ]
    active, cautions = active_waivers(waivers, "2026-03-01")
    assert [waiver.rule for waiver in active] == ["b", "c"]
    assert [caution.code for caution in cautions] == ["waiver_expired"]
    assert "'a'" in cautions[0].message
    odd = Waiver.model_construct(rule="a", owner="o", reason="r", expires="soon")
    with pytest.raises(GateError):
        active_waivers([odd], "2026-03-01")


def test_who_was_promoted(tmp_path):
    path, digest = tmp_path / "h", "ab" * 32
    run(path, attempt("good", candidate_digest=digest), Rules())
    run(path, attempt("bad", candidate_digest="cd" * 32), Rules(), "fail")
    history = load(path)
    now = datetime(2026, 3, 8, tzinfo=UTC)  # recorded on 2026-03-01 at noon
    assert was_promoted(history, digest).promoted
    assert was_promoted(history, f"sha256:{digest[:12].upper()}").promoted
    assert was_promoted(history, digest, 7, now).promoted
    old = was_promoted(history, digest, 6, now)
    assert (old.promoted, "not within 6 days" in old.reason) == (False, True)
    assert not was_promoted(history, digest, 7, None).promoted
    for other in ("cd" * 32, "ab" * 5, "", "ef" * 32):
        assert not was_promoted(history, other).promoted


def test_the_chart(tmp_path):
    path = tmp_path / "h"
    nights(path, Rules(required=2, looks=8), "pf")
    run(path, attempt("big"), Rules(looks=9), "fail", -0.05, result={"low": -0.1, "high": 0.0})
    session(path).begin([attempt("lost")], Rules(looks=9))
    session(path).void(attempt("broken"), "unreadable")
    lines = draw(load(path)).splitlines()
    assert lines[0] == "correct:higher"
    assert lines[1].split() == ["cycle", "look", "level", "delta", "-0.1", "+0.1", "verdict", "streak"]
    rows = {line.split()[0]: line for line in lines[2:7]}
    assert rows["n0"].split() == ["n0", "1", "0.005", "+0.0200", "." * 15 + "|..o" + "." * 12, "hold", "1"]
    assert rows["big"].split()[4:6] == ["--------o------|...............", "block"]
    assert "unfinished" in rows["lost"]
    assert "void" in rows["broken"]
    assert lines[-1] == f"{load(path).head}, {load(path).count} records"


def test_the_chart_is_inert(tmp_path):
    path = tmp_path / "h"
    evil = "\x1b]0;owned\x07\u202eevil\r\n::error::x" + "x" * 300
    run(path, attempt(evil, metric=f"{evil}:higher"), Rules())
    text = draw(load(path))
    assert text.isascii()
    assert all(line.isprintable() for line in text.splitlines())
    assert max(map(len, text.splitlines())) < 160


@pytest.mark.parametrize("required", [150, 200, 1000])
@pytest.mark.parametrize("windows", ["fresh", "reused"])
def test_many_cycles_are_a_policy_like_any_other(required: int, windows: str) -> None:
    """.025^-199 looks are more than a float can count: then there is no number to print."""
    claims = policy_claims(Rules(required=required, windows=windows))
    assert claims["n_max"] is None
    assert all(len(sentence) < 300 for sentence in claims["sentences"])
    if windows == "fresh":
        assert f"no promotion is possible before {required}" in claims["sentences"][0]


def test_what_is_possible_has_no_chance_of_0() -> None:
    """Ten looks, ten passes needed: .025^10 = 1e-16; for eleven passes ten looks are too few."""
    assert "chance below 1e-12" in policy_claims(Rules(required=10, windows="fresh"))["sentences"][0]
    assert "chance 0" not in str(policy_claims(Rules(required=11, windows="fresh"))["sentences"])


def test_a_promotion_whose_waiver_was_withdrawn_is_none(tmp_path):
    path = tmp_path / "h.jsonl"
    tried = attempt("c1")
    run(path, tried, Rules(), waived=("guardrail:safe",))
    digest = tried.candidate_digest
    assert was_promoted(session(path).store.read(), digest).promoted
    run(path, tried, Rules(), "fail")
    answer = was_promoted(session(path).store.read(), digest)
    assert not answer.promoted
    assert "withdrawn" in answer.reason
