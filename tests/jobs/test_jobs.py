"""The life of a job, told from inside one process."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from kombu.exceptions import OperationalError

from core.jobs import handlers as job_handlers
from core.jobs import runner, selectors, services, tasks
from core.jobs.errors import LeaseLostError
from core.jobs.models import Job, JobState, WorkerHeartbeat
from tests.jobs import handlers
from tests.jobs.handlers import effects, leave_effect

pytestmark = pytest.mark.usefixtures("effect_table")


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Numbers of the jobs whose messages were sent, instead of messages."""
    numbers = []
    monkeypatch.setattr(services.current_app, "send_task", lambda name, args: numbers.extend(args))
    return numbers


def a_job(kind="test.effect", **payload):
    return services.enqueue(kind=kind, payload={"name": "it", **payload})


def run_to_the_end(job):
    """Attempt after attempt, without the waits between them."""
    while True:
        Job.objects.filter(pk=job.pk).update(run_after=timezone.now() - timedelta(seconds=1))
        runner.run(job_id=job.pk)
        job.refresh_from_db()
        if job.state not in {JobState.QUEUED, JobState.RUNNING}:
            return job


def lose_lease(job):
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def at_once(number, function):
    """Call the function from so many threads at the same moment."""
    gate = threading.Barrier(number)

    def call():
        gate.wait()
        try:
            return function()
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as pool:
        return [future.result() for future in [pool.submit(call) for _ in range(number)]]


# Into the queue


def test_a_job_is_announced_when_its_transaction_is_committed(sent):
    with transaction.atomic():
        job = a_job()
        assert sent == []
    assert sent == [job.pk]


def test_a_job_of_a_transaction_that_fails_never_was(sent):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        a_job()
        raise ZeroDivisionError
    assert not Job.objects.exists()
    assert sent == []


def test_the_same_effect_is_asked_for_once(sent):
    first = services.enqueue(kind="test.effect", payload={"name": "it"}, effect="ledger-audit:2026-11-20")
    again = services.enqueue(kind="test.effect", payload={"name": "it"}, effect="ledger-audit:2026-11-20")
    assert again == first
    assert sent == [first.pk]


def test_eight_threads_that_ask_for_the_same_effect_get_the_same_job():
    ask = lambda: services.enqueue(kind="test.effect", payload={}, effect="once").pk  # noqa: E731
    assert len(set(at_once(8, ask))) == 1
    assert Job.objects.count() == 1


def test_a_broker_that_is_down_loses_no_job(monkeypatch, sent):
    def refuse(name, args):
        raise OperationalError("connection refused")

    with monkeypatch.context() as broken:
        broken.setattr(services.current_app, "send_task", refuse)
        job = a_job()
        Job.objects.update(announce_after=timezone.now() - timedelta(seconds=1))
        assert services.reconcile().announced == 0
    assert services.reconcile().announced == 1
    assert sent == [job.pk]


def test_what_nobody_expects_of_a_broker_ends_no_request(monkeypatch, caplog):
    def break_down(name, args):
        raise RuntimeError("out of file descriptors")

    monkeypatch.setattr(services.current_app, "send_task", break_down)
    assert a_job().state == JobState.QUEUED
    assert "out of file descriptors" in caplog.text


# Attempts


def test_of_eight_workers_one_gets_the_job():
    job = a_job()
    claims = at_once(8, lambda: services.claim(job_id=job.pk))
    assert len([claim for claim in claims if claim]) == 1


def test_a_job_is_run_with_its_effect_and_is_done():
    job = a_job()
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease_owner, job.error) == (JobState.DONE, 1, None, "")
    assert job.started_at <= job.finished_at
    assert effects("it") == 1


def test_a_message_for_a_job_that_is_done_does_nothing():
    job = a_job()
    tasks.run(job.pk)
    tasks.run(job.pk)
    assert effects("it") == 1


def test_what_a_handler_returns_is_the_result_and_its_progress_stays():
    job = run_to_the_end(a_job("test.result"))
    assert job.result == {"answer": 42}
    assert (job.progress_done, job.progress_total, job.progress_note) == (3, 3, "counted")


def test_passing_trouble_is_tried_again_with_longer_and_longer_waits():
    job = a_job("test.passing-trouble")
    waits = []
    for _ in range(4):
        Job.objects.update(run_after=timezone.now() - timedelta(seconds=1))
        runner.run(job_id=job.pk)
        job.refresh_from_db()
        assert (job.state, job.error) == (JobState.QUEUED, "ValueError: the line was busy")
        waits.append(round((job.run_after - timezone.now()).total_seconds(), -1))
    assert waits == [10, 40, 160, 640]
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.QUEUED, 4), "it waits for its time"

    assert run_to_the_end(job).state == JobState.FAILED
    assert job.attempts == 5


