"""No text from a file can act: not in Markdown, HTML, a terminal, a CI log, JUnit, CSV or a comment."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gate.safe import csv_cell, terminal_line
from tests.report.faces import comment, flagged_csv, flips_csv, html, intoto, junit, markdown, text
from tests.report.poison import EVERY, HOSTILE, poisoned
from tests.report.reports import small as report
from tests.report.reports import xml

HARMLESS = "plain words"
OWN_TAGS = re.compile(r"</?(code|details|summary)>|<details open>|<!-- -->|<!-- paired-gate:[0-9a-f]{16} -->")
COMMAND = re.compile(r"^\s*::[A-Za-z-]+|##\[", re.IGNORECASE)


def parsed(source: str) -> list[Token]:
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(source):
        found.append(token)
        found += token.children or []
    return found


Shape = list[tuple[str, str, int]]


def shape(tokens: list[Token]) -> Shape:
    """Blocks and their nesting; what stands in them as inline code or text does not count."""
    return [(t.type, t.tag, t.nesting) for t in tokens if t.block and t.type != "html_block"]


@cache
def harmless_shape(render: Callable[[Any], str], name: str) -> tuple[Shape, int]:
    tokens = parsed(render(poisoned(report(name), HARMLESS)))
    return shape(tokens), sum(token.type == "strong_open" for token in tokens)


def control_characters(source: str) -> set[str]:
    return {c for c in source if c != "\n" and not c.isprintable()}


def test_the_list_holds_the_measured_attacks() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) == 41


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
@pytest.mark.parametrize(
    ("render", "name"),
    [(markdown, "rich"), (comment, "several"), (markdown, "error")],
    ids=lambda x: str(x)[:20],
)
def test_markdown_keeps_its_rows_and_gets_no_foreign_tag(
    hostile: str, render: Callable[[Any], str], name: str
) -> None:
    found = render(poisoned(report(name), hostile))
    tokens = parsed(found)
    kinds = Counter(token.type for token in tokens)
    assert (shape(tokens), kinds["strong_open"]) == harmless_shape(render, name)
    assert not kinds["link_open"] + kinds["image"] + kinds["em_open"] + kinds["s_open"]
    tags = "".join(t.content for t in tokens if t.type in {"html_inline", "html_block"})
    assert not re.search(r"<[a-zA-Z/!?]", OWN_TAGS.sub("", tags))
    assert not control_characters(found)


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_markdown_brings_nothing_to_life(hostile: str) -> None:
    """Mentions, issue numbers, formulas and bare addresses stand only within code."""
    found = markdown(poisoned(report("rich"), hostile))
    outside = re.sub(r"<code>.*?</code>|`[^`]*`", "", found)
    outside = re.sub(r"&#\d+;", "", re.sub(r"^#{2,3} ", "", outside, flags=re.MULTILINE))
    assert not re.search(r"[@#$]|://|www\.|GH-\d", outside)


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_a_terminal_and_a_log_obey_nothing(hostile: str) -> None:
    for name in ("rich", "several", "error"):
        plain = text(poisoned(report(name), hostile))
        assert not control_characters(plain)
        assert plain.count("\n") == text(poisoned(report(name), HARMLESS)).count("\n")
        assert not [found for found in plain.split("\n") if COMMAND.search(found)]
        coloured = text(poisoned(report(name), hostile), colour=True)
        assert not control_characters(re.sub(r"\x1b\[[0-9;]*m", "", coloured))


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_one_line_is_one_line_whatever_stands_before_it(hostile: str) -> None:
    found = terminal_line(hostile)
    assert not control_characters(found)
    assert "\n" not in found
    assert not COMMAND.search(found)


class Outline(HTMLParser):
    """Tags with their attributes' names, and every address."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [
            value or "" for name, value in attrs if name in {"href", "src", "action", "data", "poster"}
        ]


@cache
def harmless_outline(name: str) -> Outline:
    return Outline(html(poisoned(report(name), HARMLESS)))


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_html_has_the_same_tags_whatever_the_texts_say(hostile: str) -> None:
    for name in ("rich", "repeats", "error"):
        page = html(poisoned(report(name), hostile))
        found, harmless = Outline(page), harmless_outline(name)
        assert [tag for tag in found.tags if tag[0] != "title"] == [
            tag for tag in harmless.tags if tag[0] != "title"
        ]
        assert found.addresses == harmless.addresses
        assert not control_characters(page)


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_junit_is_xml_with_the_same_cases(hostile: str) -> None:
    for name in ("rich", "several", "error"):
        found = xml(junit(poisoned(report(name), hostile)))
        harmless = xml(junit(poisoned(report(name), HARMLESS)))
        assert [element.tag for element in found.iter()] == [element.tag for element in harmless.iter()]
        assert not control_characters("".join(found.itertext()))


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_json_faces_are_ascii(hostile: str) -> None:
    assert json.loads(intoto(poisoned(report("rich"), hostile)))["subject"][0]["name"] == hostile
    assert intoto(poisoned(report("rich"), hostile)).isascii()


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_csv_has_no_formula_and_no_extra_row(hostile: str) -> None:
    for render, name in ((flips_csv, "rich"), (flagged_csv, "repeats")):
        found = render(poisoned(report(name), hostile))
        rows = list(csv.reader(io.StringIO(found)))
        harmless = list(csv.reader(io.StringIO(render(poisoned(report(name), HARMLESS)))))
        assert [len(row) for row in rows] == [len(row) for row in harmless]
        assert not control_characters(found)
        texts = [value for row in rows for value in row if not re.fullmatch(r"-?[\d.e-]+", value)]
        assert not [value for value in texts if value.lstrip()[:1] in set("=+-@")]


def test_a_number_is_no_formula() -> None:
    assert csv_cell(-1.0) == "-1.0"
    assert csv_cell("-1") == "'-1"
    assert csv_cell("plain-1") == "plain-1"
