"""The table of declarative readers: values, failed runs, identity, detection, and a second input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.artifacts import detect, layouts, read
from gate.artifacts.compatibility import comparable
from gate.artifacts.sniff import document_formats, row_formats
from gate.values import GateError

from .helpers import ask, jsonl, refusal, table, values, write
from .layouts import SAMPLES

UNIVERSE = jsonl([{"id": f"simple_{i}"} for i in range(4)])


def sample(tmp_path: Path, name: str, content: str | None = None, **changes: Any) -> Any:
    text, metric, expected = SAMPLES[name]
    kind = "binary" if set(expected.values()) <= {0.0, 1.0} else "graded"
    more = {"labels": write(tmp_path, "items", UNIVERSE)} if name == "bfcl" else {}
    return table(tmp_path, content or text, metrics={metric: kind}, **{**more, **changes})


def test_every_layout_has_a_sample() -> None:
    assert SAMPLES.keys() == layouts.BY_NAME.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_values_and_detection(tmp_path: Path, name: str) -> None:
    assert detect(write(tmp_path, "any", SAMPLES[name][0])) == name
    found = sample(tmp_path, name)
    assert values(found, SAMPLES[name][1]) == SAMPLES[name][2]
    assert found.source.format == name
    assert not found.failed.any()
    assert not found.unread
    comparable(found, found)


FAILED = [
    ("tau2", '"reward_info": {"reward": 1.0}', '"reward_info": null'),
    ("tau2", '"user_stop"', '"infrastructure_error"'),
    ("tau_bench", '"info": {"task": {}}', '"info": {"error": "503"}'),
    ("harbor", '"exception_info": null', '"exception_info": {"exception_type": "X"}'),
    ("fastchat", '"score": 7.0', '"score": -1'),
    ("braintrust", '"error": null', '"error": "timeout"'),
    ("openai_output_items", '"status": "pass"', '"status": "error"'),
    ("phoenix", '"error": null', '"error": "timeout"'),
    ("weave", '"exception": null', '"exception": "Traceback"'),
    ("google_benchmark", '"time_unit"', '"error_occurred": true, "time_unit"'),
    ("great_expectations", '"raised_exception": false', '"raised_exception": true'),
    ("evidently", '"status": "SUCCESS"', '"status": "ERROR"'),
    ("swebench_instances", '"patch_exists"', '"infra_failure": true, "patch_exists"'),
]


@pytest.mark.parametrize(("name", "old", "new"), FAILED)
def test_a_run_without_result_is_failed_on_either_side(tmp_path: Path, name: str, old: str, new: str) -> None:
    text = SAMPLES[name][0]
    assert old in text
    assert sample(tmp_path, name, text.replace(old, new, 1)).failed.tolist() == [True, False, False, False]


DIFFERENT = [
    ("fastchat", '"gpt-4"', '"gpt-3"'),
    ("braintrust", '"expected": "0"', '"expected": "x"'),
    ("openai_output_items", '"datasource_item": {"q": 0}', '"datasource_item": {"q": 9}'),
    ("evalscope", '"target": "A"', '"target": "B"'),
    ("azure_evaluation", '"inputs.query": "q0"', '"inputs.query": "other"'),
    ("mteb", '"abc"', '"def"'),
    ("comet", '"ref": "r"', '"ref": "other"'),
    ("lerobot", '"seed": 42', '"seed": 7'),
    ("google_benchmark", '"ns"', '"ms"'),
    ("google_benchmark", '"release"', '"debug"'),
    ("tau2", '"airline"', '"retail"'),
    ("harbor", '"sum0"', '"other"'),
]


@pytest.mark.parametrize(("name", "old", "new"), DIFFERENT)
def test_what_must_be_equal_is_compared(tmp_path: Path, name: str, old: str, new: str) -> None:
    text = SAMPLES[name][0]
    assert old in text
    one, other = sample(tmp_path, name), sample(tmp_path, name, text.replace(old, new, 1))
    with pytest.raises(GateError) as caught:
        comparable(one, other)
    assert caught.value.code == "not_comparable"


def test_a_word_that_nobody_declared_is_no_value(tmp_path: Path) -> None:
    text = SAMPLES["evidently"][0].replace('"SUCCESS"', '"WARNING"', 1)
    assert values(sample(tmp_path, "evidently", text), "status")["n0"] is None


def test_a_page_of_results_is_refused(tmp_path: Path) -> None:
    text = SAMPLES["openai_output_items"][0].replace('"has_more": false', '"has_more": true')
    assert refusal(tmp_path, text, metrics={"grader": "binary"}).code == "partial_results"


def test_helm_perturbations_are_items_and_trials_repeats(tmp_path: Path) -> None:
    rows = json.loads(SAMPLES["helm"][0])[:1]
    rows += [rows[0] | {"train_trial_index": 1}, rows[0] | {"perturbation": {"name": "typos"}}]
    found = table(tmp_path, json.dumps(rows), metrics={"exact_match": "graded"})
    assert found.ids.tolist() == ["id0", "id0", 'id0/{"name":"typos"}']
    assert found.repeats is not None
    rows[0]["stats"].append(rows[0]["stats"][1])
    assert refusal(tmp_path, json.dumps(rows), metrics={"exact_match": "graded"}).code == "selector_ambiguous"


def test_systems_in_one_file(tmp_path: Path) -> None:
    text = SAMPLES["fastchat"][0]
    both = text + text.replace('"m1"', '"m2"').replace("7.0", "3.0")
    second = sample(tmp_path, "fastchat", both, system="m2")
    assert values(second, "score") == {key: 3 / 7 * (v or 0) for key, v in SAMPLES["fastchat"][2].items()}
    for system, code in ((None, "ambiguous_system"), ("m3", "unknown_system")):
        assert refusal(tmp_path, both, metrics={"score": "graded"}, system=system).code == code


def test_items_that_only_the_universe_names(tmp_path: Path) -> None:
    text = SAMPLES["bfcl"][0]
    assert refusal(tmp_path, text, metrics={"valid": "binary"}).code == "no_universe"
    for content in (text.replace('"total_count": 4', '"total_count": 5'), text + text.split("\n", 1)[0]):
        with pytest.raises(GateError) as caught:
            sample(tmp_path, "bfcl", content)
        assert caught.value.code == "contradiction"
    fewer = text.replace('"correct_count": 2', '"correct_count": 3')
    assert refusal(tmp_path, fewer, metrics={"valid": "binary"}).code == "contradiction"
    unknown = text.replace("simple_1", "simple_9")
    with pytest.raises(GateError):
        sample(tmp_path, "bfcl", unknown)
    all_right = '{"accuracy": 1.0, "correct_count": 4, "total_count": 4}'
    assert set(values(sample(tmp_path, "bfcl", all_right), "valid").values()) == {1.0}


def test_a_leaderboard_file_is_read_with_its_universe(tmp_path: Path) -> None:
    text = json.dumps({"no_generation": ["a__x-3"], "no_logs": [], "resolved": ["a__x-1"]})
    assert refusal(tmp_path, text, metrics={"resolved": "binary"}).code == "no_universe"
    items = write(tmp_path, "items", jsonl([{"id": f"a__x-{i}"} for i in range(1, 5)]))
    found = table(tmp_path, text, metrics={"resolved": "binary"}, labels=items)
    assert values(found, "resolved") == {f"a__x-{i}": float(i == 1) for i in range(1, 5)}
    other = write(tmp_path, "items", jsonl([{"id": "a__x-2"}]))
    assert refusal(tmp_path, text, metrics={"resolved": "binary"}, labels=other).code == "label_missing"


TOY = layouts.Layout(
    name="toy",
    reads="results of a toy",
    item="case",
    shows="ok",
    rows=("toys",),
    sure=("case", "ok"),
    id=("case",),
    metrics={"ok": "ok"},
    failed={"state": ("broken",)},
)


def test_a_format_in_ten_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gate.artifacts import sniff
    from gate.artifacts.content import open_content
    from gate.artifacts.formats.by_layout import read_layout

    document = {
        "toys": [{"case": "a", "ok": True, "state": "done"}, {"case": "b", "ok": 1, "state": "broken"}]
    }
    monkeypatch.setattr(sniff, "LAYOUTS", (*layouts.LAYOUTS, TOY))
    assert document_formats(document) == ["toy"]
    content = open_content(write(tmp_path, "toy", json.dumps(document)))
    found = read_layout(TOY, content, ask(metrics={"ok": "binary"}))
    content.close()
    assert (found.ids, found.failed) == (["a", "b"], [False, True])
    assert found.cells["ok"] == [True, 1]


def test_what_may_be_two_formats_is_not_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gate.artifacts import sniff

    twin = replace(layouts.BY_NAME["evalscope"], name="twin")
    monkeypatch.setattr(sniff, "LAYOUTS", (*layouts.LAYOUTS, twin))
    text, metric, expected = SAMPLES["evalscope"]
    assert row_formats(json.loads(text.split("\n")[0])) == ["evalscope", "twin"]
    error = refusal(tmp_path, text, metrics={metric: "binary"})
    assert error.code == "ambiguous_format"
    assert "artifacts: {format: evalscope}" in error.help
    declared = ask(metrics={metric: "binary"}, format="evalscope")
    assert values(read(write(tmp_path, "b", text), declared), metric) == expected


def test_a_file_is_told_with_the_lines_that_read_it(tmp_path: Path) -> None:
    import io

    import yaml

    from gate.cli.main import main

    def told_of(path: str) -> str:
        out = io.StringIO()
        assert main(["formats", path], out, io.StringIO()) == 0
        return out.getvalue()

    text = SAMPLES["tau_bench"][0].replace('"info": {"task": {}}', '"info": {"error": "503"}', 1)
    told, _, policy = told_of(write(tmp_path, "tau", text)).partition("policy\n")
    assert "format   tau_bench" in told
    assert "its first row has task_id, trial, reward, info, traj" in told
    assert "rows     4, 1 failed runs" in told
    gating = {"metric": "reward", "kind": "binary", "direction": "higher"}
    assert yaml.safe_load(policy) == {"artifacts": {"format": "tau_bench"}, "gating": gating}
    policy = told_of(write(tmp_path, "csv", "id,score\na,1\nb,0\n")).partition("policy\n")[2]
    assert yaml.safe_load(policy)["items"] == {"id": "id"}


def test_a_universe_of_another_size_is_refused(tmp_path: Path) -> None:
    text = SAMPLES["bfcl"][0].replace(
        '"correct_count": 2, "total_count": 4', '"correct_count": 3, "total_count": 5'
    )
    with pytest.raises(GateError, match="the file says 5 items; with --labels there are 4"):
        sample(tmp_path, "bfcl", text)


def test_the_policy_may_accept_what_the_tool_calls_failed(tmp_path: Path) -> None:
    text = SAMPLES["braintrust"][0].replace('"error": null', '"error": "timeout"', 1)
    found = sample(tmp_path, "braintrust", text, completed={"error": ("*",)})
    assert not found.failed.any()
    assert values(found, "Exact") == SAMPLES["braintrust"][2]


def test_what_else_says_that_a_run_broke_is_seen(tmp_path: Path) -> None:
    text = SAMPLES["tau2"][0].replace('"user_stop"', '"timeout"', 1)
    found = sample(tmp_path, "tau2", text)
    assert [one.column for one in found.unread] == ["termination_reason"]
