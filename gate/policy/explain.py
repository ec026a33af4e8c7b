"""pydantic's errors in plain words, one finding a mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from gate.policy import unavailable
from gate.policy.findings import Finding, Path, dotted
from gate.policy.model import Policy
from gate.policy.values import wrong_value
from gate.safe import quoted

_TAGS = {"plain", "list", "mapping", "[key]", "str", "bool", "int", "float"}
_HINTS = 50  # a nearest key takes time, and only the first finding is shown in full


def explain(error: ValidationError, lines: Mapping[Path, int], known: Iterable[Path] = ()) -> list[Finding]:
    """Findings for a validation error, without those at or below a path in ``known``.

    lines: the paths that are written, which tell a key from a tag that pydantic put into a location.
    """
    faulty = set(known)
    findings: list[Finding] = []
    for item in error.errors(include_url=False):
        path = _path(item["loc"], lines)
        if any(path[:length] in faulty for length in range(1, len(path) + 1)):
            continue
        findings += _translate(item, path, hints=len(findings) < _HINTS)
        if path:  # a value of several possible types has an error for each
            faulty.add(path)
    return findings


def _path(location: Path, lines: Mapping[Path, int]) -> Path:
    """The keys of pydantic's location, without the tags it puts in for keys with two forms."""
    path: Path = ()
    for part in location:
        if (*path, part) in lines or part not in _TAGS:
            path = (*path, part)
    return path


def _translate(item: Any, path: Path, *, hints: bool) -> Iterator[Finding]:
    kind, value, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "between_keys":
        for finding in context["findings"]:
            yield finding._replace(path=path + finding.path)
        return
    refused = unavailable.refusal(path, value if isinstance(value, str) else None)
    if refused:
        yield Finding("not_available", refused, path=path)
    elif kind == "extra_forbidden":
        yield _unknown_key(path, hints=hints)
    elif kind == "missing":
        yield Finding("missing_key", f"{dotted(path)} is missing", path=path)
    else:
        message, advice = wrong_value(kind, value, context, item["msg"])
        yield Finding("wrong_value", f"{dotted(path)} {message}", advice, path)


def _unknown_key(path: Path, *, hints: bool) -> Finding:
    key, section = str(path[-1]), dotted(path[:-1])
    place = f" in {section}" if section else ""
    advice = (_nearest(key, path[:-1]) if hints else "") or "see: gate schema policy"
    return Finding("unknown_key", f"unknown key {quoted(key)}{place}", advice, path)


def _nearest(key: str, section: Path) -> str:
    """The key that was meant: of this section, or the same or nearest key of another one."""
    here = difflib.get_close_matches(key, keys_at(section), n=1)
    if here:
        return f"did you mean {here[0]}?"
    homes = [name for name in _SECTIONS if name != str((*section, "")[0]) and key in keys_at((name,))]
    if homes:
        return f"{key} is a key of {' and '.join(name or 'the top level' for name in homes)}"
    everywhere = {inner: name for name in reversed(_SECTIONS) for inner in keys_at((name,) if name else ())}
    near = difflib.get_close_matches(key, everywhere, n=1)
    return f"did you mean {dotted((everywhere[near[0]], near[0]))}?" if near else ""


_SECTIONS = ["", "gating", "guardrails", "items", "cycles", "slices", "artifacts", "waivers"]


def keys_at(path: Path) -> list[str]:
    """The keys that exist at a place of the policy; empty where keys are free."""
    model: type[BaseModel] | None = Policy
    for part in path:
        if isinstance(part, str) and part and model:
            field = model.model_fields.get(part)
            model = next(_models(field.annotation), None) if field else None
    return list(model.model_fields) if model else []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
