"""Every bound a file must keep. A reader never allocates more than these allow."""

from __future__ import annotations

from typing import Final

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30

PLAIN_BYTES: Final = 8 * GIB
"""A plain text file; it is streamed, so this is generous."""
TABLE_BYTES: Final = 64 * GIB
"""A Parquet file; DuckDB reads the named columns only."""
DOCUMENT_BYTES: Final = 96 * MIB
"""A JSON or XML document, which is held in memory as a whole, as bytes and as text."""
UNPACKED_BYTES: Final = 256 * MIB
"""What a compressed file, or all members read from an archive, may unpack to."""
RATIO: Final = 200
"""Unpacked to packed bytes, looked at after the first MiB."""
LINE_BYTES: Final = 8 * MIB
"""One line. Lines of 1.5 MB occur in real logs."""
MEMBERS: Final = 50_000
"""Members of a zip archive, or parts one behind the other in a gzip or zstd file."""
DIRECTORY_BYTES: Final = 16 * MIB
"""The list of members of a zip archive."""
DEPTH: Final = 64
"""Nesting of JSON and XML."""
DIGITS: Final = 4300
"""Digits of one integer, Python's own default, kept even where the environment lifts it."""
ID_CHARS: Final = 4096
CONTAINERS: Final = 4_000_000
"""Objects and lists of one JSON document."""
ELEMENTS: Final = 400_000
"""Tests, outcomes and properties of one XML document."""
JSON_VALUES: Final = 20_000_000
"""Values of one JSON document: each takes far more memory than it has bytes."""
PACKED_LINES: Final = 10_000_000
"""Lines of a file that was compressed: a short file must not hold the machine for minutes."""
FREE_ROWS: Final = 250_000
"""Rows that any file may have; beyond them a row must take up bytes, see ``unpack.refuse_hollow``."""
FREE_TABLE_ROWS: Final = ((256 * KIB, 1_000_000), (MIB, 2_500_000))
"""The same for smaller Parquet files, by their bytes; numbered ids take next to nothing there."""
TABLE_ROWS_A_BYTE: Final = 20
"""Rows of larger Parquet files: ten million numbered pass/fail results take more than a megabyte."""
HOLLOW_BYTES: Final = 16 * MIB
"""What a column may unpack to whatever the size of its file."""
COLUMNS: Final = 50_000
GZIP_READ: Final = 16 * KIB
ZSTD_READ: Final = KIB
"""Packed bytes unpacked at a time: even at the format's best ratio a block stays small."""
WINDOW_BYTES: Final = 128 * MIB
