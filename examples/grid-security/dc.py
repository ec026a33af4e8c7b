"""The linear (DC) flows before and after every outage: what is known before the AC study is done."""

from functools import lru_cache

import numpy as np
from cases import Case
from network import Network


def before(network: Network, case: Case) -> np.ndarray:
    """Flow on every branch as a share of its limit; the sign is the direction."""
    factors, _ = _factors(network, case.branch_out)
    return factors @ _injections(network, case) / network.limit


def after_outages(network: Network, case: Case) -> np.ndarray:
    """Loading of every branch (column) after every outage (row), as a share of its limit.

    By line outage distribution factors (Wood and Wollenberg, Power Generation, Operation and Control, chapter
    on security). A row of infinities: the outage cuts something off, or the branch is out already.
    """
    factors, shift = _factors(network, case.branch_out)
    flow = factors @ _injections(network, case)
    left = 1 - np.diag(shift)
    cut = np.abs(left) < 1e-6
    after = flow + (flow / np.where(cut, np.inf, left))[:, None] * shift.T
    np.fill_diagonal(after, 0)
    loading = np.abs(after) / network.limit
    loading[cut | (np.arange(len(cut)) == case.branch_out)] = np.inf
    return loading


@lru_cache(maxsize=64)
def _factors(network, out):
    """MW on a branch (row) for one MW at a bus (column), and for one sent between another branch's ends.

    They depend on the branch that is out alone, so the hours of a day share them.
    """
    rows = np.arange(len(network.x))
    ends = np.zeros((len(rows), network.buses))
    ends[rows, network.start], ends[rows, network.end] = 1, -1
    weight = ends * ((rows != out) / network.x)[:, None]
    keep = np.arange(network.buses) != network.slack
    factors = np.zeros_like(ends)
    factors[:, keep] = weight[:, keep] @ np.linalg.inv((ends.T @ weight)[np.ix_(keep, keep)])
    return factors, factors @ ends.T


def _injections(network, case):
    """Generation less load at each bus; what is missing comes from the slack, whose factors are 0."""
    power = np.zeros(network.buses)
    np.add.at(power, network.load_bus, -case.load_p)
    on = np.arange(len(case.gen_p)) != case.gen_out
    np.add.at(power, network.gen_bus, np.where(on, case.gen_p, 0))
    return power
