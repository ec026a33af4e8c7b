"""A plan as a person reads it: tables and a curve in plain text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from gate.measure.words import count, number
from gate.planning.design import Need
from gate.planning.plan import Plan

HEIGHT = 10


def said(plan: Plan) -> Iterator[str]:
    """All lines."""
    first, question = plan.needs[0].planned, plan.question
    yield (
        f"plan: {question.power:.0%} power for a true gain of {number(first.gain)} in {first.rule}, "
        f"level {first.level:g} one-sided, {count(question.runs, 'run')} of each item and system"
    )
    yield f"spread: {first.variances.source}; a candidate that changes more items needs more of them"
    yield ""
    yield from _needs(plan)
    yield from _margin(plan)
    yield ""
    yield from _rows(plan)
    yield from _clusters(plan)
    yield from _margins(plan)
    yield ""
    xs = [f"{gain:.3g}" for gain, _ in plan.curve]
    title = f"chance that {first.rule} passes with {count(plan.items, 'item')}, by true gain"
    yield from curve(xs, [share for _, share in plan.curve], title)
    for rule, reason in plan.left_out:
        yield f"not planned: {rule}: {reason}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of equal width; the first is text, the others are numbers."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        yield ("  " + "  ".join(cells)).rstrip()


def share(value: float) -> str:
    """A chance as a person reads it."""
    return f"{value:.1%}" if value < 0.9995 else "> 99.9%"


def _needs(plan: Plan) -> Iterator[str]:
    runs = [k for k in plan.needs[0].by_runs if k != plan.question.runs]
    header = ["rule", "bound", "true change", "own power", "items", "expected b / c"]
    rows = [[*header, *(f"{k} {'run' if k == 1 else 'runs'}" for k in runs)]]
    for need in plan.needs:
        rows.append([*_need(need), *(_items(need.by_runs.get(k)) for k in runs)])
    yield from table(rows)
    if len(plan.needs) > 1:
        yield (
            f"  all {len(plan.needs)} rules have to pass, so each is planned at "
            f"{share(plan.needs[0].target)}: together at least {plan.question.power:.0%}"
        )


def _need(need: Need) -> list[str]:
    planned = need.planned
    expected = "-" if need.expected is None else f"{need.expected[0]:.0f} / {need.expected[1]:.0f}"
    what = {"observed": "gain", "tested": "gain", "non_inferior": "unchanged"}[planned.what]
    change = f"{number(planned.gain)}" if what == "gain" else what
    return [planned.rule, number(planned.bound), change, share(need.target), _items(need.items), expected]


def _items(items: int | None) -> str:
    return "-" if items is None else f"{items:,}"


def _margin(plan: Plan) -> Iterator[str]:
    seen = plan.seen
    if seen.normal is None:
        return
    margin = number(plan.needs[0].planned.bound)
    exact = "" if seen.exact is None else f", {seen.exact:,} with exact McNemar"
    yield (
        f"  to see a true gain of exactly the margin {margin} against 0: {seen.normal:,} items "
        f"(normal formula){exact}; passing at the margin itself stays about a coin's toss"
    )


def _clusters(plan: Plan) -> Iterator[str]:
    size = plan.needs[0].planned.variances.cluster
    if size is not None:
        clusters = math.ceil(plan.items / size)
        text = f"{clusters:,} clusters as large as the pilot's, of {size:.1f} items each"
        yield f"  {plan.items:,} items are {text}"


def _margins(plan: Plan) -> Iterator[str]:
    best = plan.best
    if best is None:
        return
    yield ""
    sd = plan.question.retrain_sd
    if sd:
        yield f"true gains of one recipe vary by retrain with a standard deviation of {number(sd)}"
    gain = number(plan.needs[0].planned.gain)
    yield f"margins with {count(plan.items, 'item')}, for a true gain of {gain}:"
    rows = [["margin", "passes without a gain", "missed with it", "cost a look"]]
    for row in plan.margins:
        mark = "*" if row is best else ""
        rows.append(
            [f"{number(row.margin)}{mark}", share(row.false_promotion), share(row.missed), f"{row.cost:,.2f}"]
        )
    yield from table(rows)
    yield f"  recommended margin: {number(best.margin)}, the cheapest of these at {best.cost:,.2f} a look"


def _names(plan: Plan) -> list[str]:
    return [*(need.planned.rule for need in plan.needs), *(rule.rule for rule in plan.standing)]


def _rows(plan: Plan) -> Iterator[str]:
    names = _names(plan)
    money = ["cost a look"] if plan.costs else []
    together = ["all, at least", "all, if independent"] if len(names) > 1 else []
    rows = [["items", "MDE", *names, *together, "without a gain", *money]]
    for k, found in enumerate(plan.rows):
        cost = [f"{plan.costs[k]:,.2f}"] if plan.costs else []
        mark = "*" if found.n == plan.items else ""
        all_rules = [share(chance) for chance in found.together] if together else []
        cells = [*(share(chance) for chance in found.chances), *all_rules, share(found.no_gain)]
        rows.append([f"{found.n:,}{mark}", number(found.mde), *cells, *cost])
    yield from table(rows)
    if plan.costs:
        best = min(range(len(plan.costs)), key=plan.costs.__getitem__)
        yield f"  cheapest of these: {plan.rows[best].n:,} items, {plan.costs[best]:,.2f} a look on average"


def curve(xs: Sequence[str], shares: Sequence[float], title: str) -> Iterator[str]:
    """One column an x, shares from 0 to 1 as height; every second x is labelled."""
    labels = xs[::2]
    width = max(len(label) for label in labels) // 2 + 2
    yield title
    for row in range(HEIGHT, -1, -1):
        label = f"{row / HEIGHT:4.0%} " if row % 2 == 0 else "     "
        cells = "".join(_cell(share, row).center(width) for share in shares)
        yield f"{label}|{cells}".rstrip()
    yield "     +" + "-" * (width * len(xs))
    offset = max(0, width // 2 - 1)
    yield (" " * (6 + offset) + "".join(label.ljust(2 * width) for label in labels)).rstrip()


def _cell(share: float, row: int) -> str:
    return "o" if round(share * HEIGHT) == row else ("." if share * HEIGHT > row else " ")


def plan_document(plan: Plan) -> dict[str, Any]:
    """``gate.plan/1``: the same as JSON values."""
    return {
        "schema": "gate.plan/1",
        "power": plan.question.power,
        "runs": plan.question.runs,
        "items": plan.items,
        "rules": [_rule(need) for need in plan.needs],
        "margin_seen": {"normal": plan.seen.normal, "mcnemar_exact": plan.seen.exact},
        "rows": [_row(plan, k) for k in range(len(plan.rows))],
        "curve": [{"gain": gain, "chance": chance} for gain, chance in plan.curve],
        "retrain_sd": plan.question.retrain_sd,
        "margins": [asdict(row) for row in plan.margins],
        "recommended_margin": None if plan.best is None else plan.best.margin,
        "not_planned": [{"rule": rule, "reason": reason} for rule, reason in plan.left_out],
    }


def _rule(need: Need) -> dict[str, Any]:
    planned = need.planned
    return {
        "rule": planned.rule,
        "bound": planned.bound,
        "true_change": planned.gain,
        "level": planned.level,
        "power": need.target,
        "items": need.items,
        "items_by_runs": {str(k): n for k, n in need.by_runs.items()},
        "expected_discordant": None if need.expected is None else list(need.expected),
        "spread": planned.variances.source,
    }


def _row(plan: Plan, k: int) -> dict[str, Any]:
    found = plan.rows[k]
    block: dict[str, Any] = {
        "items": found.n,
        "mde": found.mde,
        "chances": dict(zip(_names(plan), found.chances, strict=True)),
        "all_at_least": found.together[0],
        "all_if_independent": found.together[1],
        "all_no_gain": found.no_gain,
    }
    return block | ({"cost": plan.costs[k]} if plan.costs else {})
