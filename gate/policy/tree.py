"""YAML text to plain values, with the line of every key. What a policy or suite has no use for is a finding.

Built from parser events, so aliases, tags and depth are seen before anything is constructed.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from gate.policy.findings import Finding, Path, dotted
from gate.policy.scalars import Date, plain
from gate.safe import escaped, quoted

MAX_DEPTH = 32
MAX_NODES = 50_000
MAX_FINDINGS = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Fault:
    """Stands in the tree where a mistake was found already."""


class Tree(NamedTuple):
    """The document's value, the line of each path, and what was wrong; whole: read to its end."""

    value: Any
    lines: dict[Path, int]
    findings: list[Finding]
    whole: bool


class _StopError(Exception):
    """Reading on makes no sense."""


class _Frame:
    """An open mapping or sequence."""

    __slots__ = ("key", "keys", "path", "value")

    def __init__(self, value: Any, path: Path) -> None:
        self.value = value
        self.path = path
        self.key: str | None = None
        self.keys: dict[str, int] = {}

    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None

    def child(self) -> Path:
        return (*self.path, len(self.value) if isinstance(self.value, list) else self.key or "")

    def put(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        else:
            self.value.setdefault(self.key, value)
            self.key = None


def parse(text: str, loader: Any = _LOADER, what: str = "policy") -> Tree:
    """Read one YAML document, by the scanner in C or in Python; never raises for what a text holds."""
    builder = _Builder(what)
    whole = False
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
        whole = True
    except _StopError:
        pass
    except yaml.MarkedYAMLError as error:
        builder.findings.append(_syntax(error))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        builder.findings.append(Finding("yaml_syntax", f"not readable as YAML ({error})", line=1))
    return Tree(builder.root, builder.lines, builder.findings, whole)


def _syntax(error: yaml.MarkedYAMLError) -> Finding:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "unreadable"
    advice = "indent with spaces" if "\\t" in problem or "tab" in problem else ""
    return Finding("yaml_syntax", f"not valid YAML: {problem}", advice, line=mark.line + 1 if mark else 1)


def _dated(value: object, path: Path, subject: str) -> object:
    """A date is text where a date is wanted; elsewhere other readers make another type of it."""
    if isinstance(value, Date) and path[-1:] != ("expires",):
        advice = f'quote it: "{escaped(value, 60)}"'
        return Finding("ambiguous_scalar", f"{subject} reads as a date (found {quoted(value, 40)})", advice)
    return str(value) if isinstance(value, Date) else value


class _Builder:
    """Takes events one by one and keeps the open collections on a stack, without recursion."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.root: Any = None
        self.lines: dict[Path, int] = {}
        self.findings: list[Finding] = []
        self.stack: list[_Frame] = []
        self.documents = 0
        self.nodes = 0

    def take(self, event: Any) -> None:
        """One parser event."""
        line = event.start_mark.line + 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._stop(
                f"{self.what}_too_large", f"the {self.what} holds more than {MAX_NODES} keys and values", line
            )
        if len(self.findings) >= MAX_FINDINGS:
            raise _StopError
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            self._fault(
                "yaml_alias", f"aliases are not allowed (found *{escaped(str(event.anchor), 40)})", line
            )
            self._place(Fault(), line)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._document(event, line)

    def _document(self, event: Any, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            self._stop("yaml_documents", f"one {self.what} is one YAML document (found a second)", line)
        if event.version or event.tags:
            self._fault("yaml_directive", "YAML directives (%...) are not allowed", line)

    def _open(self, event: Any, line: int) -> None:
        self._decorations(event, line)
        if len(self.stack) >= MAX_DEPTH:
            self._stop(
                f"{self.what}_too_deep", f"the {self.what} is nested deeper than {MAX_DEPTH} levels", line
            )
        if self.stack and self.stack[-1].wants_key():
            self._stop("yaml_key", "a key must be text (found a list or mapping)", line)
        path = self.stack[-1].child() if self.stack else ()
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._place(value, line)
        self.stack.append(_Frame(value, path))

    def _scalar(self, event: Any, line: int) -> None:
        decorated = self._decorations(event, line)
        if _SURROGATE.search(event.value):  # only the scanner in Python lets an escape make one
            self._stop("yaml_syntax", "not valid YAML: half of a surrogate pair is no character", line)
        is_plain = event.style in {None, ""} and not decorated
        if self.stack and self.stack[-1].wants_key():
            self._key(event.value, is_plain, line)
            return
        value: Any = event.value
        path = self.stack[-1].child() if self.stack else ()
        if is_plain:
            subject = dotted(path) or f"the {self.what}"
            value = _dated(plain(event.value, subject), path, subject)
        if isinstance(value, Finding):
            self.findings.append(value._replace(path=path, line=line))
            value = Fault()
        self._place(Fault() if decorated else value, line)

    def _key(self, text: str, is_plain: bool, line: int) -> None:
        frame = self.stack[-1]
        frame.key = text
        path = frame.child()
        value = plain(text, f"the key {quoted(text)}") if is_plain else text
        if is_plain and text == "<<":
            self._fault("yaml_merge", "merge keys (<<) are not allowed", line, path)
        elif isinstance(value, Finding):
            self.findings.append(value._replace(path=path, line=line))
        elif type(value) is not str:
            self._fault(
                "key_not_text",
                f"the key {quoted(text)} is not text",
                line,
                path,
                f'quote it: "{escaped(text, 60)}"',
            )
        if text in frame.keys:
            message = f"the key {quoted(text)} is there twice (lines {frame.keys[text]} and {line})"
            self._fault("duplicate_key", message, line, path, "keep one of them")
        frame.keys.setdefault(text, line)
        self.lines.setdefault(path, line)

    def _decorations(self, event: Any, line: int) -> bool:
        if event.anchor:
            self._fault(
                "yaml_anchor", f"anchors are not allowed (found &{escaped(str(event.anchor), 40)})", line
            )
        if event.tag:
            advice = "remove the tag" if isinstance(event, yaml.ScalarEvent) else ""
            self._fault("yaml_tag", f"tags are not allowed (found {quoted(event.tag)})", line, help_=advice)
        return bool(event.anchor or event.tag)

    def _place(self, value: Any, line: int) -> None:
        if not self.stack:
            self.root = value
            self.lines[()] = line
            return
        frame = self.stack[-1]
        if frame.wants_key():
            self._stop("yaml_key", "a key must be text (found an alias)", line)
        self.lines.setdefault(frame.child(), line)
        frame.put(value)

    def _fault(self, code: str, message: str, line: int, path: Path | None = None, help_: str = "") -> None:
        here = path if path is not None else self.stack[-1].child() if self.stack else ()
        self.findings.append(Finding(code, message, help_, here, line))

    def _stop(self, code: str, message: str, line: int) -> None:
        self._fault(code, message, line)
        raise _StopError
