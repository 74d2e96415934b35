"""`/health/live` and `/health/ready`: each check fails on its real cause, and probes reach both."""

import shutil
import threading
from datetime import timedelta
from time import monotonic

import pytest
from django.db import connection
from django.utils import timezone

from core.jobs import runner, services
from core.jobs.models import WorkerHeartbeat, WriteProbe
from distillery import health, lifeline
from distillery.health import CHECKS, Readiness
from tests.distillery.installation import METRICS_TOKEN

READY, LIVE = "/health/ready", "/health/live"
#: A balancer calls a process by its address, from elsewhere.
BALANCER = {"REMOTE_ADDR": "10.0.0.7", "headers": {"host": "10.0.0.3:8000"}}


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """A process that has not looked yet."""
    monkeypatch.setattr(health, "readiness", Readiness())


@pytest.fixture
def heard(db):
    """A worker that the timer reaches."""
    services.worker_seen(name="here:1")
    WorkerHeartbeat.objects.update(polled_at=timezone.now())


def failing(answer) -> list[str]:
    """Names of the checks that are not well."""
    return [name for name, check in answer.json()["checks"].items() if check["status"] != "ok"]


def test_everything_is_ok(client, heard):
    answer = client.get(READY, **BALANCER)
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {name: {"status": "ok"} for name in ("running", *CHECKS)},
    }
    assert answer["Cache-Control"] == "no-store"
    assert not answer.cookies


def test_it_looks_once_in_a_while_only(client, heard, django_assert_num_queries, monkeypatch):
    client.get(READY)
    with django_assert_num_queries(0):
        assert client.get(READY).status_code == 200
    monkeypatch.setattr(health, "FRESH_SECONDS", -1)
    shutil_free = shutil.disk_usage("/")._replace(free=1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil_free)
    assert failing(client.get(READY)) == ["disk"]


def test_it_costs_few_queries_and_leaves_one_row(client, heard, django_assert_max_num_queries):
    for looks in (Readiness(), Readiness()):
        with django_assert_max_num_queries(9):
            looks.look()
    assert WriteProbe.objects.count() == 1


def test_a_read_only_database(client, heard):
    read_only, writable = {
        "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
        "postgresql": ("SET TRANSACTION READ ONLY", None),
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(read_only)
    try:
        answer = client.get(READY)
    finally:
        if writable:
            with connection.cursor() as cursor:
                cursor.execute(writable)
    assert (answer.status_code, failing(answer)) == (503, ["database"])
    assert "read" in answer.json()["checks"]["database"]["detail"].lower()


@pytest.mark.django_db(transaction=True)
def test_another_writer_is_no_fault_until_it_writes_for_long(monkeypatch):
    monkeypatch.setattr(health, "LOCK_SECONDS", 0.01)
    looks = Readiness()
    looks.look()
    writing, over = threading.Event(), threading.Event()

    def write_for_long():
        lock = "LOCK TABLE jobs_writeprobe IN EXCLUSIVE MODE"
        try:
            with services.transaction.atomic(), connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute(lock)
                writing.set()
                over.wait()
        finally:
            connection.close()

    writer = threading.Thread(target=write_for_long)
    writer.start()
    try:
        writing.wait()
        begun = monotonic()
        # This process was not asked for an hour, so it has not written for that long.
        monkeypatch.setattr(health.time, "monotonic", lambda: begun + 3600)
        short = looks.check_database()
        monkeypatch.setattr(health.time, "monotonic", lambda: begun + 3661)
        long = looks.check_database()
    finally:
        over.set()
        writer.join()
    assert (short.is_ok, long.is_ok) == (True, False)
    assert looks.check_database().is_ok


def test_a_migration_that_is_not_applied_and_one_of_a_newer_version_which_does_no_harm(
    client, heard, monkeypatch
):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('crowd', '9999', CURRENT_TIMESTAMP)"
        )
        assert client.get(READY).status_code == 200
        monkeypatch.setattr(health, "readiness", Readiness())
        cursor.execute("DELETE FROM django_migrations WHERE app = 'crowd' AND name = '0002_places_in_drafts'")
    answer = client.get(READY)
    assert (answer.status_code, failing(answer)) == (503, ["migrations"])
    assert answer.json()["checks"]["migrations"]["detail"] == "Not applied: crowd.0002_places_in_drafts."


def test_too_little_room(client, heard, settings):
    settings.DISK_LEAST_FREE_MB = 1 << 40
    answer = client.get(READY)
    assert (answer.status_code, failing(answer)) == (503, ["disk"])
    assert answer.json()["checks"]["disk"]["free_mib"] > 0


