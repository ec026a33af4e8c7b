"""The policy as frozen, strict values: every key, its default and what it means.

What must hold between the keys of a section follows its model; between sections:
:mod:`gate.policy.between_sections`.
"""

# ruff: noqa: RUF012 - the sections are pydantic models, which copy their defaults
# No `from __future__ import annotations` here: pydantic would compile every annotation a second time.

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from gate.policy.base import Model
from gate.policy.fields import Name, NonNegative, Positive, Share, Text, iso_date, shape
from gate.policy.findings import Finding, Path
from gate.policy.kinds import KEYS, KINDS, kinds_with
from gate.policy.methods import IntervalMethod, Test, takes_margin
from gate.safe import quoted
from gate.stats.methods import METHODS
from gate.stats.spending import MOST_STAGES
from gate.values import Kind as MetricKind

Direction = Literal["higher", "lower"]
if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[*(kind.value for kind in MetricKind)]
Correction = Literal["none", "bonferroni", "holm", "hochberg", "bh", "by"]


class Relative(Model):
    """A share of the baseline instead of an amount in the metric's unit."""

    relative: Annotated[NonNegative, Field(description="Share of the baseline, e.g. 0.10 for 10 %.")]


Amount = Annotated[
    Annotated[NonNegative, Tag("plain")] | Annotated[Relative, Tag("mapping")], Discriminator(shape)
]


class Measure(Model):
    """What the kinds of metrics ask for beside a name: ``gate.policy.kinds`` says which takes which."""

    k: Annotated[
        Positive | None, Field(description="precision_at_k and its like: below 1 a share of the rows.")
    ] = None
    threshold: Annotated[
        float | None, Field(description="f1 and its like: a score from here on is positive (default 0.5).")
    ] = None
    group: Annotated[
        Name | None,
        Field(description="Column of groups (a query, a case) to compute the metric in, and then average."),
    ] = None

    q: Annotated[float | None, Field(gt=0, lt=1, description="quantile: which one, e.g. 0.95.")] = None
    denominator: Annotated[
        Name | None, Field(description="ratio: the column that the metric's sum is divided by the sum of.")
    ] = None

    human: Annotated[
        Name | None,
        Field(description="judged: the column of people's scores, on items that were drawn at random."),
    ] = None
    votes: Annotated[
        Literal["mean", "majority"] | None,
        Field(description="preference: how several votes in one order become one (default mean)."),
    ] = None
    orders: Annotated[
        Literal["consistent", "mean"] | None,
        Field(
            description="preference: consistent (default): verdicts that differ between the orders are a tie."
        ),
    ] = None
    order: Annotated[
        Literal["randomized"] | None,
        Field(description="preference: one order an item, drawn at random; believed and said."),
    ] = None
    max_inconsistent: Annotated[
        Share | None,
        Field(
            description="preference: share of items whose verdict may follow the place; else inconclusive."
        ),
    ] = None

    def _findings(self) -> Iterable[Finding]:
        return measured(self)


class Rule(Measure):
    """What gating and guardrails share."""

    metric: Annotated[Name, Field(description="The metric's name in the result files.")]
    set: Annotated[Name | None, Field(description="A named item set, given with --set.")] = None
    kind: Annotated[
        Kind,
        Field(description="binary: pass/fail per item; graded: a number per item; else of the whole set."),
    ]
    direction: Annotated[Direction, Field(description="Which way is better.")]
    test: Annotated[Test, Field(description="auto, or a test fixed by name.")] = "auto"
    interval: Annotated[
        IntervalMethod | None, Field(description="One more pass/fail interval, shown and not deciding.")
    ] = None
    scale: Annotated[
        tuple[float, float] | None,
        Field(strict=False, description="The lowest and highest value the metric can take, e.g. [1, 5]."),
    ] = None
    assurance: Annotated[
        Literal["standard", "guaranteed"],
        Field(description="guaranteed: a bound that holds at every sample size; needs scale."),
    ] = "standard"

    def _findings(self) -> Iterable[Finding]:
        return _rule(self)


