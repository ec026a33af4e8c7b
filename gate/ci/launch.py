"""Second step of the action: the gate of ``GATE_SOURCE`` where that is set, else the installed one.

Started as ``PYTHON -I gate/ci/launch.py``. The folder goes to the END of the path: a module that lies in
it by accident or by malice never stands in for a locked package.
"""

from __future__ import annotations

import os
import runpy
import sys


def main() -> None:
    """Run ``gate ci run`` as ``python -m gate`` would."""
    source = os.environ.get("GATE_SOURCE")
    if source:
        sys.path.append(source)
    sys.argv = ["gate", "ci", "run"]
    runpy.run_module("gate", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
