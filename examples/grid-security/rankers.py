"""Five ways to choose the five outages that are studied first."""

from pathlib import Path

import numpy as np
from study import Study

TOP = 5
TRAINED = 2022
KEPT = Path(__file__).parent / "learned.npz"


def static(study: Study) -> np.ndarray:
    """One list for all cases: the outages that were critical oftenest in the year before."""
    past = study.year(TRAINED) & study.secure
    return _best(study, np.broadcast_to(study.critical[past].mean(axis=0), study.severity.shape))


def legacy(study: Study) -> np.ndarray:
    """The performance index: the sum of squared loadings after the outage (Ejebe and Wollenberg 1979)."""
    return _best(study, (study.after**2).sum(axis=2))


def highest(study: Study) -> np.ndarray:
    """The highest linear loading of any one branch after the outage: the same flows, another summary."""
    return _best(study, study.after.max(axis=2))


def fast(study: Study) -> np.ndarray:
    """Gradient boosting that sees the flows before the outage only: no calculation for each outage."""
    return _kept(study, "fast")


def screened(study: Study) -> np.ndarray:
    """Gradient boosting that sees a summary of the linear flows after the outage."""
    return _kept(study, "screened")


def learn(study: Study) -> None:
    """Fit both on 2022, and keep the five outages that they name in every case. Needs scikit-learn."""
    size = study.severity.shape
    outage = np.broadcast_to(study.outages, size)[:, :, None]
    finite = np.minimum(study.after, 9)
    state = np.broadcast_to(study.flows[:, None, :], (*size, study.flows.shape[1]))
    own = np.abs(study.flows[:, study.outages])[:, :, None]
    most = np.sort(finite, axis=2)[:, :, :-4:-1]
    index = (finite**2).sum(axis=2)[:, :, None]
    np.savez_compressed(
        KEPT,
        fast=_boosted(study, np.concatenate([outage, own, state], axis=2)),
        screened=_boosted(study, np.concatenate([outage, own, index, most], axis=2)),
    )


def _boosted(study, features):
    """The five best of a model of the severity, up to twice the limit."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    past = study.live & (study.year(TRAINED) & study.secure)[:, None]
    model = HistGradientBoostingRegressor(max_iter=200, categorical_features=[0], random_state=0)
    model.fit(features[past], np.minimum(study.severity[past], 2000) / 1000)
    guess = model.predict(features.reshape(-1, features.shape[2])).reshape(study.severity.shape)
    return _best(study, guess).astype(np.uint8)


def _best(study, score):
    """Columns of the five largest scores of each case; an outage that is no longer possible is not named.

    Two lines in series have the same score but for rounding: they stand in the order of their numbers.
    """
    return np.argsort(-np.where(study.live, np.round(score, 9), -1), axis=1, kind="stable")[:, :TOP]


def _kept(study, name):
    with np.load(KEPT) as kept:
        named = kept[name].astype(int)
    if len(named) != len(study.cases):
        raise SystemExit("learned.npz was made for other cases; run with --recompute")
    return named