def test_permanent_trouble_is_not_tried_again():
    job = run_to_the_end(a_job("test.hopeless"))
    assert (job.state, job.attempts, job.error) == (JobState.FAILED, 1, "The file is not a table.")


def test_a_kind_that_nobody_handles_fails_in_words():
    job = run_to_the_end(a_job("test.unheard-of"))
    assert job.state == JobState.FAILED
    assert "no handler for jobs of kind 'test.unheard-of'" in job.error


def test_an_effect_that_fails_leaves_nothing():
    job = run_to_the_end(a_job("test.failing-effect"))
    assert (job.state, job.attempts) == (JobState.FAILED, 5)
    assert effects("it") == 0


def test_a_job_has_one_effect_even_if_its_handler_tries_two():
    job = run_to_the_end(a_job("test.two-effects"))
    assert job.state == JobState.DONE
    assert effects("it") == 1


def test_a_kind_has_one_handler():
    with pytest.raises(ValueError, match="already have the handler one_effect"):
        job_handlers.handler("test.effect")(lambda context: None)


# The longest time


def test_an_attempt_that_takes_too_long_is_ended_in_words_and_tried_once_more():
    job = a_job("test.overlong")
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease_owner) == (JobState.QUEUED, 1, None)
    assert "the longest that a job of the kind test.overlong may run" in job.error
    assert effects("noticed") == 1
    assert run_to_the_end(job).state == JobState.FAILED
    assert (job.attempts, effects("noticed")) == (2, 2)


def test_a_worker_hears_of_a_handler_that_does_not_notice_that_its_time_is_over(monkeypatch):
    monkeypatch.setattr(job_handlers, "HANG_SECONDS", 0)
    monkeypatch.setattr(job_handlers, "on_hang", handlers.HANGS_UNTIL.set)
    job = a_job("test.hangs")
    runner.run(job_id=job.pk)
    handlers.HANGS_UNTIL.clear()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.QUEUED, 1)
    assert effects("it") == 0


def test_every_kind_of_the_product_says_how_long_it_may_take():
    autodiscover_modules("tasks")
    kinds = {kind for kind in job_handlers._handlers if not kind.startswith("test.")}
    assert len(kinds) > 15
    assert kinds <= set(job_handlers._longest)


# The table is the queue


class Threads:
    """Free threads that note what they are given."""

    def __init__(self, free):
        self.free, self.calls = free, []

    def submit(self, key, call):
        self.calls.append(key)
        call()


def test_free_threads_do_what_is_due_in_the_table_and_no_more():
    due, later = a_job(name="due"), a_job(name="later")
    Job.objects.filter(pk=later.pk).update(run_after=timezone.now() + timedelta(hours=1))
    threads = Threads(4)
    runner.Poller(threads, every=1).look()
    assert len(threads.calls) == 1
    assert (effects("due"), effects("later")) == (1, 0)
    runner.Poller(threads, every=1).look()
    assert len(threads.calls) == 1
    due.refresh_from_db()
    assert due.state == JobState.DONE


def test_busy_threads_are_left_alone():
    a_job()
    threads = Threads(0)
    runner.Poller(threads, every=1).look()
    assert (threads.calls, effects("it")) == ([], 0)


def test_a_running_job_that_has_said_nothing_for_long_is_known():
    job = a_job()
    services.claim(job_id=job.pk)
    assert not selectors.silent_jobs(since=timedelta(hours=1)).exists()
    Job.objects.update(reported_at=timezone.now() - timedelta(hours=3))
    services.heartbeat(job=Job.objects.get())
    assert selectors.silent_jobs(since=timedelta(hours=1)).get() == job
    services.report_progress(job=Job.objects.get(), done=1, total=2, note="")
    assert not selectors.silent_jobs(since=timedelta(hours=1)).exists()


# Leases


def test_a_worker_that_comes_back_after_its_lease_has_no_effect():
    job = a_job()
    late = services.claim(job_id=job.pk)
    lose_lease(job)
    assert services.reconcile().requeued == 1
    prompt = services.claim(job_id=job.pk)

    with pytest.raises(LeaseLostError, match="belongs to another attempt"):
        services.finish(job=late, effect=lambda: leave_effect("it"))
    assert not services.heartbeat(job=late)
    assert not services.fail(job=late, error="too late")
    assert not services.release(job=late)
    with pytest.raises(LeaseLostError):
        job_handlers.JobContext(late).progress(1, 2)
    assert effects("it") == 0

    services.finish(job=prompt, effect=lambda: leave_effect("it"))
    with pytest.raises(LeaseLostError):
        services.finish(job=late, effect=lambda: leave_effect("it"))
    assert effects("it") == 1


