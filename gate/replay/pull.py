"""Results out of an experiment tracker, into a file that the gate reads: for the job that scored them.

Deciding never needs a tracker: what is pulled is a file with a digest like any other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.artifacts import detect
from gate.artifacts.limits import PLAIN_BYTES
from gate.artifacts.opening import InMemory, open_artifact
from gate.history.files import create
from gate.safe import examples, quoted
from gate.values import GateError

SCHEME = "mlflow:"
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".npz", ".gz", ".zst", ".xml")
MOST_FOLDERS = 200


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was written. artifact: its path in the run. name: what the tracker calls the run."""

    artifact: str
    format: str
    bytes: int
    run: str
    name: str


def pull(source: str, artifact: str | None, target: Path, tracking: str | None) -> Pulled:
    """Write the result file of ``mlflow:RUN_ID`` to a new file.

    artifact: its path in the run; without it the run must have one file that could be it. tracking: a URL, a
    folder ``mlruns`` or ``sqlite:///FILE``; without it what MLflow is set to. Errors: GateError.
    """
    run_id = source.removeprefix(SCHEME)
    if not source.startswith(SCHEME) or not run_id.isalnum():
        raise GateError("usage", f"not a run (found {quoted(source)})", help="write mlflow:RUN_ID")
    client = _client(tracking)
    with _faults_of(run_id):
        run = client.get_run(run_id)
        chosen = artifact or _only(list(_files(client, run_id, "")), run_id)
        with tempfile.TemporaryDirectory(prefix="gate-pull-") as folder:
            found = client.download_artifacts(run_id, chosen, folder)
            with open_artifact(str(found)) as file:
                data = file.read(PLAIN_BYTES + 1)
    if len(data) > PLAIN_BYTES:
        raise GateError("artifact_too_large", f"more than {PLAIN_BYTES:,} bytes", where=f"{source}:{chosen}")
    form = detect(InMemory(chosen, data))
    create(target, data)
    return Pulled(chosen, form, len(data), run_id, str(run.data.tags.get("mlflow.runName", "")))


def _client(tracking: str | None) -> Any:
    try:
        from mlflow.tracking import MlflowClient  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise GateError(
            "extra_missing", "mlflow is not installed", help="pip install 'paired-gate[mlflow]'"
        ) from None
    return MlflowClient(tracking_uri=tracking)


@contextmanager
def _faults_of(run_id: str) -> Iterator[None]:
    """Whatever the tracker's client raises is one line for the user: it talks to other servers and disks."""
    try:
        yield
    except GateError:
        raise
    except Exception as error:
        line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise GateError(
            "tracker_failed",
            f"the tracker did not give run {quoted(run_id)} ({quoted(line, 200)})",
            help="check the run's id and --tracking (a URL, a folder mlruns, or sqlite:///FILE)",
        ) from None


def _files(client: Any, run_id: str, folder: str) -> Iterator[str]:
    """Paths of all files of a run; a run of very many folders is not walked to its end."""
    todo = [folder]
    for _ in range(MOST_FOLDERS):
        if not todo:
            return
        for entry in client.list_artifacts(run_id, todo.pop(0) or None):
            if entry.is_dir:
                todo.append(entry.path)
            else:
                yield entry.path


def _only(paths: list[str], run_id: str) -> str:
    fitting = [path for path in paths if path.endswith(SUFFIXES)]
    if len(fitting) == 1:
        return fitting[0]
    named = examples(fitting or paths) or "none"
    raise GateError(
        "artifact_ambiguous" if fitting else "artifact_not_found",
        f"{len(fitting)} files of run {quoted(run_id)} could be results ({named})",
        help="name it: --artifact PATH",
    )
