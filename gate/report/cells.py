"""Making a text harmless in Markdown. HTML is escaped by Jinja's autoescape, plain text by ``plain``.

Ids, metric names, paths, policy texts and error texts come from files that anyone may have written. The
templates' environment sends everything through ``prose``; what must not even look like text goes through
``cell``.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from gate.report.plain import cut, visible

WIDEST_CELL = 80
WIDEST_PROSE = 600

_LIVE = re.compile(r"@|#|\$|://|www\.|GH-(?=\d)|:(?=[\w+-]+:)", re.IGNORECASE)
"""What a Markdown site brings to life in plain text: mentions, issues, formulas, links, emoji."""
_ACTIVE = re.compile(r"[\\`*|&~>]|<(?! )|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
"""Where Markdown or HTML could begin; an underscore inside a word and a bracket alone do nothing."""
_QUIET = re.compile(r"(?<=[A-Za-z0-9])(?:[-_=]|:(?!/)|(?<!www)\.)(?=[A-Za-z0-9])", re.IGNORECASE)
"""Signs that are harmless between letters or digits, so that most ids stay readable in the raw text."""


def cell(value: object, width: int = WIDEST_CELL) -> Markup:
    """A value from a file: code without any character that Markdown or HTML could act on."""
    text = cut(visible(str(value)), width)
    if not text:
        return Markup("")
    quiet = {found.start() for found in _QUIET.finditer(text)}
    signs = (c if k in quiet else _entity(c) for k, c in enumerate(text))
    # An empty comment keeps addresses from becoming links, which some sites make even of code.
    safe = "".join(signs).replace("&#64;", "&#64;<!-- -->").replace("&#58;&#47;", "&#58;<!-- -->&#47;")
    return Markup(f"<code>{safe}</code>")  # noqa: S704 - every active sign is an entity


def prose(value: object) -> Markup:
    """A sentence that may quote something from a file. Markup that is safe already passes unchanged."""
    if isinstance(value, Markup):
        return value
    text = cut(visible(str(value)), WIDEST_PROSE)
    parts, end = [], 0
    for found in _LIVE.finditer(text):
        parts += [_plain(text[end : found.start()]), str(cell(found.group()))]
        end = found.end()
    return Markup("".join([*parts, _plain(text[end:])]))  # noqa: S704 - active signs are entities


def _plain(text: str) -> str:
    return _ACTIVE.sub(lambda found: f"&#{ord(found.group())};", text)


def _entity(character: str) -> str:
    if character == " " or not character.isascii() or character.isalnum():
        return character
    return f"&#{ord(character)};"
