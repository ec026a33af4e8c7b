"""Text is harmless to its reader, and opening a file neither follows nor waits."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.safe import NotRegularError, escaped, examples, open_regular, quoted, terminal_line, terminal_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain: a::b", "plain: a::b"),
        ("::error::x", ":\\:error::x"),
        (" \u00a0::error::x", " \\xa0::error::x"),
        ("a ##[group]x", "a #\\#[group]x"),
        ("a ##vso[task.setvariable]x", "a #\\#vso[task.setvariable]x"),
        ("a ## b", "a ## b"),
        ("a\nb\x1b[2J", "a\\nb\\x1b[2J"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("größer", "größer"),
    ],
)
def test_a_terminal_obeys_nothing(text: str, shown: str) -> None:
    assert terminal_line(text) == shown


@given(st.text())
def test_lines_stay_lines(text: str) -> None:
    assert terminal_lines(text).split("\n") == [terminal_line(line) for line in text.split("\n")]


@given(st.text())
def test_a_value_in_an_error_is_ascii_on_one_line(value: str) -> None:
    shown = quoted(value, 20)
    assert shown == f"'{escaped(value, 20)}'"
    assert shown.isascii()
    assert shown.isprintable()
    assert "##[" not in shown


@pytest.mark.parametrize(("length", "shown"), [(80, "a" * 80), (81, "a" * 79 + "\\u2026")])
def test_a_long_value_is_cut(length: int, shown: str) -> None:
    assert escaped("a" * length) == shown


@pytest.mark.parametrize(
    ("values", "count", "shown"),
    [
        ([], None, ""),
        (list("abcde"), None, "'a', 'b', 'c', 'd', 'e'"),
        (list("abcdef"), None, "'a', 'b', 'c', 'd', 'e' and 1 more"),
        (["a", "b"], 7, "'a', 'b' and 5 more"),
    ],
)
def test_examples_count_what_they_leave_out(values: list[str], count: int | None, shown: str) -> None:
    assert examples(values, count) == shown


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    descriptor = open_regular(file)
    assert os.read(descriptor, 9) == b"content"
    os.close(descriptor)
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(OSError, match=r"link|symbolic") as link:
        open_regular(tmp_path / "link")
    assert not isinstance(link.value, NotRegularError)
    os.mkfifo(tmp_path / "fifo")
    for name, kind in (("fifo", "a pipe (FIFO)"), ("", "a directory"), ("/dev/null", "a device")):
        with pytest.raises(NotRegularError) as found:
            open_regular(tmp_path / name)
        assert found.value.kind == kind
    with pytest.raises(ValueError, match="null"):
        open_regular("a\0b")


def test_a_file_that_is_none_leaves_nothing_open(tmp_path: Path) -> None:
    before = set(Path("/dev/fd").iterdir())
    with pytest.raises(NotRegularError):
        open_regular(tmp_path)
    assert set(Path("/dev/fd").iterdir()) <= before


def test_a_socket_is_not_opened(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(OSError, match=r"device|address"):
            open_regular(tmp_path / "s")
