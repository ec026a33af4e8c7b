"""A local HTTP endpoint that answers, and misbehaves as a test wants it to."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler", dict[str, Any], int], bool]
"""(handler, request, how often this question came before) -> whether it was dealt with."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        key = str(request.get("id", request))
        with self.server.lock:
            before = self.server.asked[key]
            self.server.asked[key] += 1
            self.server.seen.append((dict(self.headers), request, time.monotonic()))
        if not self.server.behave(self, request, before):
            self.reply({"id": request["id"], "output": request["context"]["input"] % 3})

    def reply(self, value: Any, code: int = 200, **headers: str) -> None:
        self.raw(json.dumps(value).encode(), code, **headers)

    def raw(self, body: bytes, code: int = 200, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop(self) -> None:
        """End the connection in the middle of an answer."""
        self.send_response(200)
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"id"')
        self.close_connection = True

    def log_request(self, *args: Any) -> None:
        """Say nothing."""


class Endpoint(ThreadingHTTPServer):
    """asked: question -> how often; seen: headers, request and time of each."""

    daemon_threads = True

    def __init__(self, behave: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = behave
        self.asked: Counter[str] = Counter()
        self.seen: list[tuple[dict[str, str], dict[str, Any], float]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/answer"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of the test."""


@contextmanager
def endpoint(behave: Behaviour = lambda *_: False) -> Iterator[Endpoint]:
    """A server for one test."""
    server = Endpoint(behave)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
