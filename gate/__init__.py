"""Paired Gate: decides whether a candidate may replace its baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gate.values import __version__ as __version__

if TYPE_CHECKING:
    from gate.api import Gate, Look, Report, compare, evaluate, load_policy
    from gate.values import GateError

__all__ = ["Gate", "GateError", "Look", "Report", "compare", "evaluate", "load_policy"]


def __getattr__(name: str) -> Any:
    """The public functions, imported when one of them is asked for: the command line needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module("gate.values" if name == "GateError" else "gate.api"), name)
