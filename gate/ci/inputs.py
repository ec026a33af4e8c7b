"""The action's inputs, from ``GATE_*``. The runner checks none of them: not ``required``, not the words."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from gate.ci.places import Places
from gate.pairing.model import NO_FILE
from gate.run.request import further_runs
from gate.run.stored import SCHEME
from gate.safe import quoted
from gate.values import GateError

CHOICES: Mapping[str, tuple[str, ...]] = {
    "history-mode": ("normal", "read-only"),
    "mode": ("enforce", "advisory"),
    "summary": ("full", "short", "none"),
}
"""Closed words; the first is the default, and an empty input means it."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """One checked set of inputs. candidates, sets: one a line; runs: lines after the baseline's."""

    policy: str
    policy_ref: str
    baseline: str
    runs: tuple[str, ...]
    store: str
    labels: str
    candidates: tuple[str, ...]
    sets: tuple[tuple[str, str, str], ...]
    history: str
    history_mode: str
    expect_head: str
    cycle: str
    exit_zero_on: str
    mode: str
    summary: str


def inputs(environ: Mapping[str, str], where: Places) -> Inputs:
    """Read and check every input but report-dir, which is needed before an error can be reported."""
    sets = tuple(_set(line) for line in _lines(environ, "sets"))
    history = _text(environ, "history")
    baselines = _lines(environ, "baseline")
    candidates = tuple(_lines(environ, "candidate"))
    if not baselines or not candidates:
        missing = "baseline" if not baselines else "candidate"
        raise GateError("ci_input", f"the input {missing} is empty", help="name a file of per-item results")
    store = _text(environ, "store")
    baseline, runs = baselines[0], further_runs(baselines)
    files = () if baseline.startswith(SCHEME) else (baseline, *runs)
    if store and not store.startswith("git:"):
        where.confined(store, "store")
    labels = _text(environ, "labels")
    for path in (
        *files,
        *([labels] if labels else []),
        *candidates,
        *(path for _, *pair in sets for path in pair if path != NO_FILE),
    ):
        where.confined(path, "every result file")
    if history and not history.startswith("git:"):
        where.confined(history, "history")
    return Inputs(
        policy=_text(environ, "policy") or "gate.yaml",
        policy_ref=_text(environ, "policy-ref") or "auto",
        baseline=baseline,
        runs=runs,
        store=store,
        labels=labels,
        candidates=candidates,
        sets=sets,
        history=history,
        history_mode=_choice(environ, "history-mode"),
        expect_head=_text(environ, "expect-head"),
        cycle=_text(environ, "cycle"),
        exit_zero_on=_text(environ, "exit-zero-on"),
        mode=_choice(environ, "mode"),
        summary=_choice(environ, "summary"),
    )


def named_files(environ: Mapping[str, str]) -> list[str]:
    """Every text of the inputs that may name a file this job reads, before any of it is checked."""
    texts = [_text(environ, "policy") or "gate.yaml"]
    texts += [_text(environ, name) for name in ("history", "labels")]
    texts += [path for name in ("baseline", "candidate") for path in _lines(environ, name)]
    for line in _lines(environ, "sets"):
        texts += line.split()
        with contextlib.suppress(ValueError):
            texts += shlex.split(line)
    return [text for text in texts if text and "\0" not in text]


def variable(name: str) -> str:
    """``history-mode`` -> ``GATE_HISTORY_MODE``."""
    return "GATE_" + name.upper().replace("-", "_")


def _text(environ: Mapping[str, str], name: str) -> str:
    return environ.get(variable(name), "").strip()


def _lines(environ: Mapping[str, str], name: str) -> list[str]:
    return [line.strip() for line in _text(environ, name).splitlines() if line.strip()]


def _choice(environ: Mapping[str, str], name: str) -> str:
    words = CHOICES[name]
    found = _text(environ, name) or words[0]
    if found not in words:
        raise GateError(
            "ci_input",
            f"{name} must be {', '.join(words[:-1])} or {words[-1]} (found {quoted(found)})",
            help=f"leave it out for {words[0]}",
        )
    return found


def _set(line: str) -> tuple[str, str, str]:
    try:
        name, baseline, candidate = shlex.split(line)
    except ValueError:
        raise GateError(
            "ci_input",
            f"a line of sets is NAME BASELINE CANDIDATE (found {quoted(line)})",
            help="quote a path that has blanks",
        ) from None
    return name, baseline, candidate
