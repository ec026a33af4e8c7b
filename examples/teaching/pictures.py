"""Four pictures, drawn from what the gate found."""

from math import sqrt

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

INK, GAIN, LOSS, PALE = "#22262b", "#17713f", "#a92a22", "#9aa3ad"
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})


def draw(out, found, trap, strata, worse):
    """One PNG a lesson."""
    pictures = (_draws(found), _pairing(trap, GAIN), _strata(strata), _pairing(worse, LOSS))
    for number, picture in enumerate(pictures, start=1):
        picture.savefig(out / f"lesson-{number}.png", dpi=110, bbox_inches="tight")
        plt.close(picture)


def _draws(found):
    """Twenty intervals in the order of their gains; the truth as a line."""
    figure, axes = plt.subplots(figsize=(7, 4))
    for place, (gain, low, high) in enumerate(sorted(found)):
        colour = GAIN if low > 0 else PALE
        axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=2)
        axes.plot(100 * gain, place, "o", color=colour)
    axes.axvline(0, color=INK, linewidth=1)
    axes.axvline(3, color=INK, linewidth=1, linestyle="--")
    axes.text(3.1, 20, "truth +3.0", color=INK)
    axes.set(
        yticks=[],
        xlabel="gain in points, paired 95 % interval",
    )
    return figure


def _pairing(report, colour):
    """Each system's own interval above, the interval of the difference below."""
    gating, items = report.gating, report.pairing.n_pairs
    figure, (above, below) = plt.subplots(2, 1, figsize=(7, 3.2), height_ratios=[2, 1])
    for place, (name, mean) in enumerate((("new", gating.candidate), ("old", gating.baseline))):
        _bar(above, place, mean, 1.96 * sqrt(mean * (1 - mean) / items), PALE)
        above.text(100 * mean, place + 0.2, name, ha="center")
    above.set(yticks=[], ylim=(-0.6, 1.7), xlabel="each system alone, %: the intervals overlap")
    low, high = gating.interval.low, gating.interval.high
    below.plot([100 * low, 100 * high], [0, 0], color=colour, linewidth=3)
    below.plot(100 * gating.delta, 0, "o", color=colour)
    below.axvline(0, color=INK, linewidth=1)
    below.set(yticks=[], xlabel="the difference on the same items, points: it leaves out 0")
    figure.tight_layout()
    return figure


def _bar(axes, place, middle, half, colour):
    axes.plot([100 * (middle - half), 100 * (middle + half)], [place, place], color=colour, linewidth=3)
    axes.plot(100 * middle, place, "o", color=colour)


def _strata(report):
    """The share of items and the share of the gain, of those that flip and of the others."""
    flaky = report.gating.flaky
    shares = (flaky.flagged / flaky.items, flaky.delta_share)
    figure, axes = plt.subplots(figsize=(7, 2.2))
    for place, (name, share) in enumerate(zip(("items", "gain"), shares, strict=True)):
        axes.barh(place, 100 * share, color=LOSS)
        axes.barh(place, 100 * (1 - share), left=100 * share, color=PALE)
        axes.text(50 * share, place, f"{share:.0%}", color="white", ha="center", va="center")
        axes.text(-1, place, name, ha="right", va="center")
    axes.set(yticks=[], xlim=(0, 100), xlabel="%  (red: items that flip when run again)")
    return figure
