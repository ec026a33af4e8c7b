"""The report in a few fields: for a chat, for any webhook, for a badge."""

from __future__ import annotations

import json
from typing import Any

from gate.report import sentences
from gate.report.brief import leading
from gate.report.model import Document, ErrorReport
from gate.safe import chat_text, cut, visible
from gate.values import Verdict

_COLOURS = {
    Verdict.PROMOTE: "brightgreen",
    Verdict.BLOCK: "red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.HOLD: "blue",
}


def webhook(document: Document) -> str:
    """``gate.event/1``: what a script needs to route the message. Texts are as in the report, but visible."""
    return _json(_event(document))


def slack(document: Document) -> str:
    """The body of a Slack message (Block Kit). Nothing in it becomes a mention or a link."""
    event = _event(document)
    title = f"{sentences.icon(event['verdict'])} {event['verdict']}: {event['policy']}".strip()
    lines = [f"*Why:* {chat_text(event['why'])}", f"*Next:* {chat_text(event['next'])}"]
    facts = [f"*{label}:* {chat_text(text)}" for label, text in _facts(document)]
    return _json(
        {
            "text": chat_text(f"{title}. {event['why']}"),
            "blocks": [
                {"type": "header", "text": {"type": "plain_text", "text": cut(visible(title), 150)}},
                *({"type": "section", "text": _marked(line)} for line in [*lines, *facts]),
                {"type": "context", "elements": [_marked(chat_text(event["signature"] or "no report"))]},
            ],
        }
    )


def badge(document: Document) -> str:
    """The JSON of a badge as shields.io's endpoint badge reads it."""
    word, colour = "cannot decide", "lightgrey"
    if not isinstance(document, ErrorReport):
        word, colour = document.verdict, _COLOURS[document.verdict]
    return _json({"schemaVersion": 1, "label": "release gate", "message": str(word), "color": colour})


def _event(document: Document) -> dict[str, Any]:
    if isinstance(document, ErrorReport):
        why, step = sentences.fault(document.error), document.error.help or ""
        return _fields("error", 2, "", why, step) | {"delta": None, "interval": None, "signature": ""}
    first = leading(document)
    name, why = sentences.name(first), sentences.why(document)
    block = first.gating
    return _fields(document.verdict, document.exit_code, name, why, first.next_step) | {
        "delta": block.delta,
        "interval": None if block.interval is None else [block.interval.low, block.interval.high],
        "signature": visible(first.signature),
    }


def _fields(verdict: str, code: int, policy: str, why: str, step: str) -> dict[str, Any]:
    texts = {"verdict": str(verdict), "policy": policy, "why": why, "next": step}
    shown = {key: visible(text) for key, text in texts.items()}
    return {"schema": "gate.event/1", "exit_code": code, **shown}


def _facts(document: Document) -> list[tuple[str, str]]:
    if isinstance(document, ErrorReport):
        return []
    first = leading(document)
    lines = sentences.four_lines(first.gating, first.changes, first.cautions)
    return [(label, text) for label, text in lines if text][:4]


def _marked(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, indent=1) + "\n"
