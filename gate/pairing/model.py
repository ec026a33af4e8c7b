"""What pairing is told and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from gate.artifacts.table import BoolArray, FloatArray, ObjectArray, ReadRequest, Source, Unread
from gate.values import Caution

IndexArray = NDArray[np.int64]
NO_FILE: Final = "-"
"""In the place of a baseline's path: there is no baseline."""


@dataclass(frozen=True, slots=True)
class VoteRule:
    """How votes of one item become its value. randomized: one order an item is declared to be random."""

    votes: Literal["mean", "majority"] = "mean"
    orders: Literal["consistent", "mean"] = "consistent"
    randomized: bool = False
    max_inconsistent: float | None = None


@dataclass(frozen=True, slots=True)
class MetricRule:
    """How one metric's missing results are read: which way is worse, and how far it can go.

    scale: (lowest, highest) in the metric's unit, None if not declared; (0, 1) for pass/fail.
    candidate_only: no rule looks at the baseline's values (an absolute limit). decides: some rule decides on
    it. watched: it is reported on both sides whatever decides. made: ``accuracy``, ``brier`` or ``log_loss``,
    where the item's label makes the value of what was read; ``error_rate``, where its runs do. votes: of a
    preference. partial: it may lack on any item (scores of people).
    """

    kind: str
    direction: str
    scale: tuple[float, float] | None = None
    candidate_only: bool = False
    decides: bool = True
    watched: bool = False
    made: str = ""
    votes: VoteRule | None = None
    partial: bool = False

    @property
    def sign(self) -> float:
        """+1 where higher is better, else -1."""
        return 1.0 if self.direction == "higher" else -1.0

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value, or None if the policy declares no scale."""
        return (0.0, 1.0) if self.kind == "binary" else self.scale


@dataclass(frozen=True, slots=True)
class StageRules:
    """items.stages, and the digest that fixes the order. None of them is chosen after a score is known.

    universe: all ids there are, where neither side needs to hold them all yet; empty: those of the baseline.
    """

    fractions: tuple[float, ...]
    decision_digest: str
    universe: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairingRules:
    """What the policy says about items (``items.*``), reduced to what pairing needs.

    copies_in_any_order: a copy with its rows in another order is the same run too. label_words: what labels
    mean beside 0/1 and true/false. yes_no: a metric needs them to be one or the other. stages: where only a
    part of the items is looked at.
    """

    metrics: Mapping[str, MetricRule]
    missing: str = "error"
    max_missing: float = 0.0
    max_error_rate: float = 0.0
    reduce: str = "mean"
    label: str | None = None
    comparable: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    copies_in_any_order: bool = False
    label_words: Mapping[str, float] = field(default_factory=dict)
    yes_no: bool = False
    stages: StageRules | None = None


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric on the items of a :class:`PairedTable`; NaN where it has no value for the item.

    baseline, candidate: one value per item in the metric's own unit (mean over repeats, or as
    ``items.reduce`` says). averaged: several runs were averaged, so a pass/fail metric is a share.
    runs: baseline and candidate as [items, runs], NaN where a run is missing; None without repeats.
    incomplete: number of items with a missing or failed result on either side. missing_share: share of items
    without any result on a side or, if larger, of runs. reading: how missing results are read here
    ("complete", "worst" or "drop"). other: the same metric under the other honest reading.
    failed: some of the missing results are runs that failed, so both readings must agree on the verdict.
    notes: what was left out where its values were made. doubt: why they carry no claim.
    """

    baseline: FloatArray
    candidate: FloatArray
    averaged: bool = False
    runs: tuple[FloatArray, FloatArray] | None = None
    incomplete: int = 0
    missing_share: float = 0.0
    reading: str = "complete"
    failed: bool = False
    other: PairedMetric | None = None
    notes: tuple[Caution, ...] = ()
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The report's ``pairing`` block."""

    n_baseline: int
    n_candidate: int
    n_pairs: int
    only_baseline: int
    only_candidate: int
    errors_baseline: int
    errors_candidate: int
    n_clusters: int | None
    repeats_baseline: int
    repeats_candidate: int
    items_digest: str


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Baseline and candidate on the same items, in sorted id order.

    ids: the union of both sides. columns: slice and must-pass columns as text or None. shown: text to print
    with a changed item. clusters: 0-based codes, None when the policy names no cluster.
    identical: the two files are one run, the same bytes (or a copy) and the same system in them. unread: per
    side, columns that may say that runs failed. runs: per side, how many are not known to have failed.
    positive: what the items' gold labels say, None where no metric asks.
    """

    ids: ObjectArray
    metrics: Mapping[str, PairedMetric]
    columns: Mapping[str, ObjectArray]
    shown: Mapping[str, ObjectArray]
    clusters: IndexArray | None
    counts: PairCounts
    identical: bool
    cautions: tuple[tuple[str, str], ...] = ()
    unread: tuple[tuple[Unread, ...], tuple[Unread, ...]] = ((), ())
    runs: tuple[int, int] = (0, 0)
    positive: BoolArray | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """One side's results: where they are and what is read of them. runs: further runs of a baseline."""

    path: str
    wanted: ReadRequest
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What the program knows of one side beyond its values on the items. rows: runs that were read.

    scored_by: metric -> everything that the file states of how it was scored, as one text.
    runs: where further runs of a baseline came from. offered: names of all columns of the file.
    """

    source: Source
    rows: int
    identity: str
    read_digest: str
    directions: Mapping[str, str]
    scored_by: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[Source, ...] = ()
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StageLook:
    """The stage that a candidate's ids reach.

    stage: 1 is the first. sizes: n_k of every stage. prefix: the ids that are looked at, in their order.
    following: those that the next stage asks for; empty at the last. beyond: ids of the candidate that are
    not read.
    """

    stage: int
    sizes: tuple[int, ...]
    prefix: tuple[str, ...]
    following: tuple[str, ...]
    beyond: int

    @property
    def last(self) -> bool:
        """Whether no stage comes after this one."""
        return self.stage == len(self.sizes)

    @property
    def fractions(self) -> tuple[float, ...]:
        """Information n_k / N of every stage."""
        return tuple(size / self.sizes[-1] for size in self.sizes)


@dataclass(frozen=True, slots=True)
class Staged:
    """Which part of a universe was paired.

    universe: all ids, ascending; universe_digest: over them. prefixes, baselines: each side's identities on
    the items of every stage so far, by which a history sees that earlier items did not change.
    of_suite: the universe is a replay's, and the files hold no more than the items of these stages.
    """

    look: StageLook
    universe: ObjectArray
    universe_digest: str
    prefixes: tuple[str, ...]
    baselines: tuple[str, ...]
    of_suite: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """One item set, read and paired. cautions: (code, message) about the two sides beside each other.

    not_read: watched metrics that no test can weigh, each with its caution. run_means: metric -> the mean of
    each of several runs of a baseline, then of the candidate, on the items that all of them have. staged:
    where the policy has stages.
    """

    baseline: SideFacts
    candidate: SideFacts
    table: PairedTable
    cautions: tuple[tuple[str, str], ...] = ()
    not_read: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    run_means: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    staged: Staged | None = None


class Pairer(Protocol):
    """From two artifacts to one paired table, wherever their rows are: no row of one side leaves it.

    baseline: None where there is none. Raises GateError for what cannot be read or matched.
    """

    def __call__(self, baseline: Artifact | None, candidate: Artifact, rules: PairingRules) -> Paired:
        """Read, check and match."""
        ...
