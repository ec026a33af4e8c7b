"""SWE-bench run reports: lists of ids. Strict, as the leaderboard counts: whatever is not resolved is 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.content import Content
from gate.artifacts.own import Context, Run, records
from gate.artifacts.records import Records
from gate.artifacts.strict_json import NoNumber, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.errors import GateError, examples

STRICT, COMPLETED = "resolved", "resolved_of_completed"
_NOT_RUN = ("error_ids", "infra_failure_ids", "ambiguous_failure_ids", "incomplete_ids")
_KINDS = (*_NOT_RUN, "empty_patch_ids", "unresolved_ids", "resolved_ids", "completed_ids")


def load(content: Content, request: ReadRequest | None) -> Records:
    """``resolved`` (strict) and ``resolved_of_completed`` (no value where the run broke or was not made)."""
    document = content.document()
    refuse_doubled(document, content.path, None)
    lists = {name: _ids(document, name, content.path) for name in (*_KINDS, "submitted_ids")}
    resolved = lists["resolved_ids"] or _ids(document, "resolved", content.path)
    lists["resolved_ids"] = resolved
    universe = _universe(document, lists, content.path)
    kind_of = {item: name for name in reversed(_NOT_RUN) for item in lists[name]}
    done = set(resolved)
    unknown = sorted(done - set(universe))
    if unknown:
        raise GateError(
            "invalid_report", f"resolved ids that are no items ({examples(unknown)})", where=content.path
        )
    runs = [_run(item, item in done, kind_of.get(item)) for item in universe]
    context = Context(
        format="swebench",
        path=content.path,
        place=lambda row: f"item {row + 1}",
        cautions=_cautions(lists, len(universe), document.get("total_instances")),
        directions=dict.fromkeys((STRICT, COMPLETED), "higher"),
    )
    return records(runs, request, context)


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
    if not lists["submitted_ids"] and not lists["unresolved_ids"] and not lists["completed_ids"]:
        raise GateError(
            "no_universe",
            "the report lists what was resolved, but not which items there were",
            where=path,
            help="use the report that the harness writes (with submitted_ids and incomplete_ids)",
        )
    return sorted(by_kind if isinstance(total, int) and len(items) > total >= len(by_kind) else items)


def _run(item: str, resolved: bool, not_run: str | None) -> Run:
    value = int(resolved)
    completed = (
        value if resolved or not_run is None else NoNumber(not_run.removesuffix("_ids").replace("_", " "))
    )
    raw = {"instance_id": item, "repo": item.rpartition("-")[0]}
    return Run(item, {STRICT: value, COMPLETED: completed}, raw)


def _cautions(lists: Mapping[str, list[str]], items: int, total: Any) -> tuple[tuple[str, str], ...]:
    found = []
    counts = [
        f"{name.removesuffix('_ids').replace('_', ' ')} {len(lists[name])}"
        for name in _NOT_RUN
        if lists[name]
    ]
    if counts:
        found.append(
            ("not_run_counts_as_unresolved", f"items without a completed run count as 0: {', '.join(counts)}")
        )
    if isinstance(total, int) and total != items:
        found.append(("items_not_listed", f"the report says {total} items, but lists {items}"))
    return tuple(found)
