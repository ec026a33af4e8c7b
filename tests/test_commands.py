"""Every command as its users meet it: help, examples, the tour, completion, and what each answers."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from gate.cli.commands import COMMANDS, nearest_option, options_of, parser_of
from gate.cli.main import main
from gate.cli.progress import Progress
from gate.planning.reproduce import first_difference
from tests.test_documents import shell_blocks

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
DOCS = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md")))


def gate(*argv: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in argv], out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that holds the examples and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- help ----


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_an_example(command: str) -> None:
    epilog = import_module(f"gate.cli.{command}").EPILOG
    if len(parser_of(command)._actions) > 1:  # more than --help: there is something to show
        assert f"gate {command}" in epilog


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_does(command: str) -> None:
    for action in parser_of(command)._actions:
        if not isinstance(action, argparse._SubParsersAction):
            assert action.help, f"gate {command} {action.option_strings or action.dest} has no help"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_met_in_the_documents(command: str) -> None:
    assert f"gate {command}" in README + TOUR + DOCS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_texts_name_no_option_that_a_command_does_not_have(command: str) -> None:
    """Every ``gate COMMAND ... --option`` of README and tour exists, and so do the epilog's."""
    texts = README + TOUR + DOCS + import_module(f"gate.cli.{command}").EPILOG
    for line in re.findall(rf"gate {command} [^`#\n]*", texts.replace("\n  ", " ")):
        named = line.split(f"gate {command} ", 1)[1].split(" gate ")[0]
        for option in re.findall(r"(?<!\S)--[a-z-]+", named):
            assert option in {*options_of(command), "--json"}, f"gate {command} has no {option}: {line}"


def test_help_is_printed_and_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        gate("plan", "--help")
    assert stop.value.code == 0
    assert "examples:" in capsys.readouterr().out


def test_a_mistyped_option_has_a_nearest_one() -> None:
    assert nearest_option("run", "unrecognized arguments: --baselin x") == "did you mean --baseline?"
    assert nearest_option("run", "unrecognized arguments: --zzz") is None
    assert nearest_option("run", "the following arguments are required: --policy") is None


# ---- completion ----


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_knows_every_command_and_option(shell: str) -> None:
    code, script, _ = gate("completion", shell)
    assert code == 0
    for command in COMMANDS:
        assert command in script
        for option in options_of(command):
            assert (f"-l {option[2:]}" if shell == "fish" and option.startswith("--") else option) in script


def test_bash_completes_what_is_typed() -> None:
    _, script, _ = gate("completion", "bash")
    typed = 'COMP_WORDS=(gate run --base); COMP_CWORD=2; _gate; echo "${COMPREPLY[0]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{typed}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "--baseline"
    assert done.stderr == ""


# ---- the tour ----


def without_progress(err: str) -> str:
    """What a command says on stderr beside its progress, which a slow machine gets to see."""
    return re.sub(r"(?m)^gate: \w+: \d+(%| steps)(  .*)?\n", "", err)


def test_progress_is_no_error() -> None:
    err = io.StringIO()
    for total in (2, None):
        now = iter((0.0, 31.0))
        Progress(err, "simulating", total, clock=now.__next__)("an identical candidate")
    assert err.getvalue().count("\n") == 2
    assert without_progress(err.getvalue() + "gate: a.csv:2: no number\n") == "gate: a.csv:2: no number\n"


def test_the_tour_can_be_walked(folder: Path) -> None:
    """In its order, in one folder, each command with the exit code that the tour announces."""
    walked = [found for block, _ in shell_blocks(TOUR) for found in block]
    assert {words[0] for words, _ in walked} >= {
        "compare",
        "plan",
        "init",
        "check",
        "selftest",
        "run",
        "verify",
    }
    for words, expected in walked:
        code, out, err = gate(*words)
        assert code == expected, (words, code, out[-500:], err)
        assert (code == 2) == bool(without_progress(err)), (words, err)


# ---- compare, init ----


