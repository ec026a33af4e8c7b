"""Checkouts for the tests of the action."""

from __future__ import annotations

from pathlib import Path

import pytest

from .jobs import BETTER, Checkout, write_results


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A server whose main branch has a policy; nothing is checked out yet."""
    return Checkout(tmp_path)


@pytest.fixture
def pushed(checkout: Checkout) -> Checkout:
    """main checked out, with results of a better candidate."""
    checkout.check_out("main", depth=1)
    write_results(checkout.workspace, BETTER)
    return checkout
