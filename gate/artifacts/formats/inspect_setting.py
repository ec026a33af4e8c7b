"""How the samples of an Inspect log were scored, as its header states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.artifacts.table import Stated, graded_itself
from gate.artifacts.texts import canonical
from gate.safe import examples, quoted

_GRADERS = ("grade", "judge", "scor", "critic", "rater", "evaluator", "annotat")
_MEAN = "mean"


def stated(header: Mapping[str, Any]) -> Iterator[Stated]:
    """Grader, other roles, reducer, versions, and the models that were called beside the evaluated one."""
    run = _mapping(header.get("eval"))
    roles = _mapping(run.get("model_roles"))
    for role, model in roles.items():
        grades = _grades(role)
        what = f"the {'grader' if grades else 'model'} in the role {quoted(role)}"
        yield Stated(what, _model(model), caution="" if grades else "role_differs")
    yield Stated("the epochs reducer", ", ".join(_reducers(run)), caution="reducer_differs")
    yield from graded_itself(run.get("model"), _graders(run, roles))
    packages = _mapping(run.get("packages"))
    if "inspect_ai" in packages:
        yield Stated("the version of inspect_ai", str(packages["inspect_ai"]), caution="tool_version_differs")
    dataset = _mapping(run.get("dataset"))
    for name in ("revision", "version"):
        if dataset.get(name) is not None:
            yield Stated(f"the {name} of the data set", str(dataset[name]))
    used = _mapping(_mapping(header.get("stats")).get("model_usage"))
    if run.get("model") in used:
        others = sorted(set(used) - {run["model"]})
        text = ", ".join(others) or "none: it may have graded itself"
        yield Stated("which models were called beside the evaluated one", text, caution="other_models_called")


def _graders(run: Mapping[str, Any], roles: Mapping[str, Any]) -> Iterator[str]:
    """The models that grade; a scorer that is given none asks the evaluated model."""
    named = [_model(model) for role, model in roles.items() if _grades(role)]
    yield from named
    listed = run.get("scorers")
    for scorer in listed if isinstance(listed, list) else ():
        told = _mapping(_mapping(scorer).get("options")).get("model")
        if told is not None:
            yield _model(told)
        elif not named and "model_graded" in str(_mapping(scorer).get("name")):
            yield str(run.get("model"))


def _grades(role: str) -> bool:
    return any(part in role.lower() for part in _GRADERS)


def _model(found: Any) -> str:
    """The name of a role's model; roles may hold several."""
    if isinstance(found, list):
        return ", ".join(map(_model, found))
    if isinstance(found, str):
        return found
    return str(found["model"]) if isinstance(found, Mapping) and "model" in found else canonical(found)


def reducer_caution(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The log's own headline may not be the mean over epochs."""
    run = _mapping(header.get("eval"))
    epochs, reducers = _mapping(run.get("config")).get("epochs"), _reducers(run)
    if isinstance(epochs, int) and epochs > 1 and reducers != [_MEAN]:
        text = f"the log reduces its {epochs} epochs by {examples(reducers)}; this report reduces them as "
        yield "reduced_otherwise", text + "items.reduce says (by default the mean)"


def _reducers(run: Mapping[str, Any]) -> list[str]:
    found = _mapping(run.get("config")).get("epochs_reducer")
    return [str(one) for one in found] if isinstance(found, list) and found else [_MEAN]


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
