"""What a new policy asks less of than an old one, each weakening named.

Every key of every section is in :data:`JUDGES` or :data:`SILENT`; one in neither would be a hole in the gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gate.policy import strictness as s
from gate.policy.base import Model
from gate.policy.model import (
    Artifacts,
    Baseline,
    Cycles,
    Gating,
    Guardrail,
    Items,
    Judge,
    Policy,
    Reporting,
    Slices,
    Waiver,
)
from gate.policy.side_effects import rail_key, side_effect
from gate.policy.strictness import Compare, Effect
from gate.safe import escaped


@dataclass(frozen=True, slots=True)
class Change:
    """One deciding key that differs. key: e.g. ``gating.margin`` or ``guardrail:latency_ms.tolerance``.

    effect: ``weaker``; ``stronger``; or ``different``, where the two cannot be compared. old, new: as text.
    """

    key: str
    effect: Effect
    old: str
    new: str
    message: str

    @property
    def weakens(self) -> bool:
        """Weaker, or not comparable: the old agreement no longer holds as it was."""
        return self.effect != "stronger"


Weighed = tuple[Compare, str]
"""How two values compare, and what a weaker one means."""

_NEW_QUESTION = "the old agreement was about something else"
_RULE: dict[str, Weighed] = {
    "metric": (s.not_comparable, "another metric decides"),
    "set": (s.not_comparable, "other items decide"),
    "kind": (s.not_comparable, _NEW_QUESTION),
    "direction": (s.not_comparable, "what was a gain is now a loss"),
    "k": (s.not_comparable, _NEW_QUESTION),
    "threshold": (s.not_comparable, _NEW_QUESTION),
    "group": (s.not_comparable, _NEW_QUESTION),
    "q": (s.not_comparable, _NEW_QUESTION),
    "votes": (s.not_comparable, "votes become another value"),
    "orders": (s.not_comparable, "votes become another value"),
    "order": (s.on_is_weaker, "an order that nobody checks is believed"),
    "max_inconsistent": (s.larger_is_weaker, "a verdict may follow the place more often"),
    "denominator": (s.not_comparable, _NEW_QUESTION),
    "human": (s.not_comparable, "other people's scores decide"),
    "test": (s.not_comparable, "another test decides"),
    "scale": (s.not_comparable, "the bound and the worst value depend on it"),
    "assurance": (s.not_comparable, "another test decides, and its bound holds otherwise"),
}
JUDGES: Mapping[type[Model], Mapping[str, Weighed]] = {
    Policy: {
        "name": (s.not_comparable, "under another name the history's earlier promotions are not seen"),
        "alpha": (s.larger_is_weaker, "more promotions by luck"),
        "correction": (s.correction_of_challengers, "the best of several challengers is corrected less"),
        "challengers": (
            s.not_comparable,
            "gains are corrected for others, and passes add up otherwise",
        ),
    },
    Gating: {
        **_RULE,
        "margin": (s.smaller_is_weaker, "a smaller gain is enough"),
        "margin_rule": (s.strict_to_loose("tested", "observed"), "the margin is no longer proven"),
        "suspect_gain": (s.larger_is_weaker, "a gain too good to be true passes"),
    },
    Guardrail: {
        **_RULE,
        "mode": (s.not_comparable, _NEW_QUESTION),
        "tolerance": (s.larger_is_weaker, "a larger loss is accepted"),
        "detect": (s.larger_is_weaker, "a larger loss may go unseen"),
        "min": (s.smaller_is_weaker, "a worse candidate is within the limit"),
        "max": (s.larger_is_weaker, "a worse candidate is within the limit"),
        "share": (s.not_comparable, "another part of the items is the worst"),
        "begins": (s.not_comparable, "the bound is made otherwise"),
        "proven": (s.off_is_weaker, "the limit need not be proven"),
        "first": (s.off_is_weaker, "it no longer comes before everything"),
    },
    Slices: {
        "by": (s.fewer_is_weaker, "slices are no longer looked at"),
        "named": (s.fewer_named, "a slice may be absent"),
        "mode": (s.not_comparable, _NEW_QUESTION),
        "tolerance": (s.larger_is_weaker, "a larger loss in a slice is accepted"),
        "min_items": (s.larger_is_weaker, "more slices are too small to gate"),
    },
    Items: {
        "id": (s.not_comparable, "items are paired by another column"),
        "cluster": (s.off_is_weaker, "dependent items count as independent"),
        "cluster_skew": (s.strict_to_loose("strict", "pooled"), "clusters' skewness is not insured against"),
        "max_cluster": (s.not_comparable, "the bound is made otherwise"),
        "repeat": (s.not_comparable, "runs are grouped otherwise"),
        "label": (s.off_is_weaker, "gold labels are no longer compared"),
        "comparable": (s.fewer_is_weaker, "items may differ between the sides"),
        "must_pass": (s.fewer_is_weaker, "items may newly fail"),
        "unit": (s.not_comparable, "what counts as an item changed"),
        "design": (s.off_is_weaker, "dependent values count as independent"),
        "reduce": (s.not_comparable, "repeats become another value"),
        "min": (s.smaller_is_weaker, "fewer items are enough"),
        "missing": (s.missing_results, "missing results are read otherwise"),
        "max_missing": (s.larger_is_weaker, "more results may be missing"),
        "max_error_rate": (s.larger_is_weaker, "more runs may fail"),
        "max_flaky_share": (s.larger_is_weaker, "more of the gain may lie on flaky items"),
        "may_shrink": (s.on_is_weaker, "the item set may shrink"),
        "stages": (s.not_comparable, "the items are looked at in other stages"),
        "futility": (s.not_comparable, "hopeless candidates stop elsewhere"),
    },
    Cycles: {
        "required": (s.smaller_is_weaker, "fewer passing cycles are enough"),
        "windows": (s.strict_to_loose("fresh", "reused"), "items may be used again"),
        "looks": (s.planned_looks, "looks get other levels"),
        "test": (s.off_is_weaker, "the cycles are no longer tested together"),
        "history_required": (s.off_is_weaker, "a missing history is no error"),
        "policy_first": (s.off_is_weaker, "results may be older than the policy"),
        "feedback": (s.strict_to_loose("verdict", "full"), "a block tells more about the items"),
        "allow_worn": (s.on_is_weaker, "worn items may decide"),
        "on_alarm": (s.strict_to_loose("hold", "flag"), "a cycle outside the noise band may promote"),
        "on_baseline_fall": (s.strict_to_loose("hold", "flag"), "a fallen baseline may promote"),
    },
    Baseline: {
        "name": (s.not_comparable, "another baseline is compared"),
        "max_age_days": (s.larger_is_weaker, "an older baseline is enough"),
    },
    Judge: {
        "evidence": (s.not_comparable, "the judge is believed for another reason"),
        "min_kappa": (s.smaller_is_weaker, "a judge that agrees less with people is believed"),
        "max_delta_bias": (
            s.larger_is_weaker,
            "a judge that sees another difference than people is believed",
        ),
        "max_inconsistent": (s.larger_is_weaker, "a judge that contradicts itself more is believed"),
        "max_age_days": (s.larger_is_weaker, "older evidence is enough"),
    },
    Artifacts: {
        "format": (s.not_comparable, "files are read otherwise"),
        "system": (s.not_comparable, "another system is read"),
        "labels": (s.not_comparable, "words stand for other values"),
        "mapping": (s.not_comparable, "values are read from elsewhere"),
        "where": (s.not_comparable, "other rows are read"),
        "failed": (s.not_comparable, "other runs count as failed"),
        "completed": (s.not_comparable, "other runs count as completed"),
    },
    Waiver: {"expires": (s.larger_is_weaker, "a fail is accepted for longer")},
}
SILENT: Mapping[type[Model], frozenset[str]] = {
    # Not deciding, or walked into below.
    Policy: frozenset(
        {"version", "owner", "watch", "show", "bless", "report"}
        | {"gating", "guardrails", "slices", "items", "cycles", "artifacts", "waivers", "baseline", "judge"}
    ),
    Gating: frozenset({"interval"}),
    Guardrail: frozenset({"interval"}),
    Waiver: frozenset({"rule", "owner", "reason"}),
    Reporting: frozenset({"cost_per_item", "good_share", "good_gain"}),
}


def weaknesses(new: Policy, old: Policy) -> tuple[Change, ...]:
    """Every deciding key in which ``new`` differs from ``old``, weaker or not, in the policy's order."""
    changes = list(_policy(new, old))
    changes += _section(Gating, "gating", new.gating, old.gating)
    changes += _listed("guardrail", new.guardrails, old.guardrails, rail_key, added="stronger")
    changes += _optional(Slices, "slices", new.slices, old.slices, "slices are no longer looked at")
    changes += _optional(Baseline, "baseline", new.baseline, old.baseline, "any file may be the baseline")
    changes += _optional(Judge, "judge", new.judge, old.judge, "an unproven judge may decide")
    changes += _section(Items, "items", new.items, old.items)
    changes += _section(Cycles, "cycles", new.cycles, old.cycles)
    changes += _section(Artifacts, "artifacts", new.artifacts, old.artifacts)
    changes += _listed("waiver", new.waivers, old.waivers, lambda waiver: waiver.rule, added="weaker")
    return tuple(_with_side_effect(change, new, old) for change in changes)