class Gating(Rule):
    """The one metric that can earn a promotion."""

    margin: Annotated[Amount, Field(description="The smallest gain worth a release, or {relative: share}.")]
    margin_rule: Annotated[
        Literal["observed", "tested"],
        Field(description="observed: delta at or above the margin, gain above 0; tested: margin proven."),
    ] = "observed"
    suspect_gain: Annotated[
        Positive | None, Field(description="A larger gain is inconclusive: look for a leak first.")
    ] = None

    def _findings(self) -> Iterable[Finding]:
        return _gating(self)


class Guardrail(Rule):
    """A metric that can only block. Which keys it takes depends on the mode."""

    mode: Annotated[
        Literal["non_inferior", "no_regression", "limit", "churn", "worst_item", "tail"],
        Field(description="non_inferior: proven within tolerance; no_regression: a veto; or by counting."),
    ] = "non_inferior"
    tolerance: Annotated[
        Amount | None, Field(description="The largest loss that is acceptable, or {relative: share}.")
    ] = None
    detect: Annotated[
        Positive | None, Field(description="The loss a veto must be able to see, else it is inconclusive.")
    ] = None
    min: Annotated[float | None, Field(description="limit: the candidate's lowest acceptable value.")] = None
    max: Annotated[
        float | None, Field(description="limit: highest value; churn: share lost; worst_item, tail: loss.")
    ] = None
    share: Annotated[
        float | None, Field(gt=0, lt=1, description="tail: the worst share of items, e.g. 0.05.")
    ] = None
    begins: Annotated[
        float | None,
        Field(alias="from", ge=0, description="tail: a loss at which the tail begins, fixed beforehand."),
    ] = None
    proven: Annotated[bool, Field(description="limit: the whole interval must be within.")] = False
    first: Annotated[bool, Field(description="If it fails, nothing else is decided.")] = False

    def _findings(self) -> Iterable[Finding]:
        return _guardrail(self)


class Watch(Measure):
    """A metric that is reported and never gates."""

    metric: Annotated[Name, Field(description="The metric's name in the result files.")]
    set: Annotated[Name | None, Field(description="A named item set, given with --set.")] = None
    kind: Annotated[Kind, Field(description="binary: pass/fail; graded: a number.")] = "graded"
    direction: Annotated[Literal["higher", "lower", "neutral"], Field(description="Which is better.")] = (
        "neutral"
    )


Watched = Annotated[Annotated[Name, Tag("plain")] | Annotated[Watch, Tag("mapping")], Discriminator(shape)]


class Slices(Model):
    """Subsets that are looked at on their own, on the gating metric."""

    by: Annotated[list[Name], Field(min_length=1, description="Columns; each value is a slice.")]
    named: Annotated[
        dict[Name, list[Text]], Field(description="Per column, the values that must be there.")
    ] = {}
    mode: Annotated[
        Literal["no_regression", "non_inferior"],
        Field(description="no_regression: a corrected veto; non_inferior: each slice proven."),
    ] = "no_regression"
    tolerance: Annotated[
        Amount | None, Field(description="The largest loss of a slice that is acceptable.")
    ] = None
    min_items: Annotated[int, Field(ge=1, description="Smaller slices are reported, not gated.")] = 30

    def _findings(self) -> Iterable[Finding]:
        return _slices(self)


class SomeRuns(Model):
    """The chance that k runs of an item all pass, or that at least one of k does, from K >= k runs."""

    pass_hat: Annotated[int | None, Field(ge=1, description="pass^k: all of k runs.")] = None
    pass_at: Annotated[int | None, Field(ge=1, description="pass@k: at least one of k runs.")] = None

    def _findings(self) -> Iterable[Finding]:
        if (self.pass_hat is None) == (self.pass_at is None):
            yield conflict("reduce takes pass_hat or pass_at, one of them", "pass_hat")


