"""What a release is made of: the workflow's own steps, its pins, and the documents beside the code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.cli.commands import COMMANDS
from gate.policy.schema import policy_schema
from gate.values import __version__

ROOT = Path(__file__).resolve().parent.parent
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
WORKFLOWS = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("examples/ci/github/*.yml")]


def steps(job: str) -> list[dict[str, Any]]:
    return list(RELEASE["jobs"][job]["steps"])


@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), ("v9.9.9", 1), (__version__, 1)])
def test_only_the_tag_of_this_version_is_released(tag: str, code: int) -> None:
    (check,) = (step for step in steps("build") if step.get("name") == "The tag is the version")
    environment = {**os.environ, "GITHUB_REF_NAME": tag}
    done = subprocess.run(["bash", "-c", check["run"]], cwd=ROOT, env=environment, check=False)
    assert done.returncode == code


def test_every_action_is_pinned_to_one_commit_of_its_version() -> None:
    """The same version is the same commit everywhere, and no action comes by a name that can be moved."""
    known: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for line in path.read_text().splitlines():
            if found := re.search(r"^\s*-? *uses: ([\w./-]+)@(\S+)(?: # (\S+))?", line):
                action, commit, version = found.groups()
                if action == "your-org/paired-gate" or action.startswith("./"):
                    continue
                assert re.fullmatch(r"[0-9a-f]{40}", commit), (path.name, line)
                assert re.fullmatch(r"v\d+\.\d+\.\d+", version or ""), (path.name, line)
                known.setdefault(f"{action}@{version}", set()).add(commit)
    assert known
    assert {name: commits for name, commits in known.items() if len(commits) > 1} == {}


def test_what_publishes_has_no_more_rights_than_its_job_needs() -> None:
    assert RELEASE["permissions"] == {}
    rights = {job: spec["permissions"].items() for job, spec in RELEASE["jobs"].items()}
    writes = {job: {name for name, right in found if right == "write"} for job, found in rights.items()}
    assert writes == {
        "build": {"id-token", "attestations"},
        "package": {"id-token"},
        "image": {"packages"},
        "release": {"contents"},
    }
    assert all(RELEASE["jobs"][job]["environment"] == "release" for job in ("package", "image", "release"))


@pytest.mark.slow
def test_the_build_step_makes_a_package_that_works(tmp_path: Path) -> None:
    """The commands of the workflow, with this machine's Python in the place of the runner's."""
    (build,) = (step["run"] for step in steps("build") if "-m build" in step.get("run", ""))
    copy = tmp_path / "checkout"
    subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path / "temp"), "PATH": path}
    (tmp_path / "temp").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    subprocess.run(["bash", "-euo", "pipefail", "-c", build], cwd=copy, env=environment, check=True)
    (wheel,) = (copy / "dist").glob("*.whl")
    (source,) = (copy / "dist").glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "gate/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "examples/"))]
    with tarfile.open(source) as archive:
        assert any(name.endswith("/tests/test_publishing.py") for name in archive.getnames())


def test_the_schema_for_editors_is_that_of_the_command() -> None:
    kept = json.loads((ROOT / "docs/schema/gate-policy-1.schema.json").read_text())
    assert kept == json.loads(json.dumps(policy_schema())), "write it: gate schema policy"


def test_the_citation_names_this_version_and_no_invented_person() -> None:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert found["version"] == __version__
    assert found["cff-version"] == "1.2.0"
    assert found["license"] == "MIT"
    assert found["authors"] == [{"name": "Paired Gate contributors"}]


FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_is_one(path: Path) -> None:
    found = yaml.safe_load(path.read_text())
    if path.name == "config.yml":
        return
    assert {"name", "description", "body"} <= set(found)
    ids = [part["id"] for part in found["body"]]
    assert len(ids) == len(set(ids))
    assert all(
        part["type"] in {"textarea", "input"} and part["attributes"]["label"] for part in found["body"]
    )


def test_what_coding_agents_read_names_real_commands_and_real_pages() -> None:
    skill = (ROOT / "docs/SKILL.md").read_text()
    head = yaml.safe_load(skill.split("---")[1])
    assert head["name"] == "paired-gate"
    assert 20 < len(head["description"]) <= 1024
    assert set(re.findall(r"`gate ([a-z]+)", skill)) <= set(COMMANDS)
    for page in re.findall(r"\]\(([^)]+)\)", (ROOT / "docs/llms.txt").read_text()):
        assert (ROOT / "docs" / page).is_file(), page


def test_the_marketplace_takes_the_action() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert len(action["description"]) <= 125
    assert action["branding"]["icon"]
    assert action["branding"]["color"]
