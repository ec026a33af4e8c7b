"""The notebooks' cells run in their order, and the numbers that they show are those that come out."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = [EXAMPLES / "python/gate.ipynb", EXAMPLES / "teaching/lessons.ipynb"]
NUMBERS = (
    "paired:",
    "1 level",
    "2 level",
    "3 level",
    "Interval(",
    "promote",
    "block",
    "+",
    "-",
    "Discordant(",
    "382",
)


def numbers(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(NUMBERS)]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.parent.name)
def test_every_cell_runs_and_shows_what_it_says(
    notebook: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(notebook.parent)
    monkeypatch.syspath_prepend(str(notebook.parent))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = {}
    shown, found = "", ""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("".join(cell["source"]), str(notebook), "exec"), names)  # noqa: S102
            shown += "".join(cell["outputs"][0]["text"])
            found += out.getvalue()
    assert numbers(found) == numbers(shown)
    assert len(numbers(found)) >= 6
