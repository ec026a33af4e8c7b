"""action.yml promises what its README says, maps every input once, and gives no text of others a shell."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from gate.ci.inputs import CHOICES, variable
from gate.ci.install import CHOICES as INSTALLS
from gate.ci.results import NAMES

from .jobs import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
README = (ROOT / "examples" / "ci" / "README.md").read_text("utf-8")
DECIDED_BY_POLICY = {
    "alpha",
    "margin",
    "metric",
    "kind",
    "direction",
    "test",
    "cycles",
    "looks",
    "correction",
}


def test_is_a_composite_that_uses_no_other_action() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in STEPS:
        assert step["shell"] == "bash"
        assert set(step) <= {"id", "name", "if", "shell", "env", "run"}
        assert step.get("if", "always()") == "always()"
        assert step["env"]["BASH_ENV"] == ""


def test_every_input_is_mapped_exactly_once_to_its_own_variable() -> None:
    mapped = [
        (key, found[1])
        for step in STEPS
        for key, value in step["env"].items()
        if (found := re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value))
    ]
    assert sorted(name for _, name in mapped) == sorted(ACTION["inputs"])
    assert all(key == variable(name) for key, name in mapped)


def test_no_run_block_and_no_working_directory_takes_an_expression() -> None:
    assert not [step["id"] for step in STEPS if "${{" in step["run"]]


def test_every_python_is_isolated_from_the_workspace() -> None:
    for step in STEPS:
        assert re.search(r'^exec "[^"]+" -I "\$GITHUB_ACTION_PATH/gate/ci/\w+\.py"$', step["run"].strip())


def test_no_input_takes_a_token_or_what_the_policy_decides() -> None:
    assert not set(ACTION["inputs"]) & DECIDED_BY_POLICY
    assert not [name for name in ACTION["inputs"] if re.search("token|secret|password", name)]


@pytest.mark.parametrize("section", ["inputs", "outputs"])
def test_names_are_kebab_case_and_described(section: str) -> None:
    for name, spec in ACTION[section].items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert spec["description"].strip()


def test_defaults_of_closed_words_are_the_first_and_all_words_are_described() -> None:
    for name, words in {**CHOICES, "install": INSTALLS}.items():
        assert ACTION["inputs"][name]["default"] == words[0]
        assert all(word in ACTION["inputs"][name]["description"] for word in words)


def test_outputs_are_those_the_gate_writes_from_steps_that_exist() -> None:
    assert tuple(ACTION["outputs"]) == NAMES
    ids = {step["id"] for step in STEPS}
    for name, spec in ACTION["outputs"].items():
        found = re.findall(r"steps\.(\w+)\.outputs\.([a-z-]+)", spec["value"])
        assert {step for step, _ in found} <= ids
        assert {output for _, output in found} == {name}


@pytest.mark.parametrize("section", ["inputs", "outputs"])
def test_the_readme_lists_the_same_names(section: str) -> None:
    table = re.search(rf"<!-- {section} -->\n(.*?)\n<!-- /{section} -->", README, re.DOTALL)
    assert table
    listed = re.findall(r"^\| `([a-z-]+)` \|", table[1], re.MULTILINE)
    assert listed == list(ACTION[section])


def test_the_readme_says_the_same_defaults() -> None:
    for name, spec in ACTION["inputs"].items():
        row = re.search(rf"^\| `{name}` \| (.*?) \|", README, re.MULTILINE)
        assert row
        wanted = "required" if spec.get("required") else f"`{spec['default']}`" if spec["default"] else ""
        assert row[1].strip() == wanted, name


def test_marketplace_needs() -> None:
    assert ACTION["name"]
    assert len(ACTION["description"]) <= 125
    assert set(ACTION["branding"]) == {"icon", "color"}


def test_no_code_reads_input_variables() -> None:
    """Emulators set INPUT_*, the real runner does not for composite actions: only there it would fail."""
    readers = [path for path in (ROOT / "gate").rglob("*.py") if "INPUT_" in path.read_text("utf-8")]
    assert not readers


def test_every_action_that_a_workflow_uses_is_pinned() -> None:
    files = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / "examples" / "ci" / "github").rglob("*.yml")]
    assert files
    for path in files:
        for used in re.findall(r"(?m)^\s*(?:- )?uses:\s*(\S+)", path.read_text("utf-8")):
            assert used.startswith("./") or re.search(r"@[0-9a-f]{40}$", used), (path.name, used)
