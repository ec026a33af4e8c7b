"""The decided run: what every report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.compare.model import Comparison
from gate.decide.verdict import Reason
from gate.pairing import PairCounts
from gate.values import Caution


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One candidate's verdict with everything behind it.

    pairing: item set -> counts; None is the main pair of files. cycles, policy, provenance: blocks of the
    report. claims: what the verdict says and does not say. limits: what no test on these items can say.
    """

    verdict: str
    reasons: tuple[Reason, ...]
    comparisons: tuple[Comparison, ...]
    pairing: Mapping[str | None, PairCounts]
    families: tuple[Mapping[str, Any], ...]
    policy: Mapping[str, Any]
    cycles: Mapping[str, Any]
    next_step: str
    cautions: tuple[Caution, ...]
    not_assessed: tuple[Mapping[str, str], ...]
    claims: tuple[str, ...]
    limits: tuple[str, ...]
    provenance: Mapping[str, Any]
    signature: str
    tool_version: str
    decides: bool = True
