"""A system behind an HTTP endpoint. Values of headers come from the environment and are written nowhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from gate.artifacts.lookup import lookup
from gate.artifacts.records import ABSENT
from gate.replay.faults import ANSWER_BYTES, FaultError, Reply, object_of
from gate.replay.suite import Http
from gate.values import GateError

if TYPE_CHECKING:
    import httpx

_BUSY = {429, 503}
_PASSING = {408, 425}
"""Beside 5xx: what may be otherwise the next time, and says nothing about the question."""
CONNECT_SECONDS = 10.0


class Endpoint:
    """A client of one address for many questions at a time."""

    def __init__(self, http: Http, what: str, timeout: float, environ: Mapping[str, str], most: int) -> None:
        self._http, self._what, self._timeout = http, what, timeout
        self._url = http.url or _variable(environ, http.url_env or "", f"the address of the {what}")
        values = {
            n: _variable(environ, v, f"the header {n!a} of the {what}") for n, v in http.headers.items()
        }
        self._secrets = tuple({value.split(" ")[-1] for value in values.values()} | set(values.values()))
        self._client = _client(values, self._url, what, most)

    async def ask(self, question: bytes, key: str) -> Reply:
        """One POST and its JSON answer. Nothing of a header is ever part of an error."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                raw = await self._posted(self._body(question))
        except TimeoutError:
            raise FaultError("timeout", f"no answer within {self._timeout:g} s") from None
        seconds = time.perf_counter() - began
        found = object_of(raw)
        self._refuse_secrets(raw, found)
        if self._http.answer:
            return Reply(_picked(found, self._http.answer), seconds)
        if found.pop("id", key) != key:
            raise FaultError("error", "the answer is to another question")
        return Reply(found, seconds)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _body(self, question: bytes) -> bytes:
        """The request as it is, or the case's input with this system's own fields."""
        if self._http.send == "request":
            return question
        request = json.loads(question)
        asked = request["context"]["input"]
        if not isinstance(asked, dict) or request["context"]["history"]:
            raise GateError(
                "not_sendable",
                f"send: input needs cases whose input is an object, without turns (case {request['id']!a})",
                help="send: request sends any case, with its recorded history",
            )
        own = dict(self._http.fields)
        if self._http.seed_field:
            own[self._http.seed_field] = request["seed"]
        both = sorted(asked.keys() & own.keys())
        if both:
            raise GateError(
                "not_sendable",
                f"the field {both[0]!a} is in the suite and in the input (case {request['id']!a})",
                help="what a system is asked for beside the input stands in one place",
            )
        return json.dumps({**asked, **own}).encode()

    async def _posted(self, body: bytes) -> bytes:
        import httpx  # noqa: PLC0415 - the module is there once there is a client

        try:
            async with self._client.stream("POST", self._url, content=body) as response:
                if response.status_code != 200:
                    raise _refused(response.status_code, response.headers.get("retry-after"))
                found = bytearray()
                async for block in response.aiter_bytes():
                    found += block
                    if len(found) > ANSWER_BYTES:
                        raise FaultError("error", f"the answer is longer than {ANSWER_BYTES >> 20} MiB")
                return bytes(found)
        except httpx.TransportError as error:
            # What httpx says may hold what was sent; the name of the error does not.
            kind = type(error).__name__
            raise FaultError("unreachable", f"the connection failed ({kind})", again=True) from None
        except httpx.HTTPError as error:
            raise FaultError("error", f"no readable answer ({type(error).__name__})") from None

    def _refuse_secrets(self, raw: bytes, found: Mapping[str, Any]) -> None:
        """An endpoint that echoes what it was sent would have it written into the artifact."""
        text = raw.decode("utf-8", "replace") + json.dumps(found, ensure_ascii=False)
        if any(secret and secret in text for secret in self._secrets if len(secret) >= 6):
            raise FaultError("error", "the answer repeats the value of a header, and was not kept")


def _client(headers: Mapping[str, str], url: str, what: str, most: int) -> httpx.AsyncClient:
    try:
        import httpx  # noqa: PLC0415 - an extra: only suites with endpoints need it
    except ImportError:
        raise GateError(
            "http_not_installed",
            f"the {what} is an HTTP endpoint, and httpx is not installed",
            help="pip install 'paired-gate[http]'",
        ) from None
    limits = httpx.Limits(max_connections=most, max_keepalive_connections=most)
    # The time of the whole answer is kept by whoever asks; a peer that drips would never be late here.
    times = httpx.Timeout(None, connect=CONNECT_SECONDS)
    try:
        client = httpx.AsyncClient(headers=dict(headers), limits=limits, timeout=times)
        client.build_request("POST", url)
    except (httpx.InvalidURL, ValueError):
        raise GateError(
            "invalid_address", f"the address of the {what} cannot be used", help=_ADDRESS
        ) from None
    client.headers["content-type"] = "application/json"
    return client


_ADDRESS = "write http:// or https://, a host, and a path"


def _variable(environ: Mapping[str, str], name: str, what: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise GateError(
            "variable_missing", f"{what} is not set ({name!a})", help=f"set {name} in the environment"
        )
    if not (value.isascii() and value.isprintable()):
        message = f"{what} holds characters that no header may have ({name!a})"
        raise GateError("variable_unusable", message, help="is there a line end in it?")
    return value


def _refused(code: int, retry_after: str | None) -> FaultError:
    """Why a status code is no answer, and whether another attempt may be one."""
    if code in _BUSY:
        return FaultError("throttled", f"HTTP {code}", again=True, wait=_seconds(retry_after))
    again = code >= 500 or code in _PASSING
    return FaultError("unreachable" if again else "error", f"HTTP {code}", again=again)


def _seconds(retry_after: str | None) -> float | None:
    """``Retry-After`` in seconds or as a date; None where it says nothing that can be read."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after.strip()[:9])
    with contextlib.suppress(ValueError, TypeError):
        then = parsedate_to_datetime(retry_after)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    return None


def _picked(found: Mapping[str, Any], places: Mapping[Any, str]) -> dict[str, Any]:
    """What the suite says stands where in the reply."""
    picked: dict[str, Any] = {}
    for name, path in places.items():
        try:
            value = lookup(found, path)
        except GateError as error:
            raise FaultError("error", f"the reply's {path!a} cannot be taken: {error.message}") from None
        if value is not ABSENT and value is not None:
            picked[name] = value
    if "output" not in picked and "error" not in picked:
        raise FaultError("error", f"the reply holds nothing at {places.get('output', 'output')!a}")
    return picked
