"""How many resamples, from which seed: functions of the data and the method, never of chance or ids."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from gate.stats.pairs import Pairs

DEFAULT_RESAMPLES = 9_999
LADDER = (99_999, 999_999)


def seed_for(method: str, resamples: int, pairs: Pairs) -> int:
    """63-bit seed from the method, the number of resamples and the sorted multiset of paired rows."""
    return seed_from(method, resamples, pairs.digest())


def seed_from(method: str, resamples: int, digest: bytes) -> int:
    """As ``seed_for``, from a digest of the data."""
    sha = hashlib.sha256(f"{method}\n{resamples}\n".encode() + digest)
    return int.from_bytes(sha.digest()[:8], "big") >> 1


def generator(seed: int) -> np.random.Generator:
    """The generator that every resampling procedure uses."""
    return np.random.Generator(np.random.PCG64(seed))


def enough_resamples(resamples: int, level: float) -> int:
    """The first number of resamples of at least `resamples` whose limits rest on 20 or more of them."""
    for count in (resamples, *LADDER):
        if count >= resamples and (count + 1) * level >= 20 - 1e-9:
            return count
    return max(resamples, math.ceil(20 / level) - 1)


def rank_at(resamples: int, level: float) -> int:
    """k = (B + 1) * level, rounded down (conservative), at least 1: limits are k-th from both ends."""
    return max(1, math.floor((resamples + 1) * level + 1e-9))


def borderline(p: float, level: float, resamples: int) -> bool:
    """Whether p is within two Monte Carlo standard errors of the level."""
    return abs(p - level) < 2 * math.sqrt(level * (1 - level) / resamples)
