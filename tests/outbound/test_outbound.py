"""Posting to addresses that other people name: nothing private is ever called."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from core import outbound
from core.outbound import AddressRefusedError, DeliveryError


@pytest.fixture
def resolve_to(monkeypatch):
    """Has every host lead to these addresses."""

    def answer(*addresses: str) -> None:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 443)) for each in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

    return answer


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "https://example.org:22/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://[fd00::1]/",
        "https://database/",
        "https://example.org/with space",
        "https://example.org/\r\nX-Other: 1",
        "https://[broken/",
        "https://example.org/" + "x" * 2100,
    ],
)
def test_what_is_not_public_and_https_is_refused_before_anything_is_looked_up(url, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("looked up"))
    with pytest.raises(AddressRefusedError):
        outbound.post(url, b"", {})


@pytest.mark.parametrize("private", ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
                                     "0.0.0.0", "224.0.0.1", "240.0.0.1", "192.0.0.8", "192.88.99.1",
                                     "3fff::1", "5f00::1", "64:ff9b:1::a00:1", "fec0::1"])  # fmt: skip
def test_a_host_that_leads_to_a_private_address_is_refused_even_beside_a_public_one(resolve_to, private):
    resolve_to("93.184.216.34", private)
    with pytest.raises(AddressRefusedError, match="leads to"):
        outbound.post("https://example.org/", b"", {})


def test_the_connection_goes_to_the_address_that_was_checked(resolve_to, monkeypatch):
    resolve_to("93.184.216.34")
    called = []

    def connect(address, *_, **__):
        called.append(address)
        raise OSError("no way")

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    with pytest.raises(DeliveryError, match="did not answer"):
        outbound.post("https://example.org/hook", b"{}", {})
    assert called == [("93.184.216.34", 443)]


class _Receiver(BaseHTTPRequestHandler):
    """Redirects to itself, or answers with what it got."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "/landed")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{self.path} {self.headers['Host']} {self.headers['X-Kind']} ".encode() + body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def receiver():
    with HTTPServer(("127.0.0.1", 0), _Receiver) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_host_that_the_operator_names_may_be_private_and_plain(receiver):
    reply = outbound.post(f"{receiver}/in?a=1", b"body", {"X-Kind": "test"}, trusted={"127.0.0.1"})
    assert reply.status == 200
    assert reply.body.decode() == f"/in?a=1 {receiver.removeprefix('http://')} test body"


def test_a_redirect_is_not_followed(receiver):
    assert outbound.post(f"{receiver}/away", b"", {}, trusted={"127.0.0.1"}).status == 302
