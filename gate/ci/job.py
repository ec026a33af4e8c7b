"""One CI job: its inputs, and the policy that judges it with what a reader must know of its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.ci.base_history import lent_history
from gate.ci.base_policy import WORKTREE, PolicyText, read_policy
from gate.ci.event import Event, event_of
from gate.ci.inputs import Inputs, inputs
from gate.ci.places import Places, places
from gate.ci.policy_change import PolicyChange, policy_change
from gate.git.repository import Repository
from gate.policy.load import LoadedPolicy, loads
from gate.values import EXIT_BUG, EXIT_CANNOT_DECIDE, GateError


@dataclass
class Job:
    """What is known so far; a job may end at any point, and then this much is told.

    directory: for reports. policy_commit: an id or ``worktree``. notes: sentences for the reader.
    warnings: those of the notes that are more than provenance. decides: False where a change says by itself
    what judges it.
    """

    environ: Mapping[str, str]
    where: Places
    directory: Path
    inputs: Inputs | None = None
    policy_commit: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    change: PolicyChange | None = None
    advisory: bool = False
    decides: bool = True

    def exit_code(self, code: int) -> int:
        """Advisory mode forgives verdicts, never an error or a bug."""
        return code if code in {EXIT_CANNOT_DECIDE, EXIT_BUG} or not self.advisory else 0

    def warn(self, text: str) -> None:
        """A note that is also annotated."""
        self.notes.append(text)
        self.warnings.append(text)


def job_of(environ: Mapping[str, str]) -> Job:
    """A job of which only the folders are known. An early error is reported in a new folder of its own."""
    where = places(environ)
    return Job(environ, where, where.new_directory())


def read_inputs(job: Job) -> Inputs:
    """Check the inputs."""
    job.inputs = inputs(job.environ, job.where)
    job.advisory = job.inputs.mode == "advisory"
    return job.inputs


def judging_policy(job: Job, found: Inputs) -> LoadedPolicy:
    """The policy that judges this job. Its text is kept beside the reports."""
    event = event_of(job.environ)
    text = read_policy(found.policy, found.policy_ref, event, job.where.workspace)
    if text is None:
        text = _first_policy(job, found, event)
    words = text.words if text.commit == WORKTREE else f"{text.words} ({text.commit[:12]})"
    job.policy_commit = text.commit
    job.notes.append(f"Policy: {found.policy} of {words}.")
    if text.stale:
        job.warn("The base branch may have a newer policy: check out with fetch-depth: 2.")
    changed = event.untrusted or _is_elsewhere(event, text.commit, job.where.workspace)
    own = (WORKTREE, event.head, event.sha) if event.untrusted else (WORKTREE,)
    if job.decides and changed and text.commit in own:
        _decides_nothing(job, event, text)
    loaded = loads(text.text, found.policy)
    if not job.decides or (changed and event.name != "schedule"):
        _lend_history(job, found, loaded, event)
    if event.untrusted and text.commit != WORKTREE:
        job.change = policy_change(loaded, str(job.where.workspace / found.policy), words)
    (job.directory / "judging-policy.yaml").write_text(text.text, encoding="utf-8")
    return loaded


def _is_elsewhere(event: Event, judge: str, workspace: Path) -> bool:
    """Whether the checkout is of another commit than the one that the event stands for, and is judged by."""
    head = Repository(workspace).head() if (workspace / ".git").exists() else ""
    stands = event.kind == "triggered" or judge == event.sha
    return stands and bool(head) and head != event.sha


def _decides_nothing(job: Job, event: Event, text: PolicyText) -> None:
    job.decides = False
    job.advisory = job.advisory or (event.untrusted and text.commit == WORKTREE)
    job.warn("The policy comes from the change itself, so this run is only advisory: it decides nothing.")


def _lend_history(job: Job, found: Inputs, loaded: LoadedPolicy, event: Event) -> None:
    with Repository(job.where.workspace, event.url) as repository:
        lent = lent_history(
            found, repository, job.policy_commit, job.directory, loaded.policy, decides=job.decides
        )
    job.inputs = lent.inputs
    job.notes += [lent.note] if lent.note else []


def _first_policy(job: Job, found: Inputs, event: Event) -> PolicyText:
    """A change that brings the first policy cannot be judged by one that was agreed before."""
    if not job.advisory:
        raise absent(found.policy)
    text = read_policy(found.policy, WORKTREE, event, job.where.workspace)
    assert text is not None
    job.decides = False
    job.warn("The base side has no policy yet: this one is the change's own and decides nothing.")
    return text


def absent(path: str) -> GateError:
    """The deciding commit holds no policy."""
    return GateError(
        "policy_not_on_base",
        "the commit that judges this job has no such policy",
        where=path,
        help="merge the first policy with mode: advisory, then enforce it",
    )
