"""``gate ci``: decide inside a CI job. Its inputs are ``GATE_*`` variables, which the action sets."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gate.ci.base_policy import read_policy
from gate.ci.decision import run_job
from gate.ci.event import event_of
from gate.ci.job import absent
from gate.ci.places import places
from gate.cli.streams import Streams
from gate.report.files import write_text

EPILOG = """\
examples:
  gate ci run                             what the action runs; inputs are GATE_BASELINE, GATE_CANDIDATE, ...
  gate ci policy --policy gate.yaml -o P  the policy of the base side, for any pipeline

The policy is read from the base side of a pull or merge request, so that a change cannot loosen the gate that
judges it. What cannot be read there is exit 2."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gate ci``."""
    add = parser.add_argument
    add("what", choices=("run", "policy"), help="decide, or only fetch the policy")
    add("--policy", default="gate.yaml", metavar="FILE", help="with policy: its path in the repository")
    add(
        "--policy-ref",
        default="auto",
        metavar="REF",
        help="with policy: auto, a commit, refs/heads/NAME",
    )
    add("-o", "--output", metavar="FILE", help="with policy: where to write it")


def execute(args: argparse.Namespace, streams: Streams) -> int:
    """The job's exit code."""
    if args.what == "policy":
        return _fetch_policy(args, streams)
    finished = run_job(os.environ)
    for line in finished.log:
        streams.print(line)
    return finished.code


def _fetch_policy(args: argparse.Namespace, streams: Streams) -> int:
    found = read_policy(args.policy, args.policy_ref, event_of(os.environ), places(os.environ).workspace)
    if found is None:
        raise absent(args.policy)
    if args.output:
        write_text(Path(args.output), found.text)
        streams.print(f"{args.policy} of {found.words}: {found.commit}")
    else:
        streams.print(found.text)
    return 0
