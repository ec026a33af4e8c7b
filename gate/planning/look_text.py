"""A first look as a person reads it: four lines, how to read them, and what a policy could claim."""

from __future__ import annotations

from collections.abc import Iterator

from gate.measure.model import Tested
from gate.measure.words import count, number, signed
from gate.planning.first_look import FirstLook
from gate.report import sentences, voice
from gate.report.terms import gravity
from gate.run.blocks import changes, comparison, gating
from gate.values import Status


def look_lines(look: FirstLook) -> Iterator[str]:
    """All lines."""
    block, proposal = gating(look.gating, Status.REPORTED), look.proposal
    cautions = (*look.cautions, *block.cautions)
    kind = "pass/fail" if proposal.gating.kind == "binary" else "graded"
    by = "the format's own ids" if proposal.id is None else proposal.id
    repeats = "" if proposal.repeat is None else f", runs by {proposal.repeat}"
    items = f"{count(look.pairs, 'item')} by {by}{repeats}"
    yield f"{look.files.baseline} -> {look.files.candidate} ({proposal.format}, {items})"
    assumed = " (assumed: nothing says which way is better)" if look.assumed else ""
    yield f"{block.metric}: {kind}, {block.direction} is better{assumed}"
    yield from (f"warning: {text}" for text in sentences.warnings(cautions))
    yield ""
    lines = sentences.four_lines(block, changes(look.gating), cautions)
    facts = [*lines, ("Reading", sentences.reading(block))]
    width = max(len(label) for label, _ in facts)
    yield from (f"  {label:{width}}  {text}" for label, text in facts if text)
    yield ""
    yield from _others(look)
    yield from _claims(look)
    others = [caution for caution in cautions if gravity(caution.code) == "detail"]
    yield from (f"  caution: {caution.message}" for caution in others[:8])
    if len(others) > 8:
        yield f"  and {len(others) - 8} more cautions"
    yield from _next(look)


def _others(look: FirstLook) -> Iterator[str]:
    """One row for each other metric: before, after, change, and which way is better."""
    blocks = [comparison(found, Status.REPORTED) for found in look.others]
    ways = {"neutral": "which way is better is not known"}
    rows = [
        (b.metric, voice.moved(b), voice.change(b), ways.get(b.direction, f"{b.direction} is better"))
        for b in blocks
    ]
    if not rows:
        return
    yield "the other metrics of both files:"
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows:
        yield "  " + "  ".join(f"{text:{width}}" for text, width in zip(row, [*widths, 0], strict=True))
    yield ""


def _claims(look: FirstLook) -> Iterator[str]:
    found = look.gating
    yield "what a policy could claim on these items:"
    if any(caution.code in {"errors_uneven", "status_on_one_side"} for caution in look.cautions):
        yield "  nothing: gate run is inconclusive on these files until the warning above is dealt with"
        return
    if found.insufficient:
        yield f"  nothing: {found.insufficient}"
        return
    mde = look.seen.get(found.asked.metric)
    if mde is not None:
        yield (
            f"  gains of {number(mde)} and more are seen 80 % of the time at alpha 0.05: a smaller margin "
            "needs more items"
        )
    if isinstance(found, Tested) and found.delta > 0 and found.evidence.p_value < found.level:
        yield (
            f"  a gain above 0 is shown; margins up to {signed(found.delta)} would be cleared as observed, "
            f"{_proven_margin(look)}"
        )
    else:
        yield "  no gain above 0 is shown: this run would not have been promoted at any margin"
    if look.proven is not None and look.proven < 0:
        yield f"  a loss of more than {number(-look.proven)} is ruled out: such a tolerance would be met"
    for name, effect in look.seen.items():
        if name != found.asked.metric:
            yield f"  {name}: changes of {number(effect)} and more are seen 80 % of the time"


def _proven_margin(look: FirstLook) -> str:
    if look.proven is None or look.proven <= 0:
        return "none is proven"
    return f"margins up to {signed(look.proven)} are proven"


def _next(look: FirstLook) -> Iterator[str]:
    for column in look.proposal.clusters:
        yield (
            f"  caution: if the items of one {column} belong together, they are not independent, and this "
            f"look counts them as if they were (a policy says items: {{cluster: {column}}})"
        )
    files = f"{look.files.baseline} {look.files.candidate}"
    files += "".join(
        f" --where {name}={word}" for name, words in look.proposal.where.items() for word in words
    )
    yield ""
    yield "this is a look, not a decision: a margin chosen after seeing it proves nothing about this run"
    yield f"next: gate init {files} -o gate.yaml, set the margin, and decide the next run by it"
