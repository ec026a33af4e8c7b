"""The four lessons as the gate tells them, with pages, and pictures where matplotlib is installed."""

import argparse
from importlib.util import find_spec
from pathlib import Path

import lessons

from gate import compare, evaluate

POLICY = {
    "version": 1,
    "name": "teaching",
    "gating": {"metric": "correct", "kind": "binary", "direction": "higher", "margin": 0.01},
}


def draws():
    """The gain and its interval in each of twenty sets, and what to say of them."""
    looks = [compare(*sides).gating for sides in lessons.twenty_draws()]
    found = [(look.delta, look.interval.low, look.interval.high) for look in looks]
    gains = " ".join(f"{100 * gain:+.1f}" for gain, _, _ in sorted(found))
    none = sum(gain <= 0 for gain, _, _ in found)
    sure = sum(low > 0 for _, low, _ in found)
    held = sum(low <= 0.03 <= high for _, low, high in found)
    return found, [
        "1. Twenty draws of 200 items; the truth is +3.0 points",
        f"   {gains}",
        f"   {none} of 20 show no gain; {sure} of 20 intervals leave out 0; {held} of 20 hold the truth",
    ]


def pairing(title, sides):
    """One set by the paired test and by the one that throws the pairing away."""
    report = evaluate(POLICY, *sides)
    gating = report.gating
    tests = f"paired p {gating.p_two_sided:.4f}, unpaired p {gating.reference['unpaired_p']:.4f}"
    means = f"{100 * gating.baseline:.1f} % -> {100 * gating.candidate:.1f} %"
    return report, ["", title, f"   {means}, {tests}: {report.verdict.value}"]


def strata():
    """Where the gain lies when each item is run five times."""
    report = evaluate({**POLICY, "items": {"repeat": "run"}}, *lessons.five_runs())
    gain, flaky = report.gating.delta, report.gating.flaky
    share = flaky.flagged / flaky.items
    each = f"{100 * flaky.flagged_mean:+.2f} points on each of these"
    return report, [
        "",
        "3. Items that flip: 2,000 items, five runs each",
        f"   {100 * gain:+.2f} points, {flaky.delta_share:.0%} of it on the {share:.0%} of items that flip",
        f"   {each}, {100 * flaky.stable_mean:+.2f} on each of the others",
    ]


def run(out):
    """All four: pages and pictures into a folder, the lines to print."""
    out.mkdir(parents=True, exist_ok=True)
    found, said = draws()
    told = [
        pairing("2. The unpaired trap: the same truth, 2,000 items", lessons.two_thousand()),
        strata(),
        pairing("4. Quietly worse: two numbers that look alike on a dashboard", lessons.quietly_worse()),
    ]
    for number, (report, lines) in enumerate(told, start=2):
        (out / f"lesson-{number}.html").write_text(report.to_html(), encoding="utf-8")
        said += lines
    if find_spec("matplotlib"):
        import pictures

        pictures.draw(out, found, *(report for report, _ in told))
        return [*said, "", f"pages and pictures: {out}"]
    return [*said, "", f"pages: {out} (pictures need matplotlib: pip install -r requirements.txt)"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="the folder for pages and pictures")
    print("\n".join(run(parser.parse_args().out)))  # noqa: T201