def test_compare_answers_and_decides_nothing(folder: Path) -> None:
    files = [f"examples/prompt-change/{side}.jsonl" for side in ("baseline", "candidate")]
    before = sorted(folder.rglob("*"))
    code, out, _ = gate("compare", *files)
    assert code == 0
    for part in ("+3.5 points", "b = 136", "c = 66", "80 % power", "not measured", "Reading"):
        assert part in out
    assert "promote" not in out.replace("would not have been promoted", "")
    assert sorted(folder.rglob("*")) == before
    code, swapped, _ = gate("compare", *files[::-1])
    assert code == 0
    assert "no gain above 0 is shown" in swapped


def test_compare_as_json_is_one_document(folder: Path) -> None:
    code, out, err = gate(
        "compare", "examples/graded-judge/baseline.csv", "examples/graded-judge/candidate.csv", "--json", "-"
    )
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert document["schema"] == "gate.compare/1"
    assert document["gating"]["n"] == 400
    assert document["largest_margin"]["observed"] == document["gating"]["delta"]


def test_a_missing_file_is_two_lines(folder: Path) -> None:
    code, _, err = gate("compare", "nothing.csv", "examples/graded-judge/candidate.csv")
    assert code == 2
    assert err.startswith("gate: nothing.csv")
    assert "Traceback" not in err


def test_init_never_replaces_a_policy(folder: Path) -> None:
    files = [f"examples/prompt-change/{side}.jsonl" for side in ("baseline", "candidate")]
    assert gate("init", *files, "-o", "new.yaml")[0] == 0
    text = (folder / "new.yaml").read_text(encoding="utf-8")
    code, _, err = gate("init", *files, "-o", "new.yaml")
    assert code == 2
    assert "never replaced" in err
    (folder / "new.yaml").write_text(text.replace("  margin:  ", "  margin: 0.01", 1), encoding="utf-8")
    assert gate("check", "new.yaml")[0] == 0
    assert gate("run", "--policy", "new.yaml", "--baseline", files[0], "--candidate", files[1])[0] == 0


# ---- plan, check, selftest ----


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        ([], "needs --policy FILE or --margin M"),
        (["--margin", "0.1", "--kind", "graded"], "--sd"),
        (["--margin", "0.1", "--power", "1.2"], "--power lies between 0 and 1"),
        (["--margin", "0"], "no gain to plan for"),
        (["--margin", "0.1", "--candidate", "b.csv"], "--candidate needs --baseline"),
        (["--margin", "0.1", "--cost-false", "3"], "go together"),
        (["--margin", "0.1", "--gain", "0.05"], "no number of items"),
        (["--margin", "0.1", "--noise", "0.2"], "--noise needs --baseline"),
    ],
)
def test_a_plan_that_means_nothing_is_refused(argv: list[str], part: str) -> None:
    code, out, err = gate("plan", *argv)
    assert (code, out) == (2, "")
    assert part in err


def test_a_plan_of_a_policy_names_every_rule(folder: Path) -> None:
    example = "examples/prompt-change"
    code, out, _ = gate(
        "plan", "--policy", f"{example}/gate.yaml", "--baseline", f"{example}/baseline.jsonl", "--json", "-"
    )
    document = json.loads(out)
    assert code == 0
    assert [rule["rule"] for rule in document["rules"]] == ["gating:correct", "guardrail:latency_ms"]
    assert document["not_planned"] == []
    standing = {"guardrail:unsafe", "guardrail:correct", "slice:language=en"}
    assert standing <= document["rows"][0]["chances"].keys()
    assert document["rules"][1]["bound"] == pytest.approx(86.05055)  # a tenth of the baseline's mean latency


def test_a_powerless_policy_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text(
        "id,ok\n" + "".join(f"q{k},{k % 2}\n" for k in range(12)), encoding="utf-8"
    )
    (tmp_path / "gate.yaml").write_text(
        "version: 1\nname: x\ngating: {metric: ok, kind: binary, direction: higher, margin: 0.05}\n",
        encoding="utf-8",
    )
    code, out, err = gate("selftest", tmp_path / "gate.yaml", "--baseline", tmp_path / "few.csv")
    assert code == 2
    assert "gating:ok can never pass with 12 items" in err
    assert "gating:ok" in out


