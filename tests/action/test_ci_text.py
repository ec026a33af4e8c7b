"""What others wrote stays text: in the log, in outputs, in the summary; and no summary grows too large."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ci.outputs import dotenv, heredoc, write_outputs
from gate.ci.policy_change import PolicyChange
from gate.ci.results import Result
from gate.ci.summary import BUDGET, LIMIT, append, compose, fit, notes_block
from gate.report.files import write_text
from gate.safe import github_annotation, terminal_lines

from .composite import log_commands, parse_values
from .scenarios import HOSTILE

SIGNS = st.text(alphabet=st.sampled_from(list(":#[]\n\r \t\x1b%,abAB=<>|\u2028\u0085\xa0\\`-")), max_size=40)


@given(SIGNS)
def test_no_text_becomes_a_command(text: str) -> None:
    assert log_commands(terminal_lines(text)) == []
    assert "\x1b" not in terminal_lines(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_ids_are_no_commands(text: str) -> None:
    assert log_commands(terminal_lines(text)) == []
    assert "##vso[" not in terminal_lines(text)


@given(SIGNS, SIGNS)
def test_an_annotation_is_one_command_on_one_line(title: str, message: str) -> None:
    line = github_annotation("error", title, message)
    assert line.count("\n") == 0
    assert log_commands(line) == ["error"]


def test_annotations_are_escaped_as_the_runner_unescapes_them() -> None:
    assert github_annotation("error", "a:b,c%", "x%y\r\nz:w") == "::error title=a%3Ab%2Cc%25::x%25y%0Az:w"


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), SIGNS, max_size=4))
def test_outputs_cannot_be_forged(values: dict[str, str]) -> None:
    text = "".join(heredoc(name, value.replace("\r", "")) for name, value in values.items())
    assert parse_values(text) == {name: value.replace("\r", "") for name, value in values.items()}


def test_written_outputs_are_one_line_each(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("before=1\n")
    write_outputs(
        str(file), {"reason": "correct\nverdict=promote\nverdict<<E\npromote\nE", "verdict": "block"}
    )
    assert parse_values(file.read_text()) == {
        "before": "1",
        "reason": "correct\\nverdict=promote\\nverdict<<E\\npromote\\nE",
        "verdict": "block",
    }


def test_variables_are_one_line_each() -> None:
    assert dotenv({"ci-low": "0.1", "reason": "a\nGATE_VERDICT=promote"}) == (
        "GATE_CI_LOW=0.1\nGATE_REASON=a\\nGATE_VERDICT=promote\n"
    )


ROW = "| " + "\u00e9" * 300 + " |\n"


@pytest.mark.parametrize("before", [0, 1000, BUDGET - 100, BUDGET, LIMIT - 6000, LIMIT - 500, LIMIT])
def test_a_summary_stays_within_the_limit_whatever_is_there_already(tmp_path: Path, before: int) -> None:
    file = tmp_path / "summary"
    file.write_bytes(b"x" * before)
    written = append(str(file), "## block\n\n<details>\n" + ROW * 5000 + "</details>\n")
    size = file.stat().st_size
    assert size <= max(BUDGET, before + 4096, before)
    assert size <= LIMIT
    added = file.read_bytes()[before:].decode("utf-8")
    if written:
        assert added.lstrip().startswith("## block")
        assert added.count("<details>") == added.count("</details>")
        assert "Cut here" in added
        assert all(line in {"", ROW.strip()} or not line.startswith("|") for line in added.splitlines())
    else:
        assert size == before
        assert before > LIMIT - 6000


@given(st.integers(1, 5000), st.integers(0, 400))
def test_cut_text_is_whole_lines_within_the_room(room: int, lines: int) -> None:
    data = fit("".join(f"line {k}\n" for k in range(lines)), room)
    assert len(data) <= room
    data.decode("utf-8")


def test_a_short_text_is_not_cut() -> None:
    assert fit("a\nb\n", 100) == b"a\nb\n"


def test_an_open_code_block_is_closed_before_the_note() -> None:
    assert fit("```\n" + "x\n" * 5000, 3000).count(b"```") == 2


def test_notes_come_after_the_verdict_and_are_inert() -> None:
    change = PolicyChange("edits <b>", ("guardrail:a|b<img>: 1 -> 2",), weakens=True)
    notes = notes_block(["Policy: gate.yaml of @team."], change)
    text = compose(Result("block", "worse"), "## block\nworse\n\nthe rest", notes, "full")
    assert text.index("## block") < text.index("Policy") < text.index("the rest")
    assert "<img" not in text
    assert "<b>" not in text
    assert "the rest" not in compose(Result("block", "worse"), "## block\nworse\n\nthe rest", notes, "short")


def test_a_pipe_is_written_through_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "report\n")
        assert os.read(reader, 100) == b"report\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
