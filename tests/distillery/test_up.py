"""`manage.py up`, started as an operator starts it, and ended in all the ways that things end."""

import contextlib
import http.client
import os
import re
import select
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from io import StringIO
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command

from distillery.supervisor import Child, Supervisor
from tests.distillery.installation import PATIENCE_SECONDS

pytestmark = pytest.mark.only_on("linux")  # finds processes in /proc
# Sockets, signals and processes: what is the same whichever database and broker are behind them.
OF_PROCESSES = pytest.mark.only_on("sqlite")


def test_it_says_where_it_is_and_is_ready_there_when_worker_and_timer_are_heard(running):
    words = running.words()
    assert words.startswith("Distillery is starting.")
    assert words.count("Distillery is ready: http://localhost:") == 1
    status, answer = running.health()
    assert (status, answer["status"], answer["database"]) == (200, "ok", "ok")
    answers = []  # of several processes, each of which looks by itself

    def is_ready() -> bool:
        status, answer = running.ask("/health/ready", Host="10.1.2.3:8000")
        answers.append({check["status"] for check in answer["checks"].values()})
        return status == 200

    running.eventually(is_ready, what="readiness")
    assert answers[-1] == {"ok"}
    assert list(running.elsewhere.iterdir()) == []  # the timer leaves no file
    assert "A jobs worker answered" in running.manage("doctor").stdout


@OF_PROCESSES
def test_what_all_its_processes_count_is_on_one_page(running):
    """Two web processes answer, and the worker's sign of life is there: any of them shows the sum."""
    before = running.metrics().get("distillery_http_request_seconds_count", 0)
    for _ in range(20):
        running.health()
    now = running.metrics()
    assert now["distillery_http_request_seconds_count"] >= before + 20
    assert now["distillery_jobs_worker_silent_seconds"] >= 0
    assert now["distillery_database_up"] == 1


@pytest.mark.long
@OF_PROCESSES
def test_a_stopping_server_is_not_ready_while_it_still_answers(installation):
    installation.up("--no-jobs", WEB_DRAIN_SECONDS="600")
    installation.process.send_signal(signal.SIGTERM)
    only = "/health/ready?exclude=worker&exclude=timer"
    installation.eventually(lambda: installation.ask(only)[0] == 503, what="readiness to end")
    assert installation.ask(only)[1]["checks"]["running"]["status"] == "failed"
    assert installation.health()[0] == 200
    assert installation.stop(signal.SIGTERM) == 0


@OF_PROCESSES
def test_a_killed_jobs_worker_is_started_again(running):
    [worker] = running.processes("distillery.child jobs")
    os.kill(worker, signal.SIGKILL)
    running.eventually(
        lambda: running.processes("distillery.child jobs") not in ([], [worker]), what="another jobs worker"
    )
    # At once where it had run for a minute: the tests of this module share it, and a machine can be busy.
    assert re.search(
        r"The jobs worker ended \(killed by SIGKILL\); starting it again in (0|0\.5) s\.", running.words()
    )


@OF_PROCESSES
def test_a_killed_web_server_is_started_again_and_nobody_is_refused_meanwhile(running):
    before = running.processes("distillery.child web")
    assert len(before) == 2
    for process in before:
        os.kill(process, signal.SIGKILL)
    assert running.health()[0] == 200
    running.eventually(
        lambda: (
            len(running.processes("distillery.child web")) == 2
            and not set(before) & set(running.processes("distillery.child web"))
        ),
        what="two new processes and no old one",
    )
    assert running.health()[0] == 200


def test_it_does_not_start_on_a_port_or_address_it_cannot_have_or_with_a_dangerous_setting(db, settings):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port}: Address already in use"):
            call_command("up", "--port", str(port), stdout=StringIO())
    with pytest.raises(CommandError, match=r"Cannot listen on 192\.0\.2\.1, port 8000"):
        call_command("up", "--bind", "192.0.2.1", stdout=StringIO())
    with pytest.raises(CommandError, match="leave nothing to run"):
        call_command("up", "--no-web", "--no-jobs")
    settings.ALLOWED_HOSTS = ["*"]
    said = StringIO()
    with pytest.raises(CommandError, match=r"Not started\. Put the above right first"):
        call_command("up", stdout=StringIO(), stderr=said)
    assert "ALLOWED_HOSTS contains *" in said.getvalue()


