"""The policy as frozen, strict values. Every key, its default and what must hold between keys."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Direction = Literal["higher", "lower"]
Correction = Literal["none", "bonferroni", "holm", "hochberg", "bh", "by"]
BinaryTest = Literal[
    "mcnemar_exact", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards", "tango", "exact_unconditional"
]
GradedTest = Literal[
    "t_guarded",
    "paired_t",
    "bootstrap",
    "bootstrap_bca",
    "bootstrap_t",
    "sign_flip",
    "bca_sign_flip",
    "wilcoxon",
    "wilcoxon_pratt",
    "sign",
    "gaffke",
]
IntervalMethod = Literal["fay_lumbard", "tango", "wald", "agresti_min", "bonett_price", "newcombe"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]


class Model(BaseModel):
    """Strict, closed, frozen, finite: what is not written here is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Relative(Model):
    """A share of the baseline instead of an amount in the metric's unit."""

    relative: NonNegative


Amount = NonNegative | Relative


class Rule(Model):
    """What gating and guardrails share."""

    metric: MetricName
    set: Name | None = None
    kind: Literal["binary", "graded"]
    direction: Direction
    test: Literal["auto"] | BinaryTest | GradedTest = "auto"
    interval: IntervalMethod | None = None
    scale: tuple[float, float] | None = None
    assurance: Literal["standard", "guaranteed"] = "standard"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        binary_tests = set(BinaryTest.__args__)  # type: ignore[attr-defined]
        if self.kind == "graded" and self.test in binary_tests:
            raise ValueError(f"test {self.test} is for pass/fail metrics, but kind is graded")
        if self.kind == "graded" and self.interval is not None:
            raise ValueError(f"interval {self.interval} is for pass/fail metrics, but kind is graded")
        if self.kind == "binary" and self.test not in binary_tests | {"auto", "gaffke"}:
            raise ValueError(f"test {self.test} is for graded metrics, but kind is binary")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise ValueError(f"scale must be [lowest, highest] (found {list(self.scale)})")
        guaranteed = self.assurance == "guaranteed" or self.test == "gaffke"
        if guaranteed and self.kind == "graded" and self.scale is None:
            raise ValueError("a guaranteed bound needs the metric's declared scale: [lowest, highest]")
        if self.assurance == "guaranteed" and self.test not in {"auto", "gaffke"}:
            raise ValueError(f"assurance: guaranteed decides by gaffke, but test is {self.test}")
        return self


class Gating(Rule):
    """The one metric that can earn a promotion."""

    margin: Amount
    margin_rule: Literal["observed", "tested"] = "observed"
    suspect_gain: Annotated[float, Field(gt=0)] | None = None


class Guardrail(Rule):
    """A metric that can only block. Which keys it takes depends on ``mode``."""

    mode: Literal["non_inferior", "no_regression", "limit", "churn"] = "non_inferior"
    tolerance: Amount | None = None
    detect: Annotated[float, Field(gt=0)] | None = None
    min: float | None = None
    max: float | None = None
    proven: bool = False
    first: bool = False

    @model_validator(mode="after")
    def _mode_keys(self) -> Self:
        wanted = {
            "non_inferior": {"tolerance"},
            "no_regression": {"detect"},
            "limit": {"min", "max", "proven"},
            "churn": {"max"},
        }[self.mode]
        for key in ("tolerance", "detect", "min", "max", "proven"):
            if key in self.model_fields_set and key not in wanted:
                raise ValueError(f"mode {self.mode} takes no {key}")
        if self.mode == "non_inferior" and self.tolerance is None:
            raise ValueError("mode non_inferior needs a tolerance: the largest loss that is acceptable")
        if self.mode == "limit" and self.min is None and self.max is None:
            raise ValueError("mode limit needs min or max")
        if self.mode == "limit" and None not in (self.min, self.max) and self.min > self.max:  # type: ignore[operator]
            raise ValueError(f"min is above max ({self.min} > {self.max})")
        if self.mode == "churn" and (self.max is None or not 0 <= self.max <= 1):
            raise ValueError("mode churn needs max: the largest share of items that may be lost, 0 to 1")
        return self


class Watch(Model):
    """A metric that is reported and never gates."""

    metric: MetricName
    set: Name | None = None
    kind: Literal["binary", "graded"] = "graded"
    direction: Direction = "higher"


class Slices(Model):
    """Subsets that are looked at on their own, on the gating metric."""

    by: Annotated[list[Name], Field(min_length=1)]
    named: dict[Name, list[Name]] = {}
    mode: Literal["no_regression", "non_inferior"] = "no_regression"
    tolerance: Amount | None = None
    min_items: Annotated[int, Field(ge=1)] = 30

    @model_validator(mode="after")
    def _keys(self) -> Self:
        if self.mode == "non_inferior" and self.tolerance is None:
            raise ValueError("mode non_inferior needs a tolerance: the largest loss that is acceptable")
        for column in self.named:
            if column not in self.by:
                raise ValueError(f"named gives slices of {column!r}, which is not in by")
        return self


class Items(Model):
    """How rows become items, and what counts as a fault in them."""

    id: Name = "id"
    cluster: Name | None = None
    repeat: Name | None = None
    label: Name | None = None
    comparable: list[Name] = []
    must_pass: list[Name] | Name | None = None
    unit: Literal["item", "seed"] = "item"
    design: Literal["resampled_splits"] | None = None
    reduce: Literal["mean", "pass_all", "worst"] = "mean"
    min: Annotated[int, Field(ge=1)] = 30
    missing: Literal["error", "worst", "drop"] = "error"
    max_missing: Share = 0.0
    max_error_rate: Share = 0.0
    may_shrink: bool = False


class Cycles(Model):
    """How many passing cycles a promotion takes, on which items."""

    required: Annotated[int, Field(ge=1)] = 1
    windows: Literal["fresh", "reused"] = "reused"
    looks: Annotated[int, Field(ge=1)] | None = None
    test: Literal["sign_flip"] | None = None
    history_required: bool = False
    feedback: Literal["full", "verdict"] = "full"
    allow_worn: bool = False


class Systems(Model):
    """Which system to read from a file that holds several, per side."""

    baseline: Name
    candidate: Name


class Artifacts(Model):
    """How to read the result files."""

    format: Name = "auto"
    system: Name | Systems | None = None
    labels: dict[Name, Share | list[str | bool | int | float]] = {}
    mapping: dict[Name, Name] = {}


class Waiver(Model):
    """A fail that an owner accepts until a date."""

    rule: Name
    owner: Name
    reason: Name
    expires: Name


class Policy(Model):
    """The whole policy file."""

    version: Literal[1]
    name: Name
    owner: Name | None = None
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    gating: Gating
    guardrails: list[Guardrail] = []
    watch: list[MetricName | Watch] = []
    correction: Correction = "holm"
    slices: Slices | None = None
    items: Items = Items()
    cycles: Cycles = Cycles()
    artifacts: Artifacts = Artifacts()
    show: list[Name] = []
    waivers: list[Waiver] = []
