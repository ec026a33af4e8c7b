"""The page: self-contained, readable without script, complete, and never too large."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from gate.report import statements
from gate.report.charts.scale import around
from gate.report.html import LARGEST_PAGE
from gate.report.saved import checked
from tests.report.faces import html
from tests.report.poison import poisoned
from tests.report.reports import MAKERS, report, with_flips, with_series

PAGES = [*MAKERS, "error"]


class Reader(HTMLParser):
    """Elements with their attributes, and the text of the page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_from_anywhere(name: str) -> None:
    page = html(report(name))
    assert "http:" not in page
    assert "https:" not in page
    reader = Reader(page)
    for _, attributes in reader.found:
        for key in ("src", "href", "action", "poster", "data", "srcset"):
            assert (attributes.get(key) or "#").startswith(("#", "data:,"))
    assert not reader.all("link") or [entry["rel"] for entry in reader.all("link")] == ["icon"]
    assert "@import" not in page
    assert "url(" not in page


@pytest.mark.parametrize("name", PAGES)
def test_only_our_own_script_and_style_may_run(name: str) -> None:
    page = html(poisoned(report(name), "<script>alert(1)</script>"))
    for tag in ("script", "style"):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in page or f"{tag}-src 'sha256-{digest}'" in page
    reader = Reader(page)
    assert not [a for _, a in reader.found if any(key.startswith("on") or key == "style" for key in a)]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_sound_for_those_who_do_not_see_it(name: str) -> None:
    reader = Reader(html(with_series() if name == "rich" else report(name)))
    ids = [a["id"] for _, a in reader.found if "id" in a]
    assert len(ids) == len(set(ids))
    for attributes in reader.all("svg"):
        assert attributes["role"] == "img"
        assert set(str(attributes["aria-labelledby"]).split()) <= set(ids)
    for _, attributes in reader.found:
        assert str(attributes.get("aria-labelledby") or "").split() == [
            name for name in str(attributes.get("aria-labelledby") or "").split() if name in ids
        ]
        href = attributes.get("href") or ""
        assert not href.startswith("#") or href[1:] in ids
    assert reader.all("html")[0]["lang"] == "en"
    assert all(a.get("scope") in {"col", "row"} for a in reader.all("th"))


def test_every_plot_has_a_table_beside_it() -> None:
    for made in (with_series(), report("repeats"), report("graded")):
        page = html(made)
        plots = re.findall(r'id="r0-plot-([a-z]+)-t"', page)
        assert plots
        after = {
            "effects": "Numbers behind every rule",
            "cycles": "The same as a table",
            "spread": "The same as a table",
        }
        for plot in plots:
            if plot in after:
                assert after[plot] in page.split(f"r0-plot-{plot}-t", 1)[1]


def sentence_of(made: Any, rule: str) -> str:
    """The sentence of a rule, as every format has it."""
    reason = next(reason for reason in made.reasons if reason.rule == rule)
    return statements.statement(reason, made)


def test_what_the_page_says() -> None:
    made = report("rich")
    text = " ".join("".join(Reader(html(made)).words).split())
    for reason in made["reasons"]:
        assert reason["rule"] in text
        assert " ".join(sentence_of(checked(made), reason["rule"]).split()) in text
    for sentence in (made["next_step"], *made["claims"], *made["limits"], made["signature"]):
        assert sentence in text
    for change in made["changes"]["lost"]:
        assert change["id"] in text


def test_the_run_chart_is_drawn_once_there_are_two_cycles() -> None:
    assert "plot-cycles" not in html(report("rich"))
    assert "plot-cycles" not in html(with_series(1))
    found = html(with_series(2))
    assert "plot-cycles" in found
    assert "noise band" in found


@pytest.mark.parametrize("sign", ["x", "<", "\u202e", "\U0001f600"])
def test_the_page_stays_within_its_bytes(sign: str) -> None:
    made = with_flips(5000, 200, sign)
    page = html(made)
    assert len(page.encode()) <= LARGEST_PAGE == 3_000_000
    rows = len(re.findall(r'<tr class="(?:worse|better)">', page))
    assert rows == 5000 or f"And {5000 - rows:,} more in flips.csv" in page
    assert rows == 5000 or sign != "x"


def test_many_challengers_stay_within_the_bytes() -> None:
    made = report("several")
    made["reports"] = made["reports"] * 15
    long = poisoned(made, "<" * 3000)
    for document in (made, long, poisoned(report("rich"), "&" * 20_000)):
        assert len(html(document).encode()) <= LARGEST_PAGE


@pytest.mark.parametrize(
    "values", [[0.0], [0.0, 0.0], [1e308, -1e308], [5e-324], [1e-300, 2e-300], [None, 3.0], [1e15, 1e15 + 1]]
)
def test_a_scale_holds_its_values_whatever_they_are(values: list[float | None]) -> None:
    scale = around(values, 100.0, 500.0)
    assert scale.low < scale.high
    for value in values:
        if value is not None:
            assert 100.0 <= scale.at(value) <= 500.0
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks())
    assert len(scale.ticks()) <= 13
