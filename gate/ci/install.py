"""First step of the action: an interpreter with exactly the packages of the lock, none of the workspace.

Started as ``python3 -I gate/ci/install.py`` by whatever Python the runner has, before anything is installed:
standard library only. The environment is kept in the runner's tool cache under a name made from the lock and
the interpreter, so that a runner that keeps its disk installs once.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "gate" / "ci" / "requirements.txt"
CHOICES = ("locked", "none")


class Refused(Exception):  # noqa: N818 - read as a sentence: the installation is refused
    """The environment cannot be made; the text says why and what to do."""


def main() -> int:
    """Make the environment and tell the next step where it is."""
    if sys.version_info < OLDEST:
        print(f"::error title=gate::Python 3.11 or newer is needed (found {platform.python_version()})")  # noqa: T201
        return 2
    sys.path.append(str(ROOT))
    from gate.ci.outputs import write_outputs  # noqa: PLC0415 - the path to it was not known before
    from gate.safe import github_annotation, terminal_lines  # noqa: PLC0415

    began = time.monotonic()
    try:
        found = interpreter()
        code = 0
        print(f"gate: an environment after {time.monotonic() - began:.1f} s")  # noqa: T201
    except Refused as refused:
        found = {"verdict": "error", "reason": str(refused)}
        print(github_annotation("error", "gate", str(refused)))  # noqa: T201 - the log is where a runner reads
        code = 2
    if os.environ.get("GITHUB_OUTPUT"):
        write_outputs(os.environ["GITHUB_OUTPUT"], found)
    else:
        print(terminal_lines("\n".join(f"{name}: {value}" for name, value in found.items())))  # noqa: T201
    return code


def interpreter() -> dict[str, str]:
    """python: what runs the gate. source: the folder whose ``gate`` it runs; empty for an installed one."""
    wanted = os.environ.get("GATE_INSTALL") or "locked"
    if wanted not in CHOICES:
        raise Refused(f"install must be locked or none (found {wanted[:40]!a})")
    if wanted == "none":
        _must_have_gate()
        return {"python": sys.executable, "source": ""}
    return {"python": str(environment()), "source": str(ROOT)}


def _must_have_gate() -> None:
    done = _run(sys.executable, "-I", "-c", "import gate.cli.main")
    if done.returncode:
        raise Refused(
            f"install: none needs a gate that {sys.executable} can import, and there is none: set the input "
            "python to an interpreter that has it, or install: locked"
        )


def environment() -> Path:
    """The interpreter of the kept environment, made now if there is none yet."""
    home = _cache() / "paired-gate"
    final = home / _key()
    if not (final / "complete").is_file():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix="making-", ignore_cleanup_errors=True) as making:
            new = Path(making) / "environment"
            _make(new)
            _move(new, final)
    return _python(final)


def _cache() -> Path:
    kept = os.environ.get("RUNNER_TOOL_CACHE") or os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()
    if os.access(kept, os.W_OK):
        return Path(kept)
    return Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir())


def _key() -> str:
    """What the environment depends on: the lock, the interpreter and the machine."""
    parts = [LOCK.read_bytes(), sys.version.encode(), sys.base_prefix.encode(), platform.machine().encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]


def _make(folder: Path) -> None:
    """The locked packages: by uv where the runner has it, which takes a third of pip's time; else by pip."""
    if not _by_uv(folder):
        shutil.rmtree(folder, ignore_errors=True)
        _by_pip(folder)
    (folder / "complete").write_text("ok\n", encoding="ascii")


STRICT = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "--quiet")


def _by_uv(folder: Path) -> bool:
    """Whether uv could. No variable and no file of a user may name another index."""
    uv = shutil.which("uv")
    if uv is None or _run(sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)).returncode:
        return False
    own = ("--no-config", "--native-tls", "--python", str(_python(folder)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    return _run(uv, "pip", "install", *own, *STRICT, "-r", str(LOCK), env=kept).returncode == 0


def _by_pip(folder: Path) -> None:
    done = _run(sys.executable, "-I", "-m", "venv", str(folder))
    if done.returncode:
        raise Refused(f"no virtual environment could be made (python3-venv missing?): {_last_line(done)}")
    # --isolated: no PIP_* variable and no user's file may name another index. Not compiled: most of it
    # is never imported, and what is gets compiled then.
    pip = (str(_python(folder)), "-I", "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input")
    done = _run(*pip, "install", *STRICT, "--no-compile", "-r", str(LOCK))
    if done.returncode:
        raise Refused(f"the locked packages could not be installed: {_last_line(done)}")


def _move(new: Path, final: Path) -> None:
    """Another job of this runner may have been faster; a half-made environment is replaced."""
    if final.exists() and not (final / "complete").is_file():
        shutil.rmtree(final, ignore_errors=True)
    try:
        new.rename(final)
    except OSError as error:
        if not (final / "complete").is_file():
            raise Refused(f"the environment could not be kept ({error.strerror})") from error


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own arguments, no shell
        command, capture_output=True, text=True, errors="replace", check=False, env=env
    )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [text.strip() for text in (done.stdout + "\n" + done.stderr).splitlines() if text.strip()]
    wrong = [text for text in lines if text.startswith("ERROR")] or lines
    return (wrong[-1] if wrong else "no message")[:300]


if __name__ == "__main__":
    sys.exit(main())
