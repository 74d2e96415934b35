"""An endpoint that sends a byte now and then, for ever, is left when its time is over."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import SimpleNamespace

import pytest

from crowd.adapters import outcomes
from crowd.adapters.base import MarketplaceDownError, Unknown
from crowd.adapters.mturk import Account, MTurkAdapter

#: Far longer than an answer on this machine takes, far shorter than the usual timeouts.
SECONDS = 0.5


class Dribbling(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.from_the = ""
        self.connections: set[tuple[str, int]] = set()
        self.over = threading.Event()


class Answer(BaseHTTPRequestHandler):
    server: Dribbling
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.connections.add(self.client_address)
        if self.server.from_the == "head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Padding: ")
            self.dribble()
            return
        body = json.dumps({"AvailableBalance": "10.00"}).encode()
        self.send_response(200)
        self.send_header("x-amzn-RequestId", "1")
        self.send_header("Content-Length", str(10_000 if self.server.from_the else len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.server.from_the == "body":
            self.dribble()

    def dribble(self):
        self.close_connection = True
        while not self.server.over.wait(0.01):
            try:
                self.wfile.write(b" ")
            except OSError:
                return

    def log_message(self, *_):
        pass


@pytest.fixture
def far_end():
    server = Dribbling()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def adapter(far_end, monkeypatch):
    monkeypatch.setattr(outcomes, "ANSWER_SECONDS", SECONDS)
    address = f"http://127.0.0.1:{far_end.server_address[1]}/mturk/api"
    return MTurkAdapter(Account(address, "us-east-1", "AK", "secret", rate=0.0))


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_read_ends_as_one_that_was_not_answered_and_of_a_change_nobody_knows(adapter, far_end, part):
    far_end.from_the = part
    with pytest.raises(MarketplaceDownError):
        adapter.check()
    assert isinstance(adapter.approve("A1", ""), Unknown)


def test_answers_in_time_share_a_connection_whose_clock_begins_with_each(adapter, far_end, monkeypatch):
    readings = count()
    clock = SimpleNamespace(monotonic=lambda: next(readings) * SECONDS / 20)
    monkeypatch.setattr("crowd.adapters.outcomes.time", clock)
    for _ in range(12):
        assert adapter.check().available.minor == 1000
    assert len(far_end.connections) == 1
