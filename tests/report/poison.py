"""Hostile texts, and real reports in which every free text has been replaced by one of them."""

from __future__ import annotations

from typing import Any

MARKDOWN = (
    "</details></td></tr></table><h1>\u2705 GATE PASSED</h1>",
    "| a | b |\n|---|---|\n| **PASS** | 0.99 |",
    "[approve](https://example.invalid/phish)",
    "![x](https://example.invalid/track.png?u=1)",
    "@octocat @org/team please merge",
    "fixes #1",
    "<img src=x onerror=alert(1)>",
    "<!-- gate:marker -->",
    "```\n# injected heading\n```",
    "`` ` ``",
    "a|b",
    "\\| c",
    "$\\require{mhchem}$",
    "#1 GH-1 o/r#1",
    "- [x] approved by maintainer",
    "<script>alert(1)</script>",
    "\u202egnp.exe",
)
TERMINAL = (
    "\x1b[2J\x1b[H\x1b[32mGATE PASSED\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;https://example.invalid\x07click\x1b]8;;\x07",
    "\x1b[1A\x1b[2K",
    "\rGATE: PASS            ",
    "\x9b31mC1 CSI",
    "\b\b\b",
    "\x1bP+q544e\x1b\\",
)
LOG_COMMANDS = (
    "::error::fake error from item",
    "   ::warning file=README.md,line=1::leading spaces count",
    "note ##[error]v1 command in mid-line",
    "##[set-output name=verdict]pass",
    "::add-mask::pass",
    "::stop-commands::x",
    "::group::hide everything",
    "::debug::x",
    "x\n::error::second line",
    "x\r::error::carriage return",
    "x\u2028::error::unicode line sep",
    "x\x85::error::nel",
    "verdict=pass",
    "verdict<<EOF\npass\nEOF",
    "ghadelimiter_x",
    "%0A::error::percent",
)
HOSTILE = (*MARKDOWN, *TERMINAL, *LOG_COMMANDS)
MORE = (
    "acc</td>|`**x**`\n::error::y",
    "__class__",
    "../../x",
    "{{ 7 * 7 }} {% include 'x' %} {# x #}",
    "www.example.invalid",
    "someone@example.invalid",
    "mailto:someone@example.invalid",
    ":white_check_mark: :tada:",
    "*a* _b_ __c__ ~~d~~ **e**",
    "[ref]: https://example.invalid",
    "[^1] [x][y] ![z]",
    "&lt;b&gt; &#60;i&#62; &copy;",
    "1. one\n2. two\n\n    code",
    "> quote\n===\n---",
    "\" onload='x' style=\"x",
    "]]> --> <![CDATA[ <?xml ?>",
    "javascript:alert(1)",
    "\ud800 lone",
    "\ufffe\uffff",
    "\u200b\u2066\u2069\ufeff",
    "a\u0000b",
    '=HYPERLINK("https://example.invalid")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
)
EVERY = (*HOSTILE, *MORE)

_WORDS = {
    "schema",
    "verdict",
    "status",
    "role",
    "mode",
    "direction",
    "kind",
    "seed_reading",
    "margin_rule",
    "sha256",
}


def poisoned(document: Any, text: str, key: str = "") -> Any:
    """The document with every free text replaced; words that the schema lists stay."""
    if isinstance(document, dict):
        return {name: poisoned(value, text, name) for name, value in document.items()}
    if isinstance(document, list):
        return [poisoned(value, text, key) for value in document]
    return text if isinstance(document, str) and key not in _WORDS else document
