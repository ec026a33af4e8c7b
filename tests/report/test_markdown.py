"""What the summary says, in which order, and how large it gets."""

from __future__ import annotations

import math
import re

import pytest

from gate.report.markdown import LARGEST_COMMENT, LARGEST_SUMMARY
from tests.report.faces import comment, markdown, marker
from tests.report.poison import poisoned
from tests.report.reports import MAKERS, counts, report, with_flips

Z_975, Z_80 = 1.959963984540054, 0.8416212335729143


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("passing", "## \u2705 promote \u2014 p"),
        ("blocked", "## \u274c block \u2014 p"),
        ("open", "## \u2754 inconclusive \u2014 p"),
        ("rich", "## \u274c block \u2014 support-bot-prompt"),
    ],
)
def test_the_first_two_lines_are_verdict_and_why(name: str, first: str) -> None:
    made = report(name)
    if name == "rich":
        assert made["verdict"] in {"block", "inconclusive", "hold"}
        first = first if made["verdict"] == "block" else markdown(made).split("\n")[0]
    lines = markdown(made).split("\n")
    assert lines[0] == first
    assert lines[1].startswith("**Why:** ")
    assert len(lines[1]) > len("**Why:** ")


def test_the_four_lines_of_the_published_table() -> None:
    """b = 121, c = 69 of 2,000, baseline 0.587: every number worked out here by hand."""
    b, c, n = 121, 69, 2000
    delta = (b - c) / n
    variance = ((b + c) - n * delta**2) / (n - 1)
    mde = (Z_975 + Z_80) * math.sqrt(variance / n)
    needed = math.ceil((Z_975 + Z_80) ** 2 * variance / 0.01**2)
    p = 2 * sum(math.comb(b + c, k) for k in range(b, b + c + 1)) / 2 ** (b + c)
    found = markdown(report("passing"))
    assert "- **Delta:** +2.6 points [" in found
    assert "correct 58.7 % -&#62; 61.3 % on 2,000 items, higher is better" in found
    assert (
        "b = 121 items only the candidate passes, c = 69 only the baseline passes, "
        f"exact two-sided p {p:.4f};" in found
    )
    assert f"- **Smallest gain seen:** {100 * mde:.1f} points at 80 % power" in found
    assert f"to see the margin of 1.0 points: {needed:,} items" in found
    assert "- **On flaky items:** not measured (one run of each item)" in found


def test_a_set_that_can_show_nothing_says_so() -> None:
    assert "- **Smallest gain seen:** none: 5 items cannot show any gain" in markdown(report("few"))


def test_no_change_is_nought_without_a_sign() -> None:
    assert "- **Delta:** 0 points [" in markdown(report("equal"))


def test_a_small_p_is_not_printed_as_nought() -> None:
    assert "p 0.0000" not in "".join(markdown(report(name)) for name in MAKERS)


def test_repeats_name_the_share_on_flaky_items() -> None:
    made = report("repeats")
    share = made["gating"]["flaky"]["delta_share"]
    assert (
        f"{100 * share:.0f} % of the delta lies on {made['gating']['flaky']['flagged']} flaky items"
        in markdown(made)
    )


def test_graded_scores_have_no_points_and_count_wins() -> None:
    found = markdown(report("graded"))
    changes = report("graded")["changes"]
    assert "points" not in found
    assert f"{changes['gained_count']} items better, {changes['lost_count']} worse" in found


@pytest.mark.parametrize(("b", "c", "proven"), [(121, 69, "no"), (300, 69, "yes")])
def test_both_margin_rules_are_said(b: int, c: int, proven: str) -> None:
    """52 of 2,000 net is 2.6 points: above 0 for sure, above the margin of 1.3 points not at all surely."""
    found = markdown(counts(b, c, 1105, 2000, gating={"margin": 0.013}))
    said = f"cleared as observed: yes; margin itself proven: {proven} (margin 1.3 points, "
    assert f"- **Margin:** {said}the policy decides by the observed rule)" in found


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ("publish", "publish the interval"),
        ("sign_only", "sign solid, magnitude not; quote no headline number"),
        ("cannot_answer", "this set cannot answer"),
    ],
)
def test_the_reading_is_said(reading: str, words: str) -> None:
    made = report("passing")
    made["gating"]["seed_reading"] = reading
    assert words in markdown(made)


