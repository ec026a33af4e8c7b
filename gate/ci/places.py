"""Paths that a job may use: inside the workspace or the runner's temporary folder, links resolved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.safe import quoted
from gate.values import GateError

WORKSPACE = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY", "WORKSPACE")
TEMPORARY = ("RUNNER_TEMP", "AGENT_TEMPDIRECTORY", "WORKSPACE_TMP")


@dataclass(frozen=True, slots=True)
class Places:
    """workspace: where the checkout is; paths are relative to it. temporary: the runner's own folder."""

    workspace: Path
    temporary: Path

    def confined(self, path: str, what: str) -> str:
        """The path as given, if it leads into one of the two folders. It need not exist."""
        if "\0" in path or not self._inside(_real(self.workspace / path)):
            raise GateError(
                "ci_path",
                f"{what} must lie in the workspace or the runner's temporary folder (found {quoted(path)})",
                help="copy it there before the gate runs",
            )
        return path

    def readable(self, path: str) -> str:
        """The path as given where it leads there from here, else from the workspace on."""
        return path if _real(Path.cwd()) == _real(self.workspace) else str(self.workspace / path)

    def new_directory(self) -> Path:
        """An empty folder that nobody else has."""
        try:
            return Path(tempfile.mkdtemp(prefix="gate-report-", dir=_made(self.temporary)))
        except OSError as error:
            reason = f"no folder for reports can be made ({error.strerror})"
            raise GateError("cannot_write", reason, where=str(self.temporary)) from error

    def report_directory(self, path: str) -> Path:
        """The folder for reports, made if need be. Nothing may be written into a repository's own folder."""
        if not path:
            return _made(self.temporary / "gate-report")
        self.confined(path, "report-dir")
        folder = _real(self.workspace / path)
        if ".git" in folder.parts:
            raise GateError("ci_path", "report-dir must not lie in .git")
        return _made(folder)

    def _inside(self, path: Path) -> bool:
        return any(path.is_relative_to(_real(root)) for root in (self.workspace, self.temporary))


def places(environ: Mapping[str, str]) -> Places:
    """The folders as the CI system names them, where they exist: a container may see others than its host."""
    workspace = _first(environ, WORKSPACE) or Path.cwd()
    return Places(workspace, _first(environ, TEMPORARY) or Path(tempfile.gettempdir()))


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> Path | None:
    named = (Path(environ[name]) for name in names if environ.get(name))
    return next((folder for folder in named if folder.is_dir()), None)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GateError(
            "cannot_write", f"report-dir cannot be made ({error.strerror})", where=str(folder)
        ) from error
    return folder


def _real(path: Path) -> Path:
    """Like resolve(), which raises on a loop of links; such a path opens nowhere."""
    return Path(os.path.realpath(path))
