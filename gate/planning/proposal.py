"""From a first look at two files to the rules that a person would most likely write."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gate.artifacts import Metric, Survey, survey
from gate.artifacts.directions import direction_by_name, direction_of
from gate.safe import examples, quoted
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the two files suggest. gating: with its direction, None where nothing tells which way is better.

    kept: the quality that a cheaper candidate must not lose, where the gating metric is what it gains.
    rails: metrics known to be costs (lower is better). watched: known to be qualities. unknown: neither.
    slices, clusters: columns that look like it. gaps: other metrics that lack values, which nothing looks at.
    """

    format: str
    id: str | None
    repeat: str | None
    systems: tuple[str, str] | None
    gating: Metric
    rails: tuple[Metric, ...]
    watched: tuple[Metric, ...]
    unknown: tuple[Metric, ...]
    slices: tuple[str, ...]
    clusters: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    cautions: tuple[tuple[str, str], ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kept: Metric | None = None


def propose(
    baseline: str,
    candidate: str,
    metric: str | None = None,
    systems: tuple[str, str] | None = None,
    where: Mapping[str, tuple[str, ...]] | None = None,
    gain: str | None = None,
) -> Proposal:
    """Look at both files and choose; an error names the possibilities where none is obvious.

    where: column -> words of the rows that are looked at. gain: the metric that is to improve, while the one
    that would gate is kept.
    """
    names = systems or (None, None)
    first, second = _surveys((baseline, candidate), names, metric, where or {})
    for found in (first, second):
        if systems is None and len(found.systems) > 1:
            raise _several_systems(found)
    common = _common(first, second)
    gating, kept = _gating(common, metric, first, second), None
    if gain is not None:
        gating, kept = _named(gain, common, first.path), gating
        if kept.name == gain:
            kept = _gating([found for found in common if found.name != gain], None, first, second)
    needed = {gating.name} if kept is None else {gating.name, kept.name}
    whole = {*_without_gaps(first), *needed} & {*_without_gaps(second), *needed}
    others = [found for found in common if found.name not in needed and found.name in whole]
    return Proposal(
        format=first.format,
        id=_id(first, second),
        repeat=_repeat(first, second),
        systems=systems,
        gating=gating,
        rails=tuple(found for found in others if found.direction == "lower"),
        watched=tuple(found for found in others if found.direction == "higher"),
        unknown=tuple(found for found in others if found.direction is None),
        slices=_of_items(first.columns, first, second),
        clusters=_of_items(first.clusters, first, second),
        gaps=tuple(found.name for found in common if found.name not in whole),
        cautions=tuple(_contradictions(common)),
        where=where or {},
        kept=kept,
    )


def _surveys(
    paths: tuple[str, str],
    systems: tuple[str | None, str | None],
    metric: str | None,
    where: Mapping[str, tuple[str, ...]],
) -> tuple[Survey, Survey]:
    """Both files; the items go by the first likely column whose values are those of the other file too."""
    first, second = (
        survey(path, system=system, metric=metric, where=where)
        for path, system in zip(paths, systems, strict=True)
    )
    shared = [name for name in first.keys if name in second.keys]
    equal = [name for name in shared if first.keys[name] == second.keys[name]]
    pairing = [name for name in shared if not first.keys[name].isdisjoint(second.keys[name])]
    chosen = next(iter([name for name in pairing if name == first.id == second.id] or equal or pairing), None)
    if chosen is None or chosen == first.id == second.id:
        return first, second
    again = [
        survey(path, system=system, metric=metric, id_name=chosen, where=where)
        for path, system in zip(paths, systems, strict=True)
    ]
    return again[0], again[1]


def _contradictions(common: list[Metric]) -> Iterator[tuple[str, str]]:
    for metric in common:
        by_name = direction_by_name(metric.name)
        if metric.known and by_name not in {None, metric.direction}:
            text = f"{metric.name!a}: {metric.direction} is better by the file itself, whatever its name says"
            yield "direction_contradicts_name", text


def _common(first: Survey, second: Survey) -> list[Metric]:
    """Metrics of both files; a number on either side makes a metric graded."""
    known = {metric.name: metric for metric in second.metrics}
    found = []
    for metric in first.metrics:
        if metric.name not in known:
            continue
        kind = "binary" if {metric.kind, known[metric.name].kind} == {"binary"} else "graded"
        other = known[metric.name]
        told = metric.known and other.known
        if told:
            direction = metric.direction if metric.direction == other.direction else None
        else:
            direction = direction_of(metric.name, first.format, metric.direction)
        counts, constant = metric.counts or other.counts, metric.constant and other.constant
        found.append(Metric(metric.name, kind, direction, metric.values, told, counts, constant))
    if not found:
        columns = (
            f"{first.path}: {examples([m.name for m in first.metrics]) or 'none'}; "
            f"{second.path}: {examples([m.name for m in second.metrics]) or 'none'}"
        )
        raise GateError(
            "no_metric",
            f"the two files have no column of numbers in common ({columns})",
            help="write one row an item with a score, true/false or 0/1, under the same name in both files",
        )
    return found


def _without_gaps(found: Survey) -> set[str]:
    """Metrics with a value in every row; all of them where not every row was looked at."""
    return {metric.name for metric in found.metrics if found.rows is None or metric.values >= found.rows}


def _gating(common: list[Metric], wanted: str | None, first: Survey, second: Survey) -> Metric:
    """The metric that is asked for; else the only one, the only (pass/fail) quality, or no cost."""
    by_name = {metric.name: metric for metric in common}
    if wanted is not None:
        return _named(wanted, common, first.path)
    common = [metric for metric in common if not metric.counts]
    if not common:
        raise GateError(
            "no_metric",
            f"the columns of numbers in both files only count rows or items ({examples(list(by_name))})",
            where=first.path,
            help="name the metric's path with --metric, also inside lists: --metric 'scores[name=em].value'",
        )
    # Whether a score passed its bar is a reading of the score, not a metric beside it.
    common = [m for m in common if not _is_reading(m.name, by_name)]
    telling = [metric for metric in common if not metric.constant or metric.direction is not None]
    differing = [metric for metric in telling if not _equal(metric.name, first, second)]
    common = differing or telling or common
    for choice in (
        common,
        [metric for metric in common if metric.direction == "higher"],
        [metric for metric in common if metric.direction != "lower"],
        [metric for metric in common if metric.direction == "higher" and metric.kind == "binary"],
    ):
        if len(choice) == 1:
            return choice[0]
    raise GateError(
        "metric_ambiguous",
        f"several columns could be the metric ({examples(list(by_name))})",
        where=first.path,
        help="name the one that decides with --metric",
    )


def _named(wanted: str, common: Sequence[Metric], where: str) -> Metric:
    for metric in common:
        if metric.name == wanted:
            return metric
    there = examples([metric.name for metric in common])
    raise GateError(
        "metric_missing",
        f"there is no metric {quoted(wanted)} in both files (there are: {there})",
        where=where,
        help="name one of them",
    )


def _is_reading(name: str, names: Container[str]) -> bool:
    return name.endswith(".success") and name.removesuffix(".success") in names


def _of_items(names: Sequence[str], first: Survey, second: Survey) -> tuple[str, ...]:
    """Those that say something of the item; what differs between the sides, as an answer does, is none."""
    return tuple(name for name in names if name in second.columns and _equal(name, first, second))


def _equal(name: str, first: Survey, second: Survey) -> bool:
    """Whether every item has the same value on both sides, as a property of the item has."""
    one, other = (
        sorted(zip(map(str, found.cells[""]), map(str, found.cells[name]), strict=False))
        for found in (first, second)
    )
    return one == other


def _id(first: Survey, second: Survey) -> str | None:
    """The id column, None where the format has ids of its own."""
    if first.own_ids and second.own_ids:
        return None
    found = [name for name in (first.id, second.id) if name is not None]
    if not found or len(set(found)) > 1:
        raise GateError(
            "no_ids",
            "no column that identifies the items in both files was found",
            where=first.path,
            help="call it id, or write a policy with items.id",
        )
    return found[0]


def _repeat(first: Survey, second: Survey) -> str | None:
    if first.own_repeats or second.own_repeats:
        return "repeat"
    return first.repeat or second.repeat


def _several_systems(found: Survey) -> GateError:
    return GateError(
        "system_ambiguous",
        f"the file holds several systems ({examples(list(found.systems))})",
        where=found.path,
        help="say which to compare: --systems BASELINE CANDIDATE",
    )
