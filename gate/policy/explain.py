"""pydantic's errors in plain words, one finding a mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from gate.errors import quoted
from gate.policy import unavailable
from gate.policy.findings import Finding, Path, dotted
from gate.policy.model import Policy

_TAGS = {"plain", "list", "mapping", "[key]"}
_SHOWN = 200


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
        findings += _translate(item, path, hints=len(findings) < _SHOWN)
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
        yield _wrong_value(kind, value, context, path, item["msg"])


def _unknown_key(path: Path, *, hints: bool) -> Finding:
    key = str(path[-1])
    section = dotted(path[:-1])
    place = f" in {section}" if section else ""
    near = difflib.get_close_matches(key, _keys_at(path[:-1]), n=1) if hints else []
    advice = f"did you mean {near[0]}?" if near else "see: gate schema policy"
    return Finding("unknown_key", f"unknown key {quoted(key)}{place}", advice, path)


def _keys_at(path: Path) -> list[str]:
    """The keys that exist at a place of the policy."""
    model: type[BaseModel] | None = Policy
    for part in path:
        if isinstance(part, str) and model:
            field = model.model_fields.get(part)
            model = next(_models(field.annotation), None) if field else None
    return list(model.model_fields) if model else []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _wrong_value(kind: str, value: Any, context: dict[str, Any], path: Path, message: str) -> Finding:
    name = dotted(path)
    if kind == "literal_error":
        return _not_a_word(name, value, context["expected"], path)
    return Finding("wrong_value", f"{name}: {message} (found {found(value)})", path=path)


def _not_a_word(name: str, value: Any, expected: str, path: Path) -> Finding:
    words = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
    near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    advice = f"did you mean {near[0]}?" if near else ""
    return Finding("wrong_value", f"{name} must be {expected} (found {found(value)})", advice, path)


def found(value: Any) -> str:
    """What stood there, short and harmless."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value, 60)
    if isinstance(value, int | float):
        return repr(value)
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"
