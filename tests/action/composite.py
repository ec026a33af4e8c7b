"""Runs a composite action's steps as the real runner does, where emulators are kinder than it.

No ``INPUT_*`` variables; unknown inputs only a warning; required ones not enforced; outputs evaluated after a
failed step; files for outputs, summary, environment and path of each step; log commands found by the runner's
two parsers (actions/runner, ActionCommand.cs).
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

SUMMARY_LIMIT = 1024 * 1024
BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_COMMAND_V1 = re.compile(r"##\[([\w-]+)[^\]]*\]")
_COMMAND_V2 = re.compile(r"::([\w-]+)(?: [^:]*?)?::")


@dataclass
class Finished:
    """What the caller's job can see."""

    exit_code: int
    outputs: dict[str, str]
    log: str
    summaries: list[str]
    environment: dict[str, str]
    paths: list[str]
    warnings: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        return "".join(self.summaries)

    @property
    def commands(self) -> list[str]:
        return log_commands(self.log)


def log_commands(log: str) -> list[str]:
    """The commands the runner would obey: ``::name::`` after blanks, ``##[name]`` anywhere."""
    found = []
    for line in log.splitlines():
        second = _COMMAND_V2.match(line.lstrip())
        if second:
            found.append(second[1])
        else:
            found += _COMMAND_V1.findall(line)
    return found


def run_action(folder: Path, given: dict[str, str], environment: dict[str, str], workspace: Path) -> Finished:
    """Run ``folder``'s action.yml with ``with: given`` in a job whose environment is ``environment``."""
    action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: spec.get("default", "") for name, spec in action["inputs"].items()}
    warnings = [f"Unexpected input(s) '{name}'" for name in given if name not in inputs]
    inputs |= {name: value for name, value in given.items() if name in inputs}
    job = _Job(inputs, {**environment, "GITHUB_ACTION_PATH": str(folder)}, workspace)
    for step in action["runs"]["steps"]:
        job.step(step)
    outputs = {name: job.evaluate(spec["value"]) for name, spec in action["outputs"].items()}
    log = "".join(job.logs)
    return Finished(job.exit_code, outputs, log, job.summaries, job.exported, job.paths, warnings)


class _Job:
    def __init__(self, inputs: dict[str, str], environment: dict[str, str], workspace: Path) -> None:
        self.inputs, self.environment, self.workspace = inputs, environment, workspace
        self.steps: dict[str, dict[str, str]] = {}
        self.exit_code = 0
        self.logs: list[str] = []
        self.summaries: list[str] = []
        self.exported: dict[str, str] = {}
        self.paths: list[str] = []

    def step(self, step: dict[str, Any]) -> None:
        assert set(step) <= {"id", "name", "if", "shell", "env", "run"}, step
        assert step["shell"] == "bash"
        if self.exit_code and step.get("if") != "always()":
            return
        with tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder) / name for name in ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH", "STATE")}
            for file in files.values():
                file.touch()
            code = self._run(step, Path(folder), files)
            self.exit_code = self.exit_code or code
            self._collect(step, files)

    def _run(self, step: dict[str, Any], folder: Path, files: dict[str, Path]) -> int:
        own = {name: self.evaluate(value) for name, value in step.get("env", {}).items()}
        environment = {**self.environment, **self.exported, **own}
        environment |= {f"GITHUB_{name}": str(file) for name, file in files.items()}
        script = folder / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            [*BASH, str(script)],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self.logs.append(done.stdout.decode("utf-8", "replace"))
        return done.returncode

    def _collect(self, step: dict[str, Any], files: dict[str, Path]) -> None:
        self.steps.setdefault(step.get("id", ""), {}).update(parse_values(files["OUTPUT"].read_text("utf-8")))
        summary = files["STEP_SUMMARY"].read_bytes()
        if len(summary) > SUMMARY_LIMIT:
            self.logs.append("##[error]$GITHUB_STEP_SUMMARY upload aborted\n")
        elif summary:
            self.summaries.append(summary.decode("utf-8"))
        self.exported |= parse_values(files["ENV"].read_text("utf-8"))
        self.paths += files["PATH"].read_text("utf-8").splitlines()

    def evaluate(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._any_of(found[1]), text)

    def _any_of(self, expression: str) -> str:
        return next((value for part in expression.split("||") if (value := self._value(part.strip()))), "")

    def _value(self, name: str) -> str:
        context, _, rest = name.partition(".")
        if context == "inputs":
            return self.inputs[rest]
        assert context == "steps", name
        step, _, output = rest.partition(".outputs.")
        return self.steps.get(step, {}).get(output, "")


def parse_values(text: str) -> dict[str, str]:
    """``name=value`` and heredocs as the runner reads them; a missing delimiter fails."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
            continue
        assert heredoc >= 0, f"Invalid format {line!r}"
        name, delimiter = line[:heredoc], line[heredoc + 2 :]
        end = lines.index(delimiter, position)
        found[name] = "\n".join(lines[position:end])
        position = end + 1
    return found


def clean_environment() -> dict[str, str]:
    """This process's environment without what a CI system or a developer put there."""
    foreign = ("GITHUB_", "RUNNER_", "GATE_", "CI_", "INPUT_", "PYTHON", "PIP_", "GIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