def _with_side_effect(change: Change, new: Policy, old: Policy) -> Change:
    """What asks more by itself, and less of another rule, is neither."""
    why = side_effect(change.key, new, old) if change.effect == "stronger" else ""
    if not why:
        return change
    text = f"{change.key}: {change.old} -> {change.new} (different: {why})"
    return replace(change, effect="different", message=text)


def _policy(new: Policy, old: Policy) -> Iterator[Change]:
    """alpha and the correction pull two ways where vetoes are: a veto at a smaller level sees less."""
    vetoes = _has_vetoes(new)
    for change in _section(Policy, "", new, old):
        if change.key == "correction" and vetoes:
            effect = s.correction_of_vetoes(old.correction, new.correction)
            why = (
                "vetoes see less"
                if effect == "weaker"
                else "the best of several challengers is corrected less"
            )
            yield _change("correction", old.correction, new.correction, effect, why)
        elif change.key == "alpha" and vetoes and change.effect == "stronger":
            why = "fewer promotions by luck, but vetoes see less"
            yield _change("alpha", old.alpha, new.alpha, "different", why)
        else:
            yield change


def _has_vetoes(policy: Policy) -> bool:
    in_slices = policy.slices is not None and policy.slices.mode == "no_regression"
    return in_slices or any(rail.mode == "no_regression" for rail in policy.guardrails)


