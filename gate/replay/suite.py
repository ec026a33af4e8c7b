"""The suite: which cases, which two systems, how they are scored. Every key, its default, what it means."""

# ruff: noqa: RUF012 - the sections are pydantic models, which copy their defaults
# No `from __future__ import annotations` here: pydantic would compile every annotation a second time.

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from gate.policy.base import Model
from gate.policy.fields import Name, Text
from gate.policy.findings import Finding
from gate.policy.schema import as_written
from gate.replay.names import is_metric

Argv = Annotated[list[Text], Field(min_length=1)]
Said = Literal["output", "input_tokens", "output_tokens", "cost", "error"]


class Http(Model):
    """An endpoint that is sent each case by POST and answers with JSON."""

    url: Annotated[Text | None, Field(description="Where to send a case.")] = None
    url_env: Annotated[Name | None, Field(description="The environment variable that holds the URL.")] = None
    headers: Annotated[
        dict[Name, Name],
        Field(description="Header: the environment variable that holds its value, which is never written."),
    ] = {}
    send: Annotated[
        Literal["request", "input"],
        Field(description="request: the whole request; input: the case's input itself, which is an object."),
    ] = "request"
    fields: Annotated[
        dict[Name, str | bool | int | float],
        Field(description="What this system is asked for beside the input, e.g. {model: large}."),
    ] = {}
    seed_field: Annotated[Name | None, Field(description="send: input: the field that takes the seed.")] = (
        None
    )
    answer: Annotated[
        dict[Said, Text],
        Field(description="Where the reply holds it: {output: choices.0.message.content}."),
    ] = {}

    def _findings(self) -> Iterator[Finding]:
        if (self.url is None) == (self.url_env is None):
            yield Finding("keys_conflict", "http needs one of url and url_env", "", ("url",))
        if self.url is not None:
            yield from _url(self.url)
        if self.send == "request" and (self.fields or self.seed_field):
            key = "fields" if self.fields else "seed_field"
            advice = "the whole request holds the seed, and the URL names the system"
            yield Finding("keys_conflict", f"send: request takes no {key}", advice, (key,))


def _url(url: str) -> Iterator[Finding]:
    """Plain http or https; a password in it would be written wherever the address is."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - most suites name no address

    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        yield Finding("wrong_value", "url is no address", "", ("url",))
        return
    if not usable or not url.isascii() or " " in url:
        yield Finding("wrong_value", "url must begin with http:// or https:// and name a host", "", ("url",))
    elif parts.username is not None or parts.password is not None:
        advice = "give it in a header: headers: {Authorization: NAME_OF_THE_VARIABLE}"
        yield Finding("wrong_value", "url must not hold a name or password", advice, ("url",))


class Program(Model):
    """What can be started here: a system or a scorer. One of its ways is named."""

    command: Annotated[Argv | None, Field(description="One process a case: request in, answer out.")] = None
    server: Annotated[Argv | None, Field(description="One process for many: a line in, a line out.")] = None
    callable: Annotated[Text | None, Field(description="module:function, beside the suite.")] = None
    files: Annotated[list[Text], Field(description="Files that belong to its version.")] = []

    def _findings(self) -> Iterable[Finding]:
        return _one_way(self, ("command", "server", "callable"))


def _one_way(program: Model, ways: tuple[str, ...]) -> Iterator[Finding]:
    named = [way for way in ways if getattr(program, way) is not None]
    if len(named) != 1:
        found = f"found {' and '.join(named)}" if named else "found none"
        yield Finding("keys_conflict", f"one of {', '.join(ways)} is needed ({found})", "", (*named[1:2],))
    function = getattr(program, "callable", None)
    if function is not None:
        module, _, name = function.partition(":")
        if not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
            message = f"callable must be module:function (found {function[:60]!a})"
            yield Finding("wrong_value", message, "", ("callable",))


class System(Program):
    """One of the two systems."""

    name: Annotated[Name, Field(description="Its name and version, as the history will know it.")]
    http: Annotated[Http | None, Field(description="An endpoint.")] = None

    def _findings(self) -> Iterable[Finding]:
        return _one_way(self, ("command", "server", "callable", "http"))


class Systems(Model):
    """The two systems; all else is the same for both."""

    baseline: Annotated[System, Field(description="What runs today.")]
    candidate: Annotated[System, Field(description="What may replace it.")]

    def _findings(self) -> Iterator[Finding]:
        if self.baseline.name == self.candidate.name:
            message = f"both systems are called {self.baseline.name[:60]!a}"
            yield Finding("keys_conflict", message, "name the version too", ("candidate", "name"))


class Decisions(Model):
    """What people decide on the outputs, beside or instead of a scorer."""

    file: Annotated[Text, Field(description="JSON Lines: id, system, output_digest, decision.")]
    metric: Annotated[Name, Field(description="What the decision is called as a metric.")] = "approved"
    values: Annotated[
        dict[Text, float],
        Field(min_length=1, description="Word: its value, e.g. {approve: 1, edit: 0, reject: 0}."),
    ]

    def _findings(self) -> Iterator[Finding]:
        if not is_metric(self.metric):
            message = f"no metric can be called {self.metric[:60]!a}"
            yield Finding("wrong_value", message, "", ("metric",))


class Suite(Model):
    """Two systems over the same recorded cases."""

    version: Annotated[int, Field(ge=1, le=1, description="The suite format's version: 1.")]
    name: Annotated[Name, Field(description="What the suite is called.")]
    cases: Annotated[Text, Field(description="The recorded cases, JSON Lines, beside the suite.")]
    systems: Annotated[Systems, Field(description="The two systems.")]
    scorer: Annotated[Program | None, Field(description="Scores the answers of both, not told whose.")] = None
    decisions: Annotated[Decisions | None, Field(description="What people decide on the outputs.")] = None
    reuse_decisions: Annotated[
        Literal["never", "identical_outputs"],
        Field(description="identical_outputs: a decision also holds for the same bytes of the other system."),
    ] = "never"
    seed: Annotated[int, Field(ge=0, lt=2**53, description="Order of the cases, and the systems' seeds.")] = 0
    repeats: Annotated[int, Field(ge=1, le=1000, description="Runs of each case by each system.")] = 1
    concurrency: Annotated[int, Field(ge=1, le=256, description="Runs at a time, over both systems.")] = 4
    timeout: Annotated[float, Field(gt=0, le=86400, description="Seconds for one answer.")] = 60.0
    retries: Annotated[
        int, Field(ge=0, le=20, description="Further attempts after a fault of the infrastructure.")
    ] = 2


def suite_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a suite file. What must hold between keys is checked on reading only."""
    schema: dict[str, Any] = as_written(Suite.model_json_schema())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:paired-gate:suite:1",
        **schema,
        "title": "Paired Gate suite",
    }
