"""The report as one definition: a typed value, its JSON Schema and the check of a saved one.

A field without a default is always written, with null where there is no value; one with a default is left out
where it has none. Readers ignore what they do not know, so a field may be added within a version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field, to_builtins

from gate.decide.verdict import Reason
from gate.values import Caution, Direction, GateError, Kind, Mode, Role, Status, Verdict

T = TypeVar("T")
Asked = Annotated[T, "asked"]
"""What was asked of whom, which may be said where numbers are withheld. Whatever is not marked so is not."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
Share = Annotated[float, Meta(ge=0, le=1)]
SeedReading = Literal["", "publish", "sign_only", "cannot_answer"]
Decides = Annotated[
    bool, Meta(description="False where the policy is the change's own: the verdict is advice.")
]


class Block(Struct, frozen=True, omit_defaults=True):
    """A part of a report."""


class Interval(Block, frozen=True):
    """Two-sided; an end that the data cannot bound is null."""

    low: float | None
    high: float | None
    confidence: Share
    method: str


class Discordant(Block, frozen=True):
    """Items that only one side passes."""

    only_candidate: Count
    only_baseline: Count


class SignTest(Block, frozen=True):
    """Beside a veto on a mean: whether what changed got worse more often than better."""

    worse: Count
    changed: Count
    p_value: Share
    p_adjusted: Share | None


class Estimand(Block, frozen=True):
    """What a test estimates where that is not the mean difference."""

    name: Asked[str]
    value: float | None


class OtherReading(Block, frozen=True):
    """The same rule under the other reading of missing results."""

    reading: str
    delta: float | None
    n: Count


class Reading(Block, frozen=True):
    """How missing results were read."""

    chosen: Asked[str]
    incomplete: Asked[Count]
    delta: float | None
    other: OtherReading | None = None


class Comparison(Block, frozen=True, kw_only=True):
    """One metric under one rule. delta, interval: after direction, so that positive is better."""

    rule: Asked[str]
    metric: Asked[str]
    set: Asked[Annotated[str | None, Meta(description="The named item set, null for the main files.")]]
    role: Asked[Role]
    mode: Asked[Mode]
    kind: Asked[Kind]
    direction: Asked[Direction]
    method: Asked[str]
    n: Asked[Annotated[Count, Meta(description="Pairs.")]]
    baseline: float | None
    candidate: float | None
    delta: Annotated[float | None, Meta(description="Candidate - baseline after direction.")]
    interval: Annotated[
        Interval | None, Meta(description="Of the deciding test: confidence 1 - 2 x level, unadjusted.")
    ]
    null_value: Asked[float]
    p_value: Annotated[
        Share | None,
        Meta(description="One-sided, for the decision; for a veto in the direction of harm."),
    ]
    p_two_sided: Share | None
    p_adjusted: Annotated[Share | None, Meta(description="Within its family; decides where it is given.")]
    level: Asked[Annotated[Share, Meta(description="One-sided.")]]
    status: Asked[Status]
    mde: Annotated[float | None, Meta(description="Smallest true difference seen 80 % of the time.")]
    items_needed: Count | None
    sd_difference: float | None
    correlation: float | None
    cautions: tuple[Caution, ...]
    interval_requested: Interval | None = None
    discordant: Discordant | None = None
    share: float | None = None
    bound: Asked[
        Annotated[
            float | None,
            Meta(description="The margin, tolerance or lower limit, in the metric's unit."),
        ]
    ] = None
    upper_bound: Asked[float | None] = None
    relative: Asked[float | None] = None
    detect: Asked[float | None] = None
    smallest_p: float | None = None
    sign_test: SignTest | None = None
    insufficient: str | None = None
    estimand: Asked[Estimand | None] = None
    resamples: Asked[Count | None] = None
    reading: Asked[Reading | None] = None
    reference: Mapping[str, float | None] | None = None
    clusters: Mapping[str, Any] | None = None


class MarginRules(Block, frozen=True):
    """Whether the gain clears the margin as observed, and whether the margin itself is proven."""

    observed: bool | None
    tested: bool | None


class Flaky(Block, frozen=True):
    """What lies on items that do not reproduce; items and flagged are there where it was measured."""

    status: Literal["measured", "not measurable", "not measured"] | None = None
    items: Count | None = None
    flagged: Count | None = None
    variance_share: float | None = None
    delta_share: float | None = None
    flagged_mean: float | None = None
    stable_mean: float | None = None
    flagged_contribution: float | None = None
    stable_contribution: float | None = None
    noise: Mapping[str, float] | None = None


class Distribution(Block, frozen=True):
    """Of the items' differences: counts of distinct values, or of bins between edges."""

    values: tuple[float, ...] | None = None
    edges: tuple[float, ...] | None = None
    counts: tuple[Count, ...] | None = None


class Runs(Block, frozen=True):
    """Passes of one item's runs."""

    passes: Count
    runs: Count