def _section(section: type[Model], name: str, new: Model, old: Model) -> Iterator[Change]:
    for key, (compare, why) in JUDGES[section].items():
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            place = f"{name}.{key}" if name else key
            yield _change(place, before, after, compare(before, after), why)


def _optional(
    section: type[Model], name: str, new: Model | None, old: Model | None, why: str
) -> Iterator[Change]:
    if new is not None and old is not None:
        yield from _section(section, name, new, old)
    elif new is not None or old is not None:
        effect: Effect = "weaker" if new is None else "stronger"
        yield _change(name, old, new, effect, why)


def _listed(
    name: str, new: list[Any], old: list[Any], key: Callable[[Any], str], *, added: Effect
) -> Iterator[Change]:
    """Sections in a list, matched by their key: what is in one list only was added or removed."""
    before, after = ({key(one): one for one in side} for side in (old, new))
    removed: Effect = "weaker" if added == "stronger" else "stronger"
    for one in [*before, *(one for one in after if one not in before)]:
        place = f"{name}:{one}"
        if one not in after:
            yield _change(place, before[one], None, removed, f"a {name} was removed")
        elif one not in before:
            yield _change(place, None, after[one], added, f"a {name} was added")
        else:
            yield from _section(type(after[one]), place, after[one], before[one])


def _change(key: str, old: Any, new: Any, effect: Effect, why: str) -> Change:
    before, after = _text(old), _text(new)
    reason = f": {why}" if effect != "stronger" else ""
    return Change(key, effect, before, after, f"{key}: {before} -> {after} ({effect}{reason})")


def _text(value: Any) -> str:
    """A value as it would stand in the policy, short."""
    if value is None:
        return "none"
    if isinstance(value, Model):
        shown = value.model_dump(exclude_defaults=True, by_alias=True)
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in shown.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, list | tuple):
        more = ", ..." if len(value) > 5 else ""
        return "[" + ", ".join(_text(item) for item in value[:5]) + more + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items()) + "}"
    return str(value)
