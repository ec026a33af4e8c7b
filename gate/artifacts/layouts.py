"""Formats that are mappings over JSON rows: one table. A new one is ten lines here (docs/add-a-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gate.artifacts.lookup import lookup
from gate.artifacts.records import ABSENT

Row = Mapping[str, Any]
KEY = "{}"
"""As a path: the key under which a row lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a tool writes its results. Paths are dotted, as in a mapping; ``a|b``: the first that is there.

    sure: paths of the first row (``path=word``: with that word; ``name.*``: a key that starts so), and
    beside: paths of the document, that together no other tool writes.
    rows: where the rows lie: the document or its lines (""), a list (``data``), the only list inside (``*``),
    objects under their ids (``details{}``).
    id: paths joined by ``/``; what is no text is its canonical JSON without the keys in ``leave``.
    repeat: path of the number of the run. by_order: an id that occurs again is another run.
    metrics: name -> path; ``*``: each by its own name: ``scores.*`` or ``list[name].score``.
    lower: metrics of which less is better; of the others with a fixed name more is.
    values: words -> numbers. failed: path -> words that mean a run without result: ``*`` is anything,
    ``null`` nothing. equal: path -> what must be the same on both sides, per row, or with ``/`` of the
    document. gold: path of the expected answer. only: path -> words of the rows that are results.
    skip: keys of rows that are none. texts: columns that are no metrics
    and say nothing of the run itself. empty: path of the answer, where none is noted. agree: path of a
    verdict and of its word, which must not contradict it by ``values``.
    part: path of the document that is true where more results follow in
    another file. system: path of the system, where a file holds several. absent: the value of items that
    only ``--labels`` names; total: path in a skipped row with the number of items.
    """

    name: str
    reads: str
    item: str
    shows: str
    sure: tuple[str, ...]
    id: tuple[str, ...]
    metrics: Mapping[str, str]
    beside: tuple[str, ...] = ()
    rows: tuple[str, ...] = ("",)
    leave: frozenset[str] = frozenset()
    repeat: str | None = None
    by_order: bool = False
    lower: frozenset[str] = frozenset()
    values: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    equal: Mapping[str, str] = field(default_factory=dict)
    gold: str | None = None
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skip: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    empty: str | None = None
    agree: tuple[str, str] | None = None
    part: str | None = None
    system: str | None = None
    absent: Mapping[str, float] = field(default_factory=dict)
    total: str | None = None


LAYOUTS = (
    Layout(
        name="human_eval",
        reads="HumanEval _results.jsonl",
        item="task_id",
        shows="passed and numeric columns",
        sure=("task_id", "completion", "passed", "result"),
        id=("task_id",),
        by_order=True,
        metrics={"passed": "passed", "*": "*"},
        values={"passed": 1, "failed": 0, "timed out": 0},
        texts=frozenset({"task_id", "completion", "result", "completion_id", "prompt", "solution"}),
        empty="completion",
        agree=("passed", "result"),
    ),
    Layout(
        name="swebench_instances",
        reads="SWE-bench report.json of the instances: {instance_id: {resolved, ...}}",
        item="instance id",
        shows="resolved",
        rows=(KEY,),
        sure=("resolved", "patch_exists", "patch_successfully_applied"),
        id=(KEY,),
        metrics={"resolved": "resolved"},
        failed={"infra_failure": ("true",)},
    ),
    Layout(
        name="tau2",
        reads="tau2-bench results.json",
        item="task_id",
        shows="reward",
        rows=("simulations",),
        sure=("task_id", "reward_info", "termination_reason"),
        id=("task_id",),
        repeat="trial",
        by_order=True,
        metrics={"reward": "reward_info.reward"},
        failed={"termination_reason": ("infrastructure_error",), "reward_info": ("null",)},
        equal={"/info.environment_info.domain_name": "the domain"},
    ),
    Layout(
        name="tau_bench",
        reads="tau-bench results, a list of runs",
        item="task_id",
        shows="reward",
        sure=("task_id", "trial", "reward", "info", "traj"),
        id=("task_id",),
        repeat="trial",
        metrics={"reward": "reward"},
        failed={"info.error": ("*",)},
    ),
    Layout(
        name="harbor",
        reads="Harbor trial results, a list or JSON Lines of result.json",
        item="task_name",
        shows="each reward of the verifier",
        sure=("task_name", "trial_name", "verifier_result"),
        id=("task_name",),
        by_order=True,
        metrics={"*": "verifier_result.rewards.*"},
        failed={"exception_info": ("*",), "verifier_result": ("null",)},
        equal={"task_checksum": "the checksum of the task"},
    ),
    Layout(
        name="fastchat",
        reads="FastChat and MT-bench single-answer judgments; several models in one file",
        item="question_id/turn",
        shows="score",
        sure=("question_id", "turn", "model", "judge", "score"),
        id=("question_id", "turn"),
        metrics={"score": "score"},
        failed={"score": ("-1",)},
        equal={"judge": "the judge"},
        system="model",
    ),
    Layout(
        name="braintrust",
        reads="Braintrust experiment rows",
        item="input",
        shows="each of scores",
        sure=("input", "output", "expected", "scores", "error", "metadata"),
        id=("input",),
        by_order=True,
        metrics={"*": "scores.*"},
        failed={"error": ("*",)},
        gold="expected",
    ),
    Layout(
        name="openai_evals",
        reads="OpenAI evals log, JSON Lines with a spec in the first line",
        item="sample_id",
        shows="correct",
        sure=("spec.eval_name",),
        id=("sample_id",),
        metrics={"correct": "data.correct"},
        only={"type": ("match",)},
        skip=frozenset({"spec", "final_report"}),
    ),
    Layout(
        name="openai_output_items",
        reads="output items of the OpenAI evals API, as listed or as JSON Lines",
        item="datasource_item_id",
        shows="status, each grader by its name",
        rows=("data", ""),
        sure=("object=eval.run.output_item", "datasource_item_id", "results"),
        id=("datasource_item_id",),
        metrics={"status": "status", "*": "results[name].score"},
        values={"pass": 1, "fail": 0},
        failed={"status": ("error", "errored"), "sample.error.code": ("*",)},
        equal={"datasource_item": "the item"},
        part="has_more",
    ),
    Layout(
        name="helm",
        reads="HELM per_instance_stats.json",
        item="instance_id, and the perturbation",
        shows="each statistic by its name",
        sure=("instance_id", "train_trial_index", "stats"),
        id=("instance_id", "perturbation"),
        repeat="train_trial_index",
        metrics={"*": "stats[name.name].mean"},
    ),
    Layout(
        name="evalscope",
        reads="EvalScope reviews, JSON Lines",
        item="group_id, else sample_id",
        shows="each value of the score",
        sure=("index", "sample_score.score.value"),
        id=("sample_score.group_id|sample_score.sample_id|index",),
        by_order=True,
        metrics={"*": "sample_score.score.value.*"},
        gold="target",
    ),
    Layout(
        name="opencompass",
        reads="OpenCompass results with details",
        item="key in details",
        shows="correct",
        rows=("details{}",),
        beside=("accuracy",),
        sure=("correct",),
        id=(KEY,),
        metrics={"correct": "correct"},
        equal={"prompt|origin_prompt": "the prompt"},
    ),
    Layout(
        name="bfcl",
        reads="BFCL score files (failed ids only); --labels names all ids",
        item="id",
        shows="valid",
        sure=("accuracy", "correct_count", "total_count"),
        id=("id",),
        metrics={"valid": "valid"},
        skip=frozenset({"correct_count"}),
        texts=frozenset({"error", "error_type"}),
        absent={"valid": 1.0},
        total="total_count",
    ),
    Layout(
        name="phoenix",
        reads="Phoenix experiment runs",
        item="example_id",
        shows="each annotation by its name",
        sure=("example_id", "repetition_number", "annotations"),
        id=("example_id",),
        repeat="repetition_number",
        metrics={"*": "annotations[name].score"},
        failed={"error": ("*",)},
    ),
    Layout(
        name="weave",
        reads="Weave predict_and_score calls",
        item="inputs.example",
        shows="each of output.scores",
        sure=("inputs.example", "output.scores"),
        id=("inputs.example",),
        by_order=True,
        metrics={"*": "output.scores.*"},
        failed={"exception": ("*",)},
    ),
    Layout(
        name="azure_evaluation",
        reads="Azure AI evaluation results",
        item="line_number",
        shows="each output: relevance.gpt_relevance",
        rows=("rows",),
        beside=("metrics", "studio_url"),
        sure=("outputs.*",),
        id=("line_number",),
        metrics={"*": "outputs.*"},
        equal={"inputs.query": "the query"},
        gold="inputs.ground_truth",
    ),
    Layout(
        name="mteb",
        reads="MTEB result of a task, one item a subset",
        item="hf_subset",
        shows="main_score",
        rows=("scores.*",),
        beside=("task_name", "mteb_version"),
        sure=("hf_subset", "main_score"),
        id=("hf_subset",),
        metrics={"main_score": "main_score"},
        equal={"/task_name": "the task", "/dataset_revision": "the revision of the data set"},
    ),
    Layout(
        name="comet",
        reads="COMET segment scores of one file (--to_json)",
        item="src",
        shows="COMET",
        rows=("*",),
        sure=("src", "mt", "COMET"),
        id=("src",),
        metrics={"COMET": "COMET"},
        gold="ref",
    ),
    Layout(
        name="lerobot",
        reads="LeRobot eval_info.json with per_episode",
        item="episode_ix",
        shows="success, sum_reward, max_reward",
        rows=("per_episode",),
        beside=("aggregated",),
        sure=("episode_ix", "success", "sum_reward"),
        id=("episode_ix",),
        metrics={"success": "success", "sum_reward": "sum_reward", "max_reward": "max_reward"},
        equal={"seed": "the seed"},
    ),
    Layout(
        name="google_benchmark",
        reads="google-benchmark JSON; repetitions are repeats, aggregates are left out",
        item="run_name",
        shows="real_time, cpu_time",
        rows=("benchmarks",),
        beside=("context",),
        sure=("run_name", "run_type", "real_time", "time_unit"),
        id=("run_name",),
        repeat="repetition_index",
        metrics={"real_time": "real_time", "cpu_time": "cpu_time"},
        lower=frozenset({"real_time", "cpu_time"}),
        failed={"error_occurred": ("true",)},
        equal={"time_unit": "the unit of time", "/context.library_build_type": "the type of build"},
        only={"run_type": ("iteration",)},
    ),
    Layout(
        name="pytest_benchmark",
        reads="pytest-benchmark JSON",
        item="fullname",
        shows="mean, median, min, max of the seconds",
        rows=("benchmarks",),
        beside=("machine_info",),
        sure=("fullname", "stats.mean"),
        id=("fullname",),
        metrics={name: f"stats.{name}" for name in ("mean", "median", "min", "max")},
        lower=frozenset({"mean", "median", "min", "max"}),
    ),
    Layout(
        name="great_expectations",
        reads="Great Expectations validation result",
        item="type and arguments of the expectation",
        shows="success",
        rows=("results",),
        beside=("success", "statistics"),
        sure=("success", "expectation_config"),
        id=("expectation_config.expectation_type|expectation_config.type", "expectation_config.kwargs"),
        leave=frozenset({"batch_id"}),
        metrics={"success": "success"},
        failed={"exception_info.raised_exception": ("true",)},
    ),
    Layout(
        name="evidently",
        reads="Evidently test suite",
        item="name",
        shows="status",
        rows=("tests",),
        beside=("summary.by_status",),
        sure=("name", "status"),
        id=("name",),
        metrics={"status": "status"},
        values={"SUCCESS": 1, "FAIL": 0},
        failed={"status": ("ERROR", "SKIPPED")},
    ),
)
BY_NAME = {layout.name: layout for layout in LAYOUTS}


def fits(layout: Layout, document: Any) -> bool:
    """Whether a document, or the first line of JSON Lines, is of this layout."""
    if not all(lookup(document, path) is not ABSENT for path in layout.beside):
        return False
    found = next((rows for place in layout.rows if (rows := rows_at(document, place))), [])
    return bool(found) and all(_has(found[0][1], mark) for mark in layout.sure)


def rows_at(document: Any, place: str) -> list[tuple[str, Any]]:
    """(key or "", row) of the rows at a place; empty where there are none."""
    if place.endswith(KEY):
        inner = document if place == KEY else lookup(document, place.removesuffix(KEY))
        return list(inner.items()) if isinstance(inner, Mapping) and _objects(inner.values()) else []
    if place == "" and isinstance(document, Mapping):
        return [("", document)]
    if place.endswith("*"):
        inner = lookup(document, place[:-2]) if place != "*" else document
        lists = list(inner.values()) if isinstance(inner, Mapping) else []
        inner = lists[0] if len(lists) == 1 else None
    else:
        inner = document if place == "" else lookup(document, place)
    return [("", row) for row in inner] if isinstance(inner, list) and _objects(inner[:1]) else []


def _objects(values: Any) -> bool:
    return all(isinstance(value, Mapping) for value in values)


def _has(row: Row, mark: str) -> bool:
    path, _, word = mark.partition("=")
    if path.endswith(".*"):
        return any(key.startswith(path[:-1]) for key in row)
    found = lookup(row, path)
    return found is not ABSENT and (not word or found == word)
