"""A small live service: production answers over HTTP, and a shadow answers copies that no user sees.

Needs scikit-learn. Its bundled digits (Alpaydin and Kaynak 1998) come as requests from 40 clients. Writes the
two logs and, as if people had keyed them in later, what the pictures really show.
"""

import hashlib
import http.client
import json
import queue
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

REQUESTS, CLIENTS, TRAINED = 640, 40, 300
MIRRORED = 0.95  # of the requests, chosen by their id before anybody has answered
WAITING = 3  # copies that may wait for the shadow; the next one is dropped, so that production never waits
BURST = 8  # requests at the same moment, now and then
DEADLINE = 0.025  # seconds the shadow may think


def models():
    """Both classifiers, fitted to the same pictures, and the pictures that come as requests."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.naive_bayes import GaussianNB

    digits = load_digits()
    known = digits.data[:TRAINED], digits.target[:TRAINED]
    fitted = GaussianNB().fit(*known), ExtraTreesClassifier(30, random_state=1).fit(*known)
    return *fitted, digits.data[TRAINED:], digits.target[TRAINED:]


class Service(ThreadingHTTPServer):
    """Production in the foreground; one thread for the shadow behind a bounded queue."""

    def __init__(self, production, shadow):
        super().__init__(("127.0.0.1", 0), Handler)
        self.production, self.shadow = production, shadow
        self.copies, self.logs = queue.Queue(WAITING), {"production": [], "shadow": []}
        self.lock = threading.Lock()

    def answer(self, body):
        """What the user gets. The old app sends pictures from 0 to 255: production scales them down first."""
        begun, picture = time.perf_counter(), np.array(body["pixels"], float)
        if picture.max() > 16:
            picture = np.round(picture / 255 * 16)
        answer = int(self.production.predict([picture])[0])
        self.log("production", body, picture, "bayes-3", begun, answer=answer)
        if chosen(body["request"]):
            try:
                self.copies.put_nowait(body)
            except queue.Full:
                self.logs["shadow"].append({"request": body["request"], "status": "dropped"})
        return answer

    def follow(self):
        """The shadow gets what was sent, not what production made of it."""
        while (body := self.copies.get()) is not None:
            begun, picture = time.perf_counter(), np.array(body["pixels"], float)
            answer = int(self.shadow.predict([picture])[0])
            late = time.perf_counter() - begun > DEADLINE
            outcome = {"status": "timeout"} if late else {"answer": answer}
            self.log("shadow", body, picture, "trees-1", begun, **outcome)

    def log(self, name, body, picture, model, begun, **outcome):
        """One line: the digest is of the picture that the model saw."""
        seen = hashlib.sha256(picture.astype(np.uint8).tobytes()).hexdigest()[:12]
        took = round(1000 * (time.perf_counter() - begun), 2)
        line = {
            "request": body["request"],
            "client": body["client"],
            "model": model,
            "input": seen,
            "ms": took,
        }
        with self.lock:
            self.logs[name].append(line | outcome)


class Handler(BaseHTTPRequestHandler):
    """POST a picture, get a digit."""

    def do_POST(self):
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"answer": self.server.answer(body)}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Quiet."""


def chosen(request):
    """Whether a request is mirrored: by its id alone, so that the choice cannot depend on an answer."""
    return int(hashlib.sha256(request.encode()).hexdigest()[:8], 16) / 2**32 < MIRRORED


def record(folder):
    """Run the service for all requests; write production.jsonl, shadow.jsonl and truth.csv."""
    production, shadow, pictures, truth = models()
    service = Service(production, shadow)
    threads = [threading.Thread(target=service.serve_forever), threading.Thread(target=service.follow)]
    for thread in threads:
        thread.start()
    with ThreadPoolExecutor(BURST) as clients:
        for burst in bursts(pictures):
            list(clients.map(lambda body: _post(service.server_port, body), burst))
            time.sleep(0.005)
    service.copies.put(None)
    service.shutdown()
    for thread in threads:
        thread.join()
    service.server_close()
    for name, lines in service.logs.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    rows = "".join(f"r{number:04d},{truth[number]}\n" for number in range(REQUESTS))
    (folder / "truth.csv").write_text("request,truth\n" + rows, encoding="utf-8")


def bursts(pictures):
    """The requests: mostly one by one, sometimes many at once; one in fifty is impatient and asks again."""
    rng, number = random.Random(7), 0  # noqa: S311 - traffic, not secrets
    while number < REQUESTS:
        size = min(BURST if rng.random() < 0.04 else 1, REQUESTS - number)
        burst = [_request(rng, k, pictures[k]) for k in range(number, number + size)]
        yield burst + [body for body in burst if rng.random() < 0.02]
        number += size


def _request(rng, number, picture):
    """One picture of one client; client 0 still has the old app."""
    client = rng.randrange(CLIENTS)
    scale = 255 / 16 if client == 0 else 1
    pixels = [round(float(pixel) * scale) for pixel in picture]
    return {"request": f"r{number:04d}", "client": f"c{client:02d}", "pixels": pixels}


def _post(port, body):
    """One request over the loopback."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/", json.dumps(body))
    connection.getresponse().read()
    connection.close()
