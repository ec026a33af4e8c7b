"""A commented policy, proposed from two files. What nobody but a person can say is left empty: it fails until
it is filled in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from gate.artifacts import Metric
from gate.measure.words import count, number
from gate.planning.first_look import FirstLook

EMPTY_MARGIN = "margin:"
ROOM = 26
RELATIVE = 0.1


def policy_text(look: FirstLook) -> str:
    """The whole file."""
    return "\n".join([*_head(look), *_gating(look), *_guardrails(look), *_rest(look)]) + "\n"


def _head(look: FirstLook) -> Iterator[str]:
    yield f"# Proposed by gate init from {count(look.pairs, 'item')} in two {look.proposal.format} files."
    yield "# A policy is agreed before the run that it decides: read every line, set the margin, commit it."
    for caution in (*look.cautions, *look.gating.cautions):
        yield f"# CAUTION: {' '.join(caution.message.split())}"
    if look.gating.insufficient:
        yield f"# CAUTION: nothing could be claimed from these files: {look.gating.insufficient}"
    yield "version: 1"
    yield _line("name: release-gate", "what reports call it")
    yield _line("# owner: team", "who answers for it")
    yield _line("alpha: 0.05", "two-sided: each decision is made at 0.025 one-sided")
    yield ""


def _gating(look: FirstLook) -> Iterator[str]:
    metric = look.proposal.gating
    yield "gating:"
    yield from _measured(metric, "  ", "  ")
    yield _line(f"  {EMPTY_MARGIN}", "SET THIS: the smallest gain worth a release, in the metric's unit;")
    yield _line("", _mde(look))
    yield _line("  margin_rule: observed", "tested: the margin itself is proven; needs more items")
    if metric.kind == "graded":
        yield _line("  # scale: [1, 5]", "the lowest and highest value, where there are such")
    yield ""


def _measured(metric: Metric, first: str, then: str) -> Iterator[str]:
    """Which metric, of which kind, and which way is better."""
    yield f"{first}metric: {_word(metric.name)}"
    yield _line(f"{then}kind: {metric.kind}", _kind(metric))
    if metric.direction is None:
        yield _line(f"{then}direction:", "EDIT: higher or lower, whichever is better")
    else:
        yield _line(f"{then}direction: {metric.direction}", "which way is better")


def _mde(look: FirstLook) -> str:
    mde = look.seen.get(look.proposal.gating.name)
    if mde is None:
        return "the two files do not differ, so what these items can see is unknown"
    return f"these items see a gain of {number(mde)} and more 80 % of the time (MDE)"


def _guardrails(look: FirstLook) -> Iterator[str]:
    rails, kept = look.proposal.rails, look.proposal.kept
    if kept is not None:
        yield _line("guardrails:", "what may not get worse; check each tolerance")
        yield from _quality(kept, look)
    elif rails:
        yield _line("guardrails:", "what may not get worse; check each tolerance")
    else:
        yield "# guardrails:"
        yield "#   - {metric: latency_ms, kind: graded, direction: lower, mode: non_inferior,"
        yield "#      tolerance: {relative: 0.10}}     # a loss above 10 % of the baseline must be ruled out"
        yield ""
        return
    for metric in rails:
        yield _rail(metric, look)
        mde = look.seen.get(metric.name)
        if mde is not None:
            yield f"    # an unchanged candidate is proven within {number(mde)} 80 % of the time"
    yield ""


def _quality(metric: Metric, look: FirstLook) -> Iterator[str]:
    """The metric that must not fall, its tolerance left to a person."""
    yield from _measured(metric, "  - ", "    ")
    yield _line("    mode: non_inferior", "a loss of the tolerance or more must be ruled out")
    yield _line("    tolerance:", "SET THIS: the loss that the gain is worth, 0.03 is 3 points of pass/fail;")
    mde = look.seen.get(metric.name)
    found = "unknown" if mde is None else f"proven within {number(mde)} 80 % of the time"
    yield _line("", f"on these items an unchanged candidate is {found}")


def _rail(metric: Metric, look: FirstLook) -> str:
    tolerance = f"{{relative: {RELATIVE:.2f}}}"
    if metric.kind == "binary" or look.means.get(metric.name, 0.0) <= 0:
        least = 0.01 if metric.kind == "binary" else 1e-9
        tolerance = f"{_rounded_up(max(least, look.seen.get(metric.name, least))):g}"
    keys = f"metric: {_word(metric.name)}, kind: {metric.kind}, direction: {metric.direction}"
    return f"  - {{{keys}, mode: non_inferior, tolerance: {tolerance}}}"


def _rest(look: FirstLook) -> Iterator[str]:
    proposal = look.proposal
    watched = [
        f"{{metric: {_word(m.name)}, kind: {m.kind}, direction: {m.direction}}}" for m in proposal.watched
    ]
    if watched:
        yield _line("watch:", "reported, never gating")
        yield from (f"  - {entry}" for entry in watched)
    for metric in proposal.unknown:
        yield f"# {_word(metric.name)} ({metric.kind}) is in both files: as a guardrail it needs a direction"
    for name in proposal.gaps:
        yield f"# {_word(name)} is in both files too, with values missing"
    if proposal.slices:
        names = ", ".join(_word(name) for name in proposal.slices)
        yield "# subsets to be looked at on their own; each needs items enough:"
        yield f"# slices: {{by: [{names}], min_items: 30, tolerance: 0.05}}"
    yield from _items(look)
    yield "cycles:"
    yield _line("  required: 1", "3 asks for three passing cycles in a row")
    yield _line("  windows: reused", "fresh: every cycle on items that were not seen before")
    yield _line("  # looks: 10", "makes alpha a budget over all looks at these items")
    artifacts = []
    if proposal.systems is not None:
        baseline, candidate = map(_word, proposal.systems)
        artifacts.append(f"system: {{baseline: {baseline}, candidate: {candidate}}}")
    if proposal.where:
        rows = ", ".join(f"{_word(name)}: {_words(words)}" for name, words in proposal.where.items())
        artifacts.append(f"where: {{{rows}}}")
    if artifacts:
        yield f"artifacts: {{{', '.join(artifacts)}}}"


def _items(look: FirstLook) -> Iterator[str]:
    proposal = look.proposal
    keys = [] if proposal.id is None else [f"id: {_word(proposal.id)}"]
    if proposal.repeat is not None:
        keys.append(f"repeat: {_word(proposal.repeat)}")
    yield "items:"
    yield from (f"  {key}" for key in keys)
    yield _line("  min: 30", "fewer pairs are inconclusive")
    yield _line("  missing: error", "worst or drop accept a stated share, max_missing")
    for name in proposal.clusters:
        yield _line(f"  # cluster: {_word(name)}", "if the items of one of these belong together")


def _kind(metric: Metric) -> str:
    return "every value is 0 or 1" if metric.kind == "binary" else "a number per item"


def _rounded_up(value: float) -> float:
    """To one digit: 0.0067 becomes 0.007."""
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.6g}")


def _word(name: str) -> str:
    """A name as YAML: plain where that is safe, else quoted as JSON, which YAML contains."""
    plain = name.isascii() and name.replace("_", "a").replace(".", "a").isalnum() and name[:1].isalpha()
    reserved = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
    return name if plain and name.lower() not in reserved else json.dumps(name, ensure_ascii=False)


def _words(words: tuple[str, ...]) -> str:
    return _word(words[0]) if len(words) == 1 else f"[{', '.join(map(_word, words))}]"


def _line(text: str, comment: str) -> str:
    return f"{text:{ROOM - 2}}  # {comment}"
