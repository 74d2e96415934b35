"""`/metrics`, ids of requests, and lines of the log as JSON."""

import io
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.backends.signals import connection_created
from django.http import HttpResponse
from django.test import RequestFactory
from prometheus_client.parser import text_string_to_metric_families

from core.accounts import security
from core.jobs import handlers, runner
from core.jobs.models import Job
from core.jobs.runner import attempt_ended
from core.jobs.services import enqueue
from core.jobs.spans import HEADER, current_request_id, request_id_of
from crowd.adapters.mturk import Account, MTurkAdapter
from crowd.models import EndpointRound
from crowd.services.endpoints import round_ended
from crowd.services.tick import lease_round
from distillery import prometheus
from distillery.prometheus import exposition
from distillery.traces import JsonFormatter, RequestIdFilter, SecurityFormatter, TimingMiddleware
from distillery.webserver import forget_dead_processes
from tests.distillery.installation import METRICS_TOKEN
from tests.taskpage.world import make_stage

DOCKER = Path(__file__).resolve().parents[2] / "docker"


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = METRICS_TOKEN


def figures() -> dict[tuple[str, ...], float]:
    """What is exposed now, by the sample's name and the values of its labels."""
    families = text_string_to_metric_families(exposition().decode())
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.django_db
def test_a_program_without_the_token_gets_nothing_and_without_one_in_the_settings_there_is_no_page(
    client, settings
):
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
    settings.METRICS_TOKEN = METRICS_TOKEN
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer é"}):
        answer = client.get("/metrics", headers=given)
        assert answer.status_code == 401
        assert b"distillery_" not in answer.content


@pytest.mark.django_db
def test_the_token_opens_it_and_the_state_is_there(client, token, django_assert_max_num_queries):
    stage = make_stage(budget_cents=5_000, reserved_cents=120, spent_cents=30)
    enqueue(kind="tests.waits", payload={})
    with django_assert_max_num_queries(10):
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    now = figures()
    names = ("USD", stage.project.slug, stage.slug)
    assert now["distillery_database_up",] == 1
    assert now["distillery_jobs", "tests.waits", "queued"] == 1
    assert now["distillery_jobs_oldest_seconds",] >= 0
    assert now["distillery_jobs_worker_silent_seconds",] == -1
    assert now["distillery_stage_budget_cents", *names] == 5_000
    assert now["distillery_stage_reserved_cents", *names] == 120
    assert now["distillery_stage_spent_cents", *names] == 30


def test_without_a_database_it_says_so(monkeypatch):
    def refuse(*_, **__):
        raise DatabaseError("gone")

    monkeypatch.setattr(Job.objects, "filter", refuse)
    assert figures()["distillery_database_up",] == 0


@pytest.mark.django_db
def test_answers_are_counted_by_view_and_not_by_address():
    before = figures()
    answer = TimingMiddleware(lambda _: HttpResponse(status=404))
    for number in range(3):
        answer(RequestFactory().get(f"/made-up/{number}"))
    answer(RequestFactory().generic("BREW", "/static/x"))
    now = figures()
    for view, method, status, more in (("none", "GET", "404", 3), ("static", "other", "404", 1)):
        key = ("distillery_http_request_seconds_count", method, status, view)
        assert now[key] - before.get(key, 0) == more


