"""SWE-bench run reports: lists of ids. Strict, as the leaderboard counts: whatever is not resolved is 0.

But what the harness failed to evaluate is a failed run: an infrastructure fault of the baseline is no gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.records import Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest, Stated
from gate.artifacts.tool_runs import Context, Run, accepted_columns, contradiction, records
from gate.safe import examples
from gate.values import GateError

STRICT, COMPLETED = "resolved", "resolved_of_completed"
_BROKE = ("error_ids", "infra_failure_ids", "ambiguous_failure_ids")
_NOT_RUN = (*_BROKE, "incomplete_ids")
_KINDS = (*_NOT_RUN, "empty_patch_ids", "unresolved_ids", "resolved_ids", "completed_ids")


def load(content: Content, request: ReadRequest | None) -> Records:
    """``resolved`` (strict) and ``resolved_of_completed`` (no value where the run broke or was not made)."""
    document = content.document()
    refuse_doubled(document, content.path, None)
    lists = {name: _ids(document, name, content.path) for name in (*_KINDS, "submitted_ids")}
    resolved = lists["resolved_ids"] or _ids(document, "resolved", content.path)
    lists["resolved_ids"] = resolved
    _refuse_contradictions(document, lists, content.path)
    named = request is not None and request.labels is not None
    listed = named and _without_universe(lists)
    universe = sorted(set().union(*lists.values())) if listed else _universe(document, lists, content.path)
    kind_of = {item: name for name in reversed(_NOT_RUN) for item in lists[name]}
    done = set(resolved)
    unknown = sorted(done - set(universe))
    if unknown:
        raise GateError(
            "invalid_report", f"resolved ids that are no items ({examples(unknown)})", where=content.path
        )
    accepted = accepted_columns(request)
    runs = [_run(item, item in done, kind_of.get(item), accepted) for item in universe]
    context = Context(
        format="swebench",
        path=content.path,
        place=lambda row: f"item {row + 1}",
        cautions=_cautions(lists, runs, document.get("total_instances")),
        stated=_stated(document),
        evidence={"incomplete_ids": [kind_of.get(item) == "incomplete_ids" for item in universe]},
        directions=dict.fromkeys((STRICT, COMPLETED), "higher"),
    )
    found = records(runs, request, context)
    return replace(found, absent={STRICT: 0.0, COMPLETED: 0.0}) if listed else found


def _without_universe(lists: Mapping[str, list[str]]) -> bool:
    """Whether it has the leaderboard's layout, which does not say which items there were."""
    return not (lists["submitted_ids"] or lists["unresolved_ids"] or lists["completed_ids"])


def _stated(document: Mapping[str, Any]) -> tuple[Stated, ...]:
    version = document.get("schema_version")
    what = "the schema_version of the report"
    return () if version is None else (Stated(what, str(version), caution="tool_version_differs"),)


def _refuse_contradictions(document: Mapping[str, Any], lists: Mapping[str, list[str]], path: str) -> None:
    """An id has one outcome, and the report's own counts are those of its lists."""
    resolved = set(lists["resolved_ids"])
    for name in (*_NOT_RUN, "empty_patch_ids", "unresolved_ids"):
        both = sorted(resolved.intersection(lists[name]))
        if both:
            raise contradiction(f"ids both in resolved_ids and in {name} ({examples(both)})", path)
    for name in ("resolved", "unresolved"):
        count, listed = document.get(f"{name}_instances"), document.get(f"{name}_ids")
        if isinstance(count, int) and isinstance(listed, list) and count != len(listed):
            raise contradiction(f"{name}_instances is {count}, but {name}_ids lists {len(listed)}", path)


def _ids(document: Mapping[str, Any], name: str, path: str) -> list[str]:
    found = document.get(name)
    if found is None or (name == "resolved" and not isinstance(found, list)):
        return []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise GateError("invalid_report", f"{name} is no list of ids", where=path)
    if len(set(found)) != len(found):
        twice = sorted({item for item in found if found.count(item) > 1})
        raise GateError("duplicate_ids", f"{name} names ids twice ({examples(twice)})", where=path)
    return found


def _universe(document: Mapping[str, Any], lists: Mapping[str, list[str]], path: str) -> list[str]:
    """All items of the run. Submitted ids may hold some of another data set; then the other lists decide."""
    by_kind = set().union(*(lists[name] for name in _KINDS))
    items = by_kind | set(lists["submitted_ids"])
    total = document.get("total_instances")
    if _without_universe(lists):
        raise GateError(
            "no_universe",
            "the report lists what was resolved, but not which items there were",
            where=path,
            help="use the report that the harness writes (with submitted_ids and incomplete_ids), "
            "or name all items: --labels ITEMS",
        )
    return sorted(by_kind if isinstance(total, int) and len(items) > total >= len(by_kind) else items)


def _run(item: str, resolved: bool, not_run: str | None, accepted: frozenset[str]) -> Run:
    value = int(resolved)
    completed = (
        value if resolved or not_run is None else NoNumber(not_run.removesuffix("_ids").replace("_", " "))
    )
    raw = {"instance_id": item, "repo": item.rpartition("-")[0]}
    failed = not resolved and not_run in _BROKE and not_run not in accepted
    return Run(item, {STRICT: value, COMPLETED: completed}, raw, failed=failed)


def _cautions(lists: Mapping[str, list[str]], runs: list[Run], total: Any) -> tuple[tuple[str, str], ...]:
    found = []
    items = len(runs)
    failed = {run.id for run in runs if run.failed}
    left = {name: [item for item in lists[name] if item not in failed] for name in _NOT_RUN}
    counts = [
        f"{name.removesuffix('_ids').replace('_', ' ')} {len(left[name])}" for name in _NOT_RUN if left[name]
    ]
    if counts:
        found.append(
            ("not_run_counts_as_unresolved", f"items without a completed run count as 0: {', '.join(counts)}")
        )
    if isinstance(total, int) and total != items:
        found.append(("items_not_listed", f"the report says {total} items, but lists {items}"))
    return tuple(found)
