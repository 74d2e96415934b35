"""The dead man's switch, called over HTTP at a real server that may be slow, broken, or not there."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.conf import settings as configured

from core.jobs import services
from distillery import tasks
from distillery.checks import check_ping_url
from distillery.health import Readiness
from distillery.prometheus import PING_SECONDS
from tests.distillery.installation import METRICS_TOKEN


class Monitor(ThreadingHTTPServer):
    """Keeps what it hears; answers with `status`, or a byte at a time for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hearing)
        self.heard: list[tuple[str, str, str]] = []
        self.status, self.dribbles = 200, False
        self.over = threading.Event()


class Hearing(BaseHTTPRequestHandler):
    server: Monitor

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.heard.append((self.command, self.path, body))
        if self.server.dribbles:
            while not self.server.over.wait(0.01):
                self.wfile.write(b"H")
            return
        self.send_response(self.server.status)
        self.end_headers()

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def checks_not_run_yet(monkeypatch):
    """A process that has no results of readiness."""
    monkeypatch.setattr(tasks, "readiness", Readiness())


@pytest.fixture
def monitor(settings, db):
    """A monitor at PING_URL, and an installation with a timer and a worker."""
    server = Monitor()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    settings.PING_URL = f"http://127.0.0.1:{server.server_address[1]}/ping/3f2a?x=1"
    services.worker_seen(name="here:1")
    tasks._reached.set()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def test_a_round_that_is_well_is_told_and_a_failure_but_no_restart(monitor, settings, monkeypatch):
    with monkeypatch.context() as restarting:
        restarting.setattr("distillery.lifeline.is_draining", lambda: True)
        assert tasks.ping() == "ok"
    monkeypatch.setattr(tasks, "readiness", Readiness())
    assert tasks.ping() == "ok"
    settings.DISK_LEAST_FREE_MB = 1 << 40
    monkeypatch.setattr(tasks, "readiness", Readiness())
    assert tasks.ping() == "ok"
    well = ("GET", "/ping/3f2a?x=1", "")
    assert monitor.heard == [well, well, ("POST", "/ping/3f2a/fail?x=1", "Failing: disk\n")]


def test_a_proxy_without_a_scheme_is_no_exception(monitor, monkeypatch):
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"http": "proxy:3128"})
    monkeypatch.setattr("urllib.request.proxy_bypass", lambda _: False)
    assert tasks.ping() == "unreachable"


def test_without_an_address_nothing_is_looked_at(settings, django_assert_num_queries):
    settings.PING_URL = ""
    assert tasks.ping() == ""


def test_an_answer_that_is_no_success_is_logged_once_and_its_end_too(monitor, caplog):
    for status in (500, 404, 302):
        caplog.clear()
        monitor.status = status
        assert [tasks.ping(), tasks.ping()] == ["refused", "refused"]
        monitor.status = 200
        assert tasks.ping() == "ok"
        first, second = (record.message for record in caplog.records)
        assert first == f"PING_URL (127.0.0.1) answers with status {status}; it is called again every minute."
        assert second == "PING_URL (127.0.0.1) can be reached again."


def test_a_server_that_dribbles_for_ever_is_left(monitor, monkeypatch):
    monkeypatch.setattr(tasks, "ANSWER_SECONDS", 0.1)
    monitor.dribbles = True
    assert tasks.ping() == "unreachable"


def test_a_server_that_is_not_there(settings, db, caplog):
    services.worker_seen(name="here:1")
    tasks._reached.set()
    settings.PING_URL = "http://127.0.0.1:1/secret"
    assert tasks.ping() == "unreachable"
    assert "secret" not in caplog.text


def test_calls_are_counted_by_what_became_of_them(monitor, settings):
    def counted() -> float:
        samples = [sample for metric in PING_SECONDS.collect() for sample in metric.samples]
        return sum(each.value for each in samples if each.name.endswith("_count"))

    settings.METRICS_TOKEN = METRICS_TOKEN
    before = counted()
    tasks.ping()
    assert counted() == before + 1


def test_it_is_called_encrypted_alone(settings):
    for address, well in (
        ("", True),
        ("https://hc-ping.example.org/x", True),
        ("http://127.0.0.1:8000/x", True),
        ("http://hc-ping.example.org/x", False),
        ("hc-ping.example.org", False),
    ):
        settings.PING_URL = address
        found = check_ping_url(None)
        assert [each.id for each in found] == ([] if well else ["distillery.E006"])
        assert all("example.org/x" not in each.msg for each in found)


def test_it_holds_up_no_round():
    """A queue of its own threads, and a message of which the like is dropped."""
    assert configured.CELERY_TASK_ROUTES["distillery.ping"] == {"queue": "notices"}
    assert configured.CELERY_BEAT_SCHEDULE["ping"]["options"]["expires"] == 60
