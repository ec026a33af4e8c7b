"""Damage to the end of a history, where nothing later vouches for a record; and texts that are no UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from history_world import REPOSITORY, attempt, run

from gate.cycles import Rules
from gate.cycles.promoted import was_promoted
from gate.cycles.record import BadRecordError
from gate.history import Record, init, load, locked
from gate.history.reading import parse
from gate.values import GateError

POLICY = "version: 1\nname: p\ngating: {metric: ok, kind: binary, direction: higher, margin: 0.01}\n"


def note(path, text):
    with locked(path) as held:
        return held.append(Record(kind="void", note=text))[0]


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "history.jsonl"
    init(target)
    note(target, "one")
    note(target, "two")
    return target


def test_no_changed_byte_of_the_last_record_is_taken_for_a_cut(path):
    """A record that was whole and is no JSON any more was changed: setting it aside would lose a look."""
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n")
    for at in range(start, len(whole)):
        for bit in (0x01, 0x20, 0x80, whole[at] ^ ord("\n"), whole[at] ^ ord('"'), whole[at] ^ ord("\\")):
            if bit:
                with pytest.raises(GateError):
                    parse(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :], "h")


@pytest.mark.parametrize("end", [b"", b"\n{", b'\n{"alarms":[],"b'])
def test_every_cut_is_a_cut(path, end):
    """Cut at each byte before the verdict; the next write may have been cut off too."""
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for cut in range(start + 1, whole.rindex(b',"verdict"')):
        history = parse(whole[:cut] + end, "h")
        assert [record.note for record in history.records] == ["", "one"]
        assert {caution.code for caution in history.cautions} == {"history_torn_tail"}
    path.write_bytes(whole[:cut] + end)
    note(path, "after")
    assert [record.note for record in load(path).records] == ["", "one", "after"]


@pytest.mark.parametrize("line", [b"not json\n", b">>>>>>> theirs\n", b"\xff\xfe\n"])
def test_a_finished_line_that_no_writer_began_is_an_error(path, line):
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(GateError) as caught:
        load(path)
    assert (caught.value.code, caught.value.where) == ("history_bad_line", f"{path}:4")


@pytest.mark.parametrize("facts", [{"result": {"delta": 10**400}}, {"missed": 10**400}, {"streak": 2**128}])
def test_a_number_that_no_float_holds_is_no_number_of_a_record(path, facts):
    with locked(path) as held, pytest.raises(BadRecordError):
        held.append(Record(kind="outcome", **facts))
    assert load(path).count == 3


def test_a_byte_order_mark_is_found_where_it_is(path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(GateError) as caught:
        load(path)
    assert (caught.value.code, caught.value.where) == ("history_bad_line", f"{path}:1")


def test_a_torn_line_survives_a_change_of_line_ends(path):
    path.write_bytes(path.read_bytes() + b'{"alarms":[],"base')
    note(path, "three")
    wanted = load(path).records
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path).records == wanted


def gate(directory, *arguments, **environment):
    command = [sys.executable, "-m", "gate", *arguments]
    place = os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment
    return subprocess.run(command, cwd=directory, env=place, capture_output=True, check=False)


def files(directory):
    (directory / "p.yaml").write_text(POLICY)
    for name, passes in (("a", 10), ("b", 38)):
        rows = "".join(f"i{number},{int(number < passes)}\n" for number in range(40))
        (directory / f"{name}.csv").write_text("id,ok\n" + rows)
    return ("run", "--policy", "p.yaml", "--baseline", "a.csv", "--candidate", "b.csv", "--history", "h")


def test_names_that_are_no_utf8_are_recorded_spelled_out(tmp_path):
    done = gate(tmp_path, *files(tmp_path), "--cycle", b"c\xff", GITHUB_RUN_ID="7\udcfe")
    assert done.returncode == 0, done.stderr
    last = json.loads((tmp_path / "h").read_bytes().splitlines()[-1])
    assert (last["cycle"], last["ci"]["run_id"]) == ("c\\udcff", "7\\udcfe")


def test_a_file_name_that_is_no_utf8_is_an_error_and_a_void(tmp_path):
    done = gate(tmp_path, *files(tmp_path)[:-3], b"\xff.csv", "--history", "h")
    assert done.returncode == 2, done.stderr
    last = json.loads((tmp_path / "h").read_bytes().splitlines()[-1])
    assert (last["kind"], last["note"]) == ("void", "?.csv: there is no such file")


def test_a_git_branch_can_be_verified_and_merged_from_the_command_line(tmp_path):
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "r.git"], check=True)
    place = f"git:{tmp_path / 'r.git'}#gate-history"
    started = gate(tmp_path, "history", "init", place).stdout.split()[1].rstrip(b",").decode()
    verified = gate(tmp_path, "history", "verify", place, "--expect-head", started)
    assert (verified.returncode, verified.stdout) == (0, f"verified: {started}, 1 records\n".encode())
    assert gate(tmp_path, "history", "verify", place, "--expect-head", "0" * 12).returncode == 2
    merged = gate(tmp_path, "history", "merge", place, place, "--out", "h")
    assert merged.stdout == f"merged: {started}, 1 records\n".encode()
    assert load(tmp_path / "h").head == started
    refused = gate(tmp_path, "history", "merge", "h", place, "--out", place)
    assert (refused.returncode, b"--out is a new file" in refused.stderr) == (2, True)
    assert not list(tmp_path.glob("git:*"))


@pytest.mark.parametrize(
    ("days", "promoted"), [(1.4, False), (1.6, True), (1e300, True), (float("inf"), True)]
)
def test_an_age_of_any_size(tmp_path, days, promoted):
    path = tmp_path / "h"
    run(path, attempt(candidate_digest="c" * 64), Rules())
    now = datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(days=1.5)
    assert was_promoted(load(path), "c" * 64, days, now).promoted is promoted


def test_a_promotion_from_the_future_is_not_young(tmp_path):
    path = tmp_path / "h"
    run(path, attempt(candidate_digest="c" * 64), Rules())
    now = datetime(2026, 1, 1, tzinfo=UTC)  # 59.5 days before the record
    assert not was_promoted(load(path), "c" * 64, 30, now).promoted


@pytest.mark.parametrize("end", [b"garbage", b"garbage\n", b"{}", b'{"alarms":', b""])
def test_a_finished_line_that_no_writer_began_is_no_cut_off_write(tmp_path, end):
    path = tmp_path / "h"
    run(path, attempt(), Rules())
    whole = load(path)
    path.write_bytes(path.read_bytes() + end)
    if end in {b"", b'{"alarms":', b"garbage"}:  # a crash leaves anything behind, but no line end
        assert load(path).records == whole.records
    else:
        with pytest.raises(GateError):
            load(path)
