"""Inspect logs: ``.eval`` (a zip with deflate or zstd members) and ``.json``. Epochs are repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.artifacts.archive import Archive
from gate.artifacts.content import Content
from gate.artifacts.encoding import decode
from gate.artifacts.formats.inspect_scores import metrics_of
from gate.artifacts.formats.inspect_setting import reducer_caution, stated
from gate.artifacts.oddities import EMPTY, LIMIT, blank
from gate.artifacts.records import RESERVED, Records, paths_of
from gate.artifacts.strict_json import parse_document, refuse_doubled
from gate.artifacts.table import ReadRequest
from gate.artifacts.texts import canonical, text_digest
from gate.artifacts.times import time_fact
from gate.artifacts.tool_runs import Context, Run, records
from gate.safe import escaped, quoted
from gate.values import GateError

Sample = dict[str, Any]


def load(content: Content, request: ReadRequest | None) -> Records:
    """The samples of a finished, scored log."""
    header, samples = _archived(content, request) if content.head.startswith(b"PK") else _plain(content)
    _refuse_unfinished(header, content.path)
    runs = [_run(sample, content.path) for sample in samples]
    if runs and not any(run.metrics for run in runs):
        raise GateError(
            "unscored",
            f"none of {len(runs)} samples is scored",
            where=content.path,
            help="score the log first: inspect score LOG",
        )
    context = Context(
        format="inspect",
        path=content.path,
        place=lambda row: f"sample {row + 1}",
        facts=_facts(header),
        stated=tuple(stated(header)),
        cautions=(*_cautions(header, runs), *reducer_caution(header)),
        extra={"target_hash": [text_digest(one.get("target")) for one in samples]},
        noted={
            EMPTY: [_is_empty(sample) for sample in samples],
            LIMIT: [bool(sample.get("limit")) for sample in samples],
        },
    )
    return records(runs, request, context)


def _plain(content: Content) -> tuple[dict[str, Any], list[Sample]]:
    document = content.document()
    refuse_doubled(document, content.path, None)
    return document, _checked(document.get("samples"), content.path)


def _archived(content: Content, request: ReadRequest | None) -> tuple[dict[str, Any], list[Sample]]:
    """Summaries where they hold what is asked for: they are small. Else every sample."""
    archive = Archive(content)
    if "header.json" not in archive.names:
        raise GateError(
            "run_incomplete", "the log was never finished (no header)", where=content.path, help=_AGAIN
        )
    header = _member(archive, "header.json", content.path)
    if not isinstance(header, dict):
        raise GateError("invalid_json", "the header is no object", where=f"{content.path}!header.json")
    if "summaries.json" in archive.names and not header.get("invalidated"):
        place = f"{content.path}!summaries.json"
        samples = _checked(_member(archive, "summaries.json", content.path), place)
        if request is None or _holds(samples, request):
            return header, samples
    names = sorted(name for name in archive.names if name.startswith("samples/") and name.endswith(".json"))
    return header, _checked([_member(archive, name, content.path) for name in names], content.path)


def _member(archive: Archive, name: str, path: str) -> Any:
    where = f"{path}!{escaped(name)}"
    return parse_document(decode(archive.read(name), where, None), where)


def _checked(samples: Any, where: str) -> list[Sample]:
    if samples is None:
        return []
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise GateError("invalid_json", "the samples are no list of objects", where=where)
    for sample in samples:
        refuse_doubled(sample, where, None)
    return samples


def _holds(samples: list[Sample], request: ReadRequest) -> bool:
    """Whether summaries have all that a policy asks for; older ones leave out metadata."""
    from gate.artifacts.lookup import column  # noqa: PLC0415

    scored = {name for sample in samples for name in metrics_of(sample)}
    needed = [path for name, path in paths_of(request).items() if name not in (*RESERVED, request.id)]
    return all(path in scored or column(samples, path) is not None for path in needed)


_AGAIN = "let the run finish (inspect eval-retry LOG), then compare"


def _refuse_unfinished(header: Mapping[str, Any], path: str) -> None:
    status = header.get("status")
    if status != "success":
        raise GateError(
            "run_incomplete",
            f"the run did not finish (status {quoted(str(status))}); what it left out is unknown",
            where=path,
            help=_AGAIN,
        )


def _run(sample: Sample, path: str) -> Run:
    scores = sample.get("scores")
    refuse_doubled(scores, path, None)
    failed = bool(sample.get("error")) or bool(sample.get("invalidation"))
    return Run(
        sample.get("id"), metrics_of(sample), sample, failed=failed, repeat=str(sample.get("epoch", 1))
    )


def _is_empty(sample: Sample) -> bool:
    """No text and no call of a tool; summaries do not say."""
    output = sample.get("output")
    if not isinstance(output, Mapping) or not {"completion", "choices"} & set(output):
        return False
    choices = output.get("choices")
    if "completion" in output and not blank(output["completion"]):
        return False
    return all(map(_says_nothing, choices if isinstance(choices, list) else ()))


def _says_nothing(choice: Any) -> bool:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        return True
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", "other") if isinstance(part, Mapping) else part for part in parts]
    return blank(texts) and not message.get("tool_calls")


def _facts(header: Mapping[str, Any]) -> dict[str, Any]:
    run = header.get("eval")
    if not isinstance(run, Mapping):
        return {}
    dataset = run.get("dataset")
    found = {"model": run.get("model"), "task": run.get("task"), "task_version": run.get("task_version")}
    found["dataset"] = dataset.get("name") if isinstance(dataset, Mapping) else None
    stats = header.get("stats")
    started = stats.get("started_at") if isinstance(stats, Mapping) else None
    found |= time_fact([run.get("created"), started])
    scorers = run.get("scorers")
    if isinstance(scorers, list):
        found["scorer"] = {
            str(one["name"]): canonical(one.get("options"))
            for one in scorers
            if isinstance(one, Mapping) and "name" in one
        }
    return {name: value for name, value in found.items() if value is not None}


def _cautions(header: Mapping[str, Any], runs: list[Run]) -> tuple[tuple[str, str], ...]:
    results = header.get("results")
    total = results.get("total_samples") if isinstance(results, Mapping) else None
    found = []
    if isinstance(total, int) and total != len(runs):
        found.append(("samples_not_listed", f"the log says {total} samples, but holds {len(runs)}"))
    if header.get("invalidated"):
        found.append(("log_invalidated", "samples of this log were invalidated; they count as failed runs"))
    return tuple(found)