class Flagged(Block, frozen=True):
    """One flaky item."""

    id: str
    baseline: Runs
    candidate: Runs
    delta: float


class Gating(Comparison, frozen=True, kw_only=True):
    """The comparison that the margin is about."""

    margin: Asked[float | None]
    margin_rule: Asked[str | None]
    margin_rules: Asked[MarginRules]
    flaky: Asked[Flaky]
    seed_reading: SeedReading
    flips: Annotated[
        Count | UnsetType | None,
        Meta(description="Items whose candidate result would have to flip to turn the rule."),
    ] = UNSET
    distribution: Distribution | None = None
    flagged: tuple[Flagged, ...] | None = None


class Change(Block, frozen=True):
    """One item on which the two systems differ. shown: the fields that the policy asks to print with it."""

    id: str
    baseline: float
    candidate: float
    delta: float
    shown: Mapping[str, str | None] = field(default_factory=dict)


class Changes(Block, frozen=True):
    """On the gating metric; the counts are complete, the lists bounded."""

    gained_count: Count
    lost_count: Count
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]


class Pairing(Block, frozen=True):
    """How many results there were, and how many of them are pairs."""

    n_baseline: Count
    n_candidate: Count
    n_pairs: Count
    only_baseline: Count
    only_candidate: Count
    errors_baseline: Count
    errors_candidate: Count
    n_clusters: Count | None
    repeats_baseline: Count
    repeats_candidate: Count
    items_digest: str


class PolicyFacts(Block, frozen=True, omit_defaults=False):
    """The policy that decided. digest: of its deciding part."""

    name: str | None
    digest: str
    alpha: float
    file_digest: str | None = None
    correction: str | None = None
    margin_rule: str | None = None
    owner: str | None = None


class Family(Block, frozen=True):
    """Tests that are corrected together."""

    name: str
    correction: str
    size: Count


class Point(Block, frozen=True, omit_defaults=False):
    """One earlier cycle, for the run chart."""

    cycle: str
    verdict: str
    look: Count | None = None
    level: float | None = None
    streak: Count | None = None
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    margin: float | None = None


class Band(Block, frozen=True):
    """Where earlier cycles say that this one would lie if nothing had changed.

    low, high: t-prediction limits of the delta, 99 %, from five cycles on. cycles: earlier ones with a delta.
    spread_ratio: standard deviation of the item differences now / then; spread_p: Brown-Forsythe, two-sided.
    drift: EWMA of the self-starting scores of the deltas. retrain_sd: of the true deltas between cycles;
    next_low, next_high: where the next cycle's true delta lies, 95 %.
    """

    low: float | None = None
    high: float | None = None
    centre: float | None = None
    cycles: Count | None = None
    spread_ratio: float | None = None
    spread_p: float | None = None
    drift: float | None = None
    retrain_sd: float | None = None
    next_low: float | None = None
    next_high: float | None = None


class Cycles(Block, frozen=True, kw_only=True):
    """What the history adds to this verdict."""

    required: Count
    passed: Count
    cycle: str
    look: Count
    level: Share
    window: str
    claim: str
    scope: str
    sign_flip_p: Share | None
    retry_risk: Mapping[str, float] | None
    replayed: bool
    recorded: bool
    series: tuple[Point, ...] | None = None
    restarted: str | None = None
    held: str | None = None
    band: Band | None = None


class NotAssessed(Block, frozen=True):
    """What no test looked at, and why."""

    rule: str
    reason: str


class Source(Block, frozen=True):
    """One result file; a path ``-`` where there is none."""

    path: str
    format: str | None = None
    system: str | None = None
    sha256: str | None = None
    bytes: Count | None = None
    rows: Count | None = None
    digest: str | None = None
    read_digest: str | None = None
    facts: Mapping[str, Any] | None = None


class Sources(Block, frozen=True):
    """The two files of one item set."""

    baseline: Source
    candidate: Source


class Blessing(Block, frozen=True):
    """How results of a store became the baseline. cycle: whose promotion did it. age_days: at this run,
    where the policy asks."""

    name: str
    time: str
    cycle: str | None = None
    age_days: Count | None = None


class JudgeEvidence(Block, frozen=True):
    """What the judge of the gating metric is believed for. judge: as the results name it, empty where they do
    not. age_days: at this run, where the policy asks."""

    path: str
    sha256: str
    time: str
    judge: str
    age_days: Count | None = None


class Provenance(Sources, frozen=True):
    """What the run was made from."""

    policy: str | None = None
    sets: Mapping[str, Sources] | None = None
    cycle: str | UnsetType | None = UNSET
    policy_since: str | None = None
    baseline_id: str | None = None
    blessing: Blessing | None = None
    judge: JudgeEvidence | None = None
    labels: Source | None = None
    baseline_runs: tuple[Source, ...] | None = None


