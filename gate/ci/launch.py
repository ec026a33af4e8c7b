"""Second step of the action: the gate of ``GATE_SOURCE`` where that is set, else the installed one.

Started as ``PYTHON -I gate/ci/launch.py``. The folder goes to the END of the path: a module that lies in
it by accident or by malice never stands in for a locked package.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run ``gate ci run``."""
    source = os.environ.get("GATE_SOURCE")
    if source:
        sys.path.append(source)
    from gate.cli.main import main as gate  # noqa: PLC0415 - the path to it was not known before

    return gate(["ci", "run"], sys.stdout, sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
