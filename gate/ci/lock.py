"""Makes ``requirements.txt``, the lock that the action and the image install from.

    python gate/ci/lock.py            # needs uv; keeps what is locked where pyproject.toml allows it
    python gate/ci/lock.py --upgrade

One file for every supported Python and platform, each package with the hashes of all its wheels.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "requirements.txt"
HEADER = "# Made by gate/ci/lock.py from pyproject.toml. Do not edit.\n"
_COMMAND = (
    *("uv", "pip", "compile", "pyproject.toml", "--quiet", "--universal", "--python-version", "3.11"),
    *("--generate-hashes", "--only-binary", ":all:"),
    *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
)


def main(arguments: list[str]) -> int:
    """Rewrite the lock."""
    command = [*_COMMAND, *arguments, "--output-file", str(LOCK)]
    done = subprocess.run(command, cwd=HERE.parents[1], check=False)  # noqa: S603 - our own arguments
    if done.returncode == 0:
        body = LOCK.read_text(encoding="utf-8").removeprefix(HEADER)
        LOCK.write_text(HEADER + body, encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
