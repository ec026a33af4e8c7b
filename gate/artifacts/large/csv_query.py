"""Large CSV and TSV through DuckDB: explicit text columns, nothing detected, nothing quoted."""

from __future__ import annotations

from gate.artifacts.content import Content
from gate.artifacts.large.pulled import Pulled, Query, lines_of, literal, wanted
from gate.artifacts.large.scan import Scan, scan
from gate.artifacts.limits import LINE_BYTES
from gate.artifacts.table import ReadRequest
from gate.artifacts.values import NO_VALUE, NUMBER

WIDEST_HEADER = 500


def pull(content: Content, request: ReadRequest) -> Pulled | None:
    """The named columns, or None where the plain way has to look."""
    from gate.artifacts.formats.delimited import open_table  # noqa: PLC0415

    header, _, delimiter = open_table(content, request.format)
    head = content.head
    if b'"' in head or b"\r" in head or head[:1] in {b"\n", b" ", b"\t"} or delimiter == ";":
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
    if not _regular(scan(content, delimiter.encode()), count + 1, len(header)):
        return None
    texts = [lines_of(column, count) for column in joined]
    return Pulled(
        format="tsv" if delimiter == "\t" else "csv",
        count=count,
        ids=ids.encode("utf-8") + b"\n",
        texts={path: cells for path, cells in zip(want.texts, texts, strict=True) if cells is not None},
        numbers=dict(zip(want.metrics, numbers, strict=True)),
        cell=_Cells(content, header, delimiter),
        available=tuple(name for name in header if name),
        text=True,
        first_line=2,
    )


def _regular(found: Scan | None, lines: int, columns: int) -> bool:
    """Nothing is quoted, and each line has the same number of cells: DuckDB forgives a delimiter too many."""
    if found is None or found.quotes or found.carriage_returns or found.lines != lines:
        return False
    return found.delimiters == lines * (columns - 1)


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
            f"read_csv(?, auto_detect=false, header=false, skip=1, delim={literal(delimiter)}, quote='', "
            f"escape='', columns={{{columns}}}, nullstr='', null_padding=false, ignore_errors=false, "
            f"strict_mode=true, max_line_size={LINE_BYTES}, compression='none', parallel=false)"
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


class _Cells:
    """Single cells, for examples of what is missing."""

    def __init__(self, content: Content, header: list[str], delimiter: str) -> None:
        self.content = content
        self.header = header
        self.delimiter = delimiter

    def __call__(self, path: str, row: int) -> str:
        line = self.content.line_at(row + 2).decode("utf-8").rstrip("\n")
        return line.split(self.delimiter)[self.header.index(path)]
