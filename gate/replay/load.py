"""A suite file to a checked, frozen suite, read by the same strict rules as a policy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from gate.policy import source
from gate.policy.explain import explain
from gate.policy.findings import Finding
from gate.policy.load import first_error
from gate.policy.tree import Tree, parse
from gate.replay.suite import Suite

_HELP = "correct this key; gate schema suite prints every key with what it takes"


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite and the folder that its relative paths begin at."""

    suite: Suite
    path: str
    folder: Path


def load(path: str) -> LoadedSuite:
    """Read and check the suite file at ``path``; whatever is wrong is a GateError with its line."""
    text = source.decode(source.read(path, "suite"), path, "suite")
    source.check_visible(text, path, "suite")
    tree = parse(text, what="suite")
    suite, findings = _validated(tree)
    if suite is None or findings:
        raise first_error(findings, tree.lines, path, _HELP)
    return LoadedSuite(suite, path, Path(path).parent.absolute())


def _validated(tree: Tree) -> tuple[Suite | None, list[Finding]]:
    if not tree.whole:
        return None, tree.findings
    if not isinstance(tree.value, dict):
        advice = "start from: version: 1 (gate schema suite prints every key)"
        return None, tree.findings or [Finding("suite_not_a_mapping", "a suite is a mapping of keys", advice)]
    try:
        return Suite.model_validate(tree.value), tree.findings
    except ValidationError as error:
        known = [finding.path for finding in tree.findings]
        return None, tree.findings + explain(error, tree.lines, known, Suite)