class Items(Model):
    """How rows become items, and what counts as a fault in them."""

    id: Annotated[Name, Field(description="The column that identifies an item.")] = "id"
    cluster: Annotated[Name | None, Field(description="The column of items that belong together.")] = None
    cluster_skew: Annotated[
        Literal["strict", "pooled"],
        Field(description="strict: insured against a few bad clusters; pooled: their skewness as seen."),
    ] = "strict"
    max_cluster: Annotated[
        int | None, Field(ge=1, description="assurance: guaranteed: the most items a cluster can have.")
    ] = None
    repeat: Annotated[Name | None, Field(description="The column that numbers the runs of an item.")] = None
    label: Annotated[Name | None, Field(description="Gold labels; must agree between the files.")] = None
    comparable: Annotated[
        list[Name], Field(description="Columns that must be equal on both sides, e.g. an input digest.")
    ] = []
    must_pass: (
        Annotated[
            Annotated[Annotated[list[Text], Field(min_length=1)], Tag("list")]
            | Annotated[Name, Tag("plain")],
            Discriminator(shape),
            Field(description="Ids that may not newly fail, or a column that marks them."),
        ]
        | None
    ) = None
    unit: Annotated[
        Literal["item", "seed"], Field(description="seed: each row is one seed's result (minimum 5).")
    ] = "item"
    design: Annotated[
        Literal["resampled_splits"] | None,
        Field(description="resampled_splits: values from repeated random train-test splits."),
    ] = None
    reduce: Annotated[
        Annotated[Literal["mean", "pass_all", "worst", "any"], Tag("plain")]
        | Annotated[SomeRuns, Tag("mapping")],
        Discriminator(shape),
        Field(description="How an item's repeats become one value."),
    ] = "mean"
    min: Annotated[int, Field(ge=1, description="Fewer pairs are inconclusive. With unit: seed, 5.")] = 30
    missing: Annotated[
        Literal["error", "worst", "drop"], Field(description="What a missing value or item means.")
    ] = "error"
    max_missing: Annotated[Share, Field(description="The largest share that may be missing.")] = 0.0
    max_error_rate: Annotated[Share, Field(description="The largest share of runs that may fail.")] = 0.0
    max_flaky_share: Annotated[
        Share | None, Field(description="A gain with a larger share of it on flaky items is inconclusive.")
    ] = None
    may_shrink: Annotated[
        bool, Field(description="The item set may be smaller than at the last promotion.")
    ] = False
    stages: Annotated[
        list[Annotated[float, Field(gt=0, le=1)]] | None,
        Field(description="Shares of the items after which a look may decide; rising, the last is 1."),
    ] = None
    futility: Annotated[
        float | None,
        Field(gt=0, lt=1, description="A stage stops where the chance to promote is below it."),
    ] = None

    @property
    def reduction(self) -> str:
        """``mean``, ``pass_all``, ``worst``, ``any``, ``pass_hat:K`` or ``pass_at:K``."""
        if isinstance(self.reduce, str):
            return self.reduce
        all_of = self.reduce.pass_hat
        return f"pass_at:{self.reduce.pass_at}" if all_of is None else f"pass_hat:{all_of}"

    @model_validator(mode="before")
    @classmethod
    def _seeds_are_few(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("unit") == "seed" and "min" not in data:
            return {**data, "min": 5}
        return data

    def _findings(self) -> Iterable[Finding]:
        return _items(self)


class Cycles(Model):
    """How many passing cycles a promotion takes, on which items."""

    required: Annotated[int, Field(ge=1, le=1000, description="Passing cycles in a row.")] = 1
    windows: Annotated[
        Literal["fresh", "reused"], Field(description="fresh: every cycle on items not seen before.")
    ] = "reused"
    looks: Annotated[
        int | None, Field(ge=1, description="Planned looks at the items: turns the look ledger on.")
    ] = None
    test: Annotated[
        Literal["sign_flip"] | None, Field(description="sign_flip: test over the cycles' deltas.")
    ] = None
    history_required: Annotated[bool, Field(description="A missing history is an error.")] = False
    policy_first: Annotated[bool, Field(description="Results older than the policy decide nothing.")] = False
    feedback: Annotated[
        Literal["full", "verdict"], Field(description="verdict: only a promotion shows numbers.")
    ] = "full"
    allow_worn: Annotated[bool, Field(description="Items looked at too often are only a caution.")] = False
    on_baseline_fall: Annotated[
        Literal["flag", "hold"], Field(description="hold: a baseline that fell promotes nothing.")
    ] = "flag"
    on_alarm: Annotated[
        Literal["flag", "hold"], Field(description="hold: a cycle outside the noise band promotes nothing.")
    ] = "flag"


class Systems(Model):
    """Which system to read from a file that holds several, per side."""

    baseline: Annotated[Name, Field(description="The baseline's system.")]
    candidate: Annotated[Name, Field(description="The candidate's system.")]


Word = str | bool | int | float


class Artifacts(Model):
    """How to read the result files."""

    format: Annotated[Name, Field(description="auto, or a format's name.")] = "auto"
    system: (
        Annotated[
            Annotated[Name, Tag("plain")] | Annotated[Systems, Tag("mapping")],
            Discriminator(shape),
            Field(description="Which system of a file that holds several."),
        ]
        | None
    ) = None
    labels: Annotated[
        dict[
            Text,
            Annotated[
                Annotated[Share, Tag("plain")] | Annotated[list[Word], Tag("list")], Discriminator(shape)
            ],
        ],
        Field(description="Words that stand for values: {PASS: 1, FAIL: 0} or {pass: [...], fail: [...]}."),
    ] = {}
    mapping: Annotated[
        dict[Name, Text], Field(description="Name in the policy: dotted path in the file.")
    ] = {}
    where: Annotated[
        dict[
            Name,
            Annotated[
                Annotated[Word, Tag("plain")] | Annotated[list[Word], Field(min_length=1), Tag("list")],
                Discriminator(shape),
            ],
        ],
        Field(description="Column: the word, or words, of the rows to read. All other rows are left out."),
    ] = {}
    failed: Annotated[
        dict[Name, Annotated[list[Word], Field(min_length=1)]],
        Field(description="Column: words that say that a run failed; '*' for whatever stands there."),
    ] = {}
    completed: Annotated[
        dict[Name, Annotated[list[Word], Field(min_length=1)]],
        Field(description="Column: words that say that a run completed; '*' for whatever stands there."),
    ] = {}

    def _findings(self) -> Iterable[Finding]:
        return _artifacts(self)


class Baseline(Model):
    """Which results of a store are the baseline, and for how long."""

    name: Annotated[Name, Field(description="As gate baseline bless --as named it.")]
    max_age_days: Annotated[float | None, Field(gt=0, description="An older baseline is inconclusive.")] = (
        None
    )


class Evidence(Model):
    """What ``gate judge`` found, pinned: another file in its place is refused."""

    file: Annotated[Text, Field(description="The JSON file, beside the policy.")]
    sha256: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of its bytes, 64 hex digits.")
    ]


