"""What the documents print is what happens: commands run, policies load, links lead somewhere.

The convention that pages follow stands in ``docs/README.md``.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.policy.load import loads

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for pattern in ("README.md", "docs/*.md", "examples/**/README.md")
    for page in sorted(ROOT.glob(pattern))
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that holds the examples and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell_blocks(text: str) -> list[tuple[list[tuple[list[str], int]], str | None]]:
    """Of each bash block: its gate commands with the exit code announced, and what is printed below it."""
    form = r"```bash\n(.*?)```(?:\n+ *```text\n(.*?)```)?"
    return [(commands(block), shown or None) for block, shown in re.findall(form, text, re.DOTALL)]


def commands(block: str) -> list[tuple[list[str], int]]:
    """The gate commands of one block, also of a copy of its own and behind ``&&``."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        command, _, comment = line.partition(" #")
        for part in command.split(" && "):
            words = shlex.split(part)
            if words and words[0] in {"gate", ".venv/bin/gate"}:
                code = re.search(r"exit (\d+)", comment)
                found.append((words[1:], int(code.group(1)) if code else 0))
    return found


def gate(words: list[str]) -> tuple[int, str, str]:
    """One command, as in a shell."""
    out, err = io.StringIO(), io.StringIO()
    try:
        code = main(words, out, err)
    except SystemExit as stop:  # --help, --version
        code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def same(shown: str, printed: str) -> bool:
    """Whether the page shows what was printed; a line ``...`` stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"(?m)^ *\.\.\.\n", shown)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if shell_blocks(text)])
def test_every_command_runs_as_printed(page: str, folder: Path) -> None:
    for block, shown in shell_blocks(PAGES[page]):
        for words, expected in block:
            code, out, err = gate(words)
            assert code == expected, (words, err)
        if shown:
            assert same(shown, out), out


@pytest.mark.parametrize("page", PAGES)
def test_every_policy_is_one(page: str) -> None:
    for block in re.findall(r"```yaml\n(version:.*?)```", PAGES[page], re.DOTALL):
        loads(block, page)


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if ">>> " in text])
def test_every_example_in_python_holds(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = doctest.testfile(str(ROOT / page), module_relative=False)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    here = (ROOT / page).parent
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page]):
        assert (here / link).exists(), link


def test_every_page_is_found_from_the_first_one() -> None:
    pages = [Path(name).name for name in PAGES if name.startswith("docs/")]
    assert [
        name for name in pages if name != "README.md" and f"({name})" not in PAGES["docs/README.md"]
    ] == []


def test_every_folder_of_examples_says_what_it_is() -> None:
    folders = [path for path in sorted((ROOT / "examples").iterdir()) if path.is_dir()]
    assert [path.name for path in folders if not (path / "README.md").is_file()] == []


def test_what_a_page_shows_is_compared_line_by_line() -> None:
    assert same("a\n...\nd\n", "a\nb\nc\nd\n")
    assert same("a\n", "a\n")
    assert not same("a\n...\nd\n", "a\nb\n")
    assert not same("a\n", "a\nb\n")
