"""The file: what is read back, what is refused, and where the message points."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
from hashlib import sha256

import pytest
from history_world import attempt, nights, run
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.cycles import Rules
from gate.history import Record, head_line, init, join, load, locked, require_head
from gate.values import GateError


def note(path, text, cycle="c"):
    with locked(path) as held:
        return held.append(Record(kind="void", note=text, cycle=cycle))[0]


def expected(path, head):
    history = load(path)
    require_head(history, head)
    return history


def notes(path):
    return [record.note for record in load(path).records[1:]]


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "history.jsonl"
    init(target)
    return target


def refused(path, code, line=None):
    with pytest.raises(GateError) as caught:
        load(path)
    assert caught.value.code == code
    assert caught.value.where == (f"{path}:{line}" if line else str(path))
    assert caught.value.help


def change(path, number, old, new):
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    path.write_bytes(b"".join(lines))


def drop(path, number):
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[number - 1]
    path.write_bytes(b"".join(lines))


def test_a_line_is_canonical_json_with_its_own_digest(path):
    note(path, "über\u2028\n\x1b[31m")
    line = path.read_bytes().split(b"\n")[1]
    value = json.loads(line)
    digest = value.pop("digest")
    rest = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert sha256(rest).hexdigest() == digest
    assert value["prev"] == [load(path).records[0].digest]
    assert notes(path) == ["über\u2028\n\x1b[31m"]


def test_appends_follow_each_other(path):
    for number in range(5):
        note(path, str(number))
    history = load(path)
    assert [record.note for record in history.records] == ["", *"01234"]
    assert (history.count, len(history.heads)) == (6, 1)
    assert head_line(history) == f"{history.records[-1].digest}, 6 records"


def test_several_records_are_one_write(path):
    with locked(path) as held:
        one, two = held.append(Record(note="a"), Record(note="b"))
    assert two.prev == (one.digest,)


def test_an_existing_file_is_never_touched(path):
    before = path.read_bytes()
    with pytest.raises(GateError) as caught:
        init(path)
    assert caught.value.code == "history_exists"
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_missing_and_empty_are_errors(tmp_path):
    refused(tmp_path / "none", "history_missing")
    (tmp_path / "empty").write_bytes(b"")
    refused(tmp_path / "empty", "history_empty")
    (tmp_path / "blank").write_bytes(b"\n\n")
    refused(tmp_path / "blank", "history_empty")
    (tmp_path / "torn").write_bytes(b'{"alarms":[],"base')
    refused(tmp_path / "torn", "history_empty")


def test_an_edited_record(path):
    for text in ("one", "two", "three"):
        note(path, text)
    change(path, 3, b'"note":"two"', b'"note":"2wo"')
    refused(path, "history_edited", 3)


def test_an_edited_last_record_is_not_a_torn_one(path):
    note(path, "one")
    change(path, 2, b'"note":"one"', b'"note":"won"')
    refused(path, "history_edited", 2)


def test_a_deleted_middle_record(path):
    for text in ("one", "two", "three"):
        note(path, text)
    drop(path, 3)
    refused(path, "history_missing_parent", 3)


def test_a_deleted_first_record(path):
    note(path, "one")
    drop(path, 1)
    refused(path, "history_missing_parent", 1)


def test_a_deleted_tail_is_found_by_the_expected_head(path):
    note(path, "one")
    seen = note(path, "two").digest
    note(path, "three")
    assert expected(path, seen).count == 4
    assert expected(path, seen[:12].upper()).count == 4
    assert expected(path, load(path).head).count == 4
    drop(path, 4)
    assert expected(path, seen).count == 3
    drop(path, 3)
    assert load(path).count == 2
    with pytest.raises(GateError) as caught:
        expected(path, seen)
    assert caught.value.code == "history_head_missing"


@pytest.mark.parametrize("head", ["abc", "z" * 64, "head 12345678901"])
def test_an_expected_head_that_is_none(path, head):
    with pytest.raises(GateError) as caught:
        expected(path, head)
    assert caught.value.code == "usage"


def test_two_roots(path, tmp_path):
    note(path, "one")
    init(tmp_path / "other")
    path.write_bytes(path.read_bytes() + (tmp_path / "other").read_bytes())
    refused(path, "history_two_roots", 3)


def test_a_bad_line_in_the_middle(path):
    note(path, "one")
    path.write_bytes(path.read_bytes() + b"not json\n")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2] + lines[1])
    refused(path, "history_bad_line", 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"gate.history/2", b"gate.history/3"),
        (b'"kind":"void"', b'"kind":"pass"'),
        (b'"streak":0', b'"streak":true'),
        (b'"streak":0', b'"streak":-1'),
        (b'"streak":0', b'"streak":0.0'),
        (b'"level":null', b'"level":2.0'),
        (b'"level":null', b'"level":"x"'),
        (b'"result":{}', b'"result":{"d":1e999}'),
        (b'"result":{}', b'"result":{"d":[]}'),
        (b'"note":"one"', b'"note":"one","zzz":1'),
        (b'"note":"one",', b""),
        (b'"ci":{}', b'"ci":{"run_id":1}'),
        (b'"ci":{}', b'"ci":[]'),
        (b'"n":0', b'"n":"0"'),
        (b'"alarms":[]', b'"alarms":[1]'),
        (b'"status":""', b'"status":"good"'),
    ],
)
def test_what_is_not_a_record_of_this_schema(path, old, new):
    note(path, "one")
    change(path, 2, old, new)
    refused(path, "history_bad_record", 2)


@pytest.mark.parametrize("line", [b"[]", b"1", b"{}", b'{"cycle":1,"delta":0.05,"verdict":"pass"}', b"null"])
def test_lines_of_something_else(path, line):
    path.write_bytes(path.read_bytes() + line + b"\n")
    refused(path, "history_bad_record", 2)


@pytest.mark.parametrize(
    "tail", [b"[" * 100_000, b'{"a":NaN}', b"9" * 5000, b"\xff\xfe", b"\0" * 900, b"\xc3"]
)
def test_a_last_line_that_is_no_json_is_set_aside(path, tail):
    note(path, "one")
    path.write_bytes(path.read_bytes() + tail)
    assert [caution.code for caution in load(path).cautions] == ["history_torn_tail"]
    assert notes(path) == ["one"]


def test_the_append_after_a_torn_tail_closes_it(path):
    note(path, "one")
    whole = path.read_bytes()
    note(path, "lost")
    torn = path.read_bytes()[len(whole) : -40]
    path.write_bytes(whole + torn)
    record = note(path, "two")
    assert record.isolated == (sha256(torn).hexdigest(),)
    note(path, "three")
    assert load(path).cautions == ()
    assert notes(path) == ["one", "two", "three"]
    assert path.read_bytes().split(b"\n")[2] == torn


def test_two_torn_writes_in_a_row(path):
    note(path, "one")
    path.write_bytes(path.read_bytes() + b'{"alarms":[],"b\n{"ala')
    assert len(load(path).cautions) == 2
    note(path, "two")
    assert (notes(path), load(path).cautions) == (["one", "two"], ())


def test_a_whole_record_without_its_newline_counts(path):
    note(path, "one")
    path.write_bytes(path.read_bytes()[:-1])
    assert notes(path) == ["one"]
    note(path, "two")
    assert notes(path) == ["one", "two"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_loses_the_end_only(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("h") / "h"
    init(path)
    for text in ("one", "two", "three"):
        note(path, text)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    path.write_bytes(whole[:cut])
    kept = notes(path)
    assert kept == ["one", "two", "three"][: len(kept)]
    assert len(kept) >= whole[:cut].count(b"\n") - 1
    note(path, "after")
    assert notes(path) == [*kept, "after"]
    assert load(path).cautions == ()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_changed_byte_goes_unnoticed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("h") / "h"
    init(path)
    for text in ("one", "two"):
        note(path, text)
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    at = data.draw(st.integers(0, last - 2))  # within the records that others refer to
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    with pytest.raises(GateError):
        load(path)


def test_duplicated_and_reordered_lines_are_harmless(path):
    for text in ("one", "two", "three"):
        note(path, text)
    wanted = load(path).records
    lines = path.read_bytes().splitlines(keepends=True)
    for order in itertools.permutations(lines):
        path.write_bytes(b"".join([*order, order[0], order[2]]))
        assert load(path).records == wanted
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(path).records == wanted


def test_the_order_of_branches_is_by_digest_and_not_by_name(tmp_path):
    base = tmp_path / "base"
    init(base)
    start = base.read_bytes()
    parts = []
    for cycle in "bca":
        base.write_bytes(start)
        note(base, cycle, cycle)
        parts.append(base.read_bytes()[len(start) :])
    random.Random(1).shuffle(parts)
    base.write_bytes(start + b"".join(parts))
    branches = load(base).records[1:]
    assert sorted(notes(base)) == ["a", "b", "c"]
    assert [record.digest for record in branches] == sorted(record.digest for record in branches)
    assert len(load(base).heads) == 3


def test_a_clock_set_back_changes_nothing(tmp_path):
    from history_world import session

    from gate.cycles import Outcome

    path = tmp_path / "h"
    rules = Rules(required=3, looks=9)
    passed = []
    for year in (2030, 2010, 1970):
        opened = session(path, now=f"{year}-01-01T00:00:00Z")
        looks = opened.begin([attempt(f"y{year}")], rules)
        passed.append(opened.finish(looks, [Outcome("pass", 0.02)])[0].passed)
    assert passed == [1, 2, 3]
    assert [r.cycle for r in load(path).records if r.kind == "outcome"] == ["y2030", "y2010", "y1970"]


@pytest.mark.parametrize("kind", ["link", "dangling", "directory", "fifo"])
def test_only_regular_files(tmp_path, kind, path):
    odd = tmp_path / "odd"
    if kind == "link":
        odd.symlink_to(path)
    elif kind == "dangling":
        odd.symlink_to(tmp_path / "nowhere")
    elif kind == "directory":
        odd.mkdir()
    else:
        os.mkfifo(odd)
    before = path.read_bytes()
    for act in (load, init, lambda where: run(where, attempt(), Rules())):
        with pytest.raises(GateError):
            act(odd)
    assert path.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_a_git_union_merge_of_two_branches(tmp_path):
    path = tmp_path / "history.jsonl"
    rules = Rules(required=9, windows="fresh")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "t")
    git(tmp_path, "config", "user.email", "t@example.org")
    (tmp_path / ".gitattributes").write_text("history.jsonl merge=union\n")
    nights(path, rules, "p")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "start")
    git(tmp_path, "checkout", "-qb", "side")
    note(path, "side 1"), note(path, "side 2")
    git(tmp_path, "commit", "-qam", "side")
    git(tmp_path, "checkout", "-q", "main")
    note(path, "main 1"), note(path, "main 2")
    git(tmp_path, "commit", "-qam", "main")
    git(tmp_path, "merge", "-q", "side", "-m", "merge")
    history = load(path)
    assert {"side 1", "side 2", "main 1", "main 2"} <= {record.note for record in history.records}
    assert len(history.heads) == 2
    assert expected(path, history.head).count == history.count
    sealing = note(path, "sealed")
    assert sealing.prev == history.heads
    assert load(path).heads == (sealing.digest,)


def test_merging_copies(path, tmp_path):
    note(path, "shared")
    shared = path.read_bytes()
    note(path, "here")
    other = tmp_path / "other"
    other.write_bytes(shared)
    note(other, "there")
    merged = join([load(path), load(other), load(path)], tmp_path / "merged")
    assert {"shared", "here", "there"} == {record.note for record in merged.records[1:]}
    assert (merged.count, len(merged.heads)) == (4, 2)
    assert load(tmp_path / "merged") == merged
    init(tmp_path / "stranger")
    with pytest.raises(GateError, match="did not begin as the same history"):
        join([load(path), load(tmp_path / "stranger")], tmp_path / "no")
    with pytest.raises(GateError, match="already a file"):
        join([load(path), load(other)], path)
    assert not (tmp_path / "no").exists()
