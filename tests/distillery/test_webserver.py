"""The web server: what it refuses, whom it believes, and how it comes to its end."""

import http.client
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings
from waitress.adjustments import Adjustments

from distillery import webserver
from distillery.webserver import RequestParser, from_outside

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20


def test_bodies_are_refused_unread_where_the_settings_would_refuse_them():
    assert webserver.LONGEST_BODY == settings.ANONYMOUS_BODY_MOST
    assert list(webserver.TAKING_FILES) == [
        *settings.UPLOADS_BELOW, *settings.UPLOADS_BY_SIGNATURE, *settings.UPLOADS_BY_TOKEN,
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/desk/", "/accounts/login/"])
def test_a_body_in_chunks_is_refused_at_the_same_length(path, monkeypatch):
    monkeypatch.setattr(webserver, "LONGEST_BODY", 5)
    parser = RequestParser(Adjustments())
    parser.received(f"POST {path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    parser.received(b"6\r\nabcdef\r\n")
    assert bool(parser.error) is (path == "/accounts/login/")


def test_an_upload_does_not_fill_the_disk(monkeypatch):
    monkeypatch.setattr(webserver, "LEAST_FREE", 1 << 60)
    for length, code in ((webserver.LONGEST_BODY, None), (webserver.LONGEST_BODY + 1, 507)):
        parser = RequestParser(Adjustments())
        parser.received(f"POST /desk/ HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
        assert getattr(parser.error, "code", None) == code


def test_nobody_is_told_to_send_what_is_refused():
    parser = RequestParser(Adjustments())
    head = f"Content-Length: {webserver.LONGEST_BODY + 1}\r\nExpect: 100-continue\r\n\r\n"
    parser.received(f"POST /accounts/login/ HTTP/1.1\r\n{head}".encode())
    assert parser.error and parser.completed and not parser.expect_continue


@pytest.mark.parametrize(
    ("address", "header", "scheme"),
    [
        ("127.0.0.1", "https", "https"),
        ("127.0.0.1", "gopher", "http"),
        ("127.0.0.1", None, "http"),
        ("192.0.2.1", "https", "http"),
    ],
)
def test_the_scheme_is_that_of_a_trusted_proxy(address, header, scheme):
    environ = {"REMOTE_ADDR": address, "wsgi.url_scheme": "http"}
    if header:
        environ["HTTP_X_FORWARDED_PROTO"] = header
    assert from_outside(lambda environ, _: [environ["wsgi.url_scheme"].encode()])(environ, None) == [
        scheme.encode()
    ]


def test_a_line_of_the_access_log_holds_no_line_of_the_visitor(monkeypatch, capsys):
    monkeypatch.setattr(webserver, "ACCESS_LOG", True)

    def application(environ, start_response):
        start_response("404 Not Found", [])
        return []

    environ = {"REMOTE_ADDR": "192.0.2.1", "REQUEST_METHOD": "GET", "REQUEST_URI": "/a\x1b"}
    from_outside(application)(environ, lambda *_: None)
    assert capsys.readouterr().out.endswith(" 192.0.2.1 'GET /a\\x1b' 404\n")


#: It sleeps longer than the loop waits: a signal that comes right before a wait is heard at the end of it.
SLOW = """
import socket, sys, time
from distillery import webserver

def application(environ, start_response):
    print("begun", flush=True)
    start_response("200 OK", [("Content-Length", "2000000")])
    time.sleep(2.5)
    return [b"x" * 1_000_000] * 2

webserver.MOST_CONNECTIONS = 8
webserver.serve(application, socket.socket(fileno=int(sys.argv[1])))
"""
LOOK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def slow_server():
    """A web server of few connections that answers after some seconds, by its process and its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address, number = listener.getsockname(), listener.fileno()
        command = [sys.executable, "-c", SLOW, str(number)]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[number], stdout=subprocess.PIPE)
    with process:
        yield process, address
        process.kill()


def test_an_answer_that_has_begun_is_completed_before_the_end(slow_server):
    process, address = slow_server
    with socket.create_connection(address, timeout=SECONDS) as client:
        client.sendall(LOOK)
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
        with http.client.HTTPResponse(client) as answer:
            answer.begin()
            assert (answer.headers["Server"], answer.headers["Connection"]) == ("Distillery", "close")
            assert len(answer.read()) == 2_000_000
    assert process.wait(SECONDS) == 0


def test_where_no_more_connections_are_taken_the_oldest_silent_one_goes(slow_server):
    _, address = slow_server
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(address, timeout=SECONDS)) for _ in range(10)]
        client = stack.enter_context(socket.create_connection(address, timeout=SECONDS))
        client.sendall(LOOK)
        assert client.recv(100).startswith(b"HTTP/1.1 200 OK")
        assert silent[0].recv(1) == b""
