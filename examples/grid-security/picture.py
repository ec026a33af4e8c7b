"""recall.png: recall at 5 of all rankers by season and by topology. Needs matplotlib."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import rankers
from run import scores
from study import load

RANKERS = {
    "static": ("static list", "#9a9a9a", "v"),
    "legacy": ("performance index (today)", "#333333", "s"),
    "fast": ("boosting, no screening", "#b3261e", "D"),
    "highest": ("highest linear loading", "#d98c00", "o"),
    "screened": ("boosting on the screening", "#16703c", "^"),
}


def draw(path):
    """Two panels with one scale."""
    study = load()
    later = study.counted & ~study.year(rankers.TRAINED)
    windows = np.array([case.window for case in study.cases])
    topologies = np.array([case.topology for case in study.cases])
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.6), sharey=True, width_ratios=[3, 2], layout="constrained"
    )
    for k, (name, (words, colour, mark)) in enumerate(RANKERS.items()):
        recall, missed = scores(study, getattr(rankers, name)(study))
        seasons = list(dict.fromkeys(windows[later]))
        label = f"{words}: misses the worst in {missed[later].mean():.1%}"
        means = [recall[later & (windows == season)].mean() for season in seasons]
        left.plot(seasons, means, color=colour, marker=mark, label=label, markersize=7 - k / 2)
        kinds = ["intact", "line-out", "unit-out"]
        heights = [recall[later & (topologies == kind)].mean() for kind in kinds]
        right.plot(
            np.arange(3) + 0.1 * (k - 2), heights, color=colour, marker=mark, linestyle="", markersize=8
        )
    left.tick_params(axis="x", rotation=40)
    left.set_ylabel("mean recall at 5")
    left.set_title("by season", loc="left")
    right.set_title("by topology, both years", loc="left")
    right.set_xticks(range(3), kinds)
    right.set_xlim(-0.5, 2.5)
    for axes in (left, right):
        axes.set_ylim(0.5, 1.02)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    draw(Path(__file__).parent / "recall.png")