def test_check_with_a_baseline_says_how_often_it_promotes(tmp_path: Path) -> None:
    rows = "".join(f"q{k},{int(k % 3 > 0)}\n" for k in range(60))
    (tmp_path / "a.csv").write_text("id,ok\n" + rows, encoding="utf-8")
    (tmp_path / "gate.yaml").write_text(
        "version: 1\nname: x\ngating: {metric: ok, kind: binary, direction: higher, margin: 0.05}\n"
        "cycles: {required: 2, windows: fresh}\n",
        encoding="utf-8",
    )
    argv = ["check", tmp_path / "gate.yaml", "--baseline", tmp_path / "a.csv", "--simulations", 10]
    code, out, _ = gate(*argv)
    assert code == 0
    for part in (
        "identical, run again",
        "better by 3 x margin",
        "passes one cycle",
        "margin_below_mde",
        "assumed",
    ):
        assert part in out
    assert gate(*argv)[1] == out
    assert gate(*argv[:-1], 3)[0] == 2


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["--noise", "0.3"], "need --baseline"),
        (["--baseline", "examples/graded-judge/baseline.csv", "--noise", "7"], "from 0 to 1 (found 7)"),
        (["--baseline", "examples/graded-judge/baseline.csv", "--discordance", "0.1"], "is graded"),
    ],
)
def test_noise_that_means_nothing_is_refused(folder: Path, argv: list[str], part: str) -> None:
    code, _, err = gate("check", "examples/graded-judge/gate.yaml", *argv)
    assert code == 2
    assert part in err


# ---- verify ----


@pytest.fixture
def saved(folder: Path) -> Path:
    example = "examples/graded-judge"
    gate(
        *("run", "--policy", f"{example}/gate.yaml", "--baseline", f"{example}/baseline.csv"),
        *("--candidate", f"{example}/candidate.csv", "--report-dir", "report"),
    )
    return folder / "report" / "report.json"


def test_a_report_reproduces_to_the_byte(saved: Path) -> None:
    code, out, _ = gate("verify", saved)
    assert code == 0
    assert "to the byte" in out


def test_a_packed_report_reproduces_too(saved: Path) -> None:
    packed = saved.with_name("report.json.gz")
    packed.write_bytes(gzip.compress(saved.read_bytes()))
    code, out, _ = gate("verify", packed)
    assert code == 0
    assert "to the byte" in out


def test_another_number_is_named(saved: Path) -> None:
    report = json.loads(saved.read_text(encoding="utf-8"))
    report["gating"]["delta"] += 0.01
    saved.write_text(json.dumps(report), encoding="utf-8")
    code, out, _ = gate("verify", saved)
    assert code == 1
    assert "gating.delta" in out


def test_another_layout_is_said(saved: Path) -> None:
    saved.write_text(json.dumps(json.loads(saved.read_text(encoding="utf-8"))), encoding="utf-8")
    code, out, _ = gate("verify", saved)
    assert code == 1
    assert "layout" in out


@pytest.mark.parametrize("name", ["gate.yaml", "baseline.csv", "candidate.csv"])
def test_a_file_that_moved_or_changed_is_an_error(saved: Path, folder: Path, name: str) -> None:
    path = folder / "examples" / "graded-judge" / name
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\n", encoding="utf-8")
    code, _, err = gate("verify", saved)
    assert code == 2
    assert "is not the one" in err
    path.unlink()
    code, _, err = gate("verify", saved)
    assert code == 2
    assert "not there" in err


@pytest.mark.parametrize(
    ("block", "key", "value"),
    [
        ("policy", "file_digest", None),
        ("policy", "file_digest", 7),
        ("provenance", "policy", None),
        ("provenance", "cycle", True),
        ("candidate", "sha256", None),
        ("candidate", "path", 3),
    ],
)
def test_a_report_that_gate_did_not_write_is_an_error(
    saved: Path, block: str, key: str, value: object
) -> None:
    report = json.loads(saved.read_text(encoding="utf-8"))
    place = report["provenance"]["candidate"] if block == "candidate" else report[block]
    del place[key]
    if value is not None:
        place[key] = value
    saved.write_text(json.dumps(report), encoding="utf-8")
    code, out, err = gate("verify", saved)
    assert (code, out) == (2, "")
    assert key in err
    assert "help: " in err


