"""`manage.py up`, started as an operator starts it, and ended in all the ways that things end."""

import os
import signal
import socket
import time
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from distillery.supervisor import Child, Supervisor
from tests.distillery.installation import PATIENCE_SECONDS

pytestmark = pytest.mark.only_on("linux")  # finds processes in /proc


def test_it_says_where_it_is_and_answers_there(running):
    assert running.words().count("Distillery is ready: http://localhost:") == 1
    status, answer = running.health()
    assert (status, answer["status"], answer["database"]) == (200, "ok", "ok")


def test_the_timer_leaves_no_file_where_the_operator_happens_to_be(running):
    running.eventually(lambda: running.count("jobs_workerheartbeat") > 0, what="the first tick")
    assert list(running.elsewhere.iterdir()) == []


def test_a_killed_jobs_worker_is_started_again(running):
    [worker] = running.processes("distillery.child jobs")
    os.kill(worker, signal.SIGKILL)
    running.eventually(
        lambda: running.processes("distillery.child jobs") not in ([], [worker]), what="another jobs worker"
    )
    assert "The jobs worker ended (killed by SIGKILL); starting it again in 0.5 s." in running.words()


def test_a_killed_web_server_is_started_again_and_nobody_is_refused_meanwhile(running):
    before = running.processes("distillery.child web")
    assert len(before) == 3, "gunicorn and its two workers"
    [gunicorn] = set(before) & set(running.started_by_up())
    os.kill(gunicorn, signal.SIGKILL)
    assert running.health()[0] == 200
    running.eventually(
        lambda: (
            len(running.processes("distillery.child web")) == 3
            and not set(before) & set(running.processes("distillery.child web"))
        ),
        what="three new processes and no old one",
    )
    assert running.health()[0] == 200


def test_a_port_that_is_taken_is_an_error_in_words(db):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port}: Address already in use"):
            call_command("up", "--port", str(port), stdout=StringIO())


def test_an_address_of_another_machine_is_an_error_in_words(db):
    with pytest.raises(CommandError, match=r"Cannot listen on 192\.0\.2\.1, port 8000"):
        call_command("up", "--bind", "192.0.2.1", stdout=StringIO())


def test_it_does_not_start_with_a_dangerous_setting(db, settings):
    settings.ALLOWED_HOSTS = ["*"]
    said = StringIO()
    with pytest.raises(CommandError, match=r"Not started\. Put the above right first"):
        call_command("up", stdout=StringIO(), stderr=said)
    assert "ALLOWED_HOSTS contains *" in said.getvalue()


def test_nothing_to_run_is_an_error_in_words():
    with pytest.raises(CommandError, match="leave nothing to run"):
        call_command("up", "--no-web", "--no-jobs")


def test_a_number_that_is_none_is_an_error_in_words(installation):
    refused = installation.manage("up", WEB_THREADS="many")
    assert (refused.returncode, refused.stderr) == (1, "WEB_THREADS='many' is not a whole number.\n")


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


def test_asked_to_stop_it_stops_in_good_order_and_leaves_no_process(installation):
    installation.up()
    assert len(installation.processes()) == 5, "up, gunicorn, its two workers, the jobs worker"
    assert installation.stop(signal.SIGTERM) == 0
    assert installation.processes() == []
    assert installation.words().endswith("Stopped.\n")
    assert "Traceback" not in installation.words()


def test_the_web_server_can_run_alone_and_ctrl_c_lets_it_answer_what_is_under_way(installation):
    installation.up("--no-jobs", WEB_WORKERS="1")
    assert installation.processes("distillery.child jobs") == []
    with socket.create_connection(("127.0.0.1", installation.port()), timeout=PATIENCE_SECONDS) as visitor:
        visitor.sendall(b"POST /mturk/api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n{")
        time.sleep(0.5)
        os.kill(installation.process.pid, signal.SIGINT)
        time.sleep(0.5)
        visitor.sendall(b"  }")
        assert visitor.recv(1000).startswith(b"HTTP/1.1 ")
    assert installation.process.wait(PATIENCE_SECONDS) == 0
    assert installation.processes() == []


def test_the_jobs_worker_can_run_alone(installation):
    installation.up("--no-web", until="The jobs worker is running")
    assert installation.processes("distillery.child web") == []
    assert len(installation.processes("distillery.child jobs")) == 1
    assert installation.stop(signal.SIGTERM) == 0
    assert installation.processes() == []


def test_timer_broker_and_worker_keep_the_sign_of_life_fresh(running):
    running.eventually(lambda: running.count("jobs_workerheartbeat") > 0, what="the first tick")
    assert "A jobs worker answered" in running.manage("doctor").stdout


def test_what_all_its_processes_count_is_on_one_page(running):
    """Two web processes answer, and the worker's sign of life is there: any of them shows the sum."""
    before = running.metrics().get("distillery_http_request_seconds_count", 0)
    for _ in range(20):
        running.health()
    now = running.metrics()
    assert now["distillery_http_request_seconds_count"] >= before + 20
    running.eventually(
        lambda: running.metrics()["distillery_jobs_worker_silent_seconds"] >= 0, what="the first tick"
    )
    assert running.metrics()["distillery_database_up"] == 1


def test_killed_outright_it_leaves_no_process_either(running):
    running.eventually(lambda: len(running.processes()) == 5, what="everything runs")
    killed_at = time.monotonic()
    assert running.stop(signal.SIGKILL) == -signal.SIGKILL
    running.eventually(lambda: running.processes() == [], what="no process left")
    assert time.monotonic() - killed_at < 30
