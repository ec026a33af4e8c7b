"""Every case with its truth and its linear flows, as arrays; the truth comes from the kept file."""

from dataclasses import dataclass
from pathlib import Path

import cases
import dc
import network
import numpy as np

KEPT = Path(__file__).parent / "truth.npz"
LOST = 65535  # does not converge, or cuts off a part: worse than any overload
CRITICAL = 1000  # permille of a branch's limit


@dataclass(frozen=True)
class Study:
    """Rows are cases, columns the ranked outages (numbers of branches in `outages`)."""

    cases: list
    outages: np.ndarray
    severity: np.ndarray  # highest loading of a branch after the outage, permille of its limit; LOST
    live: np.ndarray  # whether the branch is in service, so that it can go out
    flows: np.ndarray  # flow before any outage on all branches, share of the limit
    after: np.ndarray  # loading of all branches after each outage, linear
    secure: np.ndarray  # whether nothing is overloaded before any outage

    @property
    def critical(self) -> np.ndarray:
        """Outages that overload a branch, do not converge, or cut off a part."""
        return self.severity > CRITICAL

    @property
    def counted(self) -> np.ndarray:
        """Cases that have a recall: secure before, and with at least one critical outage."""
        return self.secure & self.critical.any(axis=1)

    def year(self, *years: int) -> np.ndarray:
        """Which cases are of these years."""
        return np.array([case.year in years for case in self.cases])


def load() -> Study:
    """All of it, in a second or two."""
    grid = network.load()
    drawn, outages = cases.draw(grid), network.ranked(grid)
    with np.load(KEPT) as kept:
        base, severity, demand = kept["base"], kept["severity"], kept["demand"]
    if len(demand) != len(drawn) or not np.allclose(demand, [case.load_p.sum() for case in drawn], atol=0.01):
        raise SystemExit("truth.npz was made for other cases; run with --recompute")
    return Study(
        cases=drawn,
        outages=outages,
        severity=severity[:, outages],
        live=np.array([outages != case.branch_out for case in drawn]),
        # rounded, so that no ranking and no model hangs on the last bits of an inverse
        flows=np.array([dc.before(grid, case) for case in drawn]).round(8),
        after=np.array([dc.after_outages(grid, case)[outages] for case in drawn]).round(8),
        secure=base <= CRITICAL,
    )
