"""Three years of operating cases, drawn from a seed: weather, plans of units, and what is out of service."""

from dataclasses import dataclass

import numpy as np
from network import Network, islands

SEED = 20240229
SEASONS = {"winter": 1.00, "spring": 0.86, "summer": 0.95, "autumn": 0.90}
YEARS = (2022, 2023, 2024)  # the model learns from 2022; 2023 and 2024 are the eight windows
DAYS = 14  # of each topology in a season: a veto over fewer than seven days of a slice could not fire
HOURS = {2: 0.78, 7: 0.90, 11: 1.00, 19: 1.04}
GROWTH = 0.015  # a year
LEVEL = 0.93  # of the loads in the network's data: chosen so that few cases are overloaded before any outage


@dataclass(frozen=True)
class Case:
    """One hour: loads and generation in MW (reactive load in Mvar), a branch and a generator out, or -1."""

    year: int
    season: str
    day: int
    hour: int
    load_p: np.ndarray
    load_q: np.ndarray
    gen_p: np.ndarray
    branch_out: int
    gen_out: int

    @property
    def window(self) -> str:
        """The window of this case."""
        return f"{self.year}-{self.season}"

    @property
    def date(self) -> str:
        """The day of this case: the cluster."""
        return f"{self.window}-d{self.day:02d}"

    @property
    def topology(self) -> str:
        """The slice of this case."""
        return "line-out" if self.branch_out >= 0 else "unit-out" if self.gen_out >= 0 else "intact"


def draw(network: Network) -> list[Case]:
    """All cases, in order of time."""
    rng = np.random.default_rng(SEED)
    region = network.load_bus // 10  # weather moves neighbouring loads together
    movable = [k for k in range(network.lines) if not islands(network, [k])]
    return [
        case
        for year in YEARS
        for season, level in SEASONS.items()
        for day, kind in enumerate(rng.permutation(3 * DAYS) % 3)
        for case in _day(network, rng, region, movable, (year, season, day), level, kind)
    ]


def _day(network, rng, region, movable, name, level, kind):
    """The hours of one day: one weather, one plan of units, one plan of maintenance."""
    weather = 1 + 0.05 * rng.standard_normal(int(region.max()) + 1)
    units = np.clip(1 + 0.18 * rng.standard_normal(len(network.gen_bus)), 0.4, 1.5)
    branch = int(rng.choice(movable)) if kind == 1 else -1
    unit = int(rng.integers(len(network.gen_bus))) if kind == 2 else -1
    for hour, share in HOURS.items():
        each = 1 + 0.04 * rng.standard_normal(len(network.load_bus))
        size = LEVEL * level * share * (1 + GROWTH) ** (name[0] - YEARS[0]) * weather[region] * each
        yield Case(
            *name, hour, size * network.load_p, size * network.load_q,
            _dispatch(network, (size * network.load_p).sum(), units, unit), branch, unit,
        )  # fmt: skip


def _dispatch(network, demand, units, unit):
    """Units share the demand by the day's plan, within what they can give; the slack gives the rest."""
    plan = network.gen_p * units
    if unit >= 0:
        plan[unit] = 0
    slack = network.gen_p.sum() / network.load_p.sum()  # the share that is not the slack's
    for _ in range(5):
        plan = np.minimum(plan * demand * slack / plan.sum(), network.gen_max)
    return plan