def test_what_matters_comes_first() -> None:
    made = report("rich")
    statuses = ["pass", "not_gated", "waived", "inconclusive", "fail"]
    for reason, status in zip(made["reasons"], statuses, strict=False):
        reason["status"] = status
    table = markdown(made).split("|---|---|---|---|---|\n")[1].split("\n\n")[0]
    found = [re.sub(r"[^a-z ]", "", row.split("|")[1]).strip() for row in table.split("\n")]
    order = ["fail", "inconclusive", "waived", "pass", "not gated"]
    assert found == sorted(found, key=order.index)
    assert {"fail", "inconclusive", "waived", "pass", "not gated"} <= set(found)


def test_a_waiver_stands_in_the_first_line() -> None:
    made = report("passing")
    made["reasons"][0]["status"] = "waived"
    assert markdown(made).startswith(
        "## \u2705 promote (waived: gating<code>&#58;</code>correct"
    ) or markdown(made).startswith("## \u2705 promote (waived: gating:correct)")


def test_hold_says_how_many_cycles_are_missing() -> None:
    made = report("rich")
    made["verdict"], made["exit_code"] = "hold", 4
    made["cycles"] |= {"passed": 1, "required": 3}
    assert "1 of 3 required cycles passed" in markdown(made).split("\n")[1]


def test_changed_items_are_bounded_and_counted() -> None:
    made = with_flips(5000, 20)
    found = markdown(made)
    assert found.count("| -1 |") == 25
    assert "And 2,475 more in `flips.csv`" in found
    assert "2,500 items got worse" in found


def test_shown_fields_are_printed_with_the_item() -> None:
    found = markdown(report("rich"))
    assert "<code>question</code>" in found
    assert re.search(r"<code>How do I change item \d+&#63;</code>", found)


def test_the_end_holds_the_limits() -> None:
    made = report("rich")
    end = markdown(made).split("### What is claimed, and what is not")[1]
    for text in (*made["claims"], *made["limits"]):
        assert text.split("(")[0][:40] in end


@pytest.mark.parametrize("sign", ["x", "|", "&", "<", "\u202e", "\u4f60", "\U0001f600"])
def test_the_summary_stays_within_its_bytes(sign: str) -> None:
    for made in (with_flips(5000, 200, sign), poisoned(with_flips(5000, 200, sign), sign * 5000)):
        assert len(markdown(made).encode()) <= LARGEST_SUMMARY == 512 * 1024
        found = comment(made)
        assert len(found) <= LARGEST_COMMENT == 60_000
        assert found.endswith(f"\n{marker(made)}\n")
        assert found.startswith("## ")


def test_many_rules_watches_and_challengers_stay_within_the_bytes() -> None:
    made = report("rich")
    made["watch"] = made["watch"] * 20_000
    made["cautions"] = made["cautions"] * 5_000
    made["reasons"] = made["reasons"] * 100
    made["not_assessed"] = made["not_assessed"] * 5_000
    many = report("several")
    many["reports"] = many["reports"] * 6
    long = poisoned(many, "|" * 10_000)
    for document in (made, many, long):
        assert len(markdown(document).encode()) <= LARGEST_SUMMARY
        assert len(comment(document)) <= LARGEST_COMMENT


def test_the_marker_belongs_to_the_policy_and_to_nothing_else() -> None:
    first, second, other = report("passing"), report("blocked"), report("rich")
    assert marker(first) == marker(second) != marker(other)
    assert re.fullmatch(r"<!-- paired-gate:[0-9a-f]{16} -->", marker(first))


def test_challengers_are_compared_and_the_winner_named() -> None:
    made = report("several")
    found = markdown(made)
    assert "2 challengers" in found.split("\n")[0]
    assert str(made["winner"]).split("/")[-1] in found.split("\n")[1]
    assert found.count("<summary>") >= 2


def test_an_error_document_says_what_to_do() -> None:
    found = markdown(report("error"))
    assert found.startswith("## \u26a0\ufe0f cannot decide\n**Why:** ")
    assert "keep one" in found
    assert "2 ids occur twice" in found


def test_the_same_report_gives_the_same_bytes() -> None:
    assert markdown(report("rich")) == markdown(report("rich"))
