"""One slow marketplace holds up nothing else: neither another marketplace nor any job.

Nothing is timed. The slow one keeps its answers back until all the rest is done: where the rest waited for
it, nothing would ever be done.
"""

import socket
import threading

import pytest

from core.jobs import services
from core.jobs.models import Job, JobState
from crowd.models import Assignment, EndpointRound, Hit, MarketOperation
from crowd.outbox.dispatch import dispatch
from crowd.services import stages
from tests.crowd.world import answer, make_endpoint, make_hit, make_stage, make_worker, work
from tests.jobs.conftest import effect_table, empty_queue, eventually, start_worker  # noqa: F401  # fixtures
from tests.jobs.handlers import effects

BYTE_S = 1.0


class SlowMarketplace:
    """Takes calls and answers none until it is told to: a byte now and then keeps the callers waiting."""

    def __init__(self):
        self.called, self.released = threading.Event(), threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/mturk/api"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self):
        self.released.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in list(self._threads):
            thread.join()

    def _accept(self):
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._keep_waiting, args=[caller], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _keep_waiting(self, caller):
        with caller:
            try:
                caller.recv(65536)
                self.called.set()
                caller.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not self.released.wait(BYTE_S):
                    caller.sendall(b"x")
            except OSError:
                return


@pytest.fixture
def slow():
    marketplace = SlowMarketplace()
    yield marketplace
    marketplace.close()


def offer_at_slow(endpoint):
    """HITs on offer with answers to confirm, and approvals to send: each round reads and calls."""
    stage = make_stage(endpoint, items=[str(number) for number in range(8)])
    stages.open_stage(stage=stage)
    MarketOperation.objects.filter(endpoint=endpoint).update(state=MarketOperation.State.CONFIRMED)
    Hit.objects.filter(stage=stage).update(state=Hit.State.CLOSED)
    stage.refresh_from_db()
    for number in range(8):
        answer(make_hit(stage, f"item:{number}"), worker_id=make_worker(endpoint).external_id)


def offer_at_healthy(server):
    """A HIT of a real marketplace that a worker took, did and submitted."""
    requester = server.requester("100.00", "mturk-2026")
    endpoint = make_endpoint(
        url=server.api_url,
        access_key=requester.access_key,
        secret=requester.secret,
        submit_origins=[server.url],
    )
    stage = make_stage(endpoint, items=["tea"])
    stages.open_stage(stage=stage)
    dispatch(endpoint)  # unless the round of the worker that runs beside us comes first
    hits = Hit.objects.select_related("stage__endpoint", "stage__project")
    on_offer = hits.filter(stage=stage, state=Hit.State.OPEN)
    eventually(on_offer.exists, what="the HIT is on offer")
    return work(on_offer.get(), server.worker())


def test_a_slow_marketplace_holds_up_neither_another_one_nor_a_job(slow, server, start_worker):  # noqa: F811
    offer_at_slow(endpoint := make_endpoint(url=slow.url))
    start_worker(JOBS_BEAT="1", JOBS_THREADS="1", JOBS_LEASE_SECONDS="60")
    eventually(slow.called.is_set, what="the slow marketplace is called")

    assignment = offer_at_healthy(server)
    job = services.enqueue(kind="test.effect", payload={"name": "a short job"})
    approved = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.APPROVED)
    eventually(approved.exists, what="the other marketplace's approval")
    eventually(Job.objects.filter(pk=job.pk, state=JobState.DONE).exists, what="the job")
    assert effects("a short job") == 1
    assert not slow.released.is_set()
    assert EndpointRound.objects.get(pk=endpoint.pk).lease_owner is not None, "its round goes on"
