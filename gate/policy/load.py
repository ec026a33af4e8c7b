"""A policy file to a checked, frozen policy; everything that can be wrong is a GateError with its line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from types import MappingProxyType

from pydantic import ValidationError

from gate.policy import source
from gate.policy.between_sections import between_sections
from gate.policy.digest import decision_digest
from gate.policy.explain import explain
from gate.policy.findings import Finding, Path
from gate.policy.model import Policy
from gate.policy.tree import Tree, parse
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy with where it came from. lines: key path -> line; digests: hex SHA-256."""

    policy: Policy
    path: str
    text: str
    decision_digest: str
    policy_digest: str
    lines: Mapping[Path, int]

    def where(self, *path: str | int) -> str:
        """``FILE:LINE`` of a key, or of the nearest key above it that is written."""
        return f"{self.path}:{line_of(self.lines, path)}"


def load(path: str | PathLike[str]) -> LoadedPolicy:
    """Read, check and digest the policy file at ``path``."""
    name = fspath(path)
    return _checked(source.read(name), name)


def loads(text: str, path: str = "policy") -> LoadedPolicy:
    """The same for a text, e.g. one taken from a commit; ``path`` is what errors call it."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > source.MAX_BYTES:
        raise source.too_large(path)
    return _checked(data, path)


_HELP = "correct this key; gate schema policy prints every key with what it takes"


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of a key, or of the nearest key above it that is written."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _checked(data: bytes, path: str) -> LoadedPolicy:
    text = source.decode(data, path)
    source.check_visible(text, path)
    tree = parse(text)
    policy, findings = _validated(tree)
    if policy is None or findings:
        raise first_error(findings, tree.lines, path)
    return LoadedPolicy(
        policy=policy,
        path=path,
        text=text,
        decision_digest=decision_digest(policy),
        policy_digest=hashlib.sha256(data).hexdigest(),
        lines=MappingProxyType(tree.lines),
    )


def _validated(tree: Tree) -> tuple[Policy | None, list[Finding]]:
    if not tree.whole:
        return None, tree.findings
    if not isinstance(tree.value, dict):
        return None, tree.findings or [_no_mapping(tree)]
    try:
        policy = Policy.model_validate(tree.value)
    except ValidationError as error:
        return None, tree.findings + explain(error, tree.lines, [finding.path for finding in tree.findings])
    return policy, [*tree.findings, *between_sections(policy)]


def _no_mapping(tree: Tree) -> Finding:
    advice = "start from: version: 1 (gate init proposes a policy)"
    if not tree.lines:
        return Finding("policy_empty", "the policy is empty", advice)
    return Finding("policy_not_a_mapping", "a policy is a mapping of keys to values", advice)


def first_error(
    findings: list[Finding], lines: Mapping[Path, int], path: str, advice: str = _HELP
) -> GateError:
    """The first finding by line (a missing key has no line, so it comes last) and how many more."""
    first = min(findings, key=lambda one: (one.code == "missing_key", one.line or line_of(lines, one.path)))
    more = len(findings) - 1
    message = f"{first.message} (and {more} more)" if more else first.message
    line = first.line or line_of(lines, first.path)
    return GateError(first.code, message, where=f"{path}:{line}", help=first.help or advice)