@pytest.mark.django_db
def test_errors_of_the_database_and_attempts_at_jobs_are_counted():
    before = figures()
    with (
        connection.execute_wrapper(prometheus._count_errors),
        pytest.raises(DatabaseError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT no_such_column FROM jobs_job")
    prometheus._count_attempt(kind="tests.counted", outcome="done", seconds=0.2)
    now = figures()
    errors = [key for key in now if key[0] == "distillery_database_errors_total"]
    assert sum(now[key] - before.get(key, 0) for key in errors) == 1
    key = ("distillery_job_seconds_count", "tests.counted", "done")
    assert now[key] - before.get(key, 0) == 1


def test_counts_of_processes_that_ended_are_forgotten(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone, stays = tmp_path / f"counter_{ended.pid}.db", tmp_path / "histogram_1.db"
    gone.touch()
    stays.touch()
    forget_dead_processes(tmp_path)
    assert list(tmp_path.iterdir()) == [stays]


@pytest.mark.django_db
def test_an_answer_has_the_id_of_its_request(client):
    for given, kept in (("abc-1.2:3_z", True), ("a" * 65, False), ("a b", False), ("", False)):
        answer = client.get("/health/", headers={HEADER: given})
        assert (answer[HEADER] == given) is kept
        assert re.fullmatch(r"[A-Za-z0-9._:-]{1,64}", answer[HEADER])
        assert current_request_id() == ""


@pytest.mark.django_db
def test_a_job_goes_on_under_the_id_of_who_queued_it(monkeypatch):
    under = []
    monkeypatch.setattr(handlers, "find", lambda _: lambda _: under.append(current_request_id()))
    with request_id_of("from-the-page"):
        job = enqueue(kind="tests.traced", payload={})
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert (under, job.state) == (["from-the-page"], "done")


def test_calls_of_marketplaces_carry_it_on():
    adapter = MTurkAdapter(Account("http://127.0.0.1:9/mturk/api", "us-east-1", "AK", "secret"))
    sent = []

    def keep(request, **_):
        sent.append(request.headers.get(HEADER))
        raise ConnectionError

    adapter._client.meta.events.register("before-send.mturk", keep)
    for request_id in ("from-the-page", ""):
        with request_id_of(request_id), pytest.raises(ConnectionError):
            adapter._client.get_account_balance()
    assert sent == [b"from-the-page", None]


def test_a_line_of_the_log_is_one_object():
    with request_id_of("r-1"):
        try:
            raise ValueError("one\ntwo")
        except ValueError:
            record = logging.LogRecord("crowd", logging.ERROR, "f", 1, "%s failed", ("It",), sys.exc_info())
        RequestIdFilter().filter(record)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["logger"], found["message"], found["request_id"]) == (
        "ERROR",
        "crowd",
        "It failed",
        "r-1",
    )
    assert "ValueError: one" in found["exception"]


def test_a_security_event_has_the_id_of_its_request():
    handlers = logging.getLogger("distillery.security").handlers
    [handler] = [each for each in handlers if isinstance(each.formatter, SecurityFormatter)]
    stream, handler.stream = handler.stream, io.StringIO()
    try:
        with request_id_of("r-2"):
            security.log("key.made", actor="olga", address="192.0.2.7")
        line = json.loads(handler.stream.getvalue())
    finally:
        handler.stream = stream
    assert (line["event"], line["actor"], line["request_id"]) == ("key.made", "olga", "r-2")


@pytest.mark.django_db
@pytest.mark.parametrize(("trouble", "outcome"), [("", "answered"), ("down", "trouble")])
def test_rounds_are_counted_and_the_last_one_is_shown(trouble, outcome):
    stage = make_stage()
    before = figures()
    prometheus.connect()
    try:
        with lease_round(stage.endpoint) as contact:
            if trouble:
                contact.note_trouble(trouble)
    finally:
        round_ended.disconnect(dispatch_uid="distillery.monitoring")
        attempt_ended.disconnect(dispatch_uid="distillery.monitoring")
        connection_created.disconnect(dispatch_uid="distillery.monitoring")
    now, name = figures(), stage.endpoint.name
    key = ("distillery_round_seconds_count", name, outcome)
    assert now[key] - before.get(key, 0) == 1
    assert now["distillery_round_last_seconds", name, outcome] >= 0
    assert now["distillery_round_success_age_seconds", name] >= 0
    row = EndpointRound.objects.get()
    assert (row.outcome, row.succeeded_at is None) == (outcome, bool(trouble))


@pytest.mark.django_db
def test_a_round_that_an_error_of_ours_ends_counts_as_failed_and_nothing_to_do_has_no_age():
    stage = make_stage()
    with lease_round(stage.endpoint):
        pass
    with pytest.raises(ZeroDivisionError), lease_round(stage.endpoint):
        raise ZeroDivisionError
    assert (EndpointRound.objects.get().outcome, EndpointRound.objects.get().lease_owner) == ("failed", None)
    type(stage).objects.update(status="draft")
    assert ("distillery_round_success_age_seconds", stage.endpoint.name) not in figures()


@pytest.mark.django_db
def test_dashboard_and_alerts_name_figures_that_exist():
    make_stage()
    exposed = set(re.findall(r"^# TYPE (\w+)", exposition().decode(), re.MULTILINE))
    exposed |= {each._name for each in vars(prometheus).values() if hasattr(each, "_name")}
    for file in (DOCKER / "grafana/distillery.json", DOCKER / "prometheus/alerts.yml"):
        named = set(re.findall(r"\bdistillery_[a-z_]+", file.read_text(encoding="utf-8")))
        bases = {re.sub(r"_(total|count|sum|bucket)$", "", name) for name in named}
        assert bases <= {re.sub(r"_total$", "", name) for name in exposed}, file.name
