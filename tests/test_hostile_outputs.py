"""Outputs and inputs that would hang, loop or say nothing: whole runs of the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gate.policy import source

POLICY = """\
version: 1
name: p
gating: {metric: score, kind: binary, direction: higher, margin: 0.05}
"""


def gate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gate", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gate.yaml").write_text(POLICY)
    for name in ("a", "b"):
        rows = (f'{{"id":"i{k}","score":{k % 2}}}\n' for k in range(20))
        (tmp_path / name).write_text("".join(rows))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


RUN = ("run", "--policy", "gate.yaml", "--baseline", "a", "--candidate")


def test_a_pipe_that_nobody_reads_is_refused(folder: Path) -> None:
    done = gate(folder, *RUN, "b", "--json", "pipe")
    assert done.returncode == 2
    assert done.stderr.startswith("gate: pipe: the report cannot be written (nobody reads from this pipe)\n")
    assert gate(folder, *RUN, "none", "--json", "pipe").returncode == 2
    (folder / "out").mkdir()
    os.mkfifo(folder / "out" / "report.json")
    assert gate(folder, *RUN, "b", "--report-dir", "out").returncode == 2


def test_a_pipe_that_is_read_gets_the_report(folder: Path) -> None:
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append((folder / "pipe").read_text()), daemon=True)
    reader.start()
    gate(folder, *RUN, "b", "--json", "pipe")
    reader.join(10)
    assert '"schema": "gate.report/1"' in got[0]


@pytest.mark.parametrize("words", [(*RUN, "loop"), (*RUN, "b", "--json", "loop"), ("check", "loop")])
def test_a_loop_of_links_is_no_traceback(folder: Path, words: tuple[str, ...]) -> None:
    done = gate(folder, *words)
    assert "Traceback" not in done.stderr
    assert done.returncode in ({2} if "--json" not in words else {0, 1, 2, 3})


def test_an_error_document_follows_no_link(folder: Path) -> None:
    (folder / "link").symlink_to("elsewhere")
    assert gate(folder, *RUN, "none", "--json", "link").returncode == 2
    assert not (folder / "elsewhere").exists()


def test_a_policy_that_has_nothing_to_say_yet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __enter__(self) -> Silent:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def read(self, _: int) -> None:
            return

    opened = os.fdopen

    def silent(descriptor: int, mode: str) -> Silent:
        opened(descriptor, mode).close()
        return Silent()

    monkeypatch.setattr("gate.policy.source.os.fdopen", silent)
    assert source.read(str(folder / "gate.yaml")) == b""


def test_a_run_that_is_killed_while_it_writes_leaves_no_draft(tmp_path: Path) -> None:
    """The kernel kills it at the size limit: in the middle of the write, without any timing."""
    target = tmp_path / "report.json"
    target.write_text("old", encoding="utf-8")
    script = (
        "import resource, signal, sys; from pathlib import Path; from gate.report.files import write_text\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "write_text(Path(sys.argv[1]), 'x' * 100_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -signal.SIGXFSZ
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert target.read_text("utf-8") == "old"
