"""Changed and flaky items as CSV: every item that the report holds, for whoever works through them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from gate.report.model import Document, Report, reports_of
from gate.report.sentences import candidate
from gate.safe import csv_cell


def flips_csv(document: Document) -> str:
    """Changed items on the gating metric: what got worse first, each list largest change first."""
    reports = reports_of(document)
    changes = [
        (report, word, change)
        for report in reports
        for word, found in (("worse", report.changes.lost), ("better", report.changes.gained))
        for change in found
    ]
    names = list(dict.fromkeys(name for _, _, change in changes for name in change.shown))
    rows = [
        [
            *_of(report, reports),
            *(change.id, word, change.baseline, change.candidate, change.delta),
            *(change.shown.get(name) or "" for name in names),
        ]
        for report, word, change in changes
    ]
    head = [*_head(reports), "id", "change", "baseline", "candidate", "delta", *names]
    return _written(head, rows)


def flagged_csv(document: Document) -> str:
    """Flaky items with k of K per side: the queue for adjudication or rewriting."""
    reports = reports_of(document)
    rows = [
        [
            *_of(report, reports),
            item.id,
            *(number for side in (item.baseline, item.candidate) for number in (side.passes, side.runs)),
            item.delta,
        ]
        for report in reports
        for item in report.gating.flagged or ()
    ]
    sides = ("baseline_passes", "baseline_runs", "candidate_passes", "candidate_runs")
    return _written([*_head(reports), "id", *sides, "delta"], rows)


def _head(reports: Sequence[Report]) -> list[str]:
    return ["candidate_file"] if len(reports) > 1 else []


def _of(report: Report, reports: Sequence[Report]) -> list[str]:
    return [candidate(report)] if len(reports) > 1 else []


def _written(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in head])
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return stream.getvalue()
