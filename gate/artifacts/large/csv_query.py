"""Large CSV and TSV through DuckDB: explicit text columns, nothing detected."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import chain

from gate.artifacts.content import Content
from gate.artifacts.large.csv_lines import row_lines
from gate.artifacts.large.pulled import Pulled, Query, lines_of, literal, wanted
from gate.artifacts.large.scan import Places
from gate.artifacts.limits import LINE_BYTES
from gate.artifacts.table import ReadRequest
from gate.artifacts.values import NO_VALUE, NUMBER

WIDEST_HEADER = 500


def pull(content: Content, request: ReadRequest) -> Pulled | None:
    """The named columns, or None where the plain way has to look."""
    from gate.artifacts.formats.delimited import open_table  # noqa: PLC0415

    header, _, delimiter = open_table(content, request.format)
    first = content.head.partition(b"\n")[0]
    if first[:1] in {b"", b"\r", b" ", b"\t"} or first.count(b'"') % 2 or delimiter == ";":
        return None
    if len(header) > WIDEST_HEADER:
        return None
    want = wanted(request, header)
    if want is None or any(_misleads(word, value) for word, value in request.words.items()):
        return None
    result = _query(header, delimiter, request).run(content, want)
    if result is None:
        return None
    count, (ids, *joined), numbers = result
    lines = row_lines(content, delimiter, count, len(header))
    if lines is None:
        return None
    texts = [cells for column in joined if (cells := lines_of(column, count)) is not None]
    if len(texts) < len(joined):
        return None  # cells of several lines
    return Pulled(
        format="tsv" if delimiter == "\t" else "csv",
        count=count,
        ids=ids.encode("utf-8") + b"\n",
        texts=dict(zip(want.texts, texts, strict=True)),
        numbers=dict(zip(want.metrics, numbers, strict=True)),
        cell=_cells(content, header, delimiter, lines),
        available=tuple(name for name in header if name),
        text=True,
        lines=lines,
    )


def _misleads(word: str, value: float) -> bool:
    """Whether a word with blanks around it, which is still the word, would be read as something else."""
    if word.strip().lower() in NO_VALUE:
        return True
    return NUMBER.fullmatch(word) is not None and float(word) != value


def _query(header: list[str], delimiter: str, request: ReadRequest) -> Query:
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(header)))
    words = " ".join(f"WHEN {literal(word)} THEN {value!r}" for word, value in request.words.items())

    def text(path: str) -> str:
        return f"coalesce(c{header.index(path)}, '')"

    def number(path: str, kind: str) -> str:
        return _number(f"c{header.index(path)}", kind, words)

    return Query(
        table=(
            f"read_csv(?, auto_detect=false, header=false, skip=1, delim={literal(delimiter)}, "
            f"quote='\"', escape='\"', columns={{{columns}}}, "
            "nullstr='', null_padding=false, ignore_errors=false, strict_mode=true, "
            f"max_line_size={LINE_BYTES}, compression='none', parallel=false)"
        ),
        text=text,
        number=number,
    )


_MISSING = ", ".join(literal(word) for word in sorted(NO_VALUE))


def _number(column: str, kind: str, words: str) -> str:
    """SQL: a number, NaN where nothing usable stands, NULL where the plain way has to look."""
    odd = f"contains({column}, '_') OR contains({column}, '+-')"
    plain = f"CASE WHEN {odd} THEN NULL ELSE nullif(TRY_CAST({column} AS DOUBLE), 'nan'::DOUBLE) END"
    is_ascii = f"strlen({column}) = length({column})"  # the dotted capital I is an i in lower case
    is_gap = f"{column} IS NULL OR ({is_ascii} AND lower(trim({column})) IN ({_MISSING}))"
    gap = f"CASE WHEN {is_gap} THEN 'nan'::DOUBLE END"
    if kind == "binary":
        words += " WHEN '1' THEN 1.0 WHEN '0' THEN 0.0 WHEN 'True' THEN 1.0 WHEN 'False' THEN 0.0"
        words += " WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0"
    value = f"coalesce({plain}, {gap})"
    return f"CASE {column} {words} ELSE {value} END" if words else value


def _cells(content: Content, header: list[str], delimiter: str, lines: Places) -> Callable[[str, int], str]:
    """Single cells, for examples of what is missing."""

    def cell(path: str, row: int) -> str:
        raw = chain([content.line_at(int(lines[row]))], content.file)
        return next(csv.reader((line.decode("utf-8") for line in raw), delimiter=delimiter))[
            header.index(path)
        ]

    return cell
