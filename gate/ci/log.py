"""A CI log obeys some of the lines it is given. Ours are escaped exactly; everybody else's are made inert."""

from __future__ import annotations

import re
from typing import Literal

from gate.report.plain import cut, line, visible

Level = Literal["error", "warning", "notice"]
LONGEST_MESSAGE = 1000
_HASH_COMMAND = re.compile(r"##(?=[\w.]*\[)")


def inert(text: str) -> str:
    """Lines that no runner takes for a command.

    GitHub honours ``::name::`` after blanks and ``##[name]`` anywhere in a line, Azure and TeamCity
    ``##vso[`` and ``##teamcity[``.
    """
    return "\n".join(_HASH_COMMAND.sub("#\\\\#", line(each)) for each in text.split("\n"))


def annotation(level: Level, title: str, message: str) -> str:
    """One annotation. The runner cuts long messages, so they are cut here, with a mark."""
    text = _HASH_COMMAND.sub("#\\\\#", cut(message, LONGEST_MESSAGE).replace("\r\n", "\n"))
    shown = "\n".join(visible(each) for each in text.split("\n"))
    return f"::{level} title={_property(visible(title))}::{_data(shown)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
