"""Step outputs that no value can forge, as GitHub reads them and as ``KEY=value`` lines for the others."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping

from gate.safe import visible


def heredoc(name: str, value: str) -> str:
    """One output for ``GITHUB_OUTPUT``. ``name=value`` lines would let a newline in a value start another."""
    delimiter = f"gate_{secrets.token_hex(16)}"
    if delimiter in value:
        raise AssertionError("a random delimiter of 128 bits was guessed")
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_outputs(path: str, values: Mapping[str, str]) -> None:
    """Append every value to the runner's file in one write. All of them are one line each."""
    text = "".join(heredoc(name, visible(value)) for name, value in values.items())
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def dotenv(values: Mapping[str, str]) -> str:
    """``GATE_VERDICT=block`` lines, for GitLab's ``reports: dotenv`` and for shells."""
    lines = (f"GATE_{name.upper().replace('-', '_')}={visible(value)}" for name, value in values.items())
    return "".join(line + "\n" for line in lines)