def test_two_attempts_that_finish_at_once_leave_one_effect():
    job = a_job()
    first = services.claim(job_id=job.pk)
    lose_lease(job)
    services.reconcile()
    turns = iter([first, services.claim(job_id=job.pk)])

    def finish():
        try:
            services.finish(job=next(turns), effect=lambda: leave_effect("it"))
        except LeaseLostError:
            return "lost"
        return "done"

    assert sorted(at_once(2, finish)) == ["done", "lost"]
    assert effects("it") == 1


def test_a_lease_that_runs_out_too_often_fails_in_words():
    job = a_job()
    for _ in range(5):
        assert services.claim(job_id=job.pk)
        lose_lease(job)
        services.reconcile()
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.error == "Given up: the worker that ran this job stopped answering, 5 times."


def test_a_living_lease_is_left_alone():
    job = a_job()
    services.claim(job_id=job.pk)
    assert services.reconcile() == services.ReconcileCounts(requeued=0, failed=0, announced=0)


def test_a_queued_job_is_announced_again_ever_more_rarely(sent):
    job = a_job()
    waits = []
    for _ in range(3):
        Job.objects.update(announce_after=timezone.now() - timedelta(seconds=1))
        services.reconcile()
        job.refresh_from_db()
        waits.append(round((job.announce_after - timezone.now()).total_seconds(), -1))
    assert waits == [30, 60, 120]
    assert sent == [job.pk] * 4
    assert services.reconcile().announced == 0


# By hand


def test_a_cancelled_job_has_no_effect_though_it_runs():
    job = a_job()
    running = services.claim(job_id=job.pk)
    assert services.cancel(job_id=job.pk)
    with pytest.raises(LeaseLostError):
        services.finish(job=running, effect=lambda: leave_effect("it"))
    assert effects("it") == 0
    assert not services.cancel(job_id=job.pk), "it is closed"


def test_a_failed_job_can_be_tried_again_from_the_command_line(sent):
    job = run_to_the_end(a_job("test.hopeless"))
    call_command("jobs", "retry", str(job.pk), stdout=StringIO())
    job.refresh_from_db()
    assert (job.state, job.attempts, job.finished_at) == (JobState.QUEUED, 0, None)
    assert sent == [job.pk, job.pk]
    with pytest.raises(CommandError, match="no failed or cancelled job"):
        call_command("jobs", "retry", str(job.pk))


def test_the_command_line_lists_and_cancels():
    job = a_job("test.hopeless")
    run_to_the_end(job)
    other = a_job()
    call_command("jobs", "cancel", str(other.pk), stdout=StringIO())
    with pytest.raises(CommandError, match="no queued or running job"):
        call_command("jobs", "cancel", str(other.pk))
    listing = StringIO()
    call_command("jobs", "list", stdout=listing)
    assert "The file is not a table." in listing.getvalue()
    assert listing.getvalue().endswith("0 queued, 0 running, 0 done, 1 failed, 1 cancelled\n")
    failed = StringIO()
    call_command("jobs", "list", "--state", "failed", "--json", stdout=failed)
    assert '"kind": "test.hopeless"' in failed.getvalue()
    assert "cancelled" not in failed.getvalue()


# What the database itself refuses


@pytest.mark.parametrize(
    "impossible",
    [
        {"state": "sleeping"},
        {"state": JobState.RUNNING},
        {"state": JobState.DONE},
        {"attempts": 6},
        {"effect": ""},
    ],
)
def test_a_job_that_cannot_be_is_refused_by_the_database(impossible):
    job = a_job()
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.filter(pk=job.pk).update(**impossible)


# The worker's sign of life


def test_the_tick_notes_that_a_worker_lives():
    assert selectors.worker_silence() is None
    tasks.reconcile()
    tasks.reconcile()
    assert WorkerHeartbeat.objects.count() == 1
    assert selectors.worker_silence() < timedelta(seconds=30)


def test_workers_silent_for_a_day_are_forgotten():
    WorkerHeartbeat.objects.create(name="gone:1", seen_at=timezone.now() - timedelta(days=2))
    services.worker_seen(name="here:2")
    assert [beat.name for beat in WorkerHeartbeat.objects.all()] == ["here:2"]


def test_a_heartbeat_that_fails_once_does_not_end_the_attempt(monkeypatch, settings):
    settings.JOBS_LEASE_SECONDS = 0.3
    beats = []

    def heartbeat(*, job):
        beats.append(job)
        if len(beats) == 1:
            raise DatabaseError("the connection broke")
        return True

    monkeypatch.setattr(services, "heartbeat", heartbeat)
    job = a_job("test.silent", seconds=0.6)
    runner.run(job_id=job.pk)
    assert len(beats) > 1
    assert effects("it") == 1


def test_a_job_that_takes_all_memory_is_not_tried_again():
    job = run_to_the_end(a_job("test.too-much-memory"))

    assert (job.state, job.attempts) == (JobState.FAILED, 1)
    assert job.error.startswith("It takes more memory than there is. Nothing was changed")
