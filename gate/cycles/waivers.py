"""Waivers: a fail that an owner accepts until a day. An expired one is ignored, and that is said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol, TypeVar

from gate.safe import quoted
from gate.values import Caution, GateError


class WaiverLike(Protocol):
    """The waiver of a policy."""

    @property
    def rule(self) -> str:
        """The rule that may fail."""
        ...

    @property
    def expires(self) -> str:
        """The last day, ISO."""
        ...


W = TypeVar("W", bound=WaiverLike)


def active_waivers(waivers: Sequence[W], today: str) -> tuple[tuple[W, ...], tuple[Caution, ...]]:
    """The waivers in force on the day ``today`` (ISO; the last day counts), and cautions for the others."""
    day = _day(today)
    active = tuple(waiver for waiver in waivers if _day(waiver.expires) >= day)
    expired = [waiver for waiver in waivers if _day(waiver.expires) < day]
    return active, tuple(
        Caution(
            "waiver_expired",
            f"the waiver for {quoted(waiver.rule)} expired on {waiver.expires}: it is ignored",
        )
        for waiver in expired
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise GateError(
            "policy", f"not a date (found {quoted(text)})", help="write waivers.expires as YYYY-MM-DD"
        ) from None