class Judge(Model):
    """The gating metric is an automatic judge's word, which must have been held against people's."""

    evidence: Annotated[Evidence, Field(description="What gate judge wrote, and its SHA-256.")]
    min_kappa: Annotated[
        float | None, Field(gt=0, lt=1, description="The lower limit of Cohen's kappa may not be below.")
    ] = None
    max_delta_bias: Annotated[
        Positive | None,
        Field(description="How far the judge's delta may be from the people's, its whole interval."),
    ] = None
    max_inconsistent: Annotated[
        Share | None, Field(description="Share of outputs judged otherwise when asked again.")
    ] = None
    max_age_days: Annotated[float | None, Field(gt=0, description="Older evidence is refused.")] = None

    def _findings(self) -> Iterable[Finding]:
        if self.min_kappa is None and self.max_delta_bias is None:
            advice = "write down how far the judge's delta may be from the people's"
            yield _missing("judge needs min_kappa or max_delta_bias", advice)


class Reporting(Model):
    """What the report may say of costs; nothing here decides."""

    cost_per_item: Annotated[float | None, Field(gt=0, description="What scoring one item costs.")] = None
    good_share: Annotated[
        float | None,
        Field(gt=0, lt=1, description="Share of candidates that are really better, as you believe."),
    ] = None
    good_gain: Annotated[
        Positive | None, Field(description="Mean gain of those that are, in the metric's unit.")
    ] = None

    def _findings(self) -> Iterable[Finding]:
        if (self.good_share is None) != (self.good_gain is None):
            yield _missing("good_share and good_gain go together", "give both, or leave both out")


