"""Chat, webhook and badge: short, complete, and nothing in them acts."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.report.faces import badge, slack, webhook
from tests.report.poison import EVERY, poisoned
from tests.report.reports import MAKERS, ONE_CANDIDATE, report, small

NAMES = [*MAKERS, "error"]


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", NAMES)
def test_a_webhook_tells_the_verdict_and_what_to_do(name: str) -> None:
    made = report(name)
    event = json.loads(webhook(made))
    assert event["schema"] == "gate.event/1"
    assert event["verdict"] == made.get("verdict", "error")
    assert event["exit_code"] == made.get("exit_code", 2)
    assert event["why"]
    if "gating" in made:
        assert event["next"] == made["next_step"]
        assert event["delta"] == made["gating"]["delta"]


@pytest.mark.parametrize("name", NAMES)
def test_a_slack_message_keeps_within_the_limits_of_block_kit(name: str) -> None:
    """Header at most 150 characters, a section's text at most 3,000, at most 50 blocks; none is empty."""
    body = json.loads(slack(report(name)))
    assert set(body) == {"text", "blocks"}
    assert len(body["blocks"]) <= 50
    for block in body["blocks"]:
        shown = [block["text"]] if "text" in block else block["elements"]
        most = 150 if block["type"] == "header" else 3000
        assert all(0 < len(one["text"]) <= most for one in shown)
        assert all(one["type"] == "plain_text" or one["verbatim"] for one in shown)


@pytest.mark.parametrize("hostile", EVERY, ids=ascii)
def test_nothing_that_a_file_says_becomes_a_mention_or_a_link(hostile: str) -> None:
    made = poisoned(small(ONE_CANDIDATE[0]), hostile)
    for render in (slack, webhook, badge):
        plain = json.loads(render(made))
        assert all(text.isprintable() for text in texts(plain))
    for block in json.loads(slack(made))["blocks"]:
        for one in [block["text"]] if "text" in block else block["elements"]:
            if one["type"] == "mrkdwn":
                assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", one["text"])


@pytest.mark.parametrize("name", NAMES)
def test_a_badge_is_what_shields_reads(name: str) -> None:
    made = json.loads(badge(report(name)))
    assert made["schemaVersion"] == 1
    assert made["message"] == report(name).get("verdict", "cannot decide")
    assert set(made) == {"schemaVersion", "label", "message", "color"}
    assert (made["color"] == "brightgreen") == (made["message"] == "promote")
