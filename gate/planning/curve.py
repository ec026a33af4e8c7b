"""A curve in plain text, for terminals and logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

HEIGHT = 10


def curve(xs: Sequence[str], shares: Sequence[float], title: str) -> Iterator[str]:
    """One column an x, shares from 0 to 1 as height; every second x is labelled."""
    labels = xs[::2]
    width = max(len(label) for label in labels) // 2 + 2
    yield title
    for row in range(HEIGHT, -1, -1):
        label = f"{row / HEIGHT:4.0%} " if row % 2 == 0 else "     "
        cells = "".join(_cell(share, row).center(width) for share in shares)
        yield f"{label}|{cells}".rstrip()
    yield "     +" + "-" * (width * len(xs))
    offset = max(0, width // 2 - 1)
    yield (" " * (6 + offset) + "".join(label.ljust(2 * width) for label in labels)).rstrip()


def _cell(share: float, row: int) -> str:
    return "o" if round(share * HEIGHT) == row else ("." if share * HEIGHT > row else " ")
