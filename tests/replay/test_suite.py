"""What a person writes: the suite and its cases. Every slip is told with its line, and none is guessed at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gate.replay.load import load
from tests.black_box import command
from tests.replay.world import lay_out, replay, suite_of

YAML = """\
version: 1
name: claims
cases: cases.jsonl
systems:
  baseline:
    name: small-1
    callable: systems:old
  candidate:
    name: large-1
    http:
      url: https://models.example/answer
      headers: {Authorization: MODEL_KEY}
scorer:
  callable: systems:score
repeats: 3
"""


def test_a_suite_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(YAML)
    suite = load(str(path)).suite
    assert suite.systems.candidate.http is not None
    assert suite.systems.candidate.http.headers == {"Authorization": "MODEL_KEY"}
    assert (suite.repeats, suite.seed, suite.concurrency, suite.timeout, suite.retries) == (3, 0, 4, 60.0, 2)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("repeats: 3", "repeat: 3", 15, "unknown key 'repeat'"),
        ("repeats: 3", "repeats: 3\nrepeats: 4", 16, "the key 'repeats' is there twice (lines 15 and 16)"),
        ("repeats: 3", "repeats: yes", 15, "repeats is ambiguous"),
        ("repeats: 3", "repeats: 0", 15, "repeats must be at least 1 (found the number 0)"),
        ("repeats: 3", "repeats: 1e2", 15, "repeats is ambiguous"),
        ("repeats: 3", "timeout: 0", 15, "timeout must be above 0"),
        ("repeats: 3", "timeout: .inf", 15, "timeout is not a finite number"),
        ("repeats: 3", "concurrency: 4000", 15, "concurrency must be at most 256"),
        ("repeats: 3", "seed: -1", 15, "seed must be at least 0"),
        ("repeats: 3", "retries: &a 3", 15, "anchors are not allowed"),
        ("version: 1", "version: 2", 1, "version must be at most 1"),
        ("name: large-1", "name: small-1", 9, "both systems are called 'small-1'"),
        ("callable: systems:old", "callable: systems.old", 7, "callable must be module:function"),
        ("callable: systems:old", "callable: sys-tems:old", 7, "callable must be module:function"),
        ("callable: systems:old", "command: []", 7, "must not be empty"),
        ("callable: systems:old", "command: python x.py", 7, "must be a list"),
        ("    callable: systems:old\n", "", 5, "server, callable, http is needed (found none)"),
        ("callable: systems:old", "callable: systems:old\n    server: [x]", 7,
         "one of command, server, callable, http is needed (found server and callable)"),
        ("callable: systems:score", "http: {url: 'http://x'}", 14, "unknown key 'http' in scorer"),
        ("https://models", "models", 11, "url must begin with http:// or https:// and name a host"),
        ("https://models", "https://me:pass@models", 11, "url must not hold a name or password"),
        ("https://models", "https://mod els", 11, "url must begin with"),
        ("url: https://models.example/answer", "send: request", 10, "http needs one of url and url_env"),
        ("url: https", "url_env: A\n      url: https", 12, "http needs one of url and url_env"),
        ("url: https", "fields: {model: x}\n      url: https", 11, "send: request takes no fields"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    path = tmp_path / "suite.yaml"
    assert old in YAML
    path.write_text(YAML.replace(old, new, 1))
    error = command("replay", path, "--out", tmp_path / "out").error
    assert f"suite.yaml:{line}: " in error
    assert message in error
    assert "policy" not in error
    assert not (tmp_path / "out").exists()


def test_a_near_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(YAML.replace("repeats: 3", "retrys: 3"))
    assert "help: did you mean retries?" in command("replay", path, "--out", tmp_path / "out").error
    path.write_text(YAML.replace("repeats: 3", "zzz: 3"))
    assert "help: see: gate schema suite" in command("replay", path, "--out", tmp_path / "out").error


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "suite.yaml:1: a suite is a mapping of keys"),
        (b"- 1\n", "suite.yaml:1: a suite is a mapping of keys"),
        (b"\xff", "suite.yaml:1: the suite is not UTF-8"),
        (b"a: [", "not valid YAML"),
        ("name: a\u202eb".encode(), "the suite holds an invisible or control character (found U+202E)"),
        (b"x" * (1 << 20) + b"yy", "the suite is larger than"),
    ],
)
def test_what_is_no_suite(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(data)
    assert message in command("replay", path, "--out", tmp_path / "out").error


def test_a_suite_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no such suite file" in command("replay", tmp_path / "no.yaml", "--out", tmp_path).error


def test_the_schema_accepts_what_the_loader_accepts() -> None:
    schema = json.loads(command("schema", "suite").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(suite_of())
    assert validator.is_valid(suite_of(candidate={"http": {"url": "https://x/y", "headers": {"A": "B"}}}))
    assert not validator.is_valid(suite_of(repeats=0))
    assert not validator.is_valid(suite_of(more=1))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "there are no cases in it"),
        ("\n\n", None, "there are no cases in it"),
        ('{"id": "a", "input": 1}\n[1]', 2, "each line must be one object"),
        ('{"id": "a", "input": 1}\n{"id": "b", "inptu": 1}', 2, "a case has no key 'inptu'"),
        ('{"id": "a", "input": 1}\n\n{"id": "a", "input": 2}', 3, "'a' is there twice (lines 1 and 3)"),
        ('{"id": "a/1", "input": 1}\n{"id": "a", "turns": [{"input": 1}]}', 2, "the id 'a/1' is there twice"),
        ('{"id": "a"}', 1, "a case has either an input or turns"),
        ('{"id": "a", "input": 1, "turns": [{"input": 1}]}', 1, "a case has either an input or turns"),
        ('{"input": 1}', 1, "the case has no id"),
        ('{"id": "", "input": 1}', 1, "the case has no id"),
        ('{"id": true, "input": 1}', 1, "the case has no id"),
        ('{"id": "a\\u202e", "input": 1}', 1, "id"),
        ('{"id": "a", "input": NaN}', 1, "NaN is no number"),
        ('{"id": "a", "input": 1e999}', 1, "a number is too large"),
        ('{"id": "a", "input": {"x": 1, "x": 2}}', 1, "the key 'x' occurs twice in one object"),
        ('{"id": "a", "input": 1', 1, "not valid JSON"),
        ('{"id": "a", "input": ' + "[" * 70 + "]" * 70 + "}", 1, "nested deeper than 64"),
        ('{"id": "a", "turns": []}', 1, "turns is a list of objects, at least one"),
        ('{"id": "a", "turns": [{"answer": 1}]}', 1, "turn 1 has no input"),
        ('{"id": "a", "turns": [{"input": 1}, {"input": 2}]}', 1, "turn 1 has no recorded answer"),
        ('{"id": "a", "turns": [{"input": 1, "output": 2}]}', 1, "turn 1 has an unknown key 'output'"),
        ('{"id": "a", "turns": [{"input": 1}], "expected": 2}', 1, "each turn has its own expected"),
        ('{"id": "a", "input": 1, "window": "../up"}', 1, "a window is a name that a folder can have"),
        ('{"id": "a", "input": 1, "window": ".."}', 1, "a window is a name that a folder can have"),
        ('{"id": "a", "input": 1, "window": 3}', 1, "a window is a name that a folder can have"),
        ('{"id": "a", "input": 1, "window": "x"}\n{"id": "b", "input": 1}', 2, "and some do not"),
        ('{"id": "a", "input": 1, "fields": {"output": 1}}', 1, "a column output of their own"),
        ('{"id": "a", "input": 1, "fields": {"x": [1]}}', 1, "the field 'x' must be text, a number"),
        ('{"id": "a", "input": 1, "fields": 3}', 1, "fields is a mapping"),
    ],
)
def test_a_case_that_is_none_is_told_before_anything_is_asked(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    lay_out(tmp_path, text)
    error = replay(tmp_path).error
    assert message in error
    assert line is None or f"cases.jsonl:{line}: " in error
    assert not (tmp_path / "out").exists()


def test_cases_that_are_not_there(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "cases.jsonl").unlink()
    assert "there is no such file" in replay(tmp_path).error


def test_a_file_of_a_version_must_be_there(tmp_path: Path) -> None:
    way: dict[str, Any] = {"callable": "systems:old", "files": ["weights.bin"]}
    lay_out(tmp_path, baseline=way)
    assert "weights.bin: a file of the suite is not there" in replay(tmp_path).error


@pytest.mark.parametrize("argv", [(), ("suite.yaml",), ("a.yaml", "b.yaml", "--out", "x")])
def test_the_command_line(argv: tuple[str, ...]) -> None:
    """Two suites are not even two arguments."""
    assert command("replay", *argv).error