def test_a_dead_timer_beside_a_living_worker(client, heard):
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(minutes=5), polled_at=None)
    runner.services.worker_polled(name="here:1")
    answer = client.get(READY)
    assert (answer.status_code, failing(answer)) == (503, ["timer"])
    assert 299 < answer.json()["checks"]["timer"]["seconds"] < 400
    excluded = client.get(f"{READY}?exclude=timer")
    assert (excluded.status_code, "timer" in excluded.json()["checks"]) == (200, False)


def test_a_worker_shows_that_it_runs_whenever_it_looks_into_the_table(heard):
    WorkerHeartbeat.objects.update(name=services.worker_name(), polled_at=None)

    class Busy:
        free = 0

    runner.Poller(Busy(), every=1).look()
    assert WorkerHeartbeat.objects.get().polled_at is not None


def test_a_worker_that_never_was_or_is_dead_silences_the_timer_too(client, db, monkeypatch):
    assert failing(client.get(READY)) == ["worker", "timer"]
    services.worker_seen(name="here:1")
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(minutes=5), polled_at=None)
    monkeypatch.setattr(health, "readiness", Readiness())
    assert failing(client.get(READY)) == ["worker", "timer"]


@pytest.mark.parametrize("redis_url", ["redis://127.0.0.1:1/0", ""])
def test_an_unreachable_broker(client, heard, settings, tmp_path, redis_url):
    settings.REDIS_URL = redis_url
    settings.DATA_DIR = tmp_path
    answer = client.get(READY)
    assert (answer.status_code, failing(answer)) == (503, ["broker"])


def test_a_database_that_is_gone(client, heard, monkeypatch):
    def refuse():
        raise health.OperationalError("connection refused: password of distillery at db.internal")

    with monkeypatch.context() as gone:
        gone.setattr(connection, "cursor", refuse)
        answer = client.get(READY, **BALANCER)
    assert (answer.status_code, failing(answer)) == (503, ["database", "migrations", "worker", "timer"])
    assert b"db.internal" not in answer.content
    assert client.get(LIVE).status_code == 200


def test_the_log_says_when_it_changes_and_not_at_every_question(client, heard, settings, caplog, monkeypatch):
    monkeypatch.setattr(health, "FRESH_SECONDS", -1)
    for least in (0, 1 << 40, 1 << 40, 0, 0):
        settings.DISK_LEAST_FREE_MB = least
        client.get(READY)
    first, second = (record.message for record in caplog.records)
    assert first.startswith("Not ready. Less than")
    assert second == "Everything is ready again."


def test_a_check_that_hangs_holds_up_only_the_thread_that_looks(monkeypatch):
    monkeypatch.setattr(health, "PATIENCE_SECONDS", 0.01)
    looks = Readiness()
    assert looks._looking.acquire()
    checks = looks.look()
    assert {name for name, check in checks.items() if not check.is_ok} == set(CHECKS)


def test_a_server_that_is_being_stopped(client, heard, monkeypatch):
    assert client.get(READY).status_code == 200
    monkeypatch.setattr(lifeline, "_draining", threading.Event())
    lifeline._draining.set()
    answer = client.get(READY)
    assert (answer.status_code, failing(answer)) == (503, ["running"])
    assert client.get(LIVE).status_code == 200


def test_live_looks_at_nothing(client):  # without a database
    answer = client.get(LIVE, **BALANCER)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert answer["Cache-Control"] == "no-store"


def test_they_answer_under_any_host_and_are_not_led_to_https(client, heard, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["crowd.example.org"]
    for address in (LIVE, READY, f"{READY}/"):
        assert client.get(address, **BALANCER).status_code == 200
        assert client.head(address, **BALANCER).status_code == 200
        assert client.post(address, **BALANCER).status_code == 405


def test_details_are_for_those_who_look_after_it(client, heard, settings):
    def asked(REMOTE_ADDR="10.0.0.7", **headers):  # noqa: N803 - as WSGI calls it
        checks = client.get(READY, REMOTE_ADDR=REMOTE_ADDR, headers=headers).json()["checks"]
        (has_details,) = {"detail" in check for check in checks.values()}
        return has_details

    assert not asked(Authorization="Bearer ")  # without a token in the settings
    settings.METRICS_TOKEN = METRICS_TOKEN
    assert not asked()
    assert asked(Authorization=f"Bearer {METRICS_TOKEN}")
    assert not asked(Authorization="Bearer wrong")
    assert asked("127.0.0.1")
    assert not asked("127.0.0.1", **{"X-Forwarded-Proto": "https"})
    assert not asked("::1", **{"X-Forwarded-For": "127.0.0.1"})
    answer = client.get(f"{READY}?exclude=tiemr")
    assert answer.status_code == 400
    assert "'tiemr'" in answer.json()["detail"]
    assert "timer" in answer.json()["detail"]
