"""Which rows of a promptfoo file belong to which system: a provider with a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gate.safe import examples, quoted
from gate.values import GateError

Row = dict[str, Any]
Placed = tuple[int | None, Row]


def labels(rows: Iterable[Placed]) -> list[str]:
    """``provider label / prompt label`` of all systems, in order of appearance."""
    return list(dict.fromkeys(_label(row) for _, row in rows))


def first(rows: list[Placed]) -> tuple[list[Placed], str]:
    """The rows of the first system, for a first look."""
    label = _label(rows[0][1])
    return [placed for placed in rows if _label(placed[1]) == label], label


def chosen(rows: list[Placed], wanted: str | None, path: str) -> tuple[list[Placed], str]:
    """The rows of the system that ``wanted`` names, or of the only one."""
    if not rows:
        return [], ""
    kept = [placed for placed in rows if wanted is None or wanted in _names(placed[1])]
    found = {_key(row): _label(row) for _, row in kept}
    if len(found) == 1:
        return kept, next(iter(found.values()))
    options = examples([f"{key} = {label}" for key, label in sorted(_systems(rows).items())])
    if not found:
        raise GateError(
            "unknown_system",
            f"there is no system {quoted(wanted or '')} (there are: {options})",
            where=path,
            help=_HELP,
        )
    which = f"{quoted(wanted)} names {len(found)} of them" if wanted else "the policy names none"
    raise GateError(
        "ambiguous_system",
        f"the file holds {len(_systems(rows))} systems, {which} (there are: {options})",
        where=path,
        help=_HELP,
    )


_HELP = (
    "set artifacts.system to a promptIdx, a provider label, a prompt label or `provider label / prompt label`"
    "; {baseline: X, candidate: Y} reads both sides from one file"
)


def _systems(rows: Iterable[Placed]) -> dict[str, str]:
    return {_key(row): _label(row) for _, row in rows}


def _key(row: Row) -> str:
    index = row.get("promptIdx")
    return str(index) if isinstance(index, int) else _label(row)


def _label(row: Row) -> str:
    prompt = _prompt_names(row)
    return f"{_provider_names(row)[0]} / {prompt[0] if prompt else ''}"


def _names(row: Row) -> set[str]:
    """Everything a policy may call the row's system."""
    providers, prompts = _provider_names(row), _prompt_names(row)
    pairs = {f"{provider} / {prompt}" for provider in providers for prompt in prompts}
    return {_key(row), *providers, *prompts, *pairs}


def _provider_names(row: Row) -> list[str]:
    provider = row.get("provider")
    if isinstance(provider, Mapping):
        found = [provider.get(name) for name in ("label", "id")]
        return [name for name in found if isinstance(name, str) and name] or ["?"]
    return [provider] if isinstance(provider, str) else ["?"]


def _prompt_names(row: Row) -> list[str]:
    prompt = row.get("prompt")
    if isinstance(prompt, Mapping):
        found = [prompt.get(name) for name in ("label", "display")]
        return [name for name in found if isinstance(name, str) and name][:1] or _raw(prompt)
    return [prompt] if isinstance(prompt, str) else []


def _raw(prompt: Mapping[str, Any]) -> list[str]:
    found = prompt.get("id")
    return [found] if isinstance(found, str) else []
