"""Jinja with everything that makes it safe switched on. Imported only where a template is rendered."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from gate.safe import cut, markdown_code, markdown_prose, visible

WIDEST_TEXT = 1000
"""Characters of one text on the page; the JSON report has all of it."""


def source(name: str) -> str:
    """The text of a file beside the templates."""
    return files("gate.report").joinpath("templates", name).read_text(encoding="utf-8")


def _environment(finalize: Callable[..., Any] | None) -> Environment:
    return Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def markdown_environment() -> Environment:
    """Every value in a template becomes harmless Markdown, whether or not the template remembers to ask."""
    environment = _environment(markdown_prose)
    environment.filters["cell"] = markdown_code
    return environment


@cache
def html_environment() -> Environment:
    """HTML, escaped by Jinja after hidden characters are written out."""
    return _environment(_visible)


def _visible(value: object) -> object:
    return value if isinstance(value, Markup) else cut(visible(str(value)), WIDEST_TEXT)
