"""Words about a run: did it complete? And the columns in which files say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, Literal

from gate.artifacts.values import NUMBER

Said = Literal["passed", "failed", "ran", "not_run", "broke"]
"""failed: the result of a run that completed. not_run and broke: there is no result."""

_PASSED = frozenset(
    {"pass", "passed", "success", "successful", "succeeded", "ok", "okay", "correct", "true", "1"}
)
_FAILED = frozenset({"fail", "failed", "failure", "incorrect", "wrong", "false", "0"})
_RAN = frozenset(
    {"", "run", "ran", "done", "valid", "scored", "complete", "completed", "finished", "executed"}
    | {"no_error", "no_errors", "unset", "null", "none", "nan"}
)
_NOT_RUN = frozenset(
    {"skip", "skipped", "ignored", "disabled", "inactive", "suppressed", "pending", "queued", "running"}
    | {"in_progress", "notrun", "not_run", "not_started", "not_executed", "never_ran", "did_not_run", "todo"}
)
_BROKE = frozenset(
    {"error", "errored", "exception", "broken", "broke", "timed_out", "time_out", "out_of_memory", "cancel"}
    | {"failed_to_run", "failed_to_start", "unavailable", "service_unavailable", "unreachable", "overloaded"}
    | {"too_many_requests", "bad_gateway", "gateway_timeout", "quota_exceeded", "insufficient_quota"}
    | {"connection_reset", "connection_refused", "segfault", "segmentation_fault", "exit_api", "abort"}
)
_BROKE_PARTS = frozenset(
    {"crash", "crashed", "killed", "aborted", "oom", "timeout", "timedout", "infra", "infrastructure"}
    | {"cancelled", "canceled", "interrupted", "preempted", "evicted", "throttled", "ratelimit"}
)
_WHOSE_ERROR = frozenset(
    {"tool", "api", "system", "internal", "unknown", "server", "network", "connection", "provider", "harness"}
    | {"agent", "environment", "env", "docker", "container", "sandbox", "http", "service", "client", "judge"}
    | {"grader", "scorer", "evaluator", "setup", "teardown", "runner", "request", "auth", "gateway", "quota"}
    | {"exit"}
)
"""Whose error it is: not the answer's, as a compile or runtime error of generated code is."""
_HTTP = re.compile(r"5\d\d|429|408")
_FINE_CODE = re.compile(r"2\d\d")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

ERROR_COLUMNS = frozenset(
    {"error", "errors", "exception", "exceptions", "exception_info", "exc_info", "traceback", "stack_trace"}
    | {"stacktrace", "error_message", "error_msg", "error_type", "error_info", "error_details", "err"}
    | {"exception_type", "exception_message", "raised_exception", "has_error", "is_error", "errored"}
    | {"run_error", "api_error", "system_error", "infra_error", "crashed", "timed_out", "aborted"}
    | {"failure_mode", "failure_reason", "failure_type"}
)
FLAG_COLUMNS = frozenset(
    {
        "has_error",
        "is_error",
        "errored",
        "crashed",
        "timed_out",
        "aborted",
        "skipped",
        "cancelled",
        "canceled",
    }
    | {"killed", "oom", "out_of_memory", "interrupted", "preempted", "timeout"}
)
"""Columns that are true, or 1, where a run broke, also with is, was, has or did before them."""
_ASKING = ("is_", "was_", "has_", "did_")
_WHERE_IT_BROKE = (
    _WHOSE_ERROR
    | {"run", "model", "llm", "inference", "generation", "last", "final", "fatal"}
    | {
        "eval",
        "evaluation",
        "infra",
        "infrastructure",
        "completion",
    }
)
_ABOUT_IT = frozenset(
    {"type", "class", "message", "msg", "name", "text", "info", "details", "detail", "kind", "reason", "mode"}
    | {"trace", "traceback", "description", "category", "cause"}
)
CODE_COLUMNS = frozenset({"exit_code", "exit_status", "returncode", "return_code", "exitcode"})
STATUS_COLUMNS = frozenset(
    {"status", "state", "run_status", "run_state", "execution_status", "exit_status", "exit_reason"}
    | {"termination_reason", "completion_status", "job_status", "trial_status", "task_status"}
    | {"finish_reason", "stop_reason", "http_status", "http_code", "status_code", "response_code"}
)

CACHE_COLUMNS = frozenset({"cached", "is_cached", "from_cache", "cache_hit", "served_from_cache"})


def plain(text: str) -> str:
    """A word or a name without case and marks: ``Timed out``, ``TIMED-OUT`` and ``TimedOut`` are one."""
    bare = _HUMPS.sub("_", text.strip())
    return re.sub(r"[^a-z0-9]+", "_", bare.lower()).strip("_")


@lru_cache(maxsize=4096)
def said(text: str) -> Said | None:
    """What a word says of its run; None for a word that this gate does not know."""
    word = plain(_whole(text))
    known: tuple[tuple[frozenset[str], Said], ...] = (
        (_PASSED, "passed"),
        (_FAILED, "failed"),
        (_RAN, "ran"),
        (_NOT_RUN, "not_run"),
        (_BROKE, "broke"),
    )
    for words, meaning in known:
        if word in words:
            return meaning
    if _FINE_CODE.fullmatch(word):
        return "ran"
    return "broke" if _is_broken(word.split("_")) else None


