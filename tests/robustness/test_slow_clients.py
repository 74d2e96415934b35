"""Clients that are slow, or silent, cost their own connection and nothing else."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from distillery import webserver
from tests.clients import ask

CLIENTS = 24
PROMPT_SECONDS = 2.0
HEAD = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
FORM = HEAD.format(path="/mturk/externalSubmit") + "Content-Length: 99999\r\n\r\n"
CALL = HEAD.format(path="/mturk/api/") + "Content-Length: 99999\r\n\r\n"
UPLOAD = HEAD.format(path="/desk/projects/new/") + "Content-Length: 20000000\r\n\r\n"
CHUNKED = HEAD.format(path="/mturk/externalSubmit") + "Transfer-Encoding: chunked\r\n\r\n"
#: What is sent at once, and what is sent a byte at a time afterwards.
SORTS = {
    "silent before the head": ("", ""),
    "silent in the head": ("POST /mturk/externalSubmit HTTP/1.1\r\nHost:", ""),
    "silent in a form": (f"{FORM}a=", ""),
    "silent in a call": (f"{CALL}{{", ""),
    "silent in an upload": (f"{UPLOAD}a=", ""),
    "silent in chunks": (f"{CHUNKED}5\r\na", ""),
    "silent behind a request": (f"GET /health/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{FORM}", ""),
    "dribbling the head": ("POST /mturk/externalSubmit HTTP/1.1\r\n", "X-Slow: " + "x" * 90_000),
    "dribbling a form": (FORM, "a" * 99_999),
    "dribbling a call": (CALL, "{" * 99_999),
    "dribbling an upload": (UPLOAD, "a" * 99_999),
}


@contextlib.contextmanager
def slow_clients(url: str, at_once: str, slowly: str) -> Iterator[list[socket.socket]]:
    """Connections to the server that say so much, and then a byte now and then."""
    address = urlsplit(url)
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=20))
            for _ in range(CLIENTS)
        ]
        for client in clients:
            client.sendall(at_once.encode())

        def dribble() -> None:
            for letter in slowly:
                for client in clients:
                    with contextlib.suppress(OSError):
                        client.send(letter.encode())
                if over.wait(0.05):
                    return

        dribbling = threading.Thread(target=dribble)
        dribbling.start()
        try:
            yield clients
        finally:
            over.set()
            dribbling.join()


@pytest.fixture(scope="module")
def requester(server):
    return server.requester()


def prompt(server, requester) -> list[float]:
    """How long a page, the health and a signed call take."""
    took = []
    for look in (
        lambda: ask("GET", f"{server.url}/health/", timeout=10).status,
        lambda: ask("GET", f"{server.url}/accounts/login/", timeout=10).status,
        lambda: requester.client.get_account_balance()["ResponseMetadata"]["HTTPStatusCode"],
    ):
        began = time.monotonic()
        assert look() == 200
        took.append(time.monotonic() - began)
    return took


@pytest.mark.long
@pytest.mark.parametrize("sort", SORTS)
def test_slow_clients_keep_nobody_waiting(server, requester, sort):
    with slow_clients(server.url, *SORTS[sort]):
        assert max(prompt(server, requester)) < PROMPT_SECONDS


@pytest.mark.long
def test_clients_that_say_nothing_are_cut_off(server):
    """Before the head and in it, after their times; all sorts at once."""
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(slow_clients(server.url, *SORTS[sort]))[0]
            for sort in ("silent before the head", "silent in the head", "dribbling the head")
        ]
        for client in clients:
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1000) == b""
    assert webserver.HEAD_SECONDS - 1 < time.monotonic() - began < webserver.KEPT_SECONDS + 4


def test_a_body_that_no_address_takes_is_refused_unread(server):
    """By its Content-Length, before a byte of it; pages that take files read it."""
    address = urlsplit(server.url)
    too_long = webserver.LONGEST_BODY + 1
    for path, status in (("/mturk/externalSubmit", 413), ("/accounts/login/", 413)):
        head = HEAD.format(path=path) + f"Content-Length: {too_long}\r\n\r\n"
        with socket.create_connection((address.hostname, address.port), timeout=5) as client:
            client.sendall(head.encode())
            answer = http.client.HTTPResponse(client)
            answer.begin()
            assert answer.status == status
            assert b"more than this address takes" in answer.read()
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=5)
    with contextlib.closing(connection):  # of one that sends all of it before it reads
        connection.request("POST", "/accounts/login/", b"x" * too_long)
        with connection.getresponse() as answer:
            assert answer.status == 413


def test_a_long_body_that_comes_at_once_is_read(server):
    """With and without chunks; the connection stays usable."""
    address = urlsplit(server.url)
    body = b"a=" + b"x" * 1_000_000
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for given in (body, b"a=1", iter([body[:7], body[7:9000], body[9000:]])):
        connection.request("POST", "/mturk/externalSubmit", given, form)
        answer = connection.getresponse()
        assert (answer.status, b"We do not know who you are" in answer.read()) == (403, True)
    connection.close()


def test_requests_sent_behind_each_other_are_answered_in_turn(server):
    address = urlsplit(server.url)
    one = b"GET /health/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=10) as client:
        client.sendall(one * 3 + one[:20])
        time_to_read = client.makefile("rb")
        client.sendall(one[20:])
        for _ in range(4):
            assert time_to_read.readline().startswith(b"HTTP/1.1 200")
            length = 0
            while line := time_to_read.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            time_to_read.read(length)


LOOK = "GET /health/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def read_answer(client: socket.socket) -> tuple[str, str]:
    """Status and what becomes of the connection, of one answer with a length and nothing of the next."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    status, *lines = head.decode().split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines if line)
    left = int(fields["content-length"])
    while left:
        left -= len(client.recv(left))
    return status.split()[1], fields.get("connection", "keep-alive")  # which HTTP/1.1 need not say


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_what_follows_on_a_connection_is_answered_however_it_comes(server, pause):
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as client:
        for pieces in ([LOOK], [LOOK], [LOOK[:9], LOOK[9:]], [LOOK + LOOK[:30], LOOK[30:]], [LOOK]):
            for piece in pieces:
                client.sendall(piece.encode())
                time.sleep(pause)
            for _ in range("".join(pieces).count("GET")):
                assert read_answer(client) == ("200", "keep-alive")
        client.sendall(LOOK.encode())
        assert read_answer(client) == ("200", "keep-alive")
        client.sendall(FORM.replace("99999", "99999999").encode())  # right after an answer
        assert read_answer(client) == ("413", "close")
