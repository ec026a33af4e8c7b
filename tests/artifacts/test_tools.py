"""Every tool's layout gives the items, values, errors and repeats that the tool itself would report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from gate.artifacts import describe_formats, detect, read
from gate.artifacts.compatibility import comparable
from gate.values import GateError

from . import tools
from .helpers import ask, refusal, table, values, write
from .layouts import SAMPLES as LAYOUTS
from .tools import even

N = 6
RIGHT = {str(i): float(even(i)) for i in range(N)}
SAMPLES = {
    "lm_eval": tools.lm_eval(N, even),
    "promptfoo": tools.promptfoo([tools.promptfoo_row(i, even(i)) for i in range(N)]),
    "inspect": tools.inspect_eval(tools.inspect_samples(4, 2, even)),
    "deepeval": tools.deepeval(N, even),
    "terminal_bench": tools.terminal_bench({"a": [True], "b": [False]}),
    "alpaca_eval": tools.alpaca_eval([1, 2, 1.5, 0]),
    "swebench": tools.swebench(["a__x-1", "a__x-2"], ["a__x-1"]),
    "evalplus": tools.evalplus(N, even),
    "human_eval": tools.human_eval(N, even),
    "junit": tools.junit([("t1", "passed"), ("t2", "failure")]),
    "pytest_json": tools.pytest_json([("t1", "passed"), ("t2", "failed")]),
    "npz": tools.npz(id=["a", "b"], score=[1, 0]),
    "csv": "id,score\na,1\n",
    "tsv": "id\tscore\na\t1\n",
    "json": '[{"id":"a","score":1}]',
    "jsonl": '{"id":"a","score":1}\n{"id":"b","score":0}\n',
}


@pytest.mark.parametrize("name", SAMPLES)
def test_detected_by_content(tmp_path: Path, name: str) -> None:
    content = SAMPLES[name]
    assert detect(write(tmp_path, "no.suffix", content)) == name


def test_every_format_is_described_and_detected() -> None:
    assert {entry.name for entry in describe_formats()} == {*SAMPLES, *LAYOUTS, "parquet", "replay"}
    assert all(entry.reads and entry.item and entry.metrics for entry in describe_formats())
    for entry in describe_formats():
        assert callable(entry.load())


def test_lm_eval_filters_are_metrics(tmp_path: Path) -> None:
    content = tools.lm_eval(N, even, filters=("strict-match", "flexible-extract"), metric="exact_match")
    metrics = {"exact_match,strict-match": "binary", "exact_match,flexible-extract": "binary"}
    found = table(tmp_path, content, metrics=metrics, cluster="doc.subject")
    assert values(found, "exact_match,strict-match") == RIGHT
    assert values(found, "exact_match,flexible-extract") == dict.fromkeys(RIGHT, 1.0)
    assert found.repeats is None
    assert found.clusters is not None
    assert found.clusters.tolist() == ["a", "b"] * 3
    assert found.columns["doc_hash"].tolist()[:2] == ["d0", "d1"]
    error = refusal(tmp_path, content, metrics={"exact_match": "binary"})
    assert error.code == "no_item_scores"
    assert "exact_match,flexible-extract" in error.message


def test_lm_eval_one_filter_has_two_names(tmp_path: Path) -> None:
    metrics = {"acc": "binary", "acc,none": "binary"}
    found = table(tmp_path, tools.lm_eval(N, even), metrics=metrics)
    assert values(found, "acc") == values(found, "acc,none") == RIGHT
    assert found.lines is not None
    assert found.lines.tolist() == [1, 2, 3, 4, 5, 6]


def test_lm_eval_old_layout(tmp_path: Path) -> None:
    found = table(tmp_path, tools.lm_eval_old(N, even), "samples.jsonl", metrics={"acc": "binary"})
    assert (found.source.format, values(found, "acc")) == ("lm_eval", RIGHT)
    doubled = json.dumps(json.loads(tools.lm_eval_old(2, even)) * 2)
    error = refusal(tmp_path, doubled, metrics={"acc": "binary"})
    assert "does not write which filter" in error.message


def test_lm_eval_names_with_their_filter_in_the_row(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in tools.lm_eval(N, even).split("\n")[:-1]]
    for row in rows:
        row["acc,none"] = row.pop("acc")
        del row["metrics"], row["filter"]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    assert values(table(tmp_path, content, metrics={"acc,none": "binary"}), "acc,none") == RIGHT


def test_lm_eval_corpus_metrics_are_refused_with_the_reason(tmp_path: Path) -> None:
    content = tools.lm_eval(N, even, metric="bleu", bleu=["reference", "hypothesis"])
    error = refusal(tmp_path, content, metrics={"bleu": "graded"})
    assert error.code == "no_item_scores"
    assert "corpus metric" in error.message


def test_lm_eval_another_data_set_is_not_comparable(tmp_path: Path) -> None:
    request = ask(metrics={"acc": "binary"})
    one = read(write(tmp_path, "a", tools.lm_eval(N, even)), request)
    same = read(write(tmp_path, "b", tools.lm_eval(N, even, prompt_hash="other")), request)
    assert [code for code, _ in comparable(one, same)] == ["prompts_differ"]
    for changed in ({"doc_hash": "other"}, {"target_hash": "other"}):
        other = read(write(tmp_path, "b", tools.lm_eval(N, even, **changed)), request)
        with pytest.raises(Exception, match="differs for 6 items of the same id") as caught:
            comparable(one, other)
        assert getattr(caught.value, "code", "") == "not_comparable"


def test_digests_that_were_not_asked_for_are_no_part_of_the_identity(tmp_path: Path) -> None:
    request = {"metrics": {"acc": "binary"}}
    one = table(tmp_path, tools.lm_eval(N, even), **request)
    assert one.identity == table(tmp_path, tools.lm_eval(N, even, doc_hash="x"), **request).identity
    plain = "id,acc\n" + "".join(f"{i},{int(even(i))}\n" for i in range(N))
    assert one.identity == table(tmp_path, plain, **request).identity


def test_promptfoo_run_errors_are_apart_from_failed_assertions(tmp_path: Path) -> None:
    rows = [tools.promptfoo_row(i, even(i)) for i in range(N)]
    rows[4] = tools.promptfoo_error(4)
    found = table(
        tmp_path,
        tools.promptfoo(rows[::-1]),
        metrics={"success": "binary", "score": "graded", "tone": "graded", "latencyMs": "graded"},
        cluster="vars.topic",
        columns=("description",),
    )
    assert found.failed.tolist() == [False, True, False, False, False, False]
    assert found.ids.tolist()[0] == '{"n":5,"topic":"b"}'
    assert found.columns["description"][0] == "case 5"
    assert [None if np.isnan(v) else v for v in found.values["success"]] == [0, None, 0, 1, 0, 1]
    assert [None if np.isnan(v) else v for v in found.values["tone"]] == [0.25, None, 0.25, 1, 0.25, 1]
    assert found.source.system == "m / Q {{n}}"
    assert not found.cautions


def test_promptfoo_version_2(tmp_path: Path) -> None:
    found = table(tmp_path, tools.promptfoo_v2(N, even), metrics={"success": "binary"})
    assert found.failed.tolist() == [False] * 5 + [True]
    new = table(tmp_path, SAMPLES["promptfoo"], metrics={"success": "binary"})
    assert set(found.ids) == set(new.ids)


def test_promptfoo_json_lines(tmp_path: Path) -> None:
    rows = [tools.promptfoo_row(i, even(i)) for i in range(N)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    found = table(tmp_path, content, metrics={"success": "binary"})
    assert found.source.format == "promptfoo"
    assert found.identity == table(tmp_path, tools.promptfoo(rows), metrics={"success": "binary"}).identity


def test_promptfoo_repeats_are_by_occurrence(tmp_path: Path) -> None:
    rows = [tools.promptfoo_row(i, even(i + k), testIdx=i * 2 + k) for i in range(3) for k in range(2)]
    found = table(tmp_path, tools.promptfoo(rows), metrics={"success": "binary"})
    assert found.repeats is not None
    assert found.repeats.tolist() == ["1", "2"] * 3
    assert len(set(found.ids)) == 3


def test_promptfoo_cases_with_the_same_vars_are_told_apart_by_their_description(tmp_path: Path) -> None:
    rows = [
        tools.promptfoo_row(i, True, vars={"n": 1}, testCase={"description": f"case {i}", "vars": {"n": 1}})
        for i in range(2)
    ]
    found = table(tmp_path, tools.promptfoo(rows), metrics={"success": "binary"})
    assert found.ids.tolist() == ['case 0 {"n":1}', 'case 1 {"n":1}']
    bare = [tools.promptfoo_row(i, True, vars={}, testCase={"vars": {}}) for i in range(2)]
    assert table(tmp_path, tools.promptfoo(bare), metrics={"success": "binary"}).ids.tolist() == [
        "test 0",
        "test 1",
    ]


SYSTEMS = [("openai:a", "a", "short"), ("openai:a", "a", "long"), ("openai:b", "b", "short")]


def several_systems() -> str:
    rows = [
        tools.promptfoo_row(
            i, even(i + k), promptIdx=k, provider={"id": pid, "label": label}, prompt={"label": prompt}
        )
        for i in range(4)
        for k, (pid, label, prompt) in enumerate(SYSTEMS)
    ]
    return tools.promptfoo(rows)


@pytest.mark.parametrize("system", ["2", "b", "openai:b", "b / short", "openai:b / short"])
def test_promptfoo_systems(tmp_path: Path, system: str) -> None:
    found = table(tmp_path, several_systems(), metrics={"success": "binary"}, system=system)
    assert len(found) == 4
    assert found.source.system == "b / short"
    assert found.values["success"].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("system", "code"), [(None, "ambiguous_system"), ("a", "ambiguous_system"), ("z", "unknown_system")]
)
def test_promptfoo_systems_that_are_not_one(tmp_path: Path, system: str | None, code: str) -> None:
    error = refusal(tmp_path, several_systems(), metrics={"success": "binary"}, system=system)
    assert error.code == code
    assert "2 = b / short" in error.message


def test_promptfoo_a_broken_grader_is_noticed(tmp_path: Path) -> None:
    broken = "Custom function threw error: boom\nStack Trace"
    rows = [tools.promptfoo_row(i, False, error=broken) for i in range(N)]
    found = table(tmp_path, tools.promptfoo(rows), metrics={"success": "binary"})
    assert [code for code, _ in found.cautions] == ["grader_errors", "nothing_passed"]
    assert found.failed.all()
    accepted = {"grader_error": ("*",)}
    as_they_are = table(tmp_path, tools.promptfoo(rows), metrics={"success": "binary"}, completed=accepted)
    assert as_they_are.values["success"].tolist() == [0] * N
    assert "counts as 0" in dict(as_they_are.cautions)["grader_errors"]


@pytest.mark.parametrize("layout", ["zstd", "deflate", "json", "samples only"])
def test_inspect_epochs_grades_and_dict_scores(tmp_path: Path, layout: str) -> None:
    samples = tools.inspect_samples(4, 2, even)
    samples[0]["scores"]["match"]["value"] = "P"
    samples[1]["scores"]["match"]["value"] = "N"
    samples[2] |= {"error": {"message": "boom"}, "scores": {}}
    content: str | bytes = {
        "zstd": tools.inspect_eval(samples),
        "deflate": tools.inspect_eval(samples, zstd=False),
        "json": tools.inspect_json(samples),
        "samples only": tools.inspect_eval(samples, summaries=False),
    }[layout]
    metrics = {"match": "graded", "both.exact": "binary", "len": "graded"}
    found = table(tmp_path, content, metrics=metrics, cluster="metadata.topic")
    assert found.ids.tolist() == ["s0", "s0", "s1", "s1", "s2", "s2", "s3", "s3"]
    assert found.repeats is not None
    assert found.repeats.tolist() == ["1", "2"] * 4
    assert [None if np.isnan(v) else v for v in found.values["match"]] == [0.5, 0, None, 0, 1, 1, 0, 0]
    assert found.failed.tolist() == [False, False, True] + [False] * 5
    assert found.values["both.exact"].tolist()[4:] == [0, 0, 1, 1]
    assert found.source.facts["dataset"] == "d"


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_inspect_logs_that_did_not_finish_are_refused(tmp_path: Path, status: str) -> None:
    samples = tools.inspect_samples(4, 1, even)
    for content in (tools.inspect_eval(samples, status=status), tools.inspect_json(samples, status=status)):
        error = refusal(tmp_path, content, metrics={"match": "binary"})
        assert error.code == "run_incomplete"
    assert (
        refusal(tmp_path, tools.zipped({"_journal/start.json": "{}"}), metrics={"m": "binary"}).code
        == "run_incomplete"
    )


def test_inspect_logs_without_scores_are_refused(tmp_path: Path) -> None:
    samples = [sample | {"scores": {}} for sample in tools.inspect_samples(4, 1, even)]
    error = refusal(tmp_path, tools.inspect_eval(samples), metrics={"match": "binary"})
    assert (error.code, "inspect score" in error.help) == ("unscored", True)


def test_inspect_old_summaries_without_metadata_fall_back_to_the_samples(tmp_path: Path) -> None:
    samples = tools.inspect_samples(4, 1, even)
    members = {f"samples/{s['id']}_epoch_1.json": json.dumps(s) for s in samples}
    members["summaries.json"] = json.dumps([{k: v for k, v in s.items() if k != "metadata"} for s in samples])
    members["header.json"] = json.dumps(tools.inspect_header())
    found = table(tmp_path, tools.zipped(members), metrics={"match": "binary"}, cluster="metadata.topic")
    assert found.clusters is not None
    assert found.clusters.tolist() == ["a", "b", "a", "b"]


def test_inspect_invalidated_samples_count_as_failed(tmp_path: Path) -> None:
    samples = tools.inspect_samples(4, 1, even)
    samples[3]["invalidation"] = {"reason": "leak"}
    found = table(tmp_path, tools.inspect_eval(samples, invalidated=True), metrics={"match": "binary"})
    assert found.failed.tolist() == [False, False, False, True]
    assert "log_invalidated" in dict(found.cautions)


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": {"name": "other"}},
        {"task": "other"},
        {"task_version": 1},
        {"scorers": [{"name": "match", "options": {"judge": "j-1.1"}}]},
    ],
    ids=str,
)
def test_inspect_another_data_set_or_judge_is_not_comparable(tmp_path: Path, change: dict[str, Any]) -> None:
    samples = tools.inspect_samples(4, 1, even)
    request = ask(metrics={"match": "binary"})
    one = read(write(tmp_path, "a", tools.inspect_json(samples)), request)
    run = tools.inspect_header()["eval"]
    same = read(write(tmp_path, "b", tools.inspect_json(samples, eval=run | {"model": "m2"})), request)
    assert comparable(one, same) == ()
    assert [code for code, _ in comparable(one, one)] == ["same_model"]
    other = read(write(tmp_path, "b", tools.inspect_json(samples, eval=run | change)), request)
    with pytest.raises(Exception, match="differs") as caught:
        comparable(one, other)
    assert getattr(caught.value, "code", "") == "not_comparable"


def test_deepeval_metrics_that_raised_are_missing(tmp_path: Path) -> None:
    content = tools.deepeval(N, even, errors=(2,))
    metrics = {"Relevancy [GEval]": "graded", "Exact": "binary", "success": "binary"}
    found = table(tmp_path, content, metrics=metrics, cluster="metadata.topic")
    assert found.ids.tolist() == [f"case_{i}" for i in range(N)]
    assert found.missing["Relevancy [GEval]"].examples == (("case_2", "case 3", "error in the metric"),)
    assert found.missing["Exact"].count == 0
    success = {f"case_{i}": float(even(i)) for i in range(N)}
    assert values(found, "success") == success | {"case_2": None}, "the tool says false, and nothing failed"
    content = tools.deepeval(N, even, errors=(3,))
    found = table(tmp_path, content, metrics=metrics)
    assert values(found, "success") == success, "the other metric of case 3 did fail"


def test_deepeval_positional_names_are_no_identity(tmp_path: Path) -> None:
    for names in ("test_case_{}", "test_capital"):
        found = table(tmp_path, tools.deepeval(N, even, names=names), metrics={"Exact": "binary"})
        assert found.ids.tolist()[0] == "What is 0?\\nBriefly."
    wrapped = json.dumps({"testRunData": json.loads(tools.deepeval(N, even))})
    assert len(table(tmp_path, wrapped, metrics={"Exact": "binary"})) == N


def test_deepeval_another_judge_is_not_comparable_where_it_matters(tmp_path: Path) -> None:
    paths = [write(tmp_path, judge, tools.deepeval(N, even, judge=judge)) for judge in ("j-1", "j-2")]
    one, other = (read(path, ask(metrics={"Relevancy [GEval]": "graded"})) for path in paths)
    with pytest.raises(Exception, match="the judge of 'Relevancy"):
        comparable(one, other)


IDS = [f"org__repo-{i}" for i in range(8)]


def test_swebench_is_strict_and_lists_its_own_items(tmp_path: Path) -> None:
    content = tools.swebench(
        IDS,
        IDS[:2],
        error_ids=IDS[2:3],
        infra_failure_ids=IDS[3:4],
        incomplete_ids=IDS[4:5],
        empty_patch_ids=IDS[5:6],
    )
    metrics = {"resolved": "binary", "resolved_of_completed": "binary"}
    broken = dict.fromkeys(IDS[2:4])
    strict = {key: float(key in IDS[:2]) for key in IDS}
    evaluated = table(tmp_path, content, metrics=metrics)
    assert evaluated.failed.tolist() == [key in broken for key in IDS]
    assert values(evaluated, "resolved") == strict | broken
    assert "as 0: incomplete 1" in dict(evaluated.cautions)["not_run_counts_as_unresolved"]
    accepted = {"error_ids": ("*",), "infra_failure_ids": ("*",)}
    found = table(tmp_path, content, metrics=metrics, cluster="repo", completed=accepted)
    assert values(found, "resolved") == strict
    assert [key for key, v in values(found, "resolved_of_completed").items() if v is None] == IDS[2:5]
    assert not found.failed.any()
    assert found.clusters is not None
    assert set(found.clusters) == {"org__repo"}
    assert "error 1, infra failure 1, incomplete 1" in dict(found.cautions)["not_run_counts_as_unresolved"]


def test_swebench_one_submitted_of_many_is_not_everything(tmp_path: Path) -> None:
    found = table(
        tmp_path, tools.swebench(IDS, IDS[:1], incomplete_ids=IDS[1:]), metrics={"resolved": "binary"}
    )
    assert np.mean(found.values["resolved"]) == 1 / 8


def test_swebench_what_was_not_submitted_is_kept_for_the_comparison(tmp_path: Path) -> None:
    content = tools.swebench(IDS, IDS[:1], incomplete_ids=IDS[5:])
    (unread,) = table(tmp_path, content, metrics={"resolved": "binary"}).unread
    assert (unread.column, sum(unread.words.values()), unread.runs) == ("incomplete_ids", 3, 8)


def test_terminal_bench_trials_are_repeats_and_a_verdict_of_null_is_a_failed_run(tmp_path: Path) -> None:
    content = tools.terminal_bench({"a": [True, False], "b": [False, None], "c": [None, None]})
    found = table(tmp_path, content, metrics={"resolved": "binary", "resolved_of_completed": "binary"})
    assert found.source.format == "terminal_bench"
    assert found.failed.tolist() == [False, False, False, True, True, True]
    assert found.values["resolved"][:3].tolist() == [1, 0, 0]
    assert np.isnan(found.values["resolved_of_completed"][3:]).all()
    assert found.repeats is not None
    assert found.repeats.tolist() == ["1", "2"] * 3
    accepted = {"is_resolved": ("*",)}
    as_zero = table(tmp_path, content, metrics={"resolved": "binary"}, completed=accepted)
    assert (as_zero.failed.any(), as_zero.values["resolved"].sum()) == (False, 1)


def test_alpaca_eval_win_is_preference_minus_one_and_a_tie_is_half(tmp_path: Path) -> None:
    wanted = {"win": "graded", "preference": "graded"}
    found = table(tmp_path, tools.alpaca_eval([1, 2, 0, 1.5, 1.25, None]), metrics=wanted)
    assert found.values["win"][:5].tolist() == [0, 1, 0.5, 0.5, 0.25]
    assert found.values["preference"][:5].tolist() == [1, 2, 1.5, 1.5, 1.25]
    assert found.failed.tolist() == [False] * 5 + [True]
    assert refusal(tmp_path, tools.alpaca_eval([1, 3]), metrics=wanted).code == "invalid_report"


CONTRADICTIONS = {
    "resolved and unresolved": tools.swebench(IDS, IDS[:2], unresolved_ids=IDS[1:]),
    "resolved and broken": tools.swebench(IDS, IDS[:2], error_ids=IDS[:1]),
    "resolved and never run": tools.swebench(IDS, IDS[:2], incomplete_ids=IDS[:1]),
    "a count and its list": json.dumps(json.loads(tools.swebench(IDS, IDS[:2])) | {"resolved_instances": 3}),
    "trials and their list": tools.terminal_bench({"a": [True], "b": [False]}, resolved_ids=["b"]),
}


@pytest.mark.parametrize("content", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_report_of_ids_that_contradicts_itself_is_refused(tmp_path: Path, content: str) -> None:
    assert refusal(tmp_path, content, metrics={"resolved": "binary"}).code == "contradiction"


def test_a_row_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    row = {"task_id": "H/0", "completion": "c", "passed": True, "result": "failed: x"}
    files = {"passed": json.dumps(row) + "\n" + json.dumps(row | {"task_id": "H/1"})}
    metric = {"name": "Bias", "score": 0.1, "success": False}
    case = {"name": "a", "input": "q", "success": True, "metricsData": [metric]}
    files["success"] = json.dumps({"testCases": [case]})
    graded = tools.promptfoo([tools.promptfoo_row(0, True, gradingResult={"pass": False, "score": 0})])
    test = {"nodeid": "t", "outcome": "passed", "call": {"outcome": "failed"}}
    several = [*files.items(), ("success", graded), ("passed", json.dumps({"tests": [test]}))]
    for name, content in several:
        assert refusal(tmp_path, content, metrics={name: "binary"}).code == "contradiction"


def test_what_has_one_key_of_a_tool_is_not_its_file(tmp_path: Path) -> None:
    rows = [{"id": f"{i}", "score": even(i)} for i in range(N)]
    for document in ({"testCases": rows}, {"results": {"version": 3, "results": rows}}):
        found = table(tmp_path, json.dumps(document))
        assert (found.source.format, len(found)) == ("json", N)


def test_swebench_other_names_and_missing_universe(tmp_path: Path) -> None:
    report = json.loads(tools.swebench(IDS, IDS[:2]))
    report["resolved"] = report.pop("resolved_ids")
    found = table(tmp_path, json.dumps(report), metrics={"resolved": "binary"})
    assert sum(found.values["resolved"]) == 2
    board = json.dumps({"no_generation": IDS[:1], "no_logs": [], "resolved": IDS[2:4]})
    assert refusal(tmp_path, board, metrics={"resolved": "binary"}).code == "no_universe"


def test_swebench_predictions_for_another_data_set_are_no_items(tmp_path: Path) -> None:
    content = tools.swebench(IDS, IDS[:2], submitted_ids=[*IDS, "other__repo-1"])
    assert len(table(tmp_path, content, metrics={"resolved": "binary"})) == 8


def test_evalplus_plus_means_base_and_plus(tmp_path: Path) -> None:
    found = table(tmp_path, tools.evalplus(N, even), metrics={"base": "binary", "plus": "binary"})
    assert values(found, "base") == {f"H/{i}": float(even(i)) for i in range(N)}
    assert values(found, "plus") == {f"H/{i}": float(even(i) and i != 0) for i in range(N)}
    assert found.repeats is None
    twice = table(tmp_path, tools.evalplus(N, even, samples=2), metrics={"base": "binary"})
    assert twice.repeats is not None
    assert twice.repeats.tolist() == ["1", "2"] * N


def test_evalplus_old_layout_and_bigcodebench(tmp_path: Path) -> None:
    old = {
        "eval": {
            "H/0": {
                "nfiles": 2,
                "base": [["success", []], ["failed", []]],
                "plus": [["timed out", []], ["failed", []]],
            }
        }
    }
    found = table(tmp_path, json.dumps(old), metrics={"base": "binary", "plus": "binary"})
    assert found.values["base"].tolist() == [1, 0]
    assert found.values["plus"].tolist() == [0, 0]
    big = {
        "date": "d",
        "eval": {
            f"B/{i}": [{"task_id": f"B/{i}", "status": s, "details": {}}]
            for i, s in enumerate(["pass", "timeout"])
        },
    }
    assert values(table(tmp_path, json.dumps(big), metrics={"pass": "binary"}), "pass") == {
        "B/0": 1,
        "B/1": 0,
    }


def test_human_eval(tmp_path: Path) -> None:
    found = table(tmp_path, tools.human_eval(N, even), metrics={"passed": "binary", "style": "graded"})
    assert values(found, "passed") == {f"H/{i}": float(even(i)) for i in range(N)}
    assert found.missing["style"].examples == (("H/0", "line 1", "null"),)
    twice = table(tmp_path, tools.human_eval(N, even, samples=2), metrics={"passed": "binary"})
    assert twice.repeats is not None
    assert twice.repeats.tolist() == ["1", "2"] * N


CASES = [("a[1]", "passed"), ("b", "failure"), ("c", "error"), ("d", "skipped"), ("e", "xfail")]


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_junit(tmp_path: Path, family: str) -> None:
    content = tools.junit(CASES, family=family)
    metrics = {"passed": "binary", "score": "graded", "property:score": "graded", "time": "graded"}
    found = table(tmp_path, content, metrics=metrics, cluster="topic", columns=("classname",))
    assert values(found, "passed") == {
        "test_m::a[1]": 1, "test_m::b": 0, "test_m::c": None, "test_m::d": None, "test_m::e": None
    }  # fmt: skip
    assert found.failed.tolist() == [False, False, True, False, False]
    assert [example[2] for example in found.missing["passed"].examples] == ["skipped", "xfail"]
    assert found.values["score"].tolist()[0] == 0.25
    assert found.clusters is not None
    assert found.clusters.tolist() == ["a"] * 5


def test_junit_a_failure_with_a_broken_tear_down_is_one_test(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        tools.junit([("a", "failure"), ("a", "error"), ("b", "passed")]),
        metrics={"passed": "binary"},
    )
    assert values(found, "passed") == {"test_m::a": 0, "test_m::b": 1}
    doubled = tools.junit([("a", "passed"), ("a", "failure")])
    assert refusal(tmp_path, doubled, metrics={"passed": "binary"}).code == "duplicate_ids"
    repeated = table(tmp_path, doubled, metrics={"passed": "binary"}, repeat="repeat")
    assert repeated.repeats is not None
    assert repeated.repeats.tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol">]><testsuite name="&a;"/>', "unsafe_xml"),
        ("<testsuite><testcase name='a'></testsuite>", "invalid_xml"),
        ("<html><body>no</body></html>", "unknown_format"),
        ("<testsuite></testsuite>", "no_items"),
        ("<testsuite>" + "<a>" * 100, "too_deep"),
        ('<?xml version="1.0" encoding="no-such"?><testsuite/>', "invalid_xml"),
    ],
)
def test_junit_that_is_refused(tmp_path: Path, content: str, code: str) -> None:
    assert refusal(tmp_path, content, metrics={"passed": "binary"}).code == code


def test_pytest_json_report(tmp_path: Path) -> None:
    kinds = [
        ("a", "passed"),
        ("b", "failed"),
        ("c", "error"),
        ("d", "skipped"),
        ("e", "xfailed"),
        ("f", "xpassed"),
    ]
    found = table(
        tmp_path,
        tools.pytest_json(kinds),
        metrics={"passed": "binary", "score": "graded", "duration": "graded"},
    )
    assert list(values(found, "passed").values()) == [1, 0, None, None, None, 1]
    assert found.failed.tolist() == [False, False, True, False, False, False]


def test_npz(tmp_path: Path) -> None:
    found = table(tmp_path, tools.npz(id=["a", "b"], score=[1, 0], unused=[1.0, 2.0, 3.0]))
    assert values(found) == {"a": 1, "b": 0}
    assert values(table(tmp_path, tools.npz(id=[7, 9], score=[True, False]))) == {"7": 1, "9": 0}
    assert refusal(tmp_path, tools.npz(id=["a", "b"], score=[1])).code == "ragged_row"
    objects = tools.npz(id=["a", "b"], score=np.array([1, None], dtype=object))
    assert refusal(tmp_path, objects).code == "unsafe_array"
    assert refusal(tmp_path, tools.npz(id=["a", "b"], score=[[1, 0], [0, 1]])).code == "invalid_array"


def parquet(folder: Path, sql: str) -> str:
    target = str(folder / "a.parquet")
    duckdb.sql(sql).write_parquet(target)
    return target


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT unnest(['007', 'b']) AS id", ["007", "b"]),
        ("SELECT unnest([9007199254740993, 2]) AS id", ["9007199254740993", "2"]),
        ("SELECT unnest([1.0::DOUBLE, 2.0]) AS id", ["1", "2"]),
        ("SELECT unnest([1::DECIMAL(20,0), 2]) AS id", ["1", "2"]),
        ("SELECT unnest(['2026-01-01'::DATE, '2026-01-02']) AS id", ["2026-01-01", "2026-01-02"]),
    ],
)
def test_parquet_ids(tmp_path: Path, sql: str, expected: list[str]) -> None:
    assert read(parquet(tmp_path, f"{sql}, 1 AS score"), ask()).ids.tolist() == expected


@pytest.mark.parametrize(
    "ids", ["[true, false]", "[1.5, 2.0]", "[NULL, 'a']", "[1e300::DOUBLE, 2.0]", "['a'::BLOB, 'b'::BLOB]"]
)
def test_parquet_cells_that_are_no_ids(tmp_path: Path, ids: str) -> None:
    with pytest.raises(Exception, match="must be text or a whole number"):
        read(parquet(tmp_path, f"SELECT unnest({ids}) AS id, 1 AS score"), ask())


def test_parquet_values_and_structs(tmp_path: Path) -> None:
    structs = "[{'acc': 1.0::DOUBLE}, {'acc': 'nan'::DOUBLE}, {'acc': NULL}]"
    sql = f"SELECT unnest(['a','b','c']) AS id, unnest({structs}) AS m"
    found = read(parquet(tmp_path, sql), ask(metrics={"m.acc": "graded"}))
    assert values(found, "m.acc") == {"a": 1, "b": None, "c": None}
    assert [example[1:] for example in found.missing["m.acc"].examples] == [
        ("row 2", "NaN"),
        ("row 3", "null"),
    ]
    assert (
        read(
            parquet(tmp_path, "SELECT 'a' AS id, 0.1::DECIMAL(5,2) AS score"),
            ask(metrics={"score": "graded"}),
        ).values["score"][0]
        == 0.1
    )
    with pytest.raises(Exception, match="a number written as text"):
        read(parquet(tmp_path, "SELECT 'a' AS id, '1' AS score"), ask())


def test_parquet_that_is_broken_or_named_like_a_pattern(tmp_path: Path) -> None:
    path = Path(parquet(tmp_path, "SELECT 'a' AS id, 1 AS score"))
    odd = tmp_path / "a[1]*?.parquet"
    odd.write_bytes(path.read_bytes())
    assert read(str(odd), ask()).ids.tolist() == ["a"]
    assert refusal(tmp_path, path.read_bytes()[:-10]).code == "broken_file"
    assert refusal(tmp_path, b"PAR1" + b"\x00" * 40 + b"PAR1").code == "broken_file"


def test_the_policy_may_name_another_id(tmp_path: Path) -> None:
    found = table(
        tmp_path, SAMPLES["promptfoo"], metrics={"success": "binary"}, id="vars.n", id_declared=True
    )
    assert found.ids.tolist() == ["0", "1", "2", "3", "4", "5"]
    found = table(
        tmp_path, SAMPLES["lm_eval"], metrics={"acc": "binary"}, id="doc.question", id_declared=True
    )
    assert found.ids.tolist()[0] == "q0"


def test_a_tool_that_ran_once_has_no_repeats_to_name(tmp_path: Path) -> None:
    """One side may be run once and the other several times."""
    for name, metric in (("promptfoo", "success"), ("human_eval", "passed")):
        found = table(tmp_path, SAMPLES[name], metrics={metric: "binary"}, repeat="repeat")
        assert found.repeats is None
    error = refusal(tmp_path, "id,score\na,1\n", repeat="repeat")
    assert error.code == "missing_repeat"


def test_inputs_as_declared_ids(tmp_path: Path) -> None:
    content = json.dumps([{"question": "two\nlines", "score": 1}, {"question": "x" * 5000, "score": 0}])
    found = table(tmp_path, content, id="question", id_declared=True)
    assert found.ids[0] == "two\\nlines"
    assert len(found.ids[1]) < 200


def deepeval_run(score: float = 0.5, judge: str = "j", **stated: Any) -> str:
    metric = {"name": "Relevancy", "score": score, "success": score > 0.4, "evaluationModel": judge} | stated
    cases = [
        {"name": f"c{i}", "input": f"q{i}", "success": score > 0.4, "metricsData": [metric]} for i in range(N)
    ]
    return json.dumps({"testCases": cases})


def graded_by(
    judge: str = "judge-a", value: str = "correct", threshold: float = 0.8, version: str = "1"
) -> str:
    asked = [
        {"type": "llm-rubric", "value": value, "threshold": threshold, "provider": judge, "metric": "ok"}
    ]
    cases = [{"vars": {"n": i}, "assert": asked} for i in range(N)]
    rows = [
        tools.promptfoo_row(i, even(i), testCase=case, vars={"n": i}, namedScores={"ok": int(even(i))})
        for i, case in enumerate(cases)
    ]
    return json.dumps(json.loads(tools.promptfoo(rows)) | {"metadata": {"promptfooVersion": version}})


def inspect_with(model: str = "m", roles: Any = None, reducer: str = "mean", version: str = "1") -> str:
    log = json.loads(tools.inspect_json(tools.inspect_samples(N, 2, even)))
    log["eval"] |= {"model": model, "packages": {"inspect_ai": version}, "model_roles": roles or {}}
    log["eval"]["config"] = {"epochs": 2, "epochs_reducer": [reducer]}
    return json.dumps(log)


DECIDED = [
    (
        "success",
        deepeval_run(threshold=0.7),
        deepeval_run(threshold=0.4),
        "the threshold of 'Relevancy' differs",
    ),
    ("Relevancy", deepeval_run(strictMode=False), deepeval_run(strictMode=True), "the strictMode of"),
    ("Relevancy", deepeval_run(), deepeval_run(judge="k"), "the judge of 'Relevancy' differs"),
    ("success", graded_by(), graded_by(value="roughly right"), "'roughly right'|ask for differs"),
    ("success", graded_by(), graded_by(threshold=0.2), "the threshold of the assertions differs"),
    ("ok", graded_by(), graded_by(judge="judge-b"), "the grader of the assertions of 'ok' differs"),
    ("win", tools.alpaca_eval([1, 2]), tools.alpaca_eval([1, 2], judge="k"), "the annotator"),
    ("win", tools.alpaca_eval([1, 2]), tools.alpaca_eval([1, 2], reference="k"), "the reference model"),
    (
        "match",
        inspect_with(roles={"grader": {"model": "g"}}),
        inspect_with(roles={"grader": {"model": "h"}}),
        "the grader in the role 'grader' differs .baseline 'g', candidate 'h'",
    ),
]


@pytest.mark.parametrize(("metric", "one", "other", "said"), DECIDED)
def test_another_bar_is_not_comparable(tmp_path: Path, metric: str, one: str, other: str, said: str) -> None:
    request = ask(metrics={metric: "binary" if metric == "success" else "graded"})
    first, second = (read(write(tmp_path, f"{k}.json", text), request) for k, text in enumerate((one, other)))
    assert not [code for code, _ in comparable(first, first) if "differ" in code or "compar" in code]
    with pytest.raises(GateError, match=said) as caught:
        comparable(first, second)
    assert caught.value.code == "not_comparable"
    if metric != "match":  # a role of the whole log may have decided anything
        watched = comparable(first, second, {}, frozenset({metric}))
        assert "watched_not_comparable" in [code for code, _ in watched]


def test_a_bar_does_not_touch_what_it_did_not_decide(tmp_path: Path) -> None:
    pairs = [
        ("Relevancy", deepeval_run(threshold=0.7), deepeval_run(threshold=0.4)),
        ("latencyMs", graded_by(), graded_by(judge="judge-b")),
    ]
    for metric, *contents in pairs:
        request = ask(metrics={"m": "graded"}, mapping={"m": metric})
        one, other = (read(write(tmp_path, f"{k}.json", text), request) for k, text in enumerate(contents))
        assert "not_comparable" not in dict(comparable(one, other, {"m": metric}))


WARNED = {
    "tool_version_differs": (graded_by(), graded_by(version="2"), "success"),
    "reducer_differs": (inspect_with(), inspect_with(reducer="max"), "match"),
    "self_graded": (
        inspect_with(roles={"grader": "g"}),
        inspect_with(model="g", roles={"grader": "g"}),
        "match",
    ),
    "role_differs": (inspect_with(roles={"user": "g"}), inspect_with(roles={"user": "h"}), "match"),
}


@pytest.mark.parametrize("code", WARNED)
def test_other_circumstances_are_a_caution(tmp_path: Path, code: str) -> None:
    *contents, metric = WARNED[code]
    request = ask(metrics={metric: "binary" if metric == "success" else "graded"})
    one, other = (read(write(tmp_path, f"{k}.json", text), request) for k, text in enumerate(contents))
    assert code in dict(comparable(one, other))
    assert code not in dict(comparable(one, one))
    assert ("reduced_otherwise" in dict(other.cautions)) is (code == "reducer_differs")


@pytest.mark.parametrize(
    ("metric", "kind", "column", "refused"),
    [
        ("real_time", "graded", "time_unit", True),
        ("score", "graded", "judge_model", True),
        ("score", "graded", "dataset_revision", True),
        ("passed", "binary", "threshold", True),
        ("score", "graded", "threshold", False),
        ("latency_ms", "graded", "judge_model", False),
        ("score", "graded", "note", False),
        ("passed", "binary", "passing_score", True),
        ("passed", "binary", "similarity_threshold", True),
        ("passed", "binary", "above_threshold", False),
        ("score", "graded", "judge.model", True),
        ("score", "graded", "rubric_version", True),
        ("score", "graded", "judge_score", False),
        ("score", "graded", "dataset_name", True),
        ("score", "graded", "model_version", False),
        ("latency", "graded", "latency_unit", True),
        ("latency", "graded", "duration_units", True),
        ("cost", "graded", "currency", True),
        ("score", "graded", "currency", False),
        ("score", "graded", "latency_unit", False),
    ],
)
@pytest.mark.parametrize("layout", ["csv", "jsonl"])
def test_columns_of_a_table_say_how_scores_were_made(
    tmp_path: Path, metric: str, kind: str, column: str, refused: bool, layout: str
) -> None:
    def content(word: str) -> str:
        rows = [{"id": f"q{i}", metric: int(even(i)), column: word} for i in range(N)]
        lines = [",".join(map(str, row.values())) + "\n" for row in rows]
        heading = f"id,{metric},{column}\n"
        return heading + "".join(lines) if layout == "csv" else "".join(json.dumps(r) + "\n" for r in rows)

    one, other = (table(tmp_path, content(w), name=w, metrics={metric: kind}) for w in ("ns", "ms"))
    assert not comparable(one, one)
    if refused:
        with pytest.raises(
            GateError, match=f"the column '{column}' differs .baseline .*ns.*, candidate .*ms"
        ):
            comparable(one, other)
    else:
        assert not comparable(one, other)
