"""The way of a replay: suite and cases in, artifacts out, with the journal in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gate.replay.artifact import Written, refuse_foreign, targets, write, write_rows
from gate.replay.cases import Cases
from gate.replay.decisions import TO_DECIDE, Book, book_of, undecided
from gate.replay.journal import NAME, Journal
from gate.replay.load import LoadedSuite
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
) -> tuple[list[Written], Book | None]:
    """Run both systems over all cases and write the artifacts into ``folder``.

    now: when it began, as ISO text; a replay that goes on keeps the time of its first start.
    progress: called with the number of runs and of those finished before; gives what is called after each.
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
            run(plan, journal, environ, progress(plan.count, int(journal.done.sum())))
            made = write(plan, journal, folder, book)
            if book is not None:
                write_rows(folder / TO_DECIDE, undecided(book))
            return made, book
        finally:
            journal.close()
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
