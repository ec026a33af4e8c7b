"""The first step: an environment with exactly the locked packages. The real installation is slow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from .composite import clean_environment, parse_values, run_action
from .jobs import BETTER, RESULTS, ROOT, Checkout
from .scenarios import push


def install(
    folder: Path, python: str = sys.executable, root: Path = ROOT, **environment: str
) -> tuple[int, dict[str, str]]:
    output = folder / "output"
    output.write_text("")
    done = subprocess.run(
        [python, "-I", str(root / "gate" / "ci" / "install.py")],
        env=clean_environment() | {"GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(folder)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, parse_values(output.read_text("utf-8"))


def test_the_lock_pins_every_package_by_hash_and_names_no_index() -> None:
    text = (ROOT / "gate" / "ci" / "requirements.txt").read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    blocks = [
        block for block in text.replace("\\\n", " ").splitlines() if block and not block.startswith("#")
    ]
    assert blocks
    assert all("==" in block and "--hash=sha256:" in block for block in blocks)


def test_the_lock_holds_every_dependency_of_the_project() -> None:
    import tomllib

    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    text = (ROOT / "gate" / "ci" / "requirements.txt").read_text("utf-8")
    for requirement in wanted:
        assert f"\n{requirement.partition('>')[0].strip()}==" in text, requirement


def test_none_needs_a_gate(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    code, found = install(tmp_path, str(tmp_path / "bare" / "bin" / "python"), GATE_INSTALL="none")
    assert code == 2
    assert found["verdict"] == "error"
    assert "install: none needs a gate" in found["reason"]


def test_none_installs_nothing(tmp_path: Path) -> None:
    code, found = install(tmp_path, GATE_INSTALL="none")
    assert (code, found) == (0, {"python": sys.executable, "source": ""})
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


FAKE_UV = """#!/bin/sh
env > "$RUNNER_TEMP/seen.env"
echo "$@" > "$RUNNER_TEMP/seen.words"
exit 0
"""


def test_uv_is_asked_for_hashes_and_wheels_and_hears_of_no_other_index(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").write_text(FAKE_UV)
    (tmp_path / "bin/uv").chmod(0o755)
    poison = {
        "UV_INDEX_URL": "http://127.0.0.1:9",
        "UV_CONFIG_FILE": "/x",
        "PIP_INDEX_URL": "http://127.0.0.1:9",
    }
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    code, found = install(tmp_path, PATH=path, RUNNER_TOOL_CACHE=str(tmp_path), **poison)
    assert code == 0
    assert Path(found["python"]).exists()
    seen = {line.partition("=")[0] for line in (tmp_path / "seen.env").read_text().splitlines()}
    assert not set(poison) & seen
    words = (tmp_path / "seen.words").read_text()
    for word in ("--require-hashes", "--only-binary :all:", "--no-deps", "--no-config"):
        assert word in words


@pytest.mark.slow
@pytest.mark.parametrize("faster", [False, True], ids=["pip", "uv"])
def test_the_locked_environment_is_made_once_and_decides(
    checkout: Checkout, tmp_path: Path, faster: bool
) -> None:
    """Also with a poisoned pip configuration in the environment, which must not be heeded."""
    environment = checkout.environment(*push(BETTER)(checkout))
    poison = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_FIND_LINKS": "/nowhere",
        "PIP_TARGET": "/nowhere",
    }
    kept = {"RUNNER_TOOL_CACHE": str(tmp_path / "tools")}
    (tmp_path / "tools").mkdir()
    base = shutil.which("python3", path=os.defpath) or sys.executable
    if faster:
        venv.create(tmp_path / "own", with_pip=True)
        subprocess.run([tmp_path / "own/bin/pip", "install", "--quiet", "uv"], check=True)
        kept["PATH"] = f"{tmp_path}/own/bin:{environment.get('PATH', os.environ['PATH'])}"
    times = []
    for _ in range(2):
        start = time.perf_counter()
        done = run_action(ROOT, RESULTS | {"python": base}, environment | poison | kept, checkout.workspace)
        times.append(time.perf_counter() - start)
        assert (done.outputs["verdict"], done.exit_code) == ("promote", 0), done.log
    made = list((tmp_path / "tools" / "paired-gate").iterdir())
    assert len(made) == 1
    assert (made[0] / "complete").exists()
    assert times[1] < times[0] / 2
    shutil.rmtree(tmp_path / "tools")


@pytest.mark.slow
def test_a_changed_hash_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    root = tmp_path / "action"
    shutil.copytree(ROOT / "gate", root / "gate", ignore=shutil.ignore_patterns("__pycache__"))
    lock = root / "gate" / "ci" / "requirements.txt"
    lock.write_text("annotated-types==0.8.0 --hash=sha256:" + "0" * 64 + "\n")
    code, found = install(tmp_path, root=root, RUNNER_TOOL_CACHE=str(tmp_path))
    assert code == 2
    assert "could not be installed" in found["reason"]
    assert not list((tmp_path / "paired-gate").iterdir())
