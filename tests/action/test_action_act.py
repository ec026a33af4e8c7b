"""The same scenarios under ``act``, an independent implementation of the runner: both must end alike.

act is kinder than the runner (it sets INPUT_* in composites, and overlooks some log commands), so it confirms
the workflow syntax, expressions, outputs and exit codes; what others' text can do is tested in our executor.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.ci.results import FILES

from .check_ci_files import home
from .composite import Finished, clean_environment
from .jobs import PREPARED, RESULTS, ROOT, Checkout, git
from .scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.slow
PIN = "1234567890123456789012345678901234567890"
WORKFLOW = """\
on: [{event}]
permissions: {{contents: read}}
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@{pin}
      - id: gate
        uses: gate/paired-gate@{pin}
        continue-on-error: true
        with: {given}
      - if: always()
        shell: bash
        env:
          OUTPUTS: ${{{{ toJSON(steps.gate.outputs) }}}}
          OUTCOME: ${{{{ steps.gate.outcome }}}}
          BASH_ENV: ""
        run: |
          printf '%s' "$OUTPUTS" > "$RESULT_DIR/outputs.json"
          printf '%s' "$OUTCOME" > "$RESULT_DIR/outcome"
          cp -r "$RUNNER_TEMP/gate-report" "$RESULT_DIR/reports"
          if [ -f history.jsonl ]; then cp history.jsonl "$RESULT_DIR"; fi
"""


def act() -> str:
    places = os.pathsep.join([str(Path(sys.executable).parent), str(home() / "bin"), os.environ["PATH"]])
    found = os.environ.get("GATE_TEST_ACT") or shutil.which("act", path=places)
    if not found:
        pytest.skip("no act: tests/action/check_ci_files installs it, GATE_TEST_ACT names another")
    return found


def run_in_act(checkout: Checkout, scenario: Scenario) -> Finished:
    event, body, sha = scenario.prepare(checkout)
    environment = checkout.environment(event, body, sha)
    # act copies files only: without a ref the copied .git would have no refs folder and be no repository.
    git(checkout.workspace, "update-ref", "refs/heads/copied", "HEAD")
    results = checkout.home / "results"
    results.mkdir()
    workflow = checkout.home / "workflow.yml"
    given = json.dumps(PREPARED | RESULTS | scenario.given)
    workflow.write_text(WORKFLOW.format(event=event, pin=PIN, given=given), encoding="utf-8")
    carried = {
        "RESULT_DIR": str(results),
        **{name: environment[name] for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")},
        **scenario.environment,
    }
    options = [f"--env={name}={value}" for name, value in carried.items()]
    user = str(checkout.home)
    done = subprocess.run(
        [
            *(act(), event, "-P", "ubuntu-latest=-self-hosted", "--no-cache-server"),
            *("-W", str(workflow), "-e", str(checkout.home / "event.json")),
            f"--local-repository={environment['GITHUB_SERVER_URL']}/gate/paired-gate@{PIN}={ROOT}",
            *options,
        ],
        cwd=checkout.workspace,
        env=clean_environment() | {"HOME": user, "XDG_CACHE_HOME": f"{user}/cache"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=300,
    )
    log = done.stdout + done.stderr
    assert (results / "outcome").exists(), log
    failed = re.findall(r"exit status (\d+)", log)
    code = int(failed[0]) if failed else 0
    assert ((results / "outcome").read_text() == "success") == (code == 0), log
    outputs = json.loads((results / "outputs.json").read_text("utf-8"))
    for name, file in FILES.items():
        outputs[name] = outputs[name] and str(results / "reports" / file)
    if (results / "history.jsonl").exists():
        shutil.copy(results / "history.jsonl", checkout.workspace)
    return Finished(code, outputs, log, [summary_of(log)], {}, [])


def summary_of(log: str) -> str:
    """act prints a step's summary into its log."""
    found = re.search(r"Summary - (.*?)^\[workflow\.yml", log, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, checkout: Checkout) -> None:
    done = run_in_act(checkout, scenario)
    assert (done.outputs["verdict"], done.exit_code) == (scenario.verdict, scenario.code), done.log
    if scenario.also:
        scenario.also(done, checkout)
