"""What people do instead of a paired test of their own data: each says whether it would promote."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from tests.calibration.scenarios import Data

LEVEL = 0.025


def larger_mean(data: Data, _rng: np.random.Generator) -> bool:
    """The candidate's number is larger: promote."""
    return float(data.differences.mean()) > 0


def unpaired_z(data: Data, _rng: np.random.Generator) -> bool:
    """Two columns, as if they were of different items."""
    before, after = (_values(side) for side in (data.baseline, data.candidate))
    return float(stats.ttest_ind(after, before, equal_var=False, alternative="greater").pvalue) < LEVEL


def paired_t(data: Data, _rng: np.random.Generator) -> bool:
    """Student's t on the items' differences."""
    return float(stats.ttest_1samp(data.differences, 0, alternative="greater").pvalue) < LEVEL


def percentile_bootstrap(data: Data, rng: np.random.Generator) -> bool:
    """999 resamples of the items' differences; their 2.5 % quantile is above 0."""
    n = len(data.differences)
    means = data.differences[rng.integers(0, n, (999, n))].mean(axis=1)
    return float(np.quantile(means, LEVEL)) > 0


def mixed_model(data: Data, _rng: np.random.Generator) -> bool:
    """A random intercept a cluster (statsmodels MixedLM), the fixed effect's z above 1.96."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    ones = np.ones((len(data.differences), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = MixedLM(data.differences, ones, groups=data.clusters).fit(reml=True)
        except np.linalg.LinAlgError:
            return False
    return float(found.params[0] / found.bse[0]) > stats.norm.isf(LEVEL)


def _values(side: Any) -> Any:
    """The first column that is no id and no label."""
    (name,) = [name for name in side if name in {"correct", "score", "judge"}]
    return np.asarray(side[name], dtype=np.float64)
