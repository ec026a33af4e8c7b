"""Results out of a tracker: a stand-in client for the refusals, and (slow) a real server and a real store."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import types
import venv
from pathlib import Path
from typing import Any

import pytest

from gate.values import GateError
from tests.black_box import command

ROOT = Path(__file__).resolve().parents[2]
ROWS = "".join(json.dumps({"id": f"q{i}", "correct": i % 2}) + "\n" for i in range(40))


class Client:
    """What of MLflow's client is asked for."""

    files: dict[str, str] = {}  # noqa: RUF012 - set by each test

    def __init__(self, tracking_uri: str | None) -> None:
        self.tracking_uri = tracking_uri

    def get_run(self, run_id: str) -> Any:
        if run_id == "gone":
            raise RuntimeError("Run 'gone' not found\nTraceback\x1b[31m")
        return types.SimpleNamespace(data=types.SimpleNamespace(tags={"mlflow.runName": "bold \x1b[31m"}))

    def list_artifacts(self, _run_id: str, path: str | None) -> list[Any]:
        depth = f"{path}/" if path else ""
        inside = [name.removeprefix(depth) for name in self.files if name.startswith(depth)]
        names = {depth + name.split("/")[0] for name in inside}
        return [types.SimpleNamespace(path=name, is_dir=name not in self.files) for name in sorted(names)]

    def download_artifacts(self, _run_id: str, path: str, folder: str) -> str:
        target = Path(folder) / Path(path).name
        target.write_text(self.files[path])
        return str(target)


@pytest.fixture
def tracker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[Client]:
    monkeypatch.chdir(tmp_path)
    tracking = types.ModuleType("mlflow.tracking")
    tracking.MlflowClient = Client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlflow", types.ModuleType("mlflow"))
    monkeypatch.setitem(sys.modules, "mlflow.tracking", tracking)
    monkeypatch.setattr(Client, "files", {"model/weights.bin": "x", "eval/items.jsonl": ROWS})
    return Client


def test_the_only_result_file_of_a_run_is_written(tracker: type[Client]) -> None:
    told = command("pull", "mlflow:abc1", "--out", "items.jsonl")
    assert told.code == 0
    assert "eval/items.jsonl of run abc1" in told.out
    assert "\x1b" not in told.out
    assert Path("items.jsonl").read_text() == ROWS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("abc1",), "not a run"),
        (("mlflow:../x",), "not a run"),
        (("mlflow:gone",), "did not give run 'gone'"),
        (("mlflow:abc1", "--artifact", "no.csv"), "did not give run"),
        (("mlflow:abc1", "--artifact", "model/weights.bin"), ""),
    ],
)
def test_what_cannot_be_pulled_is_said_and_writes_nothing(
    tracker: type[Client], words: tuple[str, ...], said: str
) -> None:
    told = command("pull", *words, "--out", "new.jsonl")
    assert told.code == 2 or Path("new.jsonl").read_text() == "x"
    assert said in told.err
    assert "Traceback\x1b" not in told.err


def test_several_candidates_are_named(tracker: type[Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracker, "files", {"a.csv": "id,x\n1,1\n", "b.csv": "id,x\n1,1\n"})
    assert "'a.csv', 'b.csv'" in command("pull", "mlflow:abc1", "--out", "new").err
    monkeypatch.setattr(tracker, "files", {"weights.bin": "x"})
    assert "0 files" in command("pull", "mlflow:abc1", "--out", "new").err


def test_a_file_is_never_replaced(tracker: type[Client]) -> None:
    Path("old").write_text("mine")
    assert command("pull", "mlflow:abc1", "--out", "old").code == 2
    assert Path("old").read_text() == "mine"


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mlflow.tracking", None)
    told = command("pull", "mlflow:abc1", "--out", tmp_path / "new")
    assert "paired-gate[mlflow]" in told.err


LOG = """
import sys, mlflow
mlflow.set_tracking_uri(sys.argv[1])
with mlflow.start_run() as run:
    mlflow.log_artifact(sys.argv[2], "eval")
print(run.info.run_id)
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.slow
def test_a_real_server_and_a_real_store(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "mlflow", "-e", ROOT], check=True)
    (tmp_path / "items.jsonl").write_text(ROWS)
    port = free_port()
    words = ["server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    words += [
        "--backend-store-uri",
        f"sqlite:///{tmp_path}/server.db",
        "--artifacts-destination",
        tmp_path / "kept",
    ]
    server = subprocess.Popen([python, "-m", "mlflow", *words], cwd=tmp_path)
    try:
        wait_for(port, server)
        for place in (f"http://127.0.0.1:{port}", f"sqlite:///{tmp_path}/local.db"):
            logged = subprocess.run(
                [python, "-c", LOG, place, tmp_path / "items.jsonl"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
            run_id = logged.stdout.split()[-1]
            out = tmp_path / f"{run_id}.jsonl"
            pull = [python, "-m", "gate", "pull", f"mlflow:{run_id}", "--tracking", place, "--out", out]
            subprocess.run(pull, cwd=tmp_path, check=True)
            assert out.read_text() == ROWS
            lost = [*pull[:4], "mlflow:ffff", *pull[5:-1], tmp_path / "lost"]
            assert subprocess.run(lost, cwd=tmp_path, check=False).returncode == 2
    finally:
        server.terminate()
        server.wait(30)


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        assert server.poll() is None, "the server ended"
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise AssertionError("the server did not answer")


def test_a_fault_of_ours_keeps_its_own_words(tracker: type[Client]) -> None:
    from gate.replay.pull import pull

    with pytest.raises(GateError, match="not a run"):
        pull("x", None, Path(os.devnull), None)
