"""The text of a policy: what YAML allows and a policy does not, each with its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from policies import BASE, FULL, loaded, refused

from gate.policy.load import load, loads
from gate.policy.tree import parse
from gate.values import GateError

AMBIGUOUS = ["5e-2", "1e3", "5.0e2", "012", "-012", "0o3", "0x10", "0b11", "1_000", "1:30", "00.5", "-.5"]


def at(text: str) -> tuple[str, str]:
    error = refused(text)
    return error.code, error.where


def test_the_design_example_is_accepted() -> None:
    policy = loaded(FULL).policy
    assert policy.guardrails[1].first
    assert policy.waivers[0].expires == "2030-01-31"
    assert loaded(FULL).where("guardrails", 1, "max") == "gate.yaml:14"
    assert loaded(FULL).where("items", "may_shrink") == "gate.yaml:18"


@pytest.mark.parametrize("scalar", AMBIGUOUS)
def test_a_scalar_yaml_readers_differ_about_is_asked_back(scalar: str) -> None:
    error = refused(BASE + f"alpha: {scalar}\n")
    assert (error.code, error.where) == ("ambiguous_scalar", "gate.yaml:8")
    assert scalar in error.message
    assert "quote it" in error.help


@pytest.mark.parametrize(
    ("scalar", "usual"),
    [("5e-2", "0.05"), ("1e3", "1000"), ("0o3", "3"), ("0x10", "16"), ("1_000", "1000"), ("012", "12")],
)
def test_the_usual_form_of_a_number_is_named(scalar: str, usual: str) -> None:
    assert refused(BASE + f"alpha: {scalar}\n").help.startswith(f"write {usual};")


@pytest.mark.parametrize("scalar", [".inf", "-.inf", ".nan", ".NaN", "1.0e+400"])
def test_a_number_must_be_finite(scalar: str) -> None:
    assert at(BASE + f"alpha: {scalar}\n") == ("not_finite", "gate.yaml:8")


@pytest.mark.parametrize("scalar", ["yes", "No", "on", "OFF"])
def test_old_booleans_are_asked_back(scalar: str) -> None:
    assert at(BASE.replace("support-bot", scalar)) == ("ambiguous_scalar", "gate.yaml:2")


@pytest.mark.parametrize("scalar", ["2026-01-01", "2026-01-01T10:00:00", "7", "0.5", "true"])
def test_text_that_reads_as_something_else_must_be_quoted(scalar: str) -> None:
    error = refused(BASE.replace("support-bot", scalar))
    assert error.where == "gate.yaml:2"
    assert "quote it" in error.help
    assert loads(BASE.replace("support-bot", f'"{scalar}"')).policy.name == scalar


@pytest.mark.parametrize("scalar", ["", "~", "null"])
def test_an_empty_value_is_no_way_to_leave_a_key_out(scalar: str) -> None:
    assert at(BASE + f"slices: {scalar}\n") == ("empty_value", "gate.yaml:8")


def test_ids_are_text() -> None:
    error = refused(BASE + "items:\n  must_pass: [a,\n    7]\n")
    assert (error.code, error.where) == ("wrong_value", "gate.yaml:10")
    assert error.help == 'if it is text, quote it: "7"'
    assert refused(BASE + "items: {must_pass: [007]}\n").code == "ambiguous_scalar"
    assert loaded(BASE + 'items: {must_pass: ["007"]}\n').policy.items.must_pass == ["007"]


@pytest.mark.parametrize("key", ["1", "yes", "true", "null", "2026-01-01", "0.5"])
def test_label_words_that_read_as_something_else_must_be_quoted(key: str) -> None:
    assert refused(BASE + f"artifacts:\n  labels: {{{key}: 1}}\n").where == "gate.yaml:9"
    text = BASE + f'artifacts:\n  labels: {{"{key}": 1}}\n'
    assert loaded(text).policy.artifacts.labels == {key: 1.0}


def test_a_duplicate_key_is_named_with_both_lines() -> None:
    error = refused(BASE + "alpha: 0.05\n\nalpha: 0.9\n")
    assert (error.code, error.where) == ("duplicate_key", "gate.yaml:10")
    assert "lines 8 and 10" in error.message
    assert at(BASE + "  margin: 5\n") == ("duplicate_key", "gate.yaml:8")
    assert at("margin: 0.03\nalpha: 0.05\nmargin: -1.0\n") == ("duplicate_key", "gate.yaml:3")


def test_aliases_anchors_and_merge_keys_are_refused() -> None:
    bomb = 'a: &a ["x","x"]\n' + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert at(bomb + "guardrails: [*i]\n") == ("yaml_anchor", "gate.yaml:1")
    assert at("guardrails: &a [*a]\n") == ("yaml_anchor", "gate.yaml:1")
    assert at(BASE + "show: *names\n") == ("yaml_alias", "gate.yaml:8")
    assert at(BASE + "*names : 1\n") == ("yaml_alias", "gate.yaml:8")
    assert at(BASE + "<<: {alpha: 0.9}\n") == ("yaml_merge", "gate.yaml:8")
    assert at(BASE + "alpha: &x 0.05\n") == ("yaml_anchor", "gate.yaml:8")


@pytest.mark.parametrize(
    "value", ['!!python/object/apply:os.system ["touch x"]', "!!float 5", "!!str 5", "! 5", "!own {a: 1}"]
)
def test_tags_are_refused(value: str) -> None:
    assert at(BASE + f"alpha: {value}\n") == ("yaml_tag", "gate.yaml:8")


def test_one_policy_is_one_document() -> None:
    assert at(BASE + "---\nalpha: 0.9\n") == ("yaml_documents", "gate.yaml:8")
    assert loaded("---\n" + BASE).policy == loaded(BASE + "...\n").policy
    assert at("%YAML 1.1\n---\n" + BASE)[0] == "yaml_directive"


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n"])
def test_an_empty_policy_is_no_policy(text: str) -> None:
    assert refused(text).code == "policy_empty"
    assert refused(text).where == "gate.yaml:1"
    assert refused("---\n").code == "empty_value"


@pytest.mark.parametrize("text", ["- version: 1\n", "just words\n", '"version"\n', "5\n"])
def test_a_policy_is_a_mapping(text: str) -> None:
    assert at(text) == ("policy_not_a_mapping", "gate.yaml:1")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BASE + "alpha: [0.05\n", 9),
        (BASE + "\talpha: 0.05\n", 8),
        (BASE + "alpha: 0.05: 3\n", 8),
        (BASE + 'owner: "open\n', 9),
        (BASE + "? [a, b]\n: 1\n", 8),
        (BASE + "{a: 1}: 1\n", 8),
        (BASE + "items:\n  min: 3\n min: 4\n", 10),
    ],
)
def test_broken_yaml_has_a_line(text: str, line: int) -> None:
    error = refused(text)
    assert error.code in {"yaml_syntax", "yaml_key"}
    assert error.where == f"gate.yaml:{line}"


def test_depth_and_size_are_limited() -> None:
    assert at(BASE + "show: " + "[" * 40 + "]" * 40 + "\n") == ("policy_too_deep", "gate.yaml:8")
    assert at(BASE + "show: " + "[" * 500_000 + "\n")[1] == "gate.yaml:8"
    assert at("#" * ((1 << 20) + 1)) == ("policy_too_large", "gate.yaml:1")
    assert at("name: x\n" + "".join(map("key{}: 1\n".format, range(9_000)))) == ("unknown_key", "gate.yaml:2")
    assert at(BASE + "show: [" + "a, " * 60_000 + "]\n") == ("policy_too_large", "gate.yaml:8")
    assert at(BASE + "show:\n" + "- \n" * 60_000) == ("empty_value", "gate.yaml:9")


@pytest.mark.parametrize(
    "character", ["\x00", "\x07", "\x1b", "\x85", "\u2028", "\u202e", "\u2066", "\ufeff"]
)
def test_characters_nobody_sees_are_refused(character: str) -> None:
    error = refused(BASE + f"# a comment {character}\n")
    assert (error.code, error.where) == ("policy_unseen_character", "gate.yaml:8")
    assert f"U+{ord(character):04X}" in error.message


def test_a_byte_order_mark_is_named() -> None:
    error = refused("\ufeff" + BASE)
    assert error.where == "gate.yaml:1"
    assert "without BOM" in error.help


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (BASE.encode() + b"owner: \xff\n", "policy_not_utf8", 8),
        (BASE.encode("utf-16"), "policy_not_utf8", 1),
        (BASE.encode() + b"owner: \xed\xa0\x80\n", "policy_not_utf8", 8),
        (b"\xef\xbb\xbf" + BASE.encode(), "policy_unseen_character", 1),
        (BASE.encode() + b"a\x00b: 1\n", "policy_unseen_character", 8),
        (b"#" * ((1 << 20) + 1), "policy_too_large", 1),
    ],
)
def test_bytes_that_are_no_policy(tmp_path: Path, data: bytes, code: str, line: int) -> None:
    path = tmp_path / "gate.yaml"
    path.write_bytes(data)
    with pytest.raises(GateError) as caught:
        load(path)
    assert (caught.value.code, caught.value.where) == (code, f"{path}:{line}")


def test_crlf_is_only_a_line_end(tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_bytes(BASE.replace("\n", "\r\n").encode())
    assert load(str(path)).decision_digest == loaded(BASE).decision_digest
    assert load(str(path)).policy_digest != loaded(BASE).policy_digest


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    real, link, fifo = tmp_path / "gate.yaml", tmp_path / "link.yaml", tmp_path / "fifo"
    real.write_text(BASE)
    link.symlink_to(real)
    os.mkfifo(fifo)
    cases = {
        link: "policy_is_a_link",
        fifo: "policy_not_a_file",
        tmp_path: "policy_not_a_file",
        tmp_path / "none.yaml": "policy_missing",
        real / "below": "policy_unreadable",
    }
    for path, code in cases.items():
        with pytest.raises(GateError) as caught:
            load(path)
        assert (caught.value.code, caught.value.where) == (code, str(path))
    with pytest.raises(GateError, match="cannot be read"):
        load("a\x00b")


def test_the_first_mistake_by_line_is_told_and_the_others_counted() -> None:
    text = BASE.replace("margin: 0.01", "margin: -1") + "alpha: 7\nalpha: 0.05\nwach: [x]\n"
    error = refused(text)
    assert error.where == "gate.yaml:7"
    assert error.message.endswith("(and 2 more)")


def test_a_missing_key_comes_after_what_is_written_wrong() -> None:
    assert at("nmae: x\nversion: 1\n") == ("unknown_key", "gate.yaml:1")
    assert at(BASE.replace("  margin: 0.01\n", "")) == ("missing_key", "gate.yaml:3")
    assert "gating.margin is missing" in refused(BASE.replace("  margin: 0.01\n", "")).message


@pytest.mark.parametrize(
    "text", [BASE, FULL, BASE + "alpha: 0.1: 2\n", BASE + "show: &a [*a]\n", BASE + "\t- x\n"]
)
def test_both_scanners_of_pyyaml_read_the_same(text: str) -> None:
    fast, slow = parse(text), parse(text, yaml.SafeLoader)
    assert fast.lines == slow.lines
    assert fast.whole == slow.whole
    assert [(one.code, one.line) for one in fast.findings] == [(one.code, one.line) for one in slow.findings]
    if not fast.findings:
        assert fast.value == slow.value


@pytest.mark.parametrize("escape", [r"\ud800", r"\U00110000", r"\q"])
@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_an_escape_that_is_no_character(loader: type[yaml.SafeLoader], escape: str) -> None:
    (finding,) = parse(BASE + f'owner: "{escape}"\n', loader).findings
    assert finding.code == "yaml_syntax"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5e-2\n", "the policy is ambiguous"),
        ("2026-01-31\n", "the policy reads as a date"),
        ("~\n", "the policy is empty"),
        (".inf\n", "the policy is not a finite number"),
        ("alpha: 5e-2\n", "alpha is ambiguous"),
        ("gating:\n  margin: .nan\n", "gating.margin is not a finite number"),
        ("watch: [~]\n", "watch[0] is empty"),
    ],
)
def test_a_scalar_is_named_by_its_place(text: str, said: str) -> None:
    found = parse(text).findings
    assert any(finding.message.startswith(said) for finding in found), [f.message for f in found]
