"""Asks whose policy judges, and makes the pull request that loosens it."""

from __future__ import annotations

import pytest

from gate.ci.base_policy import PolicyText, read_policy
from gate.ci.event import event_of
from gate.values import GateError

from .jobs import LOOSE, Checkout, pull_request


def judge(
    checkout: Checkout, environment: dict[str, str], path: str = "gate.yaml", ref: str = "auto"
) -> PolicyText:
    found = read_policy(path, ref, event_of(environment), checkout.workspace)
    assert found is not None
    return found


def refused(
    checkout: Checkout, environment: dict[str, str], path: str = "gate.yaml", ref: str = "auto"
) -> str:
    with pytest.raises(GateError) as caught:
        read_policy(path, ref, event_of(environment), checkout.workspace)
    return caught.value.code


def evil(checkout: Checkout) -> tuple[str, str, str]:
    """A pull request that loosens the policy: base, head and GitHub's merge commit."""
    base = checkout.head("main")
    head = checkout.branch("evil", {"gate.yaml": LOOSE})
    return base, head, checkout.merge("evil")


def github(checkout: Checkout, sha: str, head: str, base: str, event: str = "pull_request") -> dict[str, str]:
    return checkout.environment(event, pull_request(head, base), sha)
