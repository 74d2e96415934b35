"""What the web worker knows before the settings are there agrees with them."""

import os
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings
from gunicorn.http import wsgi

from distillery import webworker, worker_loads
from distillery.worker_loads import WorkerLoads
from tests.server import RunningServer


def test_bodies_are_refused_unread_where_the_settings_would_refuse_them():
    assert webworker.LONGEST_BODY == settings.ANONYMOUS_BODY_MOST
    assert list(webworker.TAKING_FILES) == [
        *settings.UPLOADS_BELOW, *settings.UPLOADS_BY_SIGNATURE, *settings.UPLOADS_BY_TOKEN,
    ]  # fmt: skip


def test_answers_do_not_name_the_server_behind():
    request = SimpleNamespace(version=(1, 1), method="GET", should_close=lambda: False)
    answer = wsgi.Response(request, None, SimpleNamespace())
    answer.start_response("200 OK", [])
    assert "gunicorn" not in "".join(answer.default_headers()).lower()


# Who accepts the next connection


def test_of_two_processes_the_one_with_fewer_connections_goes_first():
    loads = WorkerLoads()
    loads.note(1, 2)
    loads.note(2, 1)
    assert not loads.goes_first(1)
    assert loads.goes_first(2)

    loads.note(2, 2)
    assert loads.goes_first(1)
    assert loads.goes_first(2)


def test_a_process_that_accepts_no_more_is_waited_for_by_nobody():
    loads = WorkerLoads()
    loads.note(1, 5)
    loads.note(2, 0)
    loads.forget(2)
    assert loads.goes_first(1)


def test_a_process_alone_or_not_counted_yet_does_not_wait():
    loads = WorkerLoads()
    assert loads.goes_first(7)
    loads.note(7, 100)
    assert loads.goes_first(7)


def test_forked_processes_see_the_connections_of_each_other():
    loads = WorkerLoads()
    loads.note(1, 1)
    child = os.fork()
    if not child:
        loads.note(2, 0)
        os._exit(0)
    os.waitpid(child, 0)
    assert not loads.goes_first(1)


def test_a_worker_lets_others_first_only_while_they_have_fewer(monkeypatch):
    waits: list[float] = []
    loads = WorkerLoads()
    loads.note(1, 1)
    loads.note(2, 0)

    def take_it(seconds: float) -> None:
        waits.append(seconds)
        loads.note(2, 1)

    monkeypatch.setattr(worker_loads.time, "sleep", take_it)
    loads.let_freer_go_first(1)
    assert len(waits) == 1

    loads.note(1, 3)
    monkeypatch.setattr(worker_loads.time, "sleep", waits.append)
    loads.let_freer_go_first(1)
    assert len(waits) == 1 + worker_loads.PRECEDENCES


@pytest.mark.long
def test_clients_that_connect_at_once_are_shared_by_the_processes():
    """In one of some rounds: a process that the machine gives no time to does not come to its turn."""
    with RunningServer(workers=2) as server:
        assert any(min(connections_while_six_ask(server)) >= 1 for _ in range(20))


def connections_while_six_ask(server: RunningServer) -> list[int]:
    """Connections of each process while six clients stay connected."""
    address = server.url.removeprefix("http://")
    with ExitStack() as stack:
        for _ in range(6):
            connection = stack.enter_context(closing(HTTPConnection(address)))
            connection.request("GET", "/health/live")
            connection.getresponse().read()
        return open_connections(server)


def open_connections(server: RunningServer) -> list[int]:
    """Connections of each process that serves."""
    port = f":{int(server.url.rsplit(':', 1)[1]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    ours = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == "01"}
    return [
        sum(str(each.readlink()) in ours for each in Path(f"/proc/{pid}/fd").iterdir() if each.is_symlink())
        for pid in server.pids[1:]
    ]


# How answers go out


class Wire:
    """What was sent, packet by packet."""

    def __init__(self):
        self.packets = []

    def sendall(self, data):
        self.packets.append(bytes(data))


def answered(*pieces: bytes, length: int, method: str = "GET") -> list[bytes]:
    wire, request = Wire(), SimpleNamespace(version=(1, 1), method=method, should_close=lambda: False)
    answer = wsgi.Response(request, wire, SimpleNamespace())
    answer.start_response("200 OK", [("Content-Length", str(length))])
    for piece in pieces:
        answer.write(piece)
    answer.close()
    return wire.packets


def test_a_short_answer_is_one_packet():
    [packet] = answered(b"Here.", length=5)
    assert packet.startswith(b"HTTP/1.1 200 OK\r\n") and packet.endswith(b"\r\n\r\nHere.")


def test_other_answers_are_sent_as_they_come():
    long = b"x" * (webworker.SENT_AT_ONCE + 1)
    assert answered(b"He", b"re.", length=5)[1:] == [b"He", b"re."]
    assert answered(long, length=len(long))[1:] == [long]
    assert answered(b"more than it says", length=4)[1:] == [b"more"]
    assert len(answered(b"Here.", length=5, method="HEAD")) == 1
    assert b"Here." not in answered(b"Here.", length=5, method="HEAD")[0]
