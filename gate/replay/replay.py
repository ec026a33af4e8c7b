"""The way of a replay: suite and cases in, artifacts out, with the journal in between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from gate.replay.artifact import Written, refuse_foreign, targets, write, write_rows
from gate.replay.cases import Cases
from gate.replay.decisions import TO_DECIDE, Book, book_of, undecided
from gate.replay.journal import NAME, Journal
from gate.replay.load import LoadedSuite
from gate.replay.names import SIDES
from gate.replay.plan import Plan, plan_of
from gate.replay.runner import run
from gate.values import GateError

Step = Callable[[str], None]


def replay(
    loaded: LoadedSuite,
    folder: Path,
    environ: Mapping[str, str],
    now: str,
    progress: Callable[[int, int], Step],
    wanted: Collection[str] | None = None,
) -> tuple[list[Written], Book | None]:
    """Run both systems over all cases and write the artifacts into ``folder``.

    now: when it began, as ISO text; a replay that goes on keeps the time of its first start.
    progress: called with the number of runs and of those finished before; gives what is called after each.
    wanted: ids of the items that are asked for, where a stage asks for a part of them.
    """
    cases = Cases(str(loaded.folder / loaded.suite.cases))
    try:
        plan = plan_of(loaded, cases)
        paths = [*targets(plan, folder).values()]
        book = book_of(loaded)
        _refuse_own_inputs(plan, folder, paths)
        refuse_foreign(plan, paths)
        folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(folder, plan.digest, plan.count, now)
        try:
            total = plan.count if wanted is None else len(wanted) * loaded.suite.repeats * len(SIDES)
            run(plan, journal, environ, progress(total, int(journal.done.sum())), wanted)
            made = write(plan, journal, folder, book)
            if book is not None:
                write_rows(folder / TO_DECIDE, undecided(book))
            return made, book
        finally:
            journal.close()
    finally:
        cases.close()


def item_ids(loaded: LoadedSuite) -> tuple[str, ...]:
    """The ids of all rows that a whole replay would have. Errors: the suite has windows, which are cycles."""
    cases = Cases(str(loaded.folder / loaded.suite.cases))
    try:
        if cases.windows not in {(), (None,)}:
            raise GateError(
                "usage",
                "each window of a suite is a cycle of its own, so it has no common stages",
                where=loaded.path,
                help="leave --policy out, and run the gate once a window",
            )
        return tuple(exchange.id for k in range(len(cases.ids)) for exchange in cases.exchanges(k))
    finally:
        cases.close()


def _refuse_own_inputs(plan: Plan, folder: Path, paths: list[Path]) -> None:
    """The cases may lie in the folder, but never under a name that is written."""
    given = {Path(plan.cases.path).resolve(), Path(plan.loaded.path).resolve()}
    wanted = plan.loaded.suite.decisions
    if wanted is not None:
        given.add((plan.loaded.folder / wanted.file).resolve())
    for path in (*paths, folder / NAME, folder / TO_DECIDE):
        if path.resolve() in given:
            help_text = "give the replay a folder of its own"
            raise GateError(
                "output_is_input", "the replay would replace its own input", where=str(path), help=help_text
            )