def test_what_the_history_decided_needs_it(folder: Path) -> None:
    example = "examples/three-nights"
    for night in (1, 2):
        gate(
            *(
                "run",
                "--policy",
                f"{example}/gate.yaml",
                "--history",
                "history.jsonl",
                "--json",
                "report.json",
            ),
            *("--baseline", f"{example}/night{night}-baseline.csv"),
            *("--candidate", f"{example}/night{night}-candidate.csv"),
        )
    before = (folder / "history.jsonl").read_bytes()
    code, _, err = gate("verify", "report.json")
    assert code == 2
    assert "--history" in err
    code, out, _ = gate("verify", "report.json", "--history", "history.jsonl")
    assert code == 0
    assert "to the byte" in out
    assert (folder / "history.jsonl").read_bytes() == before


def test_challengers_and_named_sets_reproduce(folder: Path) -> None:
    example = folder / "examples" / "three-nights"
    policy = (
        "version: 1\nname: x\nitems: {id: ticket}\n"
        "gating: {metric: solved, kind: binary, direction: higher, margin: 0.02}\n"
    )
    (folder / "one.yaml").write_text(policy, encoding="utf-8")
    rail = "{metric: solved, kind: binary, direction: higher, mode: churn, max: 0.1, set: night2}"
    (folder / "set.yaml").write_text(f"{policy}guardrails: [{rail}]\n", encoding="utf-8")
    second = folder / "second.csv"
    second.write_text((example / "night1-candidate.csv").read_text(encoding="utf-8").replace(",1", ",0", 1))
    first = ("--baseline", example / "night1-baseline.csv", "--candidate", example / "night1-candidate.csv")
    other = ("--set", "night2", example / "night2-baseline.csv", example / "night2-candidate.csv")
    assert gate("run", "--policy", "one.yaml", *first, "--candidate", second, "--json", "a.json")[0] == 0
    assert gate("run", "--policy", "set.yaml", *first, *other, "--json", "b.json")[0] == 0
    for report in ("a.json", "b.json"):
        code, out, err = gate("verify", report)
        assert (code, err) == (0, "")
        assert "to the byte" in out


def test_verify_is_asked_one_thing(saved: Path) -> None:
    assert gate("verify")[0] == 2
    assert gate("verify", saved, "--promoted", "abc")[0] == 2
    assert gate("verify", "--promoted", "abc")[0] == 2
    assert gate("verify", saved, "--max-age", 3)[0] == 2


@pytest.mark.parametrize(
    ("saved_value", "fresh", "found"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": 1.0}, "a: saved 1, again 1.0"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "a.b[1]: saved 2, again 3"),
        ({"a": [1]}, {"a": []}, "a: 1 entries saved, 0 again"),
        ({"a": 1, "b": 2}, {"a": 1}, "b: only in the saved report"),
        ({"a": None}, {"a": 0}, "a: saved None, again 0"),
    ],
)
def test_the_first_difference_is_named(saved_value: object, fresh: object, found: str | None) -> None:
    assert first_difference(saved_value, fresh) == found


@pytest.mark.parametrize("command", ["compare", "plan"])
def test_the_document_of_a_command_never_replaces_what_it_reads(tmp_path: Path, command: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(f'{{"id": "q{k}", "score": {k % 2}}}\n' for k in range(40)), encoding="utf-8")
    before = path.read_bytes()
    words = {"compare": [str(path)] * 2, "plan": ["--margin", "0.1", "--baseline", str(path)]}
    out, err = io.StringIO(), io.StringIO()
    assert main([command, *words[command], "--json", str(path)], out, err) == 2
    assert "would replace" in err.getvalue()
    assert path.read_bytes() == before
