"""The network as plain numbers: branches, limits, loads and generators of the 39-bus New England system."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "network.json"


@dataclass(frozen=True, eq=False)
class Network:
    """Branches (lines, then transformers), loads and generators; buses are 0 to 38, power is in MW.

    The arrays start, end: buses of a branch; x: its reactance per unit of 100 MVA; limit: MVA it may carry.
    """

    start: np.ndarray
    end: np.ndarray
    x: np.ndarray
    limit: np.ndarray
    lines: int
    load_bus: np.ndarray
    load_p: np.ndarray
    load_q: np.ndarray
    gen_bus: np.ndarray
    gen_p: np.ndarray
    gen_max: np.ndarray
    slack: int

    @property
    def buses(self) -> int:
        """How many buses there are."""
        return int(max(self.start.max(), self.end.max())) + 1


def load(path: Path = FILE) -> Network:
    """The network as `truth.py` wrote it."""
    numbers = json.loads(path.read_text(encoding="utf-8"))
    return Network(**{key: np.array(v) if isinstance(v, list) else v for key, v in numbers.items()})


def islands(network: Network, out: list[int]) -> bool:
    """Whether some bus is cut off when these branches are out."""
    group = list(range(network.buses))

    def root(bus):
        while group[bus] != bus:
            bus = group[bus]
        return bus

    for k in set(range(len(network.x))) - set(out):
        group[root(int(network.start[k]))] = root(int(network.end[k]))
    return len({root(bus) for bus in group}) > 1


def ranked(network: Network) -> np.ndarray:
    """The outages that are ranked: not those whose loss alone cuts off a part, in whatever state."""
    return np.array([k for k in range(len(network.x)) if not islands(network, [k])])
