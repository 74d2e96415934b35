"""A proxy before an installation that refuses, loses requests and replies, and cuts bodies, by a seed."""

import collections
import http.client
import itertools
import random
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

FAULTS = ("429", "503", "request lost", "reply lost", "body cut")
_HOP = {"transfer-encoding", "connection", "content-length", "server", "date"}


class FaultyProxy:
    """Something goes wrong with this share of all requests; `faults` counts what."""

    def __init__(self, upstream: str, *, share: float, seed: int) -> None:
        self.host = urlsplit(upstream).netloc
        self.share, self._dice, self._lock = share, random.Random(seed), threading.Lock()
        self._kinds = itertools.cycle(FAULTS)
        self.faults: collections.Counter[str] = collections.Counter()

        class Handler(_Handler):
            host, draw = self.host, staticmethod(self.draw)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def draw(self) -> str:
        """What goes wrong with the next request; mostly nothing, and each kind in its turn."""
        with self._lock:
            fault = next(self._kinds) if self._dice.random() < self.share else ""
            self.faults[fault] += 1
        return fault

    def __enter__(self) -> "FaultyProxy":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host: str
    draw: Callable[[], str]

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def handle_request(self) -> None:
        body, fault = self._read_body(), self.draw()
        if fault.isdigit():
            self._answer(int(fault), {"Retry-After": "0"}, b"<html>busy")
        elif fault == "request lost":
            self._hang_up()
        else:
            status, headers, content = self._pass_on(body)
            if fault == "reply lost":
                self._hang_up()
            elif fault == "body cut" and len(content) > 1:
                self._answer(status, headers, content, cut=len(content) // 2)
                self._hang_up()
            else:
                self._answer(status, headers, content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request  # noqa: N815  # names of http.server

    def _read_body(self) -> bytes:
        if "Transfer-Encoding" not in self.headers:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _pass_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        upstream = http.client.HTTPConnection(self.host, timeout=60)
        try:
            upstream.request(self.command, self.path, body=body or None, headers=headers)
            reply = upstream.getresponse()
            kept = {name: value for name, value in reply.getheaders() if name.lower() not in _HOP}
            return reply.status, kept, reply.read()
        finally:
            upstream.close()

    def _answer(self, status: int, headers: dict[str, str], content: bytes, *, cut: Any = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != http.client.NO_CONTENT:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:cut])

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(2)