@OF_PROCESSES
def test_a_number_that_is_none_is_an_error_in_words(installation):
    refused = installation.manage("up", WEB_THREADS="many")
    assert (refused.returncode, refused.stderr) == (1, "WEB_THREADS='many' is not a whole number.\n")


@OF_PROCESSES
def test_a_process_that_never_comes_up_is_given_up(capfd):
    said = []
    supervisor = Supervisor([Child("no such role", "The kettle")], say=said.append)
    assert supervisor.run(answers=lambda: False, ready_line="Tea is ready.") == 1
    assert said == [
        "The kettle ended (exit code 1); starting it again in 0.5 s.",
        "The kettle ended (exit code 1); starting it again in 1 s.",
        "The kettle does not start (exit code 1); its own words are above.",
    ]
    assert "no such role" in capfd.readouterr().err


def refused(port: int) -> bool:
    """Whether a new connection is refused; Linux tells so a second later where the socket closes just now."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS).close()
    except ConnectionRefusedError:
        return True
    return False


@OF_PROCESSES
def test_the_web_server_can_run_alone_and_ctrl_c_lets_it_answer_what_is_under_way(installation):
    installation.up("--no-jobs", WEB_WORKERS="1")
    assert installation.processes("distillery.child jobs") == []
    port = installation.port()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as visitor:
        visitor.sendall(b"POST /mturk/api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n{")
        installation.health()  # accepted after the visitor, so that is accepted too
        os.kill(installation.process.pid, signal.SIGINT)
        installation.eventually(lambda: refused(port), what="newcomers are refused while one is served")
        visitor.sendall(b"  }")
        assert visitor.recv(1000).startswith(b"HTTP/1.1 ")
    assert installation.process.wait(PATIENCE_SECONDS) == 0
    assert installation.processes() == []
    assert installation.words().endswith("Stopped.\n")
    assert "Traceback" not in installation.words()


class Visitors:
    """Threads that ask for a page again and again, each time by a new connection, and count how it ends."""

    def __init__(self, port: int, number: int = 2) -> None:
        self.port, self.over = port, threading.Event()
        self.endings: Counter[str] = Counter()
        self.threads = [threading.Thread(target=self._visit) for _ in range(number)]

    def __enter__(self) -> "Visitors":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _visit(self) -> None:
        # With a breath between visits: without it they would take the processor from what they wait for.
        while not self.over.wait(0.04):
            visit = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
            try:
                visit.request("GET", "/health/", headers={"Connection": "close"})
                ending = str(visit.getresponse().status)
            except ConnectionRefusedError:
                self.endings["refused"] += 1
                return
            except (OSError, http.client.HTTPException) as error:
                ending = repr(error)
            finally:
                visit.close()
            self.endings[ending] += 1


@pytest.mark.long
@OF_PROCESSES
def test_at_a_stop_those_who_have_connected_are_answered_and_later_ones_refused(installation):
    installation.up("--no-jobs")
    with Visitors(installation.port()) as visitors:
        installation.eventually(lambda: visitors.endings["200"] > 20, what="visits")
        assert installation.stop(signal.SIGTERM) == 0
    assert set(visitors.endings) <= {"200", "refused"}, visitors.endings


@OF_PROCESSES
def test_jobs_end_before_the_web_server_that_they_call(monkeypatch):
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    spawn = partial(subprocess.Popen, command, stdin=subprocess.PIPE, bufsize=0)
    monkeypatch.setattr("distillery.supervisor._spawn", lambda *_: spawn())
    jobs = Child("jobs", "Jobs")
    ended_before = []
    web = Child("web", "Web", before_stop=lambda: ended_before.append(jobs.process.returncode))
    supervisor = Supervisor([web, jobs], say=lambda _: None)

    def answers() -> bool:
        if web.process is None or jobs.process is None:
            return False
        os.kill(os.getpid(), signal.SIGTERM)
        return True

    assert supervisor.run(answers=answers, ready_line="ready") == 0
    assert ended_before == [-signal.SIGTERM]
    assert web.process.returncode == -signal.SIGTERM


@OF_PROCESSES
def test_sighup_replaces_every_process_and_no_visitor_is_refused(running):
    running.eventually(lambda: len(running.processes()) == 4, what="up, two web processes, the jobs worker")
    before, said = running.processes("distillery.child"), len(running.words())
    with Visitors(running.port()) as visitors:
        running.eventually(lambda: visitors.endings["200"] > 20, what="visits")
        os.kill(running.process.pid, signal.SIGHUP)
        running.eventually(
            lambda: (
                "The jobs worker was reloaded." in running.words()
                and not set(before) & set(running.processes("distillery.child"))
            ),
            what="new processes in place of the old ones",
        )
        assert len(running.processes("distillery.child")) == len(before)
    assert set(visitors.endings) == {"200"}
    words = running.words()[said:]
    assert words.index("The web server was reloaded.") < words.index("The jobs worker was reloaded.")
    assert "Traceback" not in words


@pytest.mark.long
@OF_PROCESSES
def test_a_reload_that_fails_leaves_what_runs(installation, tmp_path):
    threads = tmp_path / "threads"
    threads.write_text("2")
    installation.up("--no-jobs", WEB_THREADS_FILE=str(threads))
    before = installation.processes("distillery.child")
    threads.write_text("many")
    os.kill(installation.process.pid, signal.SIGHUP)
    installation.eventually(lambda: "was not reloaded (exit code 1)" in installation.words(), what="a no")
    assert "WEB_THREADS='many' is not a whole number." in installation.words()
    assert installation.processes("distillery.child") == before
    assert installation.health()[0] == 200
    threads.write_text("3")
    os.kill(installation.process.pid, signal.SIGHUP)
    installation.eventually(lambda: "The web server was reloaded." in installation.words(), what="a yes")


@pytest.mark.long
@OF_PROCESSES
def test_it_stops_with_its_terminal_or_with_whoever_started_it_and_holds_its_lifeline(installation):
    ours, theirs = os.openpty()
    installation.up("--no-jobs", terminal=theirs)
    os.close(theirs)
    os.close(ours)
    assert installation.process.wait(PATIENCE_SECONDS) == 0
    assert installation.processes() == []
    read_end, write_end = os.pipe()
    installation.up("--no-jobs", lifeline=read_end)
    os.close(read_end)
    os.close(write_end)
    assert installation.process.wait(PATIENCE_SECONDS) == 0
    assert installation.processes() == []


@pytest.mark.long
def test_without_migrating_it_starts_on_a_database_of_this_version_only(installation):
    installation.up("--no-jobs", "--no-migrate")
    assert installation.health()[0] == 200
    installation.stop(signal.SIGTERM)
    with installation.database() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        cursor.execute("DROP TABLE django_session")
    end = installation.manage("up", "--no-migrate")
    assert end.returncode == 1
    assert "1 migration is not applied." in end.stderr
    assert "Not started." in end.stderr
    assert installation.manage("migrate").returncode == 0


@pytest.mark.only_on("postgresql")
def test_it_waits_for_a_database_that_is_not_there_yet(installation):
    server = urlsplit(installation.database_url)
    with contextlib.ExitStack() as opened:
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = place.getsockname()[1]
        later = server._replace(netloc=f"{server.username}@127.0.0.1:{port}").geturl()
        end = installation.manage("up", "--no-jobs", "--wait", "0", DATABASE_URL=later)
        assert end.returncode == 1
        assert "The database does not answer" in end.stderr
        installation.up("--no-jobs", until="Database not there yet", DATABASE_URL=later)
        opened.enter_context(forwarded(port, (server.hostname, server.port)))
        installation.eventually(lambda: "is ready" in installation.words(), what="the start")
        assert installation.health()[0] == 200
        assert installation.stop(signal.SIGTERM) == 0


@contextlib.contextmanager
def forwarded(port: int, to: tuple[str, int]) -> Iterator[None]:
    """Whoever connects to the port talks to the other address."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(to) as other:
                ends = {self.request: other, other: self.request}
                while True:
                    for ready in select.select(list(ends), [], [])[0]:
                        data = ready.recv(65_536)
                        if not data:
                            return
                        ends[ready].sendall(data)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.long
def test_the_jobs_worker_can_run_alone(installation):
    installation.up("--no-web", until="The jobs worker is running")
    assert installation.processes("distillery.child web") == []
    assert len(installation.processes("distillery.child jobs")) == 1
    assert installation.stop(signal.SIGTERM) == 0
    assert installation.processes() == []


@OF_PROCESSES
def test_killed_outright_it_leaves_no_process_either(running):
    running.eventually(lambda: len(running.processes()) == 4, what="everything runs")
    killed_at = time.monotonic()
    assert running.stop(signal.SIGKILL) == -signal.SIGKILL
    running.eventually(lambda: running.processes() == [], what="no process left")
    assert time.monotonic() - killed_at < 30
