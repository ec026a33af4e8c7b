"""pydantic's errors in plain words, one finding a mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from gate.policy import unavailable
from gate.policy.findings import Finding, Path, dotted
from gate.policy.model import Policy
from gate.policy.wrong_values import wrong_value
from gate.safe import quoted

_TAGS = {"plain", "list", "mapping", "[key]", "str", "bool", "int", "float"}
_HINTS = 50  # a nearest key takes time, and only the first finding is shown in full


def explain(
    error: ValidationError,
    lines: Mapping[Path, int],
    known: Iterable[Path] = (),
    model: type[BaseModel] = Policy,
) -> list[Finding]:
    """Findings for a validation error, without those at or below a path in ``known``.

    lines: the paths that are written, which tell a key from a tag that pydantic put into a location.
    model: what the whole file is.
    """
    faulty = set(known)
    findings: list[Finding] = []
    for item in error.errors(include_url=False):
        path = _path(item["loc"], lines)
        if any(path[:length] in faulty for length in range(1, len(path) + 1)):
            continue
        findings += _translate(item, path, model, hints=len(findings) < _HINTS)
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


def _translate(item: Any, path: Path, model: type[BaseModel], *, hints: bool) -> Iterator[Finding]:
    kind, value, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "between_keys":
        for finding in context["findings"]:
            yield finding._replace(path=path + finding.path)
        return
    word = value if isinstance(value, str) else None
    refused = unavailable.refusal(path, word) if model is Policy else None
    if refused:
        yield Finding("not_available", refused, path=path)
    elif kind == "extra_forbidden":
        yield _unknown_key(path, model, hints=hints)
    elif kind == "missing":
        yield Finding("missing_key", f"{dotted(path)} is missing", path=path)
    else:
        message, advice = wrong_value(kind, value, context, item["msg"])
        if dotted(path) == "gating.margin" and kind == "greater_than_equal":
            advice = ACCEPTED_LOSS.format(-value)
        yield Finding("wrong_value", f"{dotted(path)} {message}", advice, path)


ACCEPTED_LOSS = (
    "a loss that is accepted is a guardrail (mode: non_inferior, tolerance: {:g}), and what is gained "
    "(cost, latency) is the gating metric: gate init A B --metric QUALITY --replace GAIN"
)
"""Where somebody would gate by non-inferiority."""


def _unknown_key(path: Path, model: type[BaseModel], *, hints: bool) -> Finding:
    key, section = str(path[-1]), dotted(path[:-1])
    place = f" in {section}" if section else ""
    advice = (
        _nearest(key, path[:-1], model) if hints else ""
    ) or f"see: gate schema {model.__name__.lower()}"
    return Finding("unknown_key", f"unknown key {quoted(key)}{place}", advice, path)


def _nearest(key: str, section: Path, model: type[BaseModel]) -> str:
    """The key that was meant: of this section, or the same or nearest key of another one."""
    here = difflib.get_close_matches(key, keys_at(section, model), n=1)
    if here:
        return f"did you mean {here[0]}?"
    sections = ["", *(name for name, field in model.model_fields.items() if any(_models(field.annotation)))]
    homes = [n for n in sections if n != str((*section, "")[0]) and key in keys_at((n,), model)]
    if homes:
        return f"{key} is a key of {' and '.join(name or 'the top level' for name in homes)}"
    everywhere = {inner: n for n in reversed(sections) for inner in keys_at((n,) if n else (), model)}
    near = difflib.get_close_matches(key, everywhere, n=1)
    return f"did you mean {dotted((everywhere[near[0]], near[0]))}?" if near else ""


def keys_at(path: Path, model: type[BaseModel] = Policy) -> list[str]:
    """The keys that exist at a place of the file; empty where keys are free."""
    here: type[BaseModel] | None = model
    for part in path:
        if isinstance(part, str) and part and here:
            field = here.model_fields.get(part)
            here = next(_models(field.annotation), None) if field else None
    return list(here.model_fields) if here else []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
