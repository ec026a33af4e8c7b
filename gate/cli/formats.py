"""``gate formats``: which result files can be read, and what one of them was taken for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.cli.streams import Streams

if TYPE_CHECKING:
    from gate.artifacts import Format, ItemTable, Survey

EPILOG = """\
example:
  gate formats results.jsonl

The format is found from the content of a file; artifacts.format in the policy names it to be sure."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """A file to look at, and how."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="say what this file was taken for, and why")
    parser.add_argument("--format", default="auto", metavar="NAME", help="read it as this format")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """One line a format, or what is in the file."""
    from gate.artifacts import describe_formats, survey

    formats = {form.name: form for form in describe_formats()}
    if args.file is None:
        width = max(map(len, formats))
        streams.print("\n".join(f"{form.name:{width}}  {form.reads}" for form in formats.values()))
        return 0
    found = survey(args.file, args.format)
    streams.print("\n".join(_told(found, formats[found.format])))
    return 0


def _told(found: Survey, form: Format) -> Iterator[str]:
    from gate.safe import examples, quoted

    yield f"format   {form.name}: {form.reads}"
    yield f"why      {form.why}"
    yield f"item     {form.item if found.own_ids else found.id or 'no column names the items'}"
    own = "numbered by the file" if found.own_repeats else "none"
    yield f"repeats  {found.repeat or own}"
    yield f"systems  {examples(list(found.systems)) or 'one'}"
    table = _read(found)
    rows = "only the beginning was looked at" if found.rows is None else str(found.rows)
    yield f"rows     {rows}" + ("" if table is None else f", {int(table.failed.sum())} failed runs")
    for column in table.unread if table is not None else ():
        yield f"unread   {quoted(column.column)}: {examples(sorted(column.words))}"
    yield f"columns  {examples(list(found.columns)) or 'none to slice by'}"
    for metric in found.metrics:
        way = metric.direction or "direction not known"
        yield f"metric   {quoted(metric.name)}: {metric.kind}, {way}, {metric.values} values"
    for code, text in found.cautions:
        yield f"caution  {code}: {text}"
    yield from _policy(found)


def _policy(found: Survey) -> Iterator[str]:
    """The lines that read the file."""
    import json

    yield "policy"
    yield f"  artifacts: {{format: {found.format}}}"
    if not found.own_ids and found.id is not None:
        more = "" if found.repeat is None else f", repeat: {json.dumps(found.repeat)}"
        yield f"  items: {{id: {json.dumps(found.id)}{more}}}"
    for metric in [one for one in found.metrics if not one.counts][:1]:
        way = metric.direction or "higher  # or lower: the file does not say"
        yield "  gating:"
        yield f"    metric: {json.dumps(metric.name)}"
        yield f"    kind: {metric.kind}"
        yield f"    direction: {way}"


def _read(found: Survey) -> ItemTable | None:
    """The checked table of the first metric; None where nothing can be read without a word of the policy."""
    from gate.artifacts import ReadRequest, read
    from gate.values import GateError

    metrics = {one.name: one.kind for one in found.metrics[:1]}
    system = found.systems[0] if found.systems else None
    request = ReadRequest(metrics=metrics, repeat=found.repeat, format=found.format, system=system)
    if not found.own_ids:
        from dataclasses import replace

        request = replace(request, id=found.id or "id", id_declared=True)
    try:
        return read(found.path, request) if metrics and found.rows is not None else None
    except GateError:
        return None
