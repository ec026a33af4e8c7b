"""The linear (DC) flows before and after every outage: what is known before the AC study is done."""

import numpy as np
from cases import Case
from network import Network


def before(network: Network, case: Case) -> np.ndarray:
    """Flow on every branch as a share of its limit; the sign is the direction."""
    flow, _ = _flows(network, case)
    return flow / network.limit


def after_outages(network: Network, case: Case) -> np.ndarray:
    """Loading of every branch (column) after every outage (row), as a share of its limit.

    By line outage distribution factors (Wood and Wollenberg, Power Generation, Operation and Control, chapter
    on security). A row of infinities: the outage cuts something off, or the branch is out already.
    """
    flow, shift = _flows(network, case)
    left = 1 - np.diag(shift)
    cut = np.abs(left) < 1e-6
    after = flow + (flow / np.where(cut, np.inf, left))[:, None] * shift.T
    np.fill_diagonal(after, 0)
    loading = np.abs(after) / network.limit
    loading[cut | ~_live(network, case)] = np.inf
    return loading


def _live(network, case):
    return np.arange(len(network.x)) != case.branch_out


def _flows(network, case):
    """MW on every branch; and MW on a branch (row) for one MW sent between the ends of another (column)."""
    ends = np.zeros((len(network.x), network.buses))
    rows = np.arange(len(network.x))
    ends[rows, network.start], ends[rows, network.end] = 1, -1
    weight = 100 * ends * (_live(network, case) / network.x)[:, None]
    keep = np.arange(network.buses) != network.slack
    inverse = np.linalg.inv((ends.T @ weight)[np.ix_(keep, keep)])
    return weight[:, keep] @ inverse @ _injections(network, case)[keep], weight[:, keep] @ inverse @ ends[
        :, keep
    ].T


def _injections(network, case):
    """Generation less load at each bus; the slack gives what is missing."""
    power = np.zeros(network.buses)
    np.add.at(power, network.load_bus, -case.load_p)
    on = np.arange(len(case.gen_p)) != case.gen_out
    np.add.at(power, network.gen_bus, np.where(on, case.gen_p, 0))
    power[network.slack] -= power.sum()
    return power
