"""Small files in the layouts that eval tools write. Every item i is right where ``right(i)`` says so."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import zstandard

Right = Callable[[int], bool]


def even(item: int) -> bool:
    return item % 2 == 0


def lm_eval(
    n: int, right: Right, *, filters: Sequence[str] = ("none",), metric: str = "acc", **changes: Any
) -> str:
    """Layout of 0.4.3 and later: all rows of a filter, then all of the next."""
    rows = []
    for name in filters:
        for i in range(n):
            row = {"doc_id": i, "doc": {"question": f"q{i}", "subject": "ab"[i % 2]}, "target": str(i)}
            row |= {
                "arguments": {"gen_args_0": {"arg_0": "x\u2028y"}},
                "resps": [["a"]],
                "filtered_resps": ["a"],
            }
            row |= {
                "filter": name,
                "metrics": [metric],
                "doc_hash": f"d{i}",
                "prompt_hash": f"p{i}",
                "target_hash": f"t{i}",
            }
            score = float(right(i)) if name != filters[-1] or len(filters) == 1 else 1.0
            rows.append(row | {metric: score} | changes)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def lm_eval_old(n: int, right: Right) -> str:
    """Layout of 0.4.0 and 0.4.1: one indented array, no filter, no list of metrics."""
    rows = [
        {"doc_id": i, "doc": {"q": i}, "target": i, "arguments": [["a", "b"]], "resps": [[[-1.5, False]]]}
        | {"filtered_resps": [[-1.5, False]], "acc": float(right(i)), "acc_norm": 1.0}
        for i in range(n)
    ]
    return json.dumps(rows, indent=2)


def promptfoo_row(i: int, passed: bool, **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "cost": 0.1,
        "id": f"u{i}",
        "latencyMs": 10 + i,
        "promptId": "p",
        "promptIdx": 0,
        "testIdx": i,
    }
    row |= {
        "namedScores": {"tone": 1.0 if passed else 0.25},
        "success": passed,
        "score": 1.0 if passed else 0.5,
    }
    row |= {"prompt": {"raw": f"Q {i}", "label": "Q {{n}}"}, "provider": {"id": "openai:m", "label": "m"}}
    row |= {
        "vars": {"n": i, "topic": "ab"[i % 2]},
        "testCase": {"vars": {"n": i}, "description": f"case {i}"},
    }
    row |= {"failureReason": 0 if passed else 1, "gradingResult": {"pass": passed, "componentResults": []}}
    if not passed:
        row["error"] = "Expected output to contain"
    return row | changes


def promptfoo_error(i: int) -> dict[str, Any]:
    return promptfoo_row(i, False, failureReason=2, error="timeout", gradingResult=None, namedScores={})


def promptfoo(rows: Sequence[Mapping[str, Any]], version: int = 3) -> str:
    return json.dumps(
        {"evalId": "e", "results": {"version": version, "results": rows, "stats": {}}, "config": {}}
    )


def promptfoo_v2(n: int, right: Right) -> str:
    gone = ("id", "promptId", "promptIdx", "testIdx", "failureReason", "testCase")
    rows = [{k: v for k, v in promptfoo_row(i, right(i)).items() if k not in gone} for i in range(n)]
    for row in rows:
        row["prompt"] = {"raw": row["prompt"]["raw"], "display": "Q {{n}}"}
        row["provider"] = {"id": "openai:m"}
    rows[0] |= {"success": False, "score": 0, "error": "Error: timeout"}
    del rows[0]["gradingResult"]
    return promptfoo(rows[::-1], 2)


def inspect_header(**changes: Any) -> dict[str, Any]:
    run = {"task": "t", "task_version": 0, "model": "m", "dataset": {"name": "d", "samples": 4}}
    run["scorers"] = [{"name": "match", "options": {"judge": "j-1"}}]
    return {
        "version": 2,
        "status": "success",
        "eval": run,
        "plan": {},
        "results": {"total_samples": 8},
    } | changes


def inspect_samples(n: int, epochs: int, right: Right) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{i}",
            "epoch": epoch,
            "input": "x",
            "metadata": {"topic": "ab"[i % 2]},
            "scores": {
                "match": {"value": "C" if right(i) else "I"},
                "both": {"value": {"exact": i % 2, "len": 0.5}},
            },
        }
        for i in range(n)
        for epoch in range(1, epochs + 1)
    ]


def inspect_json(samples: Sequence[Mapping[str, Any]], **changes: Any) -> str:
    return json.dumps(inspect_header(**changes) | {"samples": samples}, indent=2)


def inspect_eval(
    samples: Sequence[Mapping[str, Any]], *, zstd: bool = True, summaries: bool = True, **changes: Any
) -> bytes:
    members = {"_journal/start.json": "{}"}
    members |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s) for s in samples}
    if summaries:
        members["summaries.json"] = json.dumps(samples)
    members["header.json"] = json.dumps(inspect_header(**changes))
    return zipped(members, zstd=zstd)


def zipped(members: Mapping[str, str | bytes], *, zstd: bool = False) -> bytes:
    """A zip archive; method 93 is written by hand, since the library of Python 3.11 does not know it."""
    buffer = io.BytesIO()
    raw = {name: data.encode() if isinstance(data, str) else data for name, data in members.items()}
    if not zstd:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in raw.items():
                archive.writestr(name, data)
        return buffer.getvalue()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in raw.items():
            archive.writestr(name, zstandard.compress(data))
    return _as_zstd(buffer.getvalue(), raw)


def _as_zstd(archive: bytes, raw: Mapping[str, bytes]) -> bytes:
    patched = bytearray(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as stored:
        central = stored.start_dir
        for info in stored.infolist():
            crc = struct.pack("<L", zipfile.crc32(raw[info.filename]))
            size = struct.pack("<L", len(raw[info.filename]))
            struct.pack_into("<H", patched, info.header_offset + 8, 93)
            patched[info.header_offset + 14 : info.header_offset + 18] = crc
            patched[info.header_offset + 22 : info.header_offset + 26] = size
            struct.pack_into("<H", patched, central + 10, 93)
            patched[central + 16 : central + 20] = crc
            patched[central + 24 : central + 28] = size
            central += 46 + sum(struct.unpack_from("<HHH", patched, central + 28))
    return bytes(patched)


def deepeval(
    n: int, right: Right, *, names: str = "case_{}", errors: Sequence[int] = (), judge: str = "g"
) -> str:
    cases = []
    for i in range(n):
        metric: dict[str, Any] = {"name": "Relevancy [GEval]", "threshold": 0.5, "evaluationModel": judge}
        metric |= (
            {"error": "bad JSON", "success": False} if i in errors else {"score": i / n, "success": right(i)}
        )
        exact = {"name": "Exact", "score": float(right(i)), "success": right(i)}
        case = {
            "name": names.format(i),
            "input": f"What is {i}?\nBriefly.",
            "success": right(i) and i not in errors,
        }
        cases.append(case | {"metricsData": [metric, exact], "metadata": {"topic": "ab"[i % 2]}})
    return json.dumps({"testCases": cases, "conversationalTestCases": [], "testPassed": 1, "testFailed": 1})


def swebench(ids: Sequence[str], resolved: Sequence[str], **lists: Sequence[str]) -> str:
    listed = {name: list(found) for name, found in lists.items()}
    broken = {item for name, found in listed.items() if name != "submitted_ids" for item in found}
    done = [item for item in ids if item not in broken]
    report = {"total_instances": len(ids), "completed_ids": done, "resolved_ids": list(resolved)}
    report["unresolved_ids"] = [item for item in done if item not in resolved]
    report["submitted_ids"] = [item for item in ids if item not in listed.get("incomplete_ids", [])]
    return json.dumps(report | listed | {"schema_version": 2}, indent=4)


def terminal_bench(verdicts: Mapping[str, Sequence[bool | None]], **more: Any) -> str:
    """trials of each task."""
    rows = [
        {"task_id": task, "trial_name": f"{task}.{k}-of-{len(trials)}", "is_resolved": verdict}
        | {"failure_mode": "unknown_agent_error" if verdict is None else "unset"}
        for task, trials in verdicts.items()
        for k, verdict in enumerate(trials, 1)
    ]
    solved = [task for task, trials in verdicts.items() if any(trials)]
    others = [task for task, trials in verdicts.items() if not all(trials)]
    report = {"results": rows, "n_resolved": len(solved), "resolved_ids": solved, "unresolved_ids": others}
    return json.dumps(report | more)


def alpaca_eval(preferences: Sequence[float | None], *, judge: str = "j", reference: str = "r") -> str:
    fixed = {
        "output_1": "a",
        "generator_1": reference,
        "output_2": "b",
        "generator_2": "m",
        "annotator": judge,
    }
    rows = [fixed | {"instruction": f"do {i}", "preference": p} for i, p in enumerate(preferences)]
    return json.dumps(rows)


def evalplus(n: int, right: Right, *, samples: int = 1) -> str:
    def sample(i: int, k: int) -> dict[str, Any]:
        base = "pass" if right(i + k) else "fail"
        return {
            "task_id": f"H/{i}",
            "solution": "x",
            "base_status": base,
            "plus_status": "timeout" if i == 0 else "pass",
        }

    tasks = {f"H/{i}": [sample(i, k) for k in range(samples)] for i in reversed(range(n))}
    return json.dumps({"date": "d", "hash": "h", "eval": tasks})


def human_eval(n: int, right: Right, *, samples: int = 1) -> str:
    rows = [
        {
            "task_id": f"H/{i}",
            "completion": "x",
            "result": "passed" if right(i) else "timed out",
            "passed": right(i),
        }
        for i in range(n)
        for _ in range(samples)
    ]
    return "".join(json.dumps(row | {"style": None if i == 0 else 0.5}) + "\n" for i, row in enumerate(rows))


_PROPERTIES = (
    '<properties><property name="score" value="0.25" /><property name="topic" value="a" /></properties>'
)


def junit(cases: Sequence[tuple[str, str]], *, family: str = "xunit2") -> str:
    """cases: (name, what happened)."""
    bodies = {
        "passed": "",
        "failure": '<failure message="m">trace &lt;x&gt;</failure>',
        "error": '<error message="failed on setup">trace</error>',
        "skipped": '<skipped type="pytest.skip" message="s" />',
        "xfail": '<skipped type="pytest.xfail" message="s" />',
    }
    body = "".join(
        f'<testcase classname="test_m" name={quoteattr(name)} time="0.5">'
        f"{_PROPERTIES}{bodies[kind]}</testcase>"
        for name, kind in cases
    )
    inner = f'<testsuite name="pytest" tests="{len(cases)}">{body}</testsuite>'
    root = inner if family == "xunit1" else f"<testsuites>{inner}</testsuites>"
    return f'<?xml version="1.0" encoding="utf-8"?>{root}'


def pytest_json(cases: Sequence[tuple[str, str]]) -> str:
    tests = [
        {
            "nodeid": f"test_m.py::{name}",
            "outcome": kind,
            "keywords": [],
            "user_properties": [{"score": 0.25}],
        }
        | {"call": {"duration": 0.5, "outcome": kind}}
        for name, kind in cases
    ]
    return json.dumps({"created": 1.0, "exitcode": 1, "summary": {}, "tests": tests})


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.array(column) for name, column in arrays.items()})
    return buffer.getvalue()
