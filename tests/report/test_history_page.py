"""``gate history site``: every cycle is on the page, nothing on it acts, and a real browser reads it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.black_box import BINARY
from tests.report.browser import CHROMIUM, browser
from tests.test_documents import gate


def made(folder: Path, names: tuple[str, ...] = ("one", "two", "three")) -> Path:
    """Two cycles that pass and one that loses, under a policy that wants two in a row."""
    (folder / "gate.yaml").write_text(json.dumps(BINARY | {"cycles": {"required": 2, "windows": "reused"}}))
    for number, name in enumerate(names):
        wins = (30, 0, 40)[number]
        for side, passes in (("baseline", 40), ("candidate", 40 + wins - (30 if not wins else 0))):
            rows = [{"id": f"i{k}", "correct": int(k < passes), "n": number} for k in range(100)]
            (folder / f"c{number}-{side}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        sides = [str(folder / f"c{number}-{side}.jsonl") for side in ("baseline", "candidate")]
        words = [
            "run",
            "--policy",
            str(folder / "gate.yaml"),
            "--baseline",
            sides[0],
            "--candidate",
            sides[1],
        ]
        assert gate([*words, "--history", str(folder / "h.jsonl"), "--cycle", name])[0] in {1, 4}
    return folder / "h.jsonl"


def page_of(folder: Path, *more: str) -> str:
    code, out, err = gate(["history", "site", str(folder / "h.jsonl"), str(folder / "public"), *more])
    assert code == 0, err
    assert "index.html" in out
    return (folder / "public" / "index.html").read_text()


class Cells(HTMLParser):
    """The rows of the page's table; any tag that acts or asks for something is a failure."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "iframe", "object", "img", "form"}, tag
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
            self._in = True

    def handle_endtag(self, tag: str) -> None:
        self._in = self._in and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._in:
            self.rows[-1][-1] += data


def test_every_cycle_with_its_verdict_and_why_its_streak_ended(tmp_path: Path) -> None:
    before = made(tmp_path).read_bytes()
    page = page_of(tmp_path)
    cells = Cells()
    cells.feed(page)
    assert [row[:2] for row in cells.rows[1:]] == [["three", "hold"], ["two", "block"], ["one", "hold"]]
    assert [row[6] for row in cells.rows[1:]] == ["1", "0", "1"]
    assert "two" in cells.rows[1][7]
    assert "failed" in cells.rows[1][7]
    assert "Looks spent: 3. Promotions: 0." in page
    assert "noise band" in page
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", page).replace("http-equiv", "")
    assert (tmp_path / "h.jsonl").read_bytes() == before


def test_names_do_not_act(tmp_path: Path) -> None:
    made(tmp_path, ("<script>alert(1)</script>", "two", "three"))
    page = page_of(tmp_path)
    Cells().feed(page)
    assert "&lt;script&gt;" in page


def test_items_are_added_on_request(tmp_path: Path) -> None:
    made(tmp_path)
    more = ["--policy", str(tmp_path / "gate.yaml"), "--artifacts", str(tmp_path)]
    page = page_of(tmp_path, *more)
    assert "dead: " in page
    assert "dead: " not in page_of(tmp_path)
    assert gate(["history", "site", str(tmp_path / "h.jsonl"), str(tmp_path / "p"), *more[:2]])[0] == 2


def test_an_empty_history_and_a_folder_that_is_a_file(tmp_path: Path) -> None:
    assert gate(["history", "init", str(tmp_path / "h.jsonl")])[0] == 0
    assert "No cycle has been decided yet" in page_of(tmp_path)
    (tmp_path / "file").write_text("")
    assert gate(["history", "site", str(tmp_path / "h.jsonl"), str(tmp_path / "file")])[0] == 2


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (Debian: apt-get install chromium)")
def test_a_real_browser_shows_it_without_a_complaint(tmp_path: Path) -> None:
    made(tmp_path)
    page_of(tmp_path)
    with browser(tmp_path / "profile") as page:
        page.open(tmp_path / "public" / "index.html")
        assert page.console == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
        assert page.run("document.querySelectorAll('tbody tr').length") == 3
        assert page.run("document.querySelector('svg').getBoundingClientRect().height") > 50
        page.size(360, 700)
        assert page.run("document.documentElement.scrollWidth") <= 360
