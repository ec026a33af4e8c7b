"""Every scenario as the real runner would run it."""

from __future__ import annotations

import pytest

from .jobs import Checkout, decide, run
from .scenarios import SCENARIOS, Scenario, told

# What the steps add to these is covered by the others; without --full they run in one process only.
ALSO_IN_PROCESS = ("inconclusive", "hold", "merge queue", "missing input", "advisory")
PARAMETERS = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.name in ALSO_IN_PROCESS else [])
    for each in SCENARIOS
]


@pytest.mark.parametrize("scenario", [each for each in SCENARIOS if each.name in ALSO_IN_PROCESS])
def test_scenario_in_this_process(scenario: Scenario, checkout: Checkout) -> None:
    environment = checkout.environment(*scenario.prepare(checkout)) | scenario.environment
    done = decide(checkout, environment, **scenario.given)
    told(done, scenario.verdict, scenario.code)
    if scenario.also:
        scenario.also(done, checkout)


@pytest.mark.parametrize("scenario", PARAMETERS)
def test_scenario(scenario: Scenario, checkout: Checkout) -> None:
    environment = checkout.environment(*scenario.prepare(checkout)) | scenario.environment
    done = run(checkout, environment, **scenario.given)
    told(done, scenario.verdict, scenario.code)
    if scenario.also:
        scenario.also(done, checkout)


def test_an_unknown_input_is_only_a_warning_of_the_runner(checkout: Checkout) -> None:
    """So a misspelt input must never be what keeps the gate strict."""
    environment = checkout.environment("push", {}, "")
    checkout.workspace.mkdir()
    done = run(checkout, environment, modes="advisory")
    assert done.warnings == ["Unexpected input(s) 'modes'"]
    assert (done.outputs["verdict"], done.exit_code) == ("error", 2)


def test_an_unusable_installation_is_an_error(checkout: Checkout) -> None:
    environment = checkout.environment("push", {}, "")
    checkout.workspace.mkdir()
    done = run(checkout, environment, install="yes")
    assert (done.outputs["verdict"], done.exit_code) == ("error", 2)
    assert "install must be locked or none" in done.outputs["reason"]
