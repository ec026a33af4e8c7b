"""A baseline from a store: which results it is, whether they are too old, and the blessing of what wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gate.artifacts.opening import open_artifact
from gate.cycles.assess import Outcome
from gate.cycles.chain import History
from gate.cycles.history_cautions import moment
from gate.decide.verdict import INCONCLUSIVE, Reason
from gate.history.session import store_for
from gate.policy.load import LoadedPolicy
from gate.policy.model import Policy
from gate.report.model import Blessing
from gate.run.intake import ItemSet
from gate.safe import quoted
from gate.values import Caution, GateError

if TYPE_CHECKING:
    from gate.history.baselines import Blessed
    from gate.history.shelf import Shelf

SCHEME: Final = "store:"
Sets = Mapping[str | None, ItemSet]


@dataclass(frozen=True, slots=True)
class Stored:
    """A baseline as it was blessed, and the store in which a promoted candidate is kept (None: nowhere)."""

    blessed: Blessed
    shelf: Shelf | None


def from_store(baseline: str, place: str | None, history: str | None) -> tuple[str, Stored | None]:
    """What stands for the path ``store:NAME``, and where it came from; any other path is a file.

    place: of the store. history: whose promotions bless, if it is there.
    """
    if not baseline.startswith(SCHEME):
        return baseline, None
    if place is None:
        raise GateError("usage", f"{quoted(baseline)} needs the store", help="add --store DIRECTORY")
    from gate.history.baselines import checked_name, entries, fetch, latest  # noqa: PLC0415 - few use a store
    from gate.history.shelf import shelf_at  # noqa: PLC0415

    name = checked_name(baseline.removeprefix(SCHEME))
    shelf = shelf_at(place)
    blessed = latest(entries(shelf, _read(history)), name, shelf.where)
    return fetch(shelf, blessed), Stored(blessed, shelf)


def _read(history: str | None) -> History | None:
    try:
        return None if history is None else store_for(history).read()
    except GateError as error:
        if error.code != "history_missing":
            raise
        return None


def refuse_other(loaded: LoadedPolicy, stored: Stored | None, *, history: bool) -> None:
    """A policy that names its baseline is not judged against another file, and blesses into a history."""
    wanted = loaded.policy.baseline
    if wanted is not None and (stored is None or stored.blessed.name != wanted.name):
        found = "another file" if stored is None else f"{SCHEME}{stored.blessed.name}"
        raise GateError(
            "baseline_not_named",
            f"the policy names the baseline {quoted(wanted.name)} of a store (found {found})",
            where=loaded.where("baseline"),
            help=f"--baseline {SCHEME}{wanted.name} --store STORE",
        )
    if loaded.policy.bless is not None and not history:
        raise GateError(
            "history_needed",
            "bless: on_promote needs a history, whose promotions are the blessings (none was given)",
            where=loaded.where("bless"),
            help="give one with --history FILE",
        )


def blessing(stored: Stored | None, policy: Policy, now: str) -> Blessing | None:
    """How the baseline came to be one. Its age in whole days is told where the policy asks for it."""
    if stored is None:
        return None
    blessed, wanted = stored.blessed, policy.baseline
    then, today = moment(blessed.time), moment(now)
    asked = wanted is not None and wanted.max_age_days is not None
    days = (today - then).days if asked and then and today and then <= today else None
    return Blessing(name=blessed.name, time=blessed.time, cycle=blessed.cycle or None, age_days=days)


def baseline_faults(policy: Policy, found: Blessing | None) -> tuple[Reason, ...]:
    """A baseline that is older than the policy allows, or whose age is not known, decides nothing."""
    wanted = policy.baseline
    if wanted is None or wanted.max_age_days is None or found is None:
        return ()
    if found.age_days is not None and found.age_days <= wanted.max_age_days:
        return ()
    age = "of an unknown age" if found.age_days is None else f"{found.age_days} days old"
    again = f"score it again, then: gate baseline bless RESULTS --as {wanted.name} --store STORE"
    most = f"at most {wanted.max_age_days} days"
    text = f"the baseline is {age} ({most}): {again}"
    return (Reason("baseline:stale", INCONCLUSIVE, "", age, most, text),)


def winning_run(found: Blessing | None) -> tuple[Caution, ...]:
    """The results with which a candidate won are better than it is: luck helped to choose them."""
    if found is None or found.cycle is None:
        return ()
    text = (
        f"the baseline's results are those that won in cycle {found.cycle}: they flatter it, and later "
        f"candidates have it harder; score it anew: gate baseline bless RESULTS --as {found.name}"
    )
    return (Caution("baseline_is_winning_run", text),)


def kept(
    stored: Stored | None, policy: Policy, candidates: Iterable[tuple[str, Sets]], outcomes: Sequence[Outcome]
) -> list[Outcome]:
    """Outcomes that may promote, their results kept in the store before the record that will bless them.

    candidates: path, and what was read of it.
    """
    if policy.bless is None or stored is None or stored.shelf is None:
        return list(outcomes)
    found = []
    for (path, sets), outcome in zip(candidates, outcomes, strict=True):
        passed = outcome.status == "pass"
        sha256 = _keep(stored.shelf, path, sets) if passed else ""
        found.append(replace(outcome, blessed=f"{stored.blessed.name}:{sha256}") if passed else outcome)
    return found


def _keep(shelf: Shelf, path: str, sets: Sets) -> str:
    from gate.history.baselines import LARGEST_FILE, keep  # noqa: PLC0415

    with open_artifact(path) as file:
        sha256 = keep(shelf, file.read(64 * LARGEST_FILE))
    if sha256 != sets[None].candidate.source.sha256:
        message = "the candidate's file changed while the gate ran"
        raise GateError("artifact_changed", message, where=path, help="run again")
    return sha256
