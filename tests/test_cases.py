"""Every folder below ``cases/`` is a run of the gate with a known answer; ``cases/README.md`` says how."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from black_box import Answer, command, tables, with_reports, write_rows

CASES = Path(__file__).resolve().parent / "cases"
FOLDERS = sorted(path.parent for path in CASES.rglob("expected.json"))
EXIT = {"promote": 0, "block": 1, "error": 2, "inconclusive": 3, "hold": 4}


def name_of(folder: Path) -> str:
    return folder.relative_to(CASES).as_posix()


def test_there_are_cases_of_every_kind() -> None:
    assert {folder.parent.name for folder in FOLDERS} == set(EXIT)
    assert len(FOLDERS) > 60


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_case(folder: Path, tmp_path: Path) -> None:
    """Each step in its order; the last one gives the verdict that the folder stands under."""
    found = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    steps = found if isinstance(found, list) else [found]
    assert (folder / "why.md").read_text(encoding="utf-8").strip(), "say why this is the right answer"
    for number, step in enumerate(steps):
        answer = run_step(folder, step, tmp_path, number)
        check(step, answer)
    assert steps[-1]["exit"] == EXIT[folder.parent.name]


def run_step(folder: Path, step: Mapping[str, Any], space: Path, number: int) -> Answer:
    place = space / f"step-{number}"
    place.mkdir()
    for path in folder.iterdir():
        if path.suffix not in {".md"} and path.name not in {"expected.json", "make.json"}:
            shutil.copy(path, place / path.name)
    options = list(made(folder / step.get("make", "make.json"), place))
    argv = ["--policy", str(place / step.get("policy", "policy.yaml"))]
    if not options:
        for side in ("baseline", "candidate"):
            files = sorted(place.glob(f"{side}.*")) or [place / f"{side}.jsonl"]
            options += [f"--{side}", str(files[0])]
    if step.get("history"):
        argv += ["--history", str(space / "history.jsonl")]
    reports = place / "report"
    more = [word.replace("{here}", str(place)) for word in step.get("args", [])]
    return with_reports(command("run", *argv, *options, "--report-dir", reports, *more), reports)


def made(recipe: Path, place: Path) -> Iterator[str]:
    """Files from counted blocks of items, and the options that hand them to the command."""
    if not recipe.exists():
        return
    told = json.loads(recipe.read_text(encoding="utf-8"))
    suffix = told.get("suffix", ".jsonl")
    sides = tables(told["blocks"], told.get("first_id", 0))
    for side, rows in sides.items():
        option = "--baseline" if side == "baseline" else "--candidate"
        yield from (option, str(write_rows(place / f"{side}{suffix}", rows)))
    for name, blocks in told.get("sets", {}).items():
        files = [
            str(write_rows(place / f"{name}-{side}{suffix}", rows)) for side, rows in tables(blocks).items()
        ]
        yield from ("--set", name, *files)


def check(step: Mapping[str, Any], answer: Answer) -> None:
    assert answer.code == step["exit"], (answer.err, answer.out)
    if step["exit"] == 2:
        assert answer.error
        assert "help: " in answer.err, "an error says what to do"
        assert answer.report is None
    else:
        assert answer.verdict == next(word for word, code in EXIT.items() if code == step["exit"])
        assert answer.out.split()[0] == answer.verdict or "waived" in answer.out.splitlines()[0]
    for text in step.get("stderr", []):
        assert text in answer.err
    for text in step.get("stdout", []):
        assert text in answer.out
    for text in step.get("markdown", []):
        assert text in answer.markdown
    for path, wanted in step.get("report", {}).items():
        agrees(look_up(answer.report, path), wanted, path)


def look_up(value: Any, path: str) -> Any:
    """``gating.interval.low``; in a list a number is a place, any other word the entry with that rule."""
    for part in path.split("/") if "/" in path else path.split("."):
        if isinstance(value, list):
            value = (
                value[int(part)]
                if part.lstrip("-").isdigit()
                else next(entry for entry in value if entry.get("rule") == part)
            )
        else:
            value = value[part]
    return value


COMPARISONS = {"about", "within", "above", "below", "has", "codes", "rules"}


def agrees(found: Any, wanted: Any, path: str) -> None:
    """A plain value must be equal (numbers up to rounding); a mapping of comparisons says how else."""
    if not (isinstance(wanted, dict) and set(wanted) <= COMPARISONS):
        assert found == (pytest.approx(wanted, abs=1e-9) if isinstance(wanted, float) else wanted), path
        return
    if "about" in wanted:
        assert found == pytest.approx(wanted["about"], abs=wanted["within"]), path
    if "above" in wanted:
        assert found > wanted["above"], path
    if "below" in wanted:
        assert found < wanted["below"], path
    if "has" in wanted:
        assert wanted["has"] in found, path
    if "codes" in wanted:
        assert set(wanted["codes"]) <= {entry["code"] for entry in found}, path
    if "rules" in wanted:
        assert set(wanted["rules"]) == {entry["rule"] for entry in found}, path
