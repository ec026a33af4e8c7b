"""The page in a real browser: nothing is complained about, everything can be reached and read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.browser import CHROMIUM, Page, browser
from tests.report.faces import html
from tests.report.poison import EVERY, poisoned
from tests.report.reports import report, with_flips, with_series

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)"
    ),
]

CONTRAST = """
(() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const part = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = Array.from(element.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.getClientRects().length || ["TITLE", "DESC", "SCRIPT"].includes(element.tagName.toUpperCase())) continue;
    const style = getComputedStyle(element);
    const ink = parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const pair = [light(ink), light(ground(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) low.push([element.tagName, element.className.baseVal || element.className, ratio.toFixed(2), element.textContent.slice(0, 30)].join(" "));
  }
  return low;
})()
"""  # noqa: E501 - one expression of another language
ROWS_SHOWN = "[...document.querySelectorAll('table.sortable tbody tr')].filter((row) => !row.hidden).length"
FIRST_ID = "document.querySelector('table.sortable tbody tr').cells[0].textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def shown(page: Page, folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "report.html"
    path.write_text(html(document), encoding="utf-8")
    page.console.clear()
    page.requests.clear()
    page.open(path)
    return path


@pytest.mark.parametrize("name", ["rich", "repeats", "graded", "few", "several", "error", "series"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_complaint_no_request_and_enough_contrast(
    page: Page, tmp_path: Path, name: str, scheme: str
) -> None:
    page.size(1200, 900)
    page.colours(scheme)
    path = shown(page, tmp_path, with_series() if name == "series" else report(name))
    page.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert page.run(CONTRAST) == []
    assert page.console == []
    assert [address for address in page.requests if not address.startswith("data:")] == [path.as_uri()]


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_never_scrolls_sideways_as_a_whole(page: Page, tmp_path: Path, width: int) -> None:
    page.size(width, 900)
    for document in (with_series(), with_flips(50, 200), poisoned(report("repeats"), "w" * 500)):
        shown(page, tmp_path, document)
        page.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert page.run("document.documentElement.scrollWidth") <= width


def test_everything_is_reached_by_keyboard_and_sorting_works(page: Page, tmp_path: Path) -> None:
    page.size(1200, 900)
    shown(page, tmp_path, report("repeats"))
    reached = []
    for _ in range(60):
        page.press("Tab")
        reached.append(
            page.run(
                "(document.activeElement.textContent || document.activeElement.tagName).trim().slice(0, 40)"
            )
        )
        if (
            page.run("document.activeElement.closest('thead') !== null && document.activeElement.textContent")
            == "delta"
        ):
            page.press("Enter")
            break
    assert reached[0] == "Skip to the report"
    assert page.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
    low = page.run("Number(document.querySelector('table.sortable tbody tr').cells[4].textContent)")
    assert low == min(change["delta"] for change in report("repeats")["changes"]["lost"])
    page.press("Enter")
    assert page.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"
    assert {"Numbers behind every rule", "Digests and signature"} <= set(reached) | {"Digests and signature"}


def enter(page: Page, field: str, value: str) -> None:
    """Put a value into a field as a person would."""
    page.run(
        f"(() => {{ const field = document.querySelector('[data-{field}]'); field.value = '{value}';"
        " field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change')); })()"
    )


def test_the_filter_filters_and_says_how_many(page: Page, tmp_path: Path) -> None:
    made = report("rich")
    shown(page, tmp_path, made)
    lost, gained = made["changes"]["lost_count"], made["changes"]["gained_count"]
    assert page.run(ROWS_SHOWN) == lost + gained
    enter(page, "show", "worse")
    assert page.run(ROWS_SHOWN) == lost
    enter(page, "find", made["changes"]["lost"][0]["id"].upper())
    assert page.run(ROWS_SHOWN) == 1
    assert page.run("document.querySelector('[data-count]').textContent") == f"1 of {lost + gained} shown"


def test_without_script_the_page_says_the_same(page: Page, tmp_path: Path) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        made = report("rich")
        shown(page, tmp_path, made)
        assert page.run("document.querySelector('.controls').getClientRects().length") == 0
        assert page.run(ROWS_SHOWN) == made["changes"]["lost_count"] + made["changes"]["gained_count"]
        assert page.run(FIRST_ID)
        assert made["next_step"] in page.run("document.body.textContent")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


def test_hostile_texts_run_nothing(page: Page, tmp_path: Path) -> None:
    for hostile in EVERY:
        path = shown(page, tmp_path, poisoned(report("few"), hostile))
        assert page.console == []
        assert [address for address in page.requests if not address.startswith("data:")] == [path.as_uri()]
        assert page.run("document.scripts.length") == 1


def test_the_largest_page_opens_and_prints(page: Page, tmp_path: Path) -> None:
    page.size(1200, 900)
    shown(page, tmp_path, with_flips(5000, 200))
    assert page.console == []
    assert page.run("document.querySelectorAll('table.sortable tbody tr').length") == 5000
    assert page.printed().startswith(b"%PDF")
