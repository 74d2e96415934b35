"""Threads for each queue: what hangs in one holds up no other, and the same is not done twice at once."""

import threading
from collections import Counter

import pytest
from django.conf import settings

from distillery.celery import Lane, QueuePool, app


@pytest.fixture
def pool():
    made = QueuePool(1, app=app)
    gate = threading.Event()
    made.gate = gate
    yield made
    gate.set()
    made.stop()


def send(pool, queue, call, *, name="a.task", body=b"[[], {}, {}]"):
    """A message as the worker gives it to its pool; what the pool said of it, in order."""
    heard = []
    pool.on_apply(
        lambda *_: call() or (False, None, 0.0),
        args=(name, "id", {"delivery_info": {"routing_key": queue}}, body),
        callback=lambda result: heard.append("done"),
        accept_callback=lambda pid, at: heard.append("accepted"),
    )
    return heard


def block(pool, queue, number=1, **message):
    """Have so many threads of a queue wait for the gate."""
    for index in range(number):
        begun = threading.Event()
        body = f"[[{index}], {{}}, {{}}]".encode()
        send(pool, queue, lambda begun=begun: begun.set() or pool.gate.wait(), body=body, **message)
        assert begun.wait(60)


@pytest.mark.parametrize("busy", ["rounds", "jobs", "sweeps", "notices"])
def test_a_queue_whose_threads_all_hang_holds_up_no_other(pool, busy):
    block(pool, busy, pool.lanes[busy].threads)
    for queue in {"rounds", "jobs", "sweeps", "notices"} - {busy}:
        done = threading.Event()
        send(pool, queue, done.set)
        assert done.wait(60), queue


def test_the_like_of_what_runs_is_dropped_at_once_and_taken_again_later(pool):
    block(pool, "sweeps")
    calls = []
    again = send(pool, "sweeps", lambda: calls.append("again"), body=b"[[0], {}, {}]")
    assert (again, calls) == (["accepted", "done"], [])
    other = threading.Event()
    send(pool, "sweeps", other.set, name="another.task", body=b"[[0], {}, {}]")
    assert other.wait(60)


def test_what_waits_is_not_begun_when_the_worker_stops(pool):
    block(pool, "jobs")
    calls = []
    send(pool, "jobs", lambda: calls.append("begun"))
    pool.lanes["jobs"].executor.shutdown(wait=False, cancel_futures=True)
    pool.gate.set()
    pool.stop()
    assert calls == []


def test_each_task_of_the_timer_has_a_thread_of_its_own_and_none_is_a_jobs():
    tasks = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    queues = Counter(app.amqp.router.route({}, task)["queue"].name for task in tasks)
    assert set(queues) == {"sweeps", "notices"}
    assert all(number <= settings.QUEUE_THREADS[queue] for queue, number in queues.items())


def test_free_threads_are_those_with_nothing_to_do():
    lane = Lane("jobs", 2)
    gate = threading.Event()
    assert lane.free == 2
    futures = [lane.submit(key, gate.wait) for key in (1, 2, 2, 3)]
    assert futures[2] is None
    assert lane.free == 0
    gate.set()
    lane.executor.shutdown()
    assert lane.free == 2


def test_a_queue_that_is_not_ours_is_worked_on_as_jobs(pool):
    done = threading.Event()
    send(pool, "celery", done.set)
    assert done.wait(60)


def test_a_stopping_worker_leaves_the_message_of_a_job_that_gave_itself_back(pool, monkeypatch):
    """Its thread is about to end when the message comes back to this worker: nothing acknowledges it here."""
    block(pool, "jobs")
    assert send(pool, "jobs", int, body=b"[[0], {}, {}]") == ["accepted", "done"]
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr("distillery.celery.stopping", stopping)
    assert send(pool, "jobs", int, body=b"[[0], {}, {}]") == []
