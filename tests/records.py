"""Comparisons from flat names, and their values by flat names: what a truth table is written in."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from gate.estimands import Sides
from gate.measure.model import (
    Asked,
    Comparison,
    Counted,
    Evidence,
    Gain,
    ItemFacts,
    Limited,
    Limits,
    Margin,
    MostLost,
    Tested,
    Tolerance,
    Untested,
    Veto,
    Visible,
)
from gate.stats.results import Interval
from gate.values import Direction, Kind, Mode, Role

NAMES = {
    "bound": {Margin: "amount", Tolerance: "amount", Veto: "tolerance", Limits: "least"},
    "upper_bound": {Limits: "most", MostLost: "share"},
    "margin_rule": {Margin: "rule"},
    "only_candidate": {Sides: "better", Counted: "better"},
    "only_baseline": {Sides: "worse", Counted: "worse"},
    "observed_rule": {Gain: "observed"},
    "tested_rule": {Gain: "tested"},
    "interval_requested": {Evidence: "requested"},
    "worse": {Evidence: "worse"},
}
"""Flat name -> where a record has another one for it."""


MANY = 10**9
"""Items of which a share is lost, so that every share is one of so many."""
NEUTRAL: dict[str, Any] = {
    "baseline": 0.0,
    "baseline_error": None,
    "candidate": 0.0,
    "delta": 0.0,
    "interval": Interval(-1.0, 1.0, 0.95, "x"),
    "p_value": 0.5,
    "p_two_sided": 1.0,
    "clears_bound": False,
    "level": 0.0,
    "method": "none",
    "n": 0,
}


def record(**given: Any) -> Comparison:
    """A comparison of the mode named, with neutral values for what is not named. No p: untested."""
    mode = Mode(given["mode"])
    flat = NEUTRAL | given
    asked = _made(
        Asked, flat, role=Role(flat["role"]), kind=Kind(flat["kind"]), direction=Direction(flat["direction"])
    )
    if mode == Mode.LIMIT:
        limits = _made(Limits, flat, least=flat.get("bound"), most=flat.get("upper_bound"))
        return _made(Limited, flat, asked=asked, wanted=limits, interval=given.get("interval"))
    better, worse = flat.get("only_candidate", 0), flat.get("only_baseline", 0)
    if mode in {Mode.CHURN, Mode.MUST_PASS}:
        most = MostLost(flat["upper_bound"]) if mode == Mode.CHURN else None
        if "share" in flat:
            flat |= {"n": 0 if flat["share"] is None else MANY}
            worse = round((flat["share"] or 0.0) * MANY)
        return _made(Counted, flat, asked=asked, wanted=most, better=better, worse=worse)
    if flat["p_value"] is None or flat["p_two_sided"] is None:
        return _made(Untested, flat, asked=asked, wanted=_wanted(mode, flat))
    observed, tested = flat.get("observed_rule", False), flat.get("tested_rule", False)
    gain = _made(Gain, flat, observed=observed, tested=tested, items=_made(ItemFacts, flat))
    return _made(
        Tested,
        flat,
        asked=asked,
        wanted=_wanted(mode, flat),
        sides=_made(Sides, flat, better=better, worse=worse),
        evidence=_made(Evidence, flat),
        visible=_made(Visible, flat),
        gain=gain if mode == Mode.GATING else None,
    )


def _wanted(mode: Mode, flat: dict[str, Any]) -> Margin | Tolerance | Veto | None:
    bound = flat.get("bound")
    if mode == Mode.GATING:
        return Margin(
            **_named(Margin, flat) | {"amount": bound or 0.0, "rule": flat.get("margin_rule") or "observed"}
        )
    if mode in {Mode.NON_INFERIOR, Mode.SLICE_NON_INFERIOR}:
        return Tolerance(**_named(Tolerance, flat) | {"amount": bound or 0.0})
    return None if mode == Mode.WATCH else Veto(**_named(Veto, flat) | {"tolerance": bound})


def _named(kind: Any, flat: dict[str, Any]) -> dict[str, Any]:
    return {field.name: flat[field.name] for field in fields(kind) if field.name in flat}


def _made(of: Any, flat: dict[str, Any], **more: Any) -> Any:
    """A record of this kind from the flat names that it has, and ``more``."""
    return of(**_named(of, flat) | more)


def changed(c: Comparison, **flat: Any) -> Any:
    """The comparison with other values under flat names, wherever they are."""
    for name, value in flat.items():
        found, c = _changed(c, name, value)
        assert found, name
    return c


def _own(value: Any, name: str) -> str:
    """What this record calls it, empty where it has another thing of that name."""
    return NAMES[name].get(type(value), "") if name in NAMES else name


def _changed(value: Any, name: str, new: Any) -> tuple[bool, Any]:
    own = _own(value, name)
    if own in {field.name for field in fields(value)}:
        return True, replace(value, **{own: new})
    for field in fields(value):
        part = getattr(value, field.name)
        if is_dataclass(part) and field.name not in {"other", "interval", "requested", "sign_test"}:
            found, part = _changed(part, name, new)
            if found:
                return True, replace(value, **{field.name: part})
    return False, value


class Flat:
    """A comparison whose values are read by flat names; None for one that it has not."""

    def __init__(self, c: Any) -> None:
        self.record = c

    def __getattr__(self, name: str) -> Any:
        if name == "other":
            return None if self.record.other is None else Flat(self.record.other)
        return _read(self.record, name)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flat) and self.record == other.record

    __hash__ = None  # type: ignore[assignment]


def _read(value: Any, name: str) -> tuple[bool, Any]:
    own = _own(value, name)
    if hasattr(value, own):
        return True, getattr(value, own)
    for field in fields(value):
        part = getattr(value, field.name)
        if is_dataclass(part) and field.name not in {"other", "interval", "requested", "sign_test"}:
            found, inner = _read(part, name)
            if found:
                return True, inner
    return False, None
