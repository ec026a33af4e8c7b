"""The Dockerfile, built and run without a Docker daemon: buildah on a base that mmdebstrap makes.

The stand-in for the base image is Debian's own Python, so this proves the steps, the user, the entry point
and the layout, not the real base. It takes minutes; GATE_TEST_ROOTFS names a file to keep the base in.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .jobs import BETTER, POLICY, ROOT, SAME, WORSE, write_results

pytestmark = pytest.mark.slow
BASE = "docker.io/library/python:3.12-slim"
PACKAGES = "python3-minimal,python3-venv,python3-pip,ca-certificates,git"
SHARED = ("/etc/pip.conf", "/etc/ssl/certs")


@dataclass
class Buildah:
    home: Path

    def __call__(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        options = ["--root", f"{self.home}/cs", "--runroot", f"{self.home}/run", "--storage-driver", "vfs"]
        environment = os.environ | {"BUILDAH_ISOLATION": "chroot"}
        done = subprocess.run(
            ["buildah", *options, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done


def rootfs(folder: Path) -> Path:
    kept = Path(os.environ.get("GATE_TEST_ROOTFS") or folder / "rootfs.tar")
    if not kept.exists():
        command = ["mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(kept)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            kept.unlink(missing_ok=True)
            pytest.skip(f"mmdebstrap could not make a base: {done.stderr.strip().splitlines()[-1:]}")
    return kept


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Buildah]:
    for tool in ("buildah", "mmdebstrap"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}: apt-get install buildah crun mmdebstrap")
    if os.geteuid() != 0:
        pytest.skip("building in a chroot needs root")
    home = tmp_path_factory.mktemp("image")
    buildah = Buildah(home)
    container = buildah("from", "scratch").stdout.strip()
    buildah("add", "--quiet", container, str(rootfs(home)), "/")
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    buildah("config", "--env", path, container)
    buildah("commit", "--quiet", container, BASE)
    buildah("rm", container)
    volumes = [f"--volume={path}:{path}:ro" for path in SHARED if Path(path).exists()]
    buildah("bud", "--isolation", "chroot", "--pull-never", *volumes, "-t", "gate:test", str(ROOT))
    yield buildah
    shutil.rmtree(home, ignore_errors=True)


def run(image: Buildah, data: Path, *command: str) -> subprocess.CompletedProcess[str]:
    container = image("from", "--pull-never", "localhost/gate:test").stdout.strip()
    data.chmod(0o777)
    options = ("--isolation", "chroot", "--user", "10001:10001", "--volume", f"{data}:/data")
    try:
        return image("run", *options, container, "--", *command, check=False)
    finally:
        image("rm", container)


def test_the_image_is_not_root_and_starts_the_gate(image: Buildah) -> None:
    found = json.loads(image("inspect", "--type", "image", "localhost/gate:test").stdout)
    config = found["OCIv1"]["config"]
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["/opt/gate/bin/gate"]
    assert config["WorkingDir"] == "/data"


@pytest.mark.parametrize(
    ("sizes", "verdict", "code"), [(BETTER, "promote", 0), (WORSE, "block", 1), (SAME, "inconclusive", 3)]
)
def test_the_image_decides(
    image: Buildah, tmp_path: Path, sizes: tuple[int, int, int], verdict: str, code: int
) -> None:
    write_results(tmp_path, sizes)
    (tmp_path / "gate.yaml").write_text(POLICY)
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate" / "__init__.py").write_text("raise SystemExit(0)")
    files = ("--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl", "--json", "report.json")
    done = run(image, tmp_path, "/opt/gate/bin/gate", "run", "--policy", "gate.yaml", *files)
    assert done.returncode == code, done.stdout + done.stderr
    assert json.loads((tmp_path / "report.json").read_text())["verdict"] == verdict


def test_the_image_has_a_shell_and_git_and_no_installer(image: Buildah, tmp_path: Path) -> None:
    script = "id -u && gate --version && git --version && ! /opt/gate/bin/python -I -m pip --version"
    done = run(image, tmp_path, "sh", "-c", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("10001\n")
