"""A system behind HTTP: slow, failing, throttled, talking garbage. And no secret in what is written."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from tests.replay.endpoint import Handler, endpoint
from tests.replay.world import CASES, lay_out, replay, rows


def web(url: str, **more: Any) -> dict[str, Any]:
    return {"http": {"url": url, **more}}


def of(folder: Path, case: str = "c3") -> dict[str, Any]:
    return next(row for row in rows(folder, "candidate") if row["id"] == case)


def test_an_endpoint_answers(tmp_path: Path) -> None:
    with endpoint() as server:
        lay_out(tmp_path, candidate=web(server.url), repeats=2)
        assert replay(tmp_path).code == 0
        assert len(server.seen) == 24
    found = rows(tmp_path, "candidate")
    assert all(row["status"] == "ok" and row["correct"] and row["latency_ms"] > 0 for row in found)


def test_headers_come_from_the_environment_and_go_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_KEY", "Bearer s3cret-value-1234")
    with endpoint(lambda handler, request, _: request["id"] == "c3@1" and fail(handler)) as server:
        lay_out(tmp_path, candidate=web(server.url, headers={"Authorization": "SERVICE_KEY"}))
        answer = replay(tmp_path)
        assert answer.code == 0
        assert {headers["Authorization"] for headers, _, _ in server.seen} == {"Bearer s3cret-value-1234"}
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"s3cret" in data for data in written)
    assert "s3cret" not in answer.out + answer.err


def fail(handler: Handler) -> bool:
    handler.raw(b"no", 400)
    return True


@pytest.mark.parametrize("wrapped", [True, False])
def test_an_answer_that_echoes_a_secret_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapped: bool
) -> None:
    monkeypatch.setenv("SERVICE_KEY", "Bearer s3cret-value-1234")

    def echo(handler: Handler, request: dict[str, Any], _: int) -> bool:
        if request["id"] != "c3@1":
            return False
        text = handler.headers["authorization"].split()[1]
        body = json.dumps({"output": text})
        handler.raw(body.replace("s3", "\\u00733" if wrapped else "s3").encode())
        return True

    with endpoint(echo) as server:
        lay_out(tmp_path, candidate=web(server.url, headers={"Authorization": "SERVICE_KEY"}))
        assert replay(tmp_path).code == 0
    assert of(tmp_path)["error"] == "the answer repeats the value of a header, and was not kept"
    assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("value", ["", "line\nend", "käse"])
def test_a_variable_must_be_there_and_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SERVICE_KEY", value)
    lay_out(tmp_path, candidate=web("http://127.0.0.1:9/x", headers={"Authorization": "SERVICE_KEY"}))
    answer = replay(tmp_path)
    assert "the header 'Authorization' of the candidate system" in answer.error
    assert "SERVICE_KEY" in answer.err
    assert not value or value not in answer.err


def test_the_address_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with endpoint() as server:
        monkeypatch.setenv("SERVICE_URL", server.url)
        lay_out(tmp_path, CASES[:3], candidate={"http": {"url_env": "SERVICE_URL"}})
        assert replay(tmp_path).code == 0
    monkeypatch.setenv("SERVICE_URL", "ftp://nobody")
    lay_out(tmp_path, CASES[:2], candidate={"http": {"url_env": "SERVICE_URL"}})
    assert replay(tmp_path, out="other").code == 2


def test_throttling_is_waited_for_as_long_as_it_says(tmp_path: Path) -> None:
    def throttle(handler: Handler, request: dict[str, Any], before: int) -> bool:
        if request["id"] == "c3@1" and before < 2:
            # Dates have no fractions: one that lies in the past asks for no wait at all.
            wait = "1" if before == 0 else formatdate(time.time() - 5, usegmt=True)
            handler.raw(b"busy", 429, retry_after=wait)
            return True
        return False

    with endpoint(throttle) as server:
        lay_out(tmp_path, candidate=web(server.url))
        answer = replay(tmp_path)
        times = [when for _, request, when in server.seen if request["id"] == "c3@1"]
    assert answer.code == 0
    assert times[1] - times[0] >= 1.0
    row = of(tmp_path)
    assert (row["status"], row["faults"], row["correct"]) == ("ok", 2, True)
    assert row["latency_ms"] < 1000, "the wait is no part of the answer's time"


@pytest.mark.parametrize("retry_after", ["3600", "never"])
def test_throttling_that_does_not_end_is_told(tmp_path: Path, retry_after: str) -> None:
    def throttle(handler: Handler, request: dict[str, Any], _: int) -> bool:
        if request["id"] == "c3@1":
            handler.raw(b"busy", 429, retry_after=retry_after)
        return bool(request["id"] == "c3@1")

    with endpoint(throttle) as server:
        lay_out(tmp_path, candidate=web(server.url), retries=1)
        assert replay(tmp_path).code == 0
        assert server.asked["c3@1"] == (1 if retry_after == "3600" else 2)
        row = of(tmp_path)
        assert (row["status"], row["error"]) == ("throttled", "HTTP 429")
        server.behave = lambda *_: False
        assert replay(tmp_path).code == 0, "the next replay asks again what was never answered"
        assert of(tmp_path)["status"] == "ok"
        assert set(server.asked.values()) <= {1, 2, 3}
        assert [n for key, n in server.asked.items() if key != "c3@1"] == [1] * 11


def _drop(handler: Handler) -> None:
    handler.drop()


@pytest.mark.parametrize(
    ("misbehave", "status", "error", "attempts"),
    [
        (lambda h: h.raw(b"", 500), "unreachable", "HTTP 500", 2),
        (lambda h: h.raw(b"", 502), "unreachable", "HTTP 502", 2),
        (_drop, "unreachable", "the connection failed (RemoteProtocolError)", 2),
        (lambda h: h.raw(b"", 400), "error", "HTTP 400", 1),
        (lambda h: h.raw(b"", 401), "error", "HTTP 401", 1),
        (lambda h: h.raw(b"", 302, location="/elsewhere"), "error", "HTTP 302", 1),
        (lambda h: h.raw(b"<html>busy</html>"), "error", "the answer is no JSON (found '<html>", 1),
        (lambda h: h.raw(b""), "error", "the answer is no JSON (found nothing)", 1),
        (lambda h: h.raw(b"\xff\xfe"), "error", "the answer is no JSON", 1),
        (lambda h: h.raw(b"not gzip", content_encoding="gzip"), "error", "answer (DecodingError)", 1),
        (lambda h: h.raw(b"[" * 100_000), "error", "the answer is nested too deeply", 1),
        (lambda h: h.raw(b'{"output": "' + b"x" * 5_000_000 + b'"}'), "error", "longer than 4 MiB", 1),
        (lambda h: h.reply({"id": "c4@1", "output": 1}), "error", "the answer is to another question", 1),
        (lambda h: time.sleep(3), "timeout", "no answer within 1 s", 1),
    ],
)
def test_what_is_no_answer_fails_its_run(
    tmp_path: Path, misbehave: Any, status: str, error: str, attempts: int
) -> None:
    def behave(handler: Handler, request: dict[str, Any], _: int) -> bool:
        if request["id"] == "c3@1":
            misbehave(handler)
        return bool(request["id"] == "c3@1")

    with endpoint(behave) as server:
        lay_out(tmp_path, CASES[:5], candidate=web(server.url), retries=1, timeout=1)
        assert replay(tmp_path).code == 0
        assert server.asked["c3@1"] == attempts
    row = of(tmp_path)
    assert row["status"] == status
    assert error in row["error"]
    assert "correct" not in row
    assert [other["status"] for other in rows(tmp_path, "candidate")].count("ok") == 4


def test_an_answer_that_drips_in_has_the_same_time(tmp_path: Path) -> None:
    """Each piece comes soon; the whole does not."""

    def drip(handler: Handler, request: dict[str, Any], _: int) -> bool:
        handler.send_response(200)
        handler.send_header("content-length", "200")
        handler.end_headers()
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.2)
        return True

    with endpoint(drip) as server:
        lay_out(tmp_path, CASES[:1], candidate=web(server.url), timeout=1)
        began = time.monotonic()
        replay(tmp_path)
        assert time.monotonic() - began < 3.5
    assert of(tmp_path, "c0")["status"] == "timeout"


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with endpoint() as server:
        url = server.url
    lay_out(tmp_path, CASES[:2], candidate=web(url), retries=0)
    answer = replay(tmp_path)
    assert "the candidate answered not once (the connection failed (ConnectError))" in answer.error


def test_an_endpoint_in_its_own_words(tmp_path: Path) -> None:
    """The input is the body, with what this system is asked for beside it; paths lead into the reply."""

    def chat(handler: Handler, request: dict[str, Any], _: int) -> bool:
        assert request["model"] == "large"
        assert isinstance(request["seed"], int)
        text = str(len(request["messages"]))
        usage = {"prompt_tokens": 7, "completion_tokens": 2}
        handler.reply({"choices": [{"message": {"content": text}}], "usage": usage})
        return True

    cases = [{"id": f"c{i}", "input": {"messages": ["hi"] * i}, "expected": str(i)} for i in range(4)]
    with endpoint(chat) as server:
        own = {
            "send": "input",
            "fields": {"model": "large"},
            "seed_field": "seed",
            "answer": {
                "output": "choices.0.message.content",
                "input_tokens": "usage.prompt_tokens",
                "output_tokens": "usage.completion_tokens",
            },
        }
        lay_out(tmp_path, cases, candidate=web(server.url, **own))
        assert replay(tmp_path).code == 0
    found = rows(tmp_path, "candidate")
    assert all(row["correct"] and row["input_tokens"] == 7 and row["output_tokens"] == 2 for row in found)


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"id": "a", "input": 3}, "needs cases whose input is an object"),
        ({"id": "a", "turns": [{"input": {}}, {"input": {}}][:1]}, None),
        ({"id": "a", "turns": [{"input": {}, "answer": 1}, {"input": {}}]}, "without turns"),
        ({"id": "a", "input": {"model": "x"}}, "the field 'model' is in the suite and in the input"),
    ],
)
def test_what_cannot_be_sent_is_told_at_once(tmp_path: Path, case: dict[str, Any], error: str | None) -> None:
    with endpoint(lambda handler, *_: handler.reply({"output": 1}) is None) as server:
        lay_out(
            tmp_path, [case], candidate=web(server.url, send="input", fields={"model": "large"}), scorer=None
        )
        answer = replay(tmp_path)
    assert answer.code == 2 if error else answer.err == ""
    assert (error or "") in answer.err


def test_at_most_so_many_at_a_time(tmp_path: Path) -> None:
    at_work: list[int] = []
    most: list[int] = []

    def slow(handler: Handler, request: dict[str, Any], _: int) -> bool:
        at_work.append(1)
        most.append(len(at_work))
        time.sleep(0.03)
        at_work.pop()
        return False

    with endpoint(slow) as server:
        lay_out(tmp_path, baseline=web(server.url), candidate=web(server.url + "2"), concurrency=3)
        assert replay(tmp_path).code == 0
    assert max(most) == 3