class Worth(Block, frozen=True):
    """What a promotion is worth; no confidence level, and it decides nothing.

    by: ``declaration`` (report.good_share) or ``history`` (at least ten earlier cycles). not_better: chance
    that the true gain is 0 or less; gain: what to expect of it, shrunken, in the metric's unit.
    """

    by: Literal["declaration", "history"]
    not_better: Share
    gain: float


class NextItems(Block, frozen=True):
    """What to score next, in the order that the policy's digest fixes.

    digest: SHA-256 of the list, one a line.
    """

    n: Count
    digest: str
    ids: tuple[str, ...]


class Stages(Block, frozen=True):
    """One look that decides after a part of the items.

    sizes: items of every stage; the last is the universe. level: one-sided, of the whole evaluation; spent:
    of it, by this stage, if nothing is better. nominal_level: what p and interval of the gating rule are held
    to at this stage, so that the intervals of all stages hold together. boundary_wins, boundary_z: the least
    that promotes; null where nothing does. p_value: one-sided, after stopping here, earlier stages being
    better; null where the stage continues. gain_low, gain_median, gain_high: of the gain, respecting the
    stopping, for exact McNemar. conditional_power: the chance to promote by the last stage if the true gain
    is planned_gain. beyond: ids of the candidate that were not read. of_suite: the items are all of
    a replay's suite, and the files hold those of these stages. saved_items, saved_cost: against scoring all.
    """

    stage: Count
    of: Count
    sizes: Annotated[tuple[Count, ...], Meta(min_length=1)]
    n: Count
    move: Literal["promote", "block", "futile", "continue", "end"]
    level: Share
    nominal_level: float | None
    spent: float | None
    boundary_wins: Count | None
    boundary_z: float | None
    p_value: Share | None
    gain_low: float | None
    gain_median: float | None
    gain_high: float | None
    planned_gain: float | None
    conditional_power: Share | None
    beyond: Count
    saved_items: Count
    saved_share: Share
    saved_cost: float | None
    next: NextItems | None
    of_suite: bool | None = None


class Report(Block, frozen=True, tag_field="schema", tag="gate.report/1", kw_only=True):
    """One candidate's verdict with everything behind it."""

    tool_version: str
    verdict: Verdict
    exit_code: Annotated[int, Meta(ge=0, le=4, description="0, 1, 3 or 4.")]
    reasons: Annotated[tuple[Reason, ...], Meta(description="In the order a person should read them.")]
    policy: PolicyFacts
    pairing: Pairing
    sets: Mapping[str, Pairing]
    gating: Gating
    guardrails: tuple[Comparison, ...]
    slices: tuple[Comparison, ...]
    watch: tuple[Comparison, ...]
    families: tuple[Family, ...]
    cycles: Cycles
    next_step: str
    cautions: tuple[Caution, ...]
    not_assessed: tuple[NotAssessed, ...]
    changes: Changes
    claims: tuple[str, ...]
    limits: tuple[str, ...]
    provenance: Provenance
    signature: str
    decides: Decides = True
    stages: Stages | None = None
    worth: tuple[Worth, ...] | None = None


class Reports(Block, frozen=True, tag_field="schema", tag="gate.reports/1"):
    """Several challengers of one baseline. winner: the candidate's path."""

    verdict: Verdict
    exit_code: Annotated[int, Meta(ge=0, le=4, description="0, 1, 3 or 4.")]
    winner: str | None
    reports: Annotated[tuple[Report, ...], Meta(min_length=1)]
    decides: Decides = True


class ErrorFacts(Block, frozen=True):
    """What is wrong, where, and what to do."""

    code: str
    message: str
    where: str
    help: str


class ErrorReport(Block, frozen=True, tag_field="schema", tag="gate.error/1"):
    """Nothing could be decided: exit 2."""

    error: ErrorFacts


Document = Report | Reports | ErrorReport
"""Any of the documents that ``--json`` writes, told apart by their ``schema``."""


def reports_of(document: Document) -> tuple[Report, ...]:
    """The reports in a document; none in an error."""
    if isinstance(document, Reports):
        return document.reports
    return (document,) if isinstance(document, Report) else ()


def error_report(error: GateError) -> ErrorReport:
    """The error as programs read it."""
    return ErrorReport(ErrorFacts(error.code, error.message, error.where, error.help))


def to_json(document: Document | Mapping[str, Any]) -> str:
    """Canonical JSON with a newline: the same report gives the same bytes everywhere."""
    plain = to_builtins(document)
    return json.dumps(plain, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False) + "\n"


def error_json(document: ErrorReport) -> str:
    """The error in one line, as programs read it where a report would be."""
    return json.dumps(to_builtins(document), ensure_ascii=True, sort_keys=True) + "\n"


def json_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """JSON Schema (2020-12) of one document; its ``$id`` follows the document's own name."""
    tag = str(kind.__struct_config__.tag)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:paired-gate:{tag.removeprefix('gate.').replace('/', ':')}",
        "title": tag,
        **msgspec.json.schema(kind),
    }