class Waiver(Model):
    """A fail that an owner accepts until a date."""

    rule: Annotated[Name, Field(description="The rule's id, as reports print it.")]
    owner: Annotated[Name, Field(description="Who answers for it.")]
    reason: Annotated[Text, Field(description="Why it is acceptable.")]
    expires: Annotated[str, AfterValidator(iso_date), Field(description="Last day, YYYY-MM-DD.")]


class Policy(Model):
    """A release gate's policy, agreed before any run."""

    version: Annotated[int, Field(ge=1, le=1, description="The policy format's version: 1.")]
    name: Annotated[Name, Field(description="What the policy is called in reports.")]
    owner: Annotated[Name | None, Field(description="Who answers for the policy.")] = None
    alpha: Annotated[float, Field(gt=0, lt=1, description="Two-sided; a decision uses alpha/2.")] = 0.05
    gating: Annotated[Gating, Field(description="The one metric that can earn a promotion.")]
    guardrails: Annotated[list[Guardrail], Field(description="Metrics that can only block.")] = []
    watch: Annotated[list[Watched], Field(description="Metrics reported and never gating.")] = []
    correction: Annotated[
        Correction, Field(description="Where one of several tests may decide: vetoes, slices, challengers.")
    ] = "holm"
    challengers: Annotated[
        int | None,
        Field(ge=1, le=100, description="Candidates a run may have; each is corrected for all."),
    ] = None
    slices: Annotated[Slices | None, Field(description="Subsets looked at on their own.")] = None
    items: Annotated[Items, Field(description="How rows become items.")] = Items.model_construct()
    cycles: Annotated[Cycles, Field(description="Passing cycles required.")] = Cycles.model_construct()
    artifacts: Annotated[Artifacts, Field(description="How to read the result files.")] = (
        Artifacts.model_construct()
    )
    baseline: Annotated[Baseline | None, Field(description="The baseline is one of a store.")] = None
    judge: Annotated[
        Judge | None, Field(description="What must be known of the judge that scores the gating metric.")
    ] = None
    bless: Annotated[
        Literal["on_promote"] | None,
        Field(description="on_promote: a promoted candidate's results are the next baseline."),
    ] = None
    show: Annotated[list[Name], Field(description="Fields printed with a changed item.")] = []
    report: Annotated[Reporting | None, Field(description="What the report says beside the verdict.")] = None
    waivers: Annotated[list[Waiver], Field(description="Fails accepted until a date.")] = []


_MODE_KEYS = {
    "non_inferior": {"tolerance", "test", "interval", "assurance"},
    "no_regression": {"detect", "test", "interval", "assurance"},
    "limit": {"min", "max", "proven"},
    "churn": {"max"},
    "worst_item": {"max"},
    "tail": {"max", "share", "begins"},
}


def conflict(message: str, *path: str | int, advice: str = "") -> Finding:
    """Keys that contradict each other; ``path`` is the one to change."""
    return Finding("keys_conflict", message, advice, path)


def amount(value: Any) -> float:
    """The size of a margin or tolerance, whichever form it has."""
    return float(getattr(value, "relative", value) or 0)


def is_share(kind: str, value: Any, *path: str | int) -> Iterator[Finding]:
    """For pass/fail an amount is a share of the items; 5 for 5 % is the usual slip."""
    facts = KINDS[kind]
    if facts.ends == (0.0, 1.0) and isinstance(value, float) and not 0 <= value <= 1:
        what = "is a share of the items for a pass/fail metric" if kind == "binary" else ""
        what = what or f"lies between 0 and 1 for {facts.name}"
        message = f"{path[-1]} {what} (found {value:g})"
        advice = f"{value:g} % is {value / 100:g}" if 1 < value <= 100 else "write a number from 0 to 1"
        yield conflict(message, *path, advice=advice)


