"""One rule at one stage: the level that it may use there, and what may be said of it after stopping."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gate.measure.core import choice_of
from gate.measure.model import Margin, Tested
from gate.measure.setting import Setting, own_table
from gate.pairing import PairedTable
from gate.pairing.model import StageLook
from gate.policy.model import Gating, Guardrail, amount
from gate.stats.distributions import normal_quantile
from gate.stats.spending import binary_drift, conditional_power, planned_drift
from gate.stats.staged_normal import FEWEST_GRADED, StagedNormal, staged_normal, stagewise_normal_p
from gate.stats.staged_wins import (
    AGREEING,
    StagedWins,
    reported_p,
    staged_wins,
    stagewise_median,
    stagewise_p,
    stagewise_theta,
)


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage that a look has reached. level: one-sided, of the whole evaluation."""

    look: StageLook
    level: float

    @property
    def normal(self) -> StagedNormal:
        """Boundaries of every test but exact McNemar."""
        return staged_normal(self.look.fractions, self.level)


def at_stage(rule: Gating | Guardrail, table: PairedTable, setting: Setting, stage: Stage | None) -> Setting:
    """The setting with the nominal level that a claim may use at this stage, and the fewest items for it.

    Exact McNemar has its own boundary, from the discordant items of every declared prefix; every other test
    compares its p with the nominal level of the normal boundary.
    """
    if stage is None:
        return setting
    table = own_table(rule, table)
    wins = wins_plan(rule, table, setting, stage)
    if wins is not None:
        level = wins.interval_level(stage.look.stage)
        # no number of wins crosses: a level that even a clean sweep does not reach
        nothing = max(2.0 ** -(min(wins.discordant[-1], 990) + 2), 1e-300)
        return replace(setting, level=nothing if level is None else level)
    bounded = (
        rule.assurance == "guaranteed" or setting.estimand(rule, table, table.metrics[rule.metric]).pass_fail
    )
    fewest = setting.min_items if bounded else max(setting.min_items, FEWEST_GRADED)
    return replace(setting, level=stage.normal.nominal[stage.look.stage - 1], min_items=fewest)


def wins_plan(
    rule: Gating | Guardrail, table: PairedTable, setting: Setting, stage: Stage
) -> StagedWins | None:
    """The exact boundaries, where exact McNemar decides against 0; else None."""
    if not isinstance(rule, Gating) or (rule.margin_rule == "tested" and amount(rule.margin) > 0):
        return None
    metric = table.metrics[rule.metric]
    if choice_of(rule).method(setting.estimand(rule, table, metric), 0.0) != "mcnemar_exact":
        return None
    place = {item: at for at, item in enumerate(stage.look.prefix)}
    at = np.fromiter((place[item] for item in table.ids), np.int64, len(table.ids))
    differs = np.abs(metric.candidate - metric.baseline) > 0
    reached = stage.look.sizes[: stage.look.stage]
    counts = [int(differs[at < n].sum()) for n in reached]
    closed = sum(n < setting.min_items for n in reached)
    return staged_wins(counts, stage.look.fractions[: stage.look.stage], stage.level, closed)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the gating rule shows at a stage. boundary: least wins (exact), or least z, that promotes; None
    where nothing does. p_value: after stopping here, outcomes of earlier stages being better (Tsiatis,
    Rosner & Mehta 1984). low, median, high: of the gain, from the share of wins given the rate of
    disagreement; None for other tests. power: conditional, None without a planned gain.
    """

    nominal: float
    spent: float
    wins: bool
    boundary: float | None
    p_value: float | None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    planned: float | None = None
    power: float | None = None


def standing(rule: Gating, table: PairedTable, setting: Setting, stage: Stage, found: Tested) -> Standing:
    """The gating rule at this stage. setting: of the whole evaluation, as ``at_stage`` takes it."""
    k, margin = stage.look.stage, found.wanted
    normal, wins = stage.normal, wins_plan(rule, own_table(rule, table), setting, stage)
    planned = margin.amount if isinstance(margin, Margin) and margin.amount > 0 else None
    z = -normal_quantile(min(max(found.evidence.p_value, 1e-300), 1.0 - 1e-16))
    drift, low, median, high = math.nan, None, None, None
    if wins is not None:
        b, s = found.sides.better, wins.discordant[-1]
        rate = s / found.n
        theta, centre = stagewise_theta(wins, k, b), stagewise_median(wins, k, b)
        low, median, high = (rate * (2 * share - 1) for share in (theta[0], centre, theta[1]))
        p = reported_p(stagewise_p(wins, k, b), stage.level, crossed=wins.crosses(k, b), last=stage.look.last)
        z = (2 * b - s) / math.sqrt(s) if s else 0.0
        drift = binary_drift(planned, stage.look.sizes[-1], s, found.n) if planned else math.nan
        boundary = float(wins.boundaries[-1]) if wins.boundaries[-1] <= s else None
        nominal, spent = wins.nominal[-1] * AGREEING, wins.spent[-1]
    else:
        crossed = z >= normal.boundaries[k - 1]
        p = reported_p(stagewise_normal_p(normal, k, z), stage.level, crossed=crossed, last=stage.look.last)
        sd = found.visible.sd_difference
        drift = planned_drift(planned, stage.look.sizes[-1], sd * sd) if planned and sd else math.nan
        boundary = normal.boundaries[k - 1] if math.isfinite(normal.boundaries[k - 1]) else None
        nominal, spent = normal.nominal[k - 1], normal.spent[k - 1]
    power = None
    if planned and not stage.look.last and not math.isnan(drift):
        power = conditional_power(z, stage.look.fractions[k - 1], drift, normal.boundaries[-1])
    return Standing(nominal, spent, wins is not None, boundary, p, low, median, high, planned, power)