def _is_broken(parts: list[str]) -> bool:
    if not _BROKE_PARTS.isdisjoint(parts) or parts[:2] == ["rate", "limit"] or "limited" in parts[1:2]:
        return True
    if parts[-1] in {"error", "errors"} and not _WHOSE_ERROR.isdisjoint(parts):
        return True
    coded = len(parts) == 1 or parts[0] in {"http", "status", "code", "error"}
    return any(_HTTP.fullmatch(part) for part in (parts if coded else parts[:1]))


def _whole(text: str) -> str:
    """``200.0`` is 200: tables write whole numbers as they can."""
    bare = text.strip()
    if NUMBER.fullmatch(bare) and len(bare) < 20 and float(bare).is_integer():
        return str(int(float(bare)))
    return bare


def without_result(text: str) -> bool:
    """Whether the word says that the run gave no result."""
    return said(text) in {"not_run", "broke"}


@lru_cache(maxsize=4096)
def error_column(name: str) -> bool:
    """Whether a column of this name holds something where a run broke."""
    word = plain(name)
    return word in ERROR_COLUMNS or flag_column(name) or _names_an_error(word.split("_"))


def _names_an_error(parts: list[str]) -> bool:
    """``llm_error``, ``last_exception``, ``infra_failure``, ``exception_class``, ``fail_reason``."""
    first, *rest = parts
    if rest and first in {"error", "exception", "exc", "err", "failure", "fail"}:
        return _ABOUT_IT.issuperset(rest)
    broken = parts[-1] in {"error", "errors", "exception", "exceptions", "traceback"}
    infra = parts[-1] in {"failure", "failures"} and {"agent", "model", "llm", "tool", "run"}.isdisjoint(
        parts
    )
    return bool(rest) and (broken or infra) and _WHERE_IT_BROKE.issuperset(parts[:-1])


def flag_column(name: str) -> bool:
    """Whether 1 or true in a column of this name says that the run broke."""
    word = plain(name)
    bare = next((word.removeprefix(start) for start in _ASKING if word.startswith(start)), word)
    return bare in FLAG_COLUMNS or word in FLAG_COLUMNS


def code_column(name: str) -> bool:
    """Whether a column holds the exit codes of processes."""
    return plain(name) in CODE_COLUMNS


@lru_cache(maxsize=4096)
def status_column(name: str) -> bool:
    """Whether a column of this name holds a word on every run."""
    word = plain(name)
    first, *rest = word.split("_")
    if word in STATUS_COLUMNS | CODE_COLUMNS or not rest:
        return word in STATUS_COLUMNS | CODE_COLUMNS | {"outcome", "verdict", "result"}
    if rest[-1] == "reason":
        return first in {"exit", "stop", "stopping", "finish", "end", "termination", "completion", "abort"}
    return rest[-1] in {"status", "outcome"} or (rest[-1] == "state" and first in _WHOSE_RUN)


_WHOSE_RUN = _WHERE_IT_BROKE | {"job", "trial", "task", "sample", "result", "test", "execution"}


@lru_cache(maxsize=4096)
def tells_of_runs(path: str) -> bool:
    """Whether a column, by a part of its dotted name or its last two parts, may say that runs failed."""
    parts = path.split(".")
    return status_column(parts[-1]) or status_column("_".join(parts[-2:])) or any(map(error_column, parts))


@lru_cache(maxsize=4096)
def cached_column(path: str) -> bool:
    """Whether a column says that the answer came from a cache."""
    return plain(path.rpartition(".")[2]) in CACHE_COLUMNS


def is_evidence(path: str) -> bool:
    """Whether a column is read although nobody asked for it."""
    return tells_of_runs(path) or cached_column(path)


DEEPEST = 8
"""Levels of nested objects that are looked through."""


def told(row: Any, depth: int = DEEPEST, prefix: str = "") -> list[tuple[str, Any]]:
    """(dotted name, cell) of all that may say so in one row of JSON."""
    found: list[tuple[str, Any]] = []
    for key, value in row.items():
        if depth > 1 and isinstance(value, dict) and not error_column(key):
            found += told(value, depth - 1, f"{prefix}{key}.")
        elif is_evidence(prefix + key):
            found.append((prefix + key, value))
    return found


def holds_objects(rows: Iterable[dict[str, Any]]) -> bool:
    """Whether a value in one of the rows is an object itself."""
    kinds = set(map(type, chain.from_iterable(map(dict.values, rows))))
    return any(issubclass(kind, dict) for kind in kinds)


def told_columns(
    rows: Sequence[dict[str, Any]], numbers: Sequence[int], depth: int = DEEPEST, prefix: str = ""
) -> Iterator[tuple[str, dict[int, Any]]]:
    """The same of many rows, which have these numbers: (dotted name, number of the row -> cell)."""
    for key in dict.fromkeys(chain.from_iterable(rows)):
        path = prefix + key
        try:
            cells = list(map(itemgetter(key), rows))
        except KeyError:
            cells = [row.get(key, _LACKS) for row in rows]
        kinds = [kind for kind in set(map(type, cells)) if issubclass(kind, dict)]
        deep = depth > 1 and kinds and not error_column(key)
        if deep:
            inner = [
                (number, cell) for number, cell in zip(numbers, cells, strict=True) if type(cell) in kinds
            ]
            yield from told_columns([c for _, c in inner], [n for n, _ in inner], depth - 1, f"{path}.")
        if is_evidence(path):
            told_here = zip(numbers, cells, strict=True)
            found = {n: c for n, c in told_here if c is not _LACKS and not (deep and type(c) in kinds)}
            if found:
                yield path, found


_LACKS = object()