def is_new(values: list[str], *path: str | int) -> Iterator[Finding]:
    """Nothing twice in a list."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield conflict(f"{quoted(value)} is there twice", *path, index, advice="keep one of them")
        seen.add(value)


def margin_test(kind: str, test: str, what: str, *path: str | int) -> Iterator[Finding]:
    """A test of "no difference" cannot decide on a margin."""
    method = METHODS.get(test)
    if method is not None and not method.margin:
        message = f"test {test} tests against 0 and cannot decide on {what}"
        yield conflict(message, *path, advice=f"tests that can: {takes_margin(kind)}")


def _rule(r: Rule) -> Iterator[Finding]:
    """What gating and guardrails share."""
    yield from measured(r)
    method, tested_as = METHODS.get(r.test), kind_of_test(r)
    mean = tested_as == "binary" and method is not None and method.sample != "set"  # or with repeats
    if method is not None and not mean and tested_as not in method.kinds:
        made_for = "pass/fail metrics" if "binary" in method.kinds else "other metrics"
        advice = "" if tested_as == "graded" else f"tests that can: {takes_margin(tested_as)}"
        yield conflict(f"test {r.test} is for {made_for}, but kind is {r.kind}", "test", advice=advice)
    if tested_as != "binary" and r.interval is not None:
        yield conflict(f"interval {r.interval} is for pass/fail metrics, but kind is {r.kind}", "interval")
    yield from _of_the_whole_set(r)
    if r.set is not None and r.set.startswith("-"):
        yield conflict("a set's name cannot begin with - (it is given with --set)", "set")
    yield from _scale(r)
    yield from _guaranteed(r)


def kind_of_test(r: Rule) -> str:
    """The kind whose tests serve a rule: values of groups are numbers, whatever makes them."""
    return "graded" if r.group is not None else KINDS[r.kind].tested_as


def measured(r: Any) -> Iterator[Finding]:
    """The keys that a kind needs, or does not take; and its direction."""
    facts = KINDS[r.kind]
    for key in KEYS:
        value = getattr(r, key)
        if value is None and key in facts.needs:
            yield _missing(f"kind {r.kind} needs {key}", "", "kind")
        if value is not None and key not in facts.keys:
            yield conflict(f"kind {r.kind} takes no {key}", key, advice=f"it is for {_listed(key)}")
    if r.k is not None and r.k >= 1 and r.k != int(r.k):
        yield conflict(f"k is a share of the rows below 1, else a whole number (found {r.k:g})", "k")
    if facts.direction and r.direction not in {facts.direction, "neutral"}:
        yield conflict(f"{facts.name}: {facts.direction} is better (found {r.direction})", "direction")


def _listed(key: str) -> str:
    return ", ".join(kinds_with(key))


def _of_the_whole_set(r: Rule) -> Iterator[Finding]:
    """What only metrics have that are a mean over items."""
    if r.kind in {"binary", "graded"}:
        return
    facts = KINDS[r.kind]
    if r.scale is not None and (facts.ends is not None or not facts.by_item):
        yield conflict(f"kind {r.kind} takes no scale", "scale", advice="leave scale out")
    if not (facts.by_item or r.group) and r.assurance == "guaranteed":
        message = f"there is no guaranteed test of {facts.name}"
        yield conflict(message, "assurance", advice="leave assurance out")


def _scale(r: Rule) -> Iterator[Finding]:
    if r.scale is None:
        return
    if not r.scale[0] < r.scale[1]:
        yield conflict(f"scale is [lowest, highest] (found [{r.scale[0]:g}, {r.scale[1]:g}])", "scale")
    elif r.kind == "binary" and r.scale != (0, 1):
        yield conflict("a pass/fail metric's scale is [0, 1]", "scale", advice="leave scale out")


def _guaranteed(r: Rule) -> Iterator[Finding]:
    if r.assurance == "guaranteed" and r.test not in {"auto", "gaffke"}:
        advice = "leave test out"
        yield conflict(
            f"assurance: guaranteed decides by gaffke, but test is {r.test}", "test", advice=advice
        )
    elif kind_of_test(r) == "graded" and KINDS[r.kind].ends is None and r.scale is None:
        key = "assurance" if r.assurance == "guaranteed" else "test" if r.test == "gaffke" else None
        if key:
            message = f"{key}: {getattr(r, key)} needs the lowest and highest value the metric can take"
            yield conflict(message, key, advice="add scale: [lowest, highest]")


def _gating(r: Gating) -> Iterator[Finding]:
    """The gating rule."""
    yield from _rule(r)
    yield from is_share(r.kind, r.margin, "margin")
    yield from is_share(r.kind, r.suspect_gain, "suspect_gain")
    yield from _within_scale(r, "margin", r.margin)
    if r.margin_rule == "tested" and amount(r.margin) > 0:
        yield from margin_test(r.kind, r.test, "a tested margin", "test")
    if r.suspect_gain is not None and isinstance(r.margin, float) and r.suspect_gain <= r.margin:
        message = f"suspect_gain {r.suspect_gain:g} is not above margin {r.margin:g}: no gain could pass"
        yield conflict(message, "suspect_gain")


def _within_scale(r: Rule, key: str, value: Any) -> Iterator[Finding]:
    """An amount that no two values of the scale are apart decides nothing, or everything."""
    if r.scale is not None and isinstance(value, float) and value >= r.scale[1] - r.scale[0] > 0:
        span = r.scale[1] - r.scale[0]
        yield conflict(f"{key} {value:g} is not smaller than the whole scale ({span:g})", key)


def _guardrail(r: Guardrail) -> Iterator[Finding]:
    """A guardrail and its mode."""
    yield from _rule(r)
    yield from _mode_keys(r)
    yield from _bounds(r)
    for key in ("tolerance", "detect"):
        yield from is_share(r.kind, getattr(r, key), key)
        yield from _within_scale(r, key, getattr(r, key))
    if r.mode == "non_inferior" and amount(r.tolerance) > 0:
        yield from margin_test(r.kind, r.test, "a tolerance", "test")


def _mode_keys(r: Guardrail) -> Iterator[Finding]:
    every = set().union(*_MODE_KEYS.values())
    for key in sorted(every - _MODE_KEYS[r.mode]):
        if key in r.model_fields_set and getattr(r, key) is not None:
            home = ", ".join(mode for mode, keys in _MODE_KEYS.items() if key in keys)
            name = type(r).model_fields[key].alias or key
            yield conflict(f"mode {r.mode} takes no {name}", name, advice=f"{name} is for mode {home}")
    if r.mode == "non_inferior" and r.tolerance is None:
        advice = "add tolerance, or choose mode no_regression, limit or churn"
        yield _missing("mode non_inferior needs a tolerance: the largest loss that is acceptable", advice)


def _missing(message: str, advice: str = "", *path: str | int) -> Finding:
    return Finding("missing_key", message, advice, path)


def _bounds(r: Guardrail) -> Iterator[Finding]:
    if r.mode == "limit" and r.min is None and r.max is None:
        yield _missing("mode limit needs min or max")
    if r.mode == "limit" and r.min is not None and r.max is not None and r.min > r.max:
        yield conflict(f"min {r.min:g} is above max {r.max:g}", "min")
    if r.kind == "preference" and r.mode not in {"non_inferior", "no_regression"}:
        advice = "choose non_inferior or no_regression"
        yield conflict(f"a preference is of two systems: it takes no mode {r.mode}", "mode", advice=advice)
    if r.mode in {"churn", "worst_item", "tail"} and not (KINDS[r.kind].by_item or r.group):
        message = f"{KINDS[r.kind].name} is of the whole set: no item gets worse in it"
        yield conflict(message, "mode", advice="choose non_inferior, no_regression or limit")
    if r.mode == "churn" and r.max is None:
        yield _missing("mode churn needs max: the largest share of items that may be lost")
    yield from _worst(r)
    if r.mode == "limit":
        yield from is_share(r.kind, r.min, "min")
    if r.mode in {"limit", "churn"}:
        yield from is_share("binary" if r.mode == "churn" else r.kind, r.max, "max")


def _worst(r: Guardrail) -> Iterator[Finding]:
    """The modes about the items that lose most."""
    if r.mode not in {"worst_item", "tail"}:
        return
    if not KINDS[r.kind].by_item or r.group:
        message = f"{KINDS[r.kind].name} is of the whole set: no item loses in it"
        yield conflict(message, "mode", advice="choose non_inferior, no_regression or limit")
    if r.max is None:
        yield _missing(f"mode {r.mode} needs max: the largest loss that is acceptable")
    elif r.max < 0:
        yield conflict(f"max is a loss, 0 or more (found {r.max:g})", "max")
    if r.mode == "tail" and r.share is None:
        yield _missing("mode tail needs share: how large a part of the items is its worst, e.g. 0.05")
    if r.mode == "tail" and r.kind == "graded" and r.scale is None:
        message = "mode tail needs the lowest and highest value the metric can take"
        yield conflict(message, "mode", advice="add scale: [lowest, highest]")


def _slices(s: Slices) -> Iterator[Finding]:
    """The slices section."""
    yield from is_new(s.by, "by")
    if s.mode == "non_inferior" and s.tolerance is None:
        yield _missing("mode non_inferior needs a tolerance: the largest loss that is acceptable", "", "mode")
    for column, values in s.named.items():
        if column not in s.by:
            message = f"named gives slices of {quoted(column)}, which is not in by"
            yield conflict(message, "named", column)
        yield from is_new(values, "named", column)


def _items(i: Items) -> Iterator[Finding]:
    """The items section."""
    yield from is_new(i.comparable, "comparable")
    if isinstance(i.must_pass, list):
        yield from is_new(i.must_pass, "must_pass")
    columns: Path = ("id", "repeat", "cluster")
    for index, key in enumerate(columns[1:], 1):
        for other in columns[:index]:
            if getattr(i, str(key)) is not None and getattr(i, str(key)) == getattr(i, str(other)):
                yield conflict(f"{key} and {other} cannot be the same column", key)
    for key, usual in (("cluster_skew", "strict"), ("max_cluster", None)):
        if i.cluster is None and getattr(i, key) != usual:
            advice = "name the column in items.cluster"
            yield conflict(f"{key} needs to know which items belong together", key, advice=advice)
    if i.missing == "error" and i.max_missing > 0:
        advice = "with missing: worst or drop it says how many"
        yield conflict("with missing: error nothing may be missing", "max_missing", advice=advice)
    if i.unit == "seed" and i.min < 5:
        yield conflict(f"with unit: seed, min is at least 5 (found {i.min})", "min")
    yield from _stages(i)


def _stages(i: Items) -> Iterator[Finding]:
    """Stages of one evaluation, and what would let outcomes choose its items."""
    if i.stages is None:
        if i.futility is not None:
            yield conflict("futility stops a stage, and there are none", "futility", advice="declare stages")
        return
    if i.stages != sorted(set(i.stages)) or i.stages[-1:] != [1.0] or not 2 <= len(i.stages) <= MOST_STAGES:
        message = f"stages are 2 to {MOST_STAGES} rising shares of the items, the last is 1"
        yield conflict(message, "stages", advice="for example [0.2, 0.4, 0.6, 0.8, 1.0]")
    if i.missing == "drop":
        yield conflict("with missing: drop the outcomes would choose the items of a stage", "missing",
                       advice="missing: error or worst")  # fmt: skip
    if i.unit == "seed":
        yield conflict("seeds are too few for stages", "stages")
    if i.must_pass is not None:
        message = "must_pass items need not be in an early stage, so no stage could promote"
        yield conflict(message, "must_pass", advice="leave items.stages out, or must_pass")


def _artifacts(a: Artifacts) -> Iterator[Finding]:
    """The artifacts section: labels in one of their two forms."""
    lists = [word for word, value in a.labels.items() if isinstance(value, list)]
    if lists and set(a.labels) - {"pass", "fail"}:
        odd = next(word for word in a.labels if word not in {"pass", "fail"})
        advice = "write {pass: [...], fail: [...]} or {WORD: value, ...}"
        yield conflict(
            f"lists of words go under pass and fail (found {quoted(odd)})", "labels", odd, advice=advice
        )
    seen: set[str] = set()
    for word in lists:
        for index, value in enumerate(list(a.labels[word])):  # type: ignore[arg-type]
            if repr(value) in seen:
                yield conflict(f"{quoted(str(value))} is there twice", "labels", word, index)
            seen.add(repr(value))
    for column in [column for column in a.failed if column in a.completed]:
        both = {str(word) for word in a.failed[column]} & {str(word) for word in a.completed[column]}
        if both:
            found = f"{quoted(min(both))} of {quoted(column)} cannot say failed and completed at once"
            yield conflict(found, "completed", column, advice="keep it in one of the two")
