"""Jobs and real worker processes that are killed, doubled, cut off and stopped."""

import os
import signal
import time
from pathlib import Path

import pytest
from django.db.models import F

from core.jobs import services
from core.jobs.models import Job, JobState
from distillery.celery import app
from tests.jobs.conftest import eventually
from tests.jobs.handlers import effects


def job_is(job, state):
    return lambda: Job.objects.filter(pk=job.pk, state=state).exists()


def reconciled_until(job, state):
    """The tick that a living worker gives every few seconds, given here."""

    def condition():
        services.reconcile()
        return job_is(job, state)()

    return condition


def due_for_another_message(job):
    Job.objects.filter(pk=job.pk).update(announce_after=F("created_at"))


@pytest.mark.parametrize("moment", ["test.killed-at-work", "test.killed-in-its-effect"])
def test_a_job_killed_in_its_midst_is_finished_by_another_worker_with_its_effect_exactly_once(
    start_worker, tmp_path, moment
):
    marker = tmp_path / "at-work"
    job = services.enqueue(kind=moment, payload={"name": "paid", "marker": str(marker)})
    first = start_worker()
    if moment == "test.killed-at-work":
        eventually(marker.exists, what="the first worker is at work")
        os.killpg(first.pid, signal.SIGKILL)
    assert first.wait(60) == -signal.SIGKILL
    assert effects("paid") == 0

    start_worker()
    eventually(reconciled_until(job, JobState.DONE), what="the second worker finishes the job")
    assert effects("paid") == 1
    job.refresh_from_db()
    assert job.attempts == 2


def test_duplicate_messages_run_a_job_once_and_a_lost_message_is_sent_again(start_worker):
    doubled = services.enqueue(kind="test.effect", payload={"name": "doubled"})
    for _ in range(4):
        services.announce(job_id=doubled.pk)
    start_worker()
    eventually(job_is(doubled, JobState.DONE), what="the doubled job is done")

    lost = Job.objects.create(kind="test.effect", payload={"name": "lost"})  # no message was sent
    due_for_another_message(lost)
    assert services.reconcile().announced == 1
    eventually(job_is(lost, JobState.DONE), what="the lost job is done")
    assert (effects("doubled"), effects("lost")) == (1, 1)


def test_a_worker_that_is_asked_to_stop_gives_its_job_back_at_once(start_worker, tmp_path):
    marker = tmp_path / "at-work"
    job = services.enqueue(kind="test.long", payload={"name": "long", "marker": str(marker)})
    worker = start_worker()
    eventually(marker.exists, what="the worker is at work")

    asked_at = time.monotonic()
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(60) == 0
    assert time.monotonic() - asked_at < 30
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease_owner) == (JobState.QUEUED, 0, None)
    assert effects("long") == 0
    with app.connection_for_read() as broker:
        assert broker.default_channel.queue_declare(app.conf.task_default_queue).message_count == 1


@pytest.mark.long
def test_a_silent_handler_keeps_its_lease_by_heartbeats(start_worker):
    job = services.enqueue(kind="test.silent", payload={"name": "silent", "seconds": 3.5})
    start_worker()
    eventually(reconciled_until(job, JobState.DONE), what="long silence under a lease of two seconds")
    job.refresh_from_db()
    assert job.attempts == 1
    assert effects("silent") == 1


def test_a_job_whose_message_got_lost_is_found_by_a_worker_with_nothing_to_do(start_worker):
    """No timer runs, and no message is sent."""
    lost = Job.objects.create(kind="test.effect", payload={"name": "lost"})
    start_worker(JOBS_POLL_SECONDS="1")
    eventually(job_is(lost, JobState.DONE), what="the job is found in the table")
    assert effects("lost") == 1


def test_a_handler_that_hangs_costs_its_worker_the_process_and_gives_the_other_jobs_back(
    start_worker, tmp_path
):
    marker = tmp_path / "at-work"
    other = services.enqueue(kind="test.long", payload={"name": "long", "marker": str(marker)})
    worker = start_worker()
    eventually(marker.exists, what="the worker is at work")
    job = services.enqueue(kind="test.hangs", payload={})
    assert worker.wait(60) == 1
    job.refresh_from_db()
    other.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.QUEUED, 1)
    assert "the longest that a job of the kind test.hangs may run" in job.error
    assert (other.state, other.attempts) == (JobState.QUEUED, 0)


@pytest.mark.long
@pytest.mark.only_on("file-broker")
def test_messages_leave_no_files_behind(start_worker, settings):
    job = services.enqueue(kind="test.effect", payload={"name": "one"})
    start_worker()
    eventually(job_is(job, JobState.DONE), what="the job is done")
    broker = Path(settings.DATA_DIR) / "broker"
    assert list((broker / "queue").iterdir()) == []
    assert list((broker / "taken").iterdir()) == []
