"""What the examples say of themselves is what they do."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import pytest

from gate.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
READMES = sorted((ROOT / "examples").glob("*/README.md"))
EXAMPLES = [path for path in READMES if "What to expect" in path.read_text(encoding="utf-8")]
CODES = {"promote": 0, "block": 1, "inconclusive": 3, "hold": 4}


@pytest.mark.parametrize("readme", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_ends_as_it_says(readme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = " ".join(readme.read_text(encoding="utf-8").split())
    command = shlex.split(re.search(r"```bash gate (.*?) ```", text)[1])  # type: ignore[index]
    promised = re.search(r"What to expect: `(\w+)`, exit (\d)", text)
    assert promised
    out = io.StringIO()
    assert main([*command, "--json", "-"], out, io.StringIO()) == int(promised[2]) == CODES[promised[1]]
    report = json.loads(out.getvalue())
    assert report["verdict"] == promised[1]
    assert f"{report['gating']['delta']:+.4f}" in text


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
