"""What must hold between the keys of a policy, each rule a finding in plain words at the key to change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gate.policy.findings import Finding

if TYPE_CHECKING:
    from gate.policy import model as m


def rule(r: m.Rule) -> Iterable[Finding]:
    return ()


def gating(r: m.Gating) -> Iterable[Finding]:
    return ()


def guardrail(r: m.Guardrail) -> Iterable[Finding]:
    return ()


def slices(r: m.Slices) -> Iterable[Finding]:
    return ()


def items(r: m.Items) -> Iterable[Finding]:
    return ()


def artifacts(r: m.Artifacts) -> Iterable[Finding]:
    return ()


def policy(r: m.Policy) -> Iterable[Finding]:
    return ()
