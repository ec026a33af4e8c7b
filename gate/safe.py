"""What others wrote, made harmless: text for each kind of reader, and files opened without following a trap.

Ids, metric names, paths, policy texts and error texts come from files that anyone may have written. There is
one function for each reader; HTML, XML and SVG are escaped where they are made, after ``visible``.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from markupsafe import Markup

AnnotationLevel = Literal["error", "warning", "notice"]
WIDEST_CODE: Final = 80
WIDEST_PROSE: Final = 600
WIDEST_ANNOTATION: Final = 1000

_LINE_COMMAND = re.compile(r"^(\s*):(?=:)")
_HASH_COMMAND = re.compile(r"##(?=[\w.]*\[)")
_LIVE = re.compile(r"@|#|\$|://|www\.|GH-(?=\d)|:(?=[\w+-]+:)", re.IGNORECASE)
"""What a Markdown site brings to life in plain text: mentions, issues, formulas, links, emoji."""
_ACTIVE = re.compile(r"[\\`*|&~>]|<(?! )|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
"""Where Markdown or HTML could begin; an underscore inside a word and a bracket alone do nothing."""
_QUIET = re.compile(r"(?<=[A-Za-z0-9])(?:[-_=]|:(?!/)|(?<!www)\.)(?=[A-Za-z0-9])", re.IGNORECASE)
"""Signs that are harmless between letters or digits, so that most ids stay readable in the raw text."""


def visible(text: str) -> str:
    """Control, format and surrogate characters written out, so that nothing obeys or hides."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "\u2026"


def quoted(value: str, width: int = 80) -> str:
    """A value inside an error text: ASCII only, cut, in single quotes."""
    return f"'{escaped(value, width)}'"


def escaped(value: str, width: int = 80) -> str:
    """A value that is a part of a longer name, a place or an advice: as ``quoted``, without the quotes."""
    return cut(value, width).encode("unicode_escape").decode("ascii").replace("##[", "#\\#[")


def examples(values: Sequence[str], count: int | None = None) -> str:
    """Up to five values inside an error text, with the number that was left out."""
    total = len(values) if count is None else count
    shown = ", ".join(quoted(value) for value in values[:5])
    rest = total - min(len(values), 5)
    return f"{shown} and {rest} more" if rest > 0 else shown


def terminal_line(value: object) -> str:
    """One line for a terminal, which may be a CI log: no escape sequence and no command survives.

    GitHub honours ``::name::`` after blanks and ``##[name]`` anywhere in a line, Azure and TeamCity
    ``##vso[`` and ``##teamcity[``.
    """
    return _LINE_COMMAND.sub("\\1:\\\\", _HASH_COMMAND.sub("#\\\\#", visible(str(value))))


def terminal_lines(text: str) -> str:
    """Several lines, each as ``terminal_line``."""
    return "\n".join(terminal_line(each) for each in text.split("\n"))


def github_annotation(level: AnnotationLevel, title: str, message: str) -> str:
    """A GitHub log command of our own. The runner cuts long messages, so they are cut here, with a mark."""
    text = _HASH_COMMAND.sub("#\\\\#", cut(message, WIDEST_ANNOTATION).replace("\r\n", "\n"))
    shown = "\n".join(visible(each) for each in text.split("\n"))
    head = _command_data(visible(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={head}::{_command_data(shown)}"


def _command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def chat_text(value: object, width: int = 2000) -> str:
    """A value in a chat message, where ``<`` begins a mention, a link or a command."""
    return cut(visible(str(value)), width).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def csv_cell(value: object) -> str:
    """A value for a CSV file: a spreadsheet must not take it for a formula."""
    if isinstance(value, int | float):
        return repr(value)
    text = visible(str(value))
    first = unicodedata.normalize("NFKC", text).lstrip()[:1]  # a full-width sign is read as the plain one
    return f"'{text}" if first in set("=+-@\u2212") else text


def markdown_code(value: object, width: int = WIDEST_CODE) -> Markup:
    """A value in Markdown: code without any character that Markdown or HTML could act on."""
    from markupsafe import Markup  # noqa: PLC0415 - only pages pay for it

    text = cut(visible(str(value)), width)
    if not text:
        return Markup("")
    quiet = {found.start() for found in _QUIET.finditer(text)}
    signs = (c if k in quiet else _entity(c) for k, c in enumerate(text))
    # An empty comment keeps addresses from becoming links, which some sites make even of code.
    safe = "".join(signs).replace("&#64;", "&#64;<!-- -->").replace("&#58;&#47;", "&#58;<!-- -->&#47;")
    return Markup(f"<code>{safe}</code>")  # noqa: S704 - every active sign is an entity


def markdown_prose(value: object) -> Markup:
    """A sentence in Markdown that may quote something. Markup that is safe already passes unchanged."""
    from markupsafe import Markup  # noqa: PLC0415 - only pages pay for it

    if isinstance(value, Markup):
        return value
    text = cut(visible(str(value)), WIDEST_PROSE)
    parts, end = [], 0
    for found in _LIVE.finditer(text):
        parts += [_inactive(text[end : found.start()]), str(markdown_code(found.group()))]
        end = found.end()
    return Markup("".join([*parts, _inactive(text[end:])]))  # noqa: S704 - active signs are entities


def _inactive(text: str) -> str:
    return _ACTIVE.sub(lambda found: f"&#{ord(found.group())};", text)


def _entity(character: str) -> str:
    if character == " " or not character.isascii() or character.isalnum():
        return character
    return f"&#{ord(character)};"


class NotRegularError(OSError):
    """What has this name is no regular file. kind: what it is, in words."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"it is {kind}")
        self.kind = kind


def open_regular(path: str | os.PathLike[str], mode: int = os.O_RDONLY) -> int:
    """The descriptor of a regular file: a link is not followed, and a FIFO or a device is not waited for.

    Raises what ``os.open`` raises (OSError; ValueError for a NUL in the path), and NotRegularError.
    """
    descriptor = os.open(path, mode | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(descriptor).st_mode
    if stat.S_ISREG(found):
        return descriptor
    os.close(descriptor)
    kinds = ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a pipe (FIFO)"), (stat.S_ISSOCK, "a socket"))
    raise NotRegularError(next((name for is_kind, name in kinds if is_kind(found)), "a device"))
