"""One mistake in a policy: what is wrong, at which key, and what to do."""

from __future__ import annotations

from typing import NamedTuple

from gate.safe import escaped

Path = tuple[str | int, ...]
"""A key's way through the policy, e.g. ``("guardrails", 1, "tolerance")``."""


class Finding(NamedTuple):
    """A mistake. ``line`` is set where the text itself is at fault, else ``path`` tells the line."""

    code: str
    message: str
    help: str = ""
    path: Path = ()
    line: int = 0


def dotted(path: Path) -> str:
    """A path as people write it: ``guardrails[1].tolerance``, keys from the file made harmless."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{escaped(part, 60)}" for part in path)
    return text.removeprefix(".")
