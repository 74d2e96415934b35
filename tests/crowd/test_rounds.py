"""Rounds: one at a time per endpoint, each endpoint by itself, and every outage in the log once."""

import logging
import threading
from datetime import timedelta
from unittest.mock import Mock

import pytest
from celery import current_app
from django.utils import timezone

from core.jobs import errors
from crowd import tasks
from crowd.adapters.base import Unknown
from crowd.models import Assignment, EndpointRound, Hit, MarketOperation
from crowd.outbox.dispatch import dispatch
from crowd.services import stages
from crowd.services import tick as rounds
from crowd.services.collection import collect
from crowd.services.rollback import halt_if_rolled_back
from crowd.services.tick import Round, lease_round, run_round, tick
from tests.crowd.test_concurrency import at_once
from tests.crowd.world import answer, make_endpoint, make_stage, make_worker

pytestmark = pytest.mark.django_db


def on_offer(endpoint=None):
    """A stage with a HIT on offer and an answer that nobody confirmed yet."""
    stage = make_stage(endpoint, items=["tea"])
    stages.open_stage(stage=stage)
    dispatch(stage.endpoint)
    hit = Hit.objects.select_related("stage__endpoint", "stage__project").get(stage=stage)
    return hit, answer(hit, worker_id=make_worker(stage.endpoint).external_id)


def log_of(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# The lease


def test_an_endpoint_has_one_round_at_a_time_until_its_lease_is_over_and_another_endpoint_its_own():
    one, other = make_endpoint(), make_endpoint()
    with lease_round(one) as first, lease_round(one) as second, lease_round(other) as elsewhere:
        assert first is not None and elsewhere is not None
        assert second is None
    with lease_round(one) as third:
        assert third is not None
    assert rounds._take(one, rounds.uuid4(), 0)  # by a process that dies
    with lease_round(one) as early:
        assert early is None
    EndpointRound.objects.filter(pk=one.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    with lease_round(one) as late:
        assert late is not None


@pytest.mark.django_db(transaction=True)
def test_of_eight_processes_one_gets_the_round():
    endpoint = make_endpoint()
    taken, gate = [], threading.Barrier(8)

    def take(index):
        with lease_round(endpoint) as contact:
            taken.append(contact is not None)
            gate.wait(60)

    at_once(8, take)
    assert sorted(taken) == [False] * 7 + [True]


@pytest.mark.django_db(transaction=True)
def test_a_round_renews_its_lease_and_ends_when_that_is_lost(monkeypatch):
    monkeypatch.setattr(rounds, "LEASE", timedelta(seconds=0.3))
    endpoint = make_endpoint()
    with lease_round(endpoint) as contact:
        first = EndpointRound.objects.get().lease_until
        until(lambda: EndpointRound.objects.get().lease_until > first)
        assert not contact.must_end()
        EndpointRound.objects.update(lease_owner=rounds.uuid4())
        until(contact.must_end)
    assert EndpointRound.objects.get().lease_owner is not None, "the lease of another is left alone"


def until(condition):
    """Wait for a thread beside this one."""
    for _ in range(2_000):
        if condition():
            return
        threading.Event().wait(0.03)
    raise AssertionError("nothing came of it")


def test_a_worker_that_stops_ends_its_rounds(market, monkeypatch):
    hit, mine = on_offer()
    market.submit(hit, mine)
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(errors, "stopping", stopping)
    run_round(hit.stage.endpoint, done := Round())
    assert (done.sent, done.collected) == (0, 0)
    stopping.clear()
    run_round(hit.stage.endpoint, done)
    assert done.collected == 1


def test_the_timer_asks_for_a_round_of_each_endpoint_with_work_where_none_goes_on(market, monkeypatch):
    (busy, _), (waiting, _), _ = on_offer(), on_offer(), make_endpoint()
    asked = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, expires: asked.append((name, args)))
    with lease_round(busy.stage.endpoint):
        tasks.tick_task()
    assert asked == [("crowd.round", [waiting.stage.endpoint_id])]


def test_who_opens_a_stage_asks_for_a_round_at_once_and_opens_it_without_a_broker_too(
    market, monkeypatch, django_capture_on_commit_callbacks
):
    stage, other, asked = make_stage(), make_stage(), []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, expires: asked.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        stages.open_stage(stage=stage)
    assert asked == [("crowd.round", [stage.endpoint_id])]
    monkeypatch.setattr(current_app, "send_task", Mock(side_effect=OSError("no broker")))
    with django_capture_on_commit_callbacks(execute=True):
        stages.open_stage(stage=other)
    assert MarketOperation.objects.filter(stage=other).exists()


def test_a_round_by_message_does_what_the_timers_rounds_did(market):
    hit, mine = on_offer()
    market.submit(hit, mine)
    tasks.round_task(hit.stage.endpoint_id)
    tasks.round_task(0)
    assert Assignment.objects.get().state == Assignment.State.APPROVED


# Outages


def test_a_round_without_anything_unfinished_looks_for_nothing_that_is_due_or_in_doubt(market, monkeypatch):
    hit, _ = on_offer()
    tick()

    def look(*_):
        raise AssertionError("This takes a dozen statements of many conditions.")

    monkeypatch.setattr("crowd.outbox.dispatch.due", look)
    monkeypatch.setattr("crowd.outbox.reconcile.in_doubt", look)
    assert tick().idle
    stages.extend_hit_places(hit=hit, places=1, purpose="one more")
    with pytest.raises(AssertionError):
        dispatch(hit.stage.endpoint)


def test_an_outage_is_logged_once_with_its_cause_and_once_when_it_ends(market, caplog):
    hit, mine = on_offer()
    assert tick().idle
    market.submit(hit, mine)
    market.down = True
    for _ in range(3):
        tick()
    name = hit.stage.endpoint.name
    assert log_of(caplog) == [
        f"{name} does not answer as it should: {hit.external_id} could not be read: down"
    ]
    assert EndpointRound.objects.get().down_cause == f"{hit.external_id} could not be read: down"
    market.down = False
    caplog.clear()
    for _ in range(3):
        tick()
    [words] = log_of(caplog)
    assert words.startswith(f"{name} answers again, after ")
    assert EndpointRound.objects.get().down_since is None
    assert Assignment.objects.get().state == Assignment.State.APPROVED


def test_calls_that_get_no_answer_are_an_outage_too(market, caplog, wait):
    stage = make_stage(items=["tea"])
    stages.open_stage(stage=stage)
    market.say(Unknown("a gateway answered"), Unknown("a gateway answered"))
    for _ in range(2):
        tick()
        wait()
    assert log_of(caplog) == [f"{stage.endpoint.name} does not answer as it should: a gateway answered"]
    tick()
    assert EndpointRound.objects.get().down_since is None


def test_where_an_endpoint_cannot_be_read_its_other_stages_wait_for_the_next_round(market, monkeypatch):
    """Each would wait as long again, and hold the round."""
    endpoint = make_endpoint()
    for _ in range(2):
        stage = make_stage(endpoint, items=[str(number) for number in range(6)])
        stages.open_stage(stage=stage)
        dispatch(endpoint)
        for hit in Hit.objects.select_related("stage__endpoint", "stage__project").filter(stage=stage):
            answer(hit, worker_id=make_worker(endpoint).external_id)
    from crowd.services import tick as ticking

    assert not halt_if_rolled_back(endpoint)
    collected = []
    monkeypatch.setattr(
        ticking, "collect", lambda stage, **how: collected.append(stage.pk) or collect(stage, **how)
    )
    market.down = True
    tick()
    assert len(collected) == 1
