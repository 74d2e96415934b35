"""Events are rows of the transaction that causes them, and cost nothing where nobody wants them."""

import json
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace.errors import Refusal
from marketplace.heritage import notifications
from marketplace.heritage.models import QueuedEvent
from marketplace.heritage.notifications import KEEP_EVENTS
from marketplace.lifecycle import assignments, hits, review
from marketplace.lifecycle.expiry import settle, sweep
from marketplace.lifecycle.hits import return_assignment
from marketplace.models import HIT

from .conftest import make_hit, make_worker

QUEUE = "https://queues.example.org/mine"
WANTED = {"Destination": QUEUE, "Transport": "SQS", "Version": "2014-08-15"}


def tell(hit, *event_types):
    with transaction.atomic():
        notifications.update_specification(
            hit_type=hit.hit_type,
            specification={**WANTED, "EventTypes": event_types},
            active=True,
            now=timezone.now(),
        )
    hit.hit_type.refresh_from_db()
    hit.refresh_from_db()


def told():
    return [json.loads(row.body)["Events"][0]["EventType"] for row in QueuedEvent.objects.order_by("pk")]


def live(hit, worker):
    """The queries of a life without anything unusual: accept, return, accept, submit, approve."""
    with CaptureQueriesContext(connection) as queries:
        return_assignment(holding=assignments.accept(worker=worker, hit=hit))
        work = assignments.submit(holding=assignments.accept(worker=worker, hit=hit), fields=[("a", "1")])
        review.approve(holding=work, feedback=None, override=False, now=timezone.now())
    return [query["sql"] for query in queries]


def test_a_hit_of_which_nobody_is_told_costs_no_query_more(requester):
    plain, eventful = make_hit(requester), make_hit(requester, title="Another task")
    tell(eventful, "AssignmentSubmitted")
    without, with_events = live(plain, make_worker()), live(eventful, make_worker())
    assert not [sql for sql in without if "marketplace_queue" in sql or "marketplace_policy" in sql]
    assert len([sql for sql in with_events if "marketplace_queuedevent" in sql]) == 1
    assert len(with_events) <= len(without) + 4, "two to lock HIT and type, one to write, one for webhooks"
    assert told() == ["AssignmentSubmitted"]


def test_an_event_goes_with_its_cause_when_that_is_undone(requester, worker):
    hit = make_hit(requester)
    tell(hit, "AssignmentAccepted")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        assignments.accept(worker=worker, hit=hit)
        assert told() == ["AssignmentAccepted"]
        raise ZeroDivisionError
    assert told() == []


def test_a_late_submission_tells_nothing_and_leaves_the_expiry_to_be_told(requester, worker):
    hit = make_hit(requester, lifetime_s=60, duration_s=30, places=2)
    tell(hit, "HITExpired", "HITReviewable", "AssignmentSubmitted")
    holding = assignments.accept(worker=worker, hit=hit)
    later = timezone.now() + timedelta(seconds=61)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("marketplace.lifecycle.assignments.clock.now", lambda: later)
        with pytest.raises(Refusal):
            assignments.submit(holding=holding, fields=[])
        assert told() == []
        assert HIT.objects.get(pk=hit.pk).expiry_watched
        settle(now=later)
    assert sorted(told()) == ["HITExpired", "HITReviewable"]


def test_whoever_comes_first_after_expiry_tells_of_it_and_the_sweep_adds_nothing(requester):
    hit = make_hit(requester, lifetime_s=60, places=2)
    tell(hit, "HITExpired", "HITReviewable")
    holding = assignments.accept(worker=make_worker(), hit=hit)
    later = timezone.now() + timedelta(seconds=61)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("marketplace.lifecycle.assignments.clock.now", lambda: later)
        assignments.submit(holding=holding, fields=[])
    assert told() == ["HITExpired", "HITReviewable"]
    settle(now=later)
    settle(now=later + timedelta(days=1))
    assert told() == ["HITExpired", "HITReviewable"]


def test_a_hit_takes_its_marks_to_a_type_that_is_told(requester):
    hit, loud = make_hit(requester, lifetime_s=60), make_hit(requester, title="Told")
    tell(loud, "HITExpired")
    with transaction.atomic():
        hits.change_type(hit=hit, hit_type=loud.hit_type, now=timezone.now())
    settle(now=timezone.now() + timedelta(seconds=61))
    assert told() == ["HITExpired"]


def test_thirty_hits_are_marked_in_one_statement(requester, django_assert_max_num_queries):
    hits = [make_hit(requester) for _ in range(30)]
    with django_assert_max_num_queries(11):
        tell(hits[0], "HITExpired")
    assert HIT.objects.filter(expiry_watched=True).count() == 30


def test_what_nobody_fetches_is_forgotten_after_a_fortnight(requester, worker, monkeypatch):
    hit = make_hit(requester)
    tell(hit, "AssignmentAccepted")
    assignments.accept(worker=worker, hit=hit)
    for age, left in ((KEEP_EVENTS - timedelta(minutes=1), 1), (KEEP_EVENTS, 0)):
        moment = QueuedEvent.objects.get().sent_at + age
        monkeypatch.setattr("marketplace.lifecycle.expiry.clock.now", lambda moment=moment: moment)
        sweep()
        assert QueuedEvent.objects.count() == left


def test_a_queue_has_an_address_of_its_own():
    for address in (
        "https://sqs.us-east-1.amazonaws.com/1/q",
        "http://127.0.0.1:4566/000000000000/q",
        "http://lab.local:8000/mturk/queues/q_1-a",
    ):
        notifications.check_destination(address)
    for address in (
        *("", "queue", "https://", "https://[", "https://host:port/q", "ftp://host/q"),
        *("http://host/q", "http://host/mturk/queues/", "http://host/mturk/queues/a/b"),
        *("https://host/a b", "https://höst/q", "https://host/\n", "https://me:pw@host/q"),
    ):
        with pytest.raises(Refusal, match="Destination must be the address of a queue"):
            notifications.check_destination(address)
