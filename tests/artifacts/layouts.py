"""A small file of each layout in the table, as the tool writes it. Item i is right where i is even.

Keys are those of the tools' documentation and source, as far as public files show them; values are synthetic.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import tools
from .tools import even

Make = Callable[[int], dict[str, Any]]
N = 4


def _list(make: Make) -> list[dict[str, Any]]:
    return [make(i) for i in range(N)]


def _lines(make: Make) -> str:
    return "".join(json.dumps(make(i)) + "\n" for i in range(N))


def _right(i: int) -> float:
    return float(i % 2 == 0)


def _doc(**parts: Any) -> str:
    return json.dumps(parts)


def _tau2(i: int) -> dict[str, Any]:
    row = {"id": f"run-{i}", "task_id": str(i), "trial": 0, "seed": 300, "messages": []}
    return row | {"termination_reason": "user_stop", "reward_info": {"reward": _right(i)}}


def _tau(i: int) -> dict[str, Any]:
    return {"task_id": i, "reward": _right(i), "info": {"task": {}}, "traj": [], "trial": 0}


def _harbor(i: int) -> dict[str, Any]:
    row = {"task_name": f"t{i}", "trial_name": f"t{i}__abc", "task_checksum": f"sum{i}"}
    return row | {"verifier_result": {"rewards": {"reward": _right(i)}}, "exception_info": None}


def _fastchat(i: int) -> dict[str, Any]:
    row = {"question_id": 81 + i, "model": "m1", "judge": ["gpt-4", "single-v1"], "user_prompt": "?"}
    return row | {"judgment": "Rating: [[7]]", "score": 7 * _right(i), "turn": 1, "tstamp": 1687222222.0}


def _braintrust(i: int) -> dict[str, Any]:
    row = {"id": f"run-{i}", "input": {"q": i}, "output": "o", "expected": str(i), "error": None}
    return row | {"scores": {"Exact": _right(i)}, "metadata": {}, "tags": []}


def _output_item(i: int) -> dict[str, Any]:
    row = {"object": "eval.run.output_item", "id": f"outputitem_{i}", "status": "fail" if i % 2 else "pass"}
    row |= {"datasource_item_id": i, "datasource_item": {"q": i}, "eval_id": "e", "run_id": "r"}
    return row | {"results": [{"name": "grader", "score": _right(i), "passed": i % 2 == 0}]}


def _helm(i: int) -> dict[str, Any]:
    stats = [
        {"name": {"name": name, "split": "test"}, "count": 1, "sum": mean, "mean": mean}
        for name, mean in (("num_references", 4.0), ("exact_match", _right(i)))
    ]
    return {"instance_id": f"id{i}", "train_trial_index": 0, "stats": stats}


def _evalscope(i: int) -> dict[str, Any]:
    score = {"value": {"acc": _right(i)}, "extracted_prediction": "A", "prediction": "A"}
    return {"index": i, "target": "A", "sample_score": {"score": score, "sample_id": i, "group_id": i}}


def _phoenix(i: int) -> dict[str, Any]:
    row = {"id": f"run-{i}", "example_id": f"ex{i}", "repetition_number": 1, "output": "o", "error": None}
    return row | {"annotations": [{"name": "correct", "score": _right(i), "label": "x"}]}


def _weave(i: int) -> dict[str, Any]:
    output = {"output": "o", "scores": {"match": {"correct": i % 2 == 0}}}
    return {"id": f"c{i}", "inputs": {"example": {"q": i}}, "output": output, "exception": None}


def _azure(i: int) -> dict[str, Any]:
    return {
        "inputs.query": f"q{i}",
        "inputs.ground_truth": "g",
        "outputs.relevance.gpt_relevance": 5 * _right(i),
        "outputs.relevance.relevance_reason": "because",
        "line_number": i,
    }


def _google(i: int) -> dict[str, Any]:
    row = {"name": f"BM/{i}", "run_name": f"BM/{i}", "run_type": "iteration", "repetitions": 1}
    return row | {"repetition_index": 0, "real_time": i + 0.5, "cpu_time": i + 0.25, "time_unit": "ns"}


def _expectation(i: int) -> dict[str, Any]:
    config = {"type": "expect_column_to_exist", "kwargs": {"column": f"c{i}", "batch_id": "x"}}
    raised = {"raised_exception": False, "exception_message": None}
    return {"success": i % 2 == 0, "expectation_config": config, "exception_info": raised, "result": {}}


def _evals_log() -> str:
    rows: list[dict[str, Any]] = [{"spec": {"eval_name": "e.dev.v0", "run_id": "r", "split": "dev"}}]
    for i in range(N):
        head = {"run_id": "r", "event_id": 2 * i, "sample_id": f"e.dev.{i}", "created_at": "x"}
        rows.append({**head, "type": "sampling", "data": {"prompt": "p", "sampled": ["A"]}})
        rows.append({**head, "type": "match", "data": {"correct": i % 2 == 0, "expected": "A"}})
    return "".join(json.dumps(row) + "\n" for row in [*rows, {"final_report": {"accuracy": 0.5}}])


def _aggregate() -> dict[str, Any]:
    return _google(0) | {"name": "BM/0_mean", "run_type": "aggregate", "aggregate_name": "mean"}


SAMPLES: dict[str, tuple[str, str, dict[str, float | None]]] = {
    "human_eval": (tools.human_eval(N, even), "passed", {f"H/{i}": _right(i) for i in range(N)}),
    "swebench_instances": (
        json.dumps(
            {
                f"a__b-{i}": {
                    "patch_is_None": False,
                    "patch_exists": True,
                    "patch_successfully_applied": True,
                    "resolved": i % 2 == 0,
                    "tests_status": {},
                }
                for i in range(N)
            }
        ),
        "resolved",
        {f"a__b-{i}": _right(i) for i in range(N)},
    ),
    "tau2": (
        _doc(info={"environment_info": {"domain_name": "airline"}}, tasks=[], simulations=_list(_tau2)),
        "reward",
        {str(i): _right(i) for i in range(N)},
    ),
    "tau_bench": (json.dumps(_list(_tau)), "reward", {str(i): _right(i) for i in range(N)}),
    "harbor": (_lines(_harbor), "reward", {f"t{i}": _right(i) for i in range(N)}),
    "fastchat": (_lines(_fastchat), "score", {f"{81 + i}/1": 7 * _right(i) for i in range(N)}),
    "braintrust": (_lines(_braintrust), "Exact", {f'{{"q":{i}}}': _right(i) for i in range(N)}),
    "openai_evals": (_evals_log(), "correct", {f"e.dev.{i}": _right(i) for i in range(N)}),
    "openai_output_items": (
        _doc(object="list", data=_list(_output_item), has_more=False),
        "grader",
        {str(i): _right(i) for i in range(N)},
    ),
    "helm": (json.dumps(_list(_helm)), "exact_match", {f"id{i}": _right(i) for i in range(N)}),
    "evalscope": (_lines(_evalscope), "acc", {str(i): _right(i) for i in range(N)}),
    "opencompass": (
        _doc(accuracy=50.0, details={str(i): {"pred": "A", "correct": i % 2 == 0} for i in range(N)}),
        "correct",
        {str(i): _right(i) for i in range(N)},
    ),
    "bfcl": (
        '{"accuracy": 0.5, "correct_count": 2, "total_count": 4}\n'
        + "".join(
            json.dumps({"id": f"simple_{i}", "valid": False, "error": ["x"], "error_type": "value_error"})
            + "\n"
            for i in (1, 3)
        ),
        "valid",
        {f"simple_{i}": _right(i) for i in range(N)},
    ),
    "phoenix": (json.dumps(_list(_phoenix)), "correct", {f"ex{i}": _right(i) for i in range(N)}),
    "weave": (_lines(_weave), "match.correct", {f'{{"q":{i}}}': _right(i) for i in range(N)}),
    "azure_evaluation": (
        _doc(rows=_list(_azure), metrics={"relevance.gpt_relevance": 2.5}, studio_url=None),
        "relevance.gpt_relevance",
        {str(i): 5 * _right(i) for i in range(N)},
    ),
    "mteb": (
        _doc(
            dataset_revision="abc",
            task_name="T",
            mteb_version="1.14",
            scores={"test": [{"hf_subset": f"s{i}", "main_score": i / 8} for i in range(N)]},
        ),
        "main_score",
        {f"s{i}": i / 8 for i in range(N)},
    ),
    "comet": (
        json.dumps({"sys1.txt": [{"src": f"s{i}", "mt": "m", "ref": "r", "COMET": i / 8} for i in range(N)]}),
        "COMET",
        {f"s{i}": i / 8 for i in range(N)},
    ),
    "lerobot": (
        _doc(
            per_episode=[
                {"episode_ix": i, "sum_reward": 1.0, "max_reward": 1.0, "success": i % 2 == 0, "seed": 42 + i}
                for i in range(N)
            ],
            aggregated={"pc_success": 50.0},
        ),
        "success",
        {str(i): _right(i) for i in range(N)},
    ),
    "google_benchmark": (
        _doc(context={"library_build_type": "release"}, benchmarks=[*_list(_google), _aggregate()]),
        "real_time",
        {f"BM/{i}": i + 0.5 for i in range(N)},
    ),
    "pytest_benchmark": (
        _doc(
            machine_info={},
            benchmarks=[
                {"fullname": f"t.py::b{i}", "name": f"b{i}", "stats": {"mean": i + 0.5, "median": 1.0}}
                for i in range(N)
            ],
        ),
        "mean",
        {f"t.py::b{i}": i + 0.5 for i in range(N)},
    ),
    "great_expectations": (
        _doc(success=False, results=_list(_expectation), statistics={"evaluated_expectations": N}),
        "success",
        {f'expect_column_to_exist/{{"column":"c{i}"}}': _right(i) for i in range(N)},
    ),
    "evidently": (
        _doc(
            tests=[
                {"name": f"n{i}", "status": "FAIL" if i % 2 else "SUCCESS", "group": "g"} for i in range(N)
            ],
            summary={"all_passed": False, "by_status": {"SUCCESS": 2, "FAIL": 2}},
        ),
        "status",
        {f"n{i}": _right(i) for i in range(N)},
    ),
}
"""name -> (content, metric, id -> value)."""
