"""Closing an account while other things happen to the same worker, on either database."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from marketplace import clock
from marketplace.accounts import account_closure
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments, review
from marketplace.models import HIT, Holding, LedgerEntry, Worker
from marketplace.money import ledger
from tests.site import world

pytestmark = pytest.mark.django_db(transaction=True)


def together(*calls: Callable[[], object]) -> list[object]:
    """Run the calls in threads that start at once; refusals are results, other errors are raised."""
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        gate.wait(60)
        try:
            return call()
        except Refusal as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_a_closed_worker_never_holds_a_hit_however_fast_they_accept():
    lab = world.make_requester()
    group = world.make_group(lab)
    for turn in range(3):
        rosa = world.make_worker(f"rosa{turn}")
        hits = [world.post(group) for _ in range(4)]
        world.take(rosa, hits[0])
        together(
            lambda rosa=rosa: account_closure.close(worker=rosa),
            *(lambda rosa=rosa, hit=hit: assignments.accept(worker=rosa, hit=hit) for hit in hits[1:]),
        )
        assert Worker.objects.get(pk=rosa.pk).closed_at
        assert not Holding.objects.filter(worker=rosa, state=Holding.State.ACCEPTED).exists()
    assert ledger.audit() == []


def test_work_that_is_submitted_meanwhile_is_kept_or_returned_never_lost():
    lab = world.make_requester()
    group = world.make_group(lab)
    for turn in range(3):
        rosa = world.make_worker(f"rosa{turn}")
        holding = world.take(rosa, world.post(group))
        holding = Holding.objects.select_related("hit__hit_type", "worker").get(pk=holding.pk)
        together(
            lambda rosa=rosa: account_closure.close(worker=rosa),
            lambda holding=holding: assignments.submit(holding=holding, fields=[("answer", "Blue.")]),
        )
        holding.refresh_from_db()
        assert holding.state in (Holding.State.SUBMITTED, Holding.State.RETURNED)
        assert bool(holding.answer) == (holding.state == Holding.State.SUBMITTED)
    assert ledger.audit() == []


def test_requesters_decide_while_the_account_is_closed_without_waiting_in_a_ring():
    """The worker holds HITs of two requesters, who approve and pay at the same time."""
    labs = [world.make_requester(name) for name in ("One", "Two")]
    groups = [world.make_group(lab, reward_cents=35) for lab in labs]
    for turn in range(3):
        rosa = world.make_worker(f"rosa{turn}")
        done = [world.do(rosa, world.post(group)) for group in groups]
        for group in groups:
            world.take(rosa, world.post(group))
        results = together(
            lambda rosa=rosa: account_closure.close(worker=rosa),
            *(lambda holding=holding: world.approve(holding) for holding in done),
            *(lambda holding=holding: world.bonus(holding, 5) for holding in done),
        )
        assert not [each for each in results if isinstance(each, Refusal)]
        booked = LedgerEntry.objects.filter(worker=rosa, credit="workers")
        assert sum(booked.values_list("cents", flat=True)) == 2 * 35 + 2 * 5
    assert not HIT.objects.filter(pending__gt=0).exists()
    assert ledger.audit() == []


def test_two_who_close_the_same_account_close_it_once():
    rosa = world.make_worker()
    world.take(rosa, world.post(world.make_group(world.make_requester())))
    results = together(*[lambda: account_closure.close(worker=rosa)] * 3)
    assert len([each for each in results if isinstance(each, account_closure.ClosedAccount)]) == 1
    assert Worker.objects.get().returned_count == 1


def test_a_rejection_can_still_be_turned_into_an_approval():
    lab = world.make_requester()
    rosa = world.make_worker()
    done = world.do(rosa, world.post(world.make_group(lab, reward_cents=35)))
    world.reject(done, "No.")
    account_closure.close(worker=rosa)
    review.approve(holding=done, feedback=None, override=True, now=clock.now())
    assert LedgerEntry.objects.get(worker=rosa, credit="workers").cents == 35
    assert ledger.audit() == []
