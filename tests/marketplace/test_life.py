"""A HIT's life and its money, through the services."""

from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils import timezone

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments, hits, review
from marketplace.lifecycle.assignments import next_hit_pk
from marketplace.lifecycle.expiry import settle, sweep
from marketplace.lifecycle.hits import dispose_old, return_assignment
from marketplace.lifecycle.selectors import hit_status
from marketplace.models import HIT, Holding, LedgerEntry, Requester, TokenUse
from marketplace.money import ledger

from .conftest import make_hit, make_requester, make_worker

END_OF_CALENDAR = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
clamp_lives = import_module("marketplace.migrations.0008_hits_end_within_a_year").clamp


def balances(requester):
    requester.refresh_from_db()
    return (
        requester.available_cents,
        requester.held_cents,
        requester.paid_cents,
        requester.fees_cents,
    )


def test_money_is_held_at_publication_and_paid_at_approval(requester, worker):
    hit = make_hit(requester, places=2)
    assert balances(requester) == (9976, 24, 0, 0)
    holding = assignments.accept(worker=worker, hit=hit)
    assignments.submit(holding=holding, fields=[("a", "1")])
    review.approve(holding=holding, feedback="thanks", override=False, now=timezone.now())
    assert balances(requester) == (9976, 12, 10, 2)
    assert ledger.audit() == []


def test_an_expired_hit_gives_back_what_its_open_places_held(requester, worker):
    hit = make_hit(requester, places=3)
    assignments.accept(worker=worker, hit=hit)
    hits.set_expiration(hit=hit, expires_at=timezone.now() - timedelta(days=1), now=timezone.now())
    assert balances(requester) == (9988, 12, 0, 0)
    hit.refresh_from_db()
    assert (hit.open_places, hit_status(hit, timezone.now())) == (2, "Unassignable")
    later = timezone.now() + timedelta(hours=1)
    hits.set_expiration(hit=hit, expires_at=later, now=timezone.now())
    assert balances(requester) == (9964, 36, 0, 0)
    assert ledger.audit() == []


def test_time_alone_releases_abandons_and_approves(requester):
    hit = make_hit(requester, places=3, lifetime_s=1200, duration_s=600, auto_approval_s=1000)
    done, late = make_worker(), make_worker()
    assignments.submit(holding=assignments.accept(worker=done, hit=hit), fields=[])
    assignments.accept(worker=late, hit=hit)
    settle(now=timezone.now() + timedelta(seconds=601))
    late.refresh_from_db()
    assert late.abandoned_count == 1
    settle(now=timezone.now() + timedelta(seconds=900))
    assert Holding.objects.get(worker=done).state == "submitted"
    settle(now=timezone.now() + timedelta(seconds=1001))
    approved = Holding.objects.get(worker=done)
    assert (approved.state, approved.auto_approved) == ("approved", True)
    assert approved.approved_at == approved.auto_approve_at
    settle(now=timezone.now() + timedelta(seconds=1201))
    assert balances(requester) == (9988, 0, 10, 2)
    assert ledger.audit() == []


def test_a_batch_that_ends_is_released_in_few_queries_and_only_once(
    requester, worker, django_assert_max_num_queries
):
    hits = [make_hit(requester, places=2, lifetime_s=1200, duration_s=3000) for _ in range(30)]
    assignments.accept(worker=worker, hit=hits[0])
    other = make_requester()
    make_hit(other, lifetime_s=1200)
    held = balances(requester)[1]
    ended = timezone.now() + timedelta(seconds=1201)
    with django_assert_max_num_queries(12):
        settle(requester=requester, now=ended)
    assert balances(requester)[1] == held // 60  # the place that somebody works on
    assert LedgerEntry.objects.filter(kind="release", hit__in=hits).count() == 30
    assert balances(other)[1] > 0
    settle(now=ended)
    settle(now=ended)
    assert LedgerEntry.objects.filter(kind="release").count() == 31
    assert balances(other)[1] == 0
    assert ledger.audit() == []


def test_dates_at_the_end_of_the_calendar_overflow_nowhere(requester, worker):
    hit = make_hit(requester, places=2)
    assignments.accept(worker=worker, hit=hit)
    HIT.objects.filter(pk=hit.pk).update(expires_at=END_OF_CALENDAR)
    hit.refresh_from_db()
    settle(hits=[hit])
    sweep()
    dispose_old(hit_pk=hit.pk, now=timezone.now())
    assert (
        hits.set_expiration(hit=hit, expires_at=timezone.now(), now=timezone.now()).expires_at
        <= timezone.now()
    )
    with pytest.raises(Refusal, match="at most a year"):
        hits.set_expiration(hit=hit, expires_at=END_OF_CALENDAR, now=timezone.now())


def test_the_migration_ends_poisoned_hits_within_a_year(requester):
    poisoned, sound = make_hit(requester), make_hit(requester)
    HIT.objects.filter(pk=poisoned.pk).update(expires_at=END_OF_CALENDAR)
    clamp_lives(apps, None)
    poisoned.refresh_from_db()
    assert timedelta(days=364) < poisoned.expires_at - timezone.now() <= timedelta(days=365)
    assert HIT.objects.get(pk=sound.pk).expires_at == sound.expires_at


def test_the_next_holder_of_a_place_gets_the_same_assignment_id(requester):
    hit = make_hit(requester)
    first, second = make_worker(), make_worker()
    held = assignments.accept(worker=first, hit=hit)
    with pytest.raises(Refusal):
        assignments.accept(worker=second, hit=hit)
    return_assignment(holding=held)
    again = assignments.accept(worker=second, hit=hit)
    assert again.assignment_id == held.assignment_id
    assert again.pk != held.pk
    for late in (held, Holding.objects.get(pk=held.pk)):
        with pytest.raises(Refusal):
            assignments.submit(holding=late, fields=[("late", "post")])
    assert Holding.objects.get(pk=again.pk).state == "accepted"
    hit.refresh_from_db()
    assert (hit.pending, hit.submitted) == (1, 0)


def test_submitting_twice_changes_nothing(requester, worker):
    holding = assignments.accept(worker=worker, hit=make_hit(requester))
    assignments.submit(holding=holding, fields=[("a", "first")])
    again = assignments.submit(holding=holding, fields=[("a", "second")])
    assert "first" in again.answer
    worker.refresh_from_db()
    assert worker.submitted_count == 1


def test_what_comes_after_the_deadline_is_refused(requester, worker):
    holding = assignments.accept(worker=worker, hit=make_hit(requester))
    Holding.objects.update(deadline=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Refusal, match="time for this HIT is over"):
        assignments.submit(holding=holding, fields=[])


def test_a_worker_goes_through_a_group_once_and_then_there_is_no_work(requester, worker):
    hits = [make_hit(requester) for _ in range(3)]
    taken = [assignments.accept_next(worker=worker, hit_type=hits[0].hit_type).hit for _ in hits]
    assert taken == hits
    with pytest.raises(Refusal) as refusal:
        assignments.accept_next(worker=worker, hit_type=hits[0].hit_type)
    assert refusal.value.code == "NoWork"


def test_a_returned_hit_comes_round_again(requester, worker):
    hits = [make_hit(requester) for _ in range(2)]
    hit_type = hits[0].hit_type
    return_assignment(holding=assignments.accept_next(worker=worker, hit_type=hit_type))
    assert assignments.accept_next(worker=worker, hit_type=hit_type).hit == hits[1]
    assert assignments.accept_next(worker=worker, hit_type=hit_type).hit == hits[0]


def test_who_waits_for_hits_takes_them_in_the_order_of_all_so_that_nobody_waits_in_a_ring(requester, worker):
    hits = [make_hit(requester) for _ in range(3)]
    hit_type = hits[0].hit_type
    assignments.accept(worker=worker, hit=hits[1])
    asked = {"worker_pk": worker.pk, "hit_type_pk": hit_type.pk, "now": clock.now()}
    with transaction.atomic():
        assert next_hit_pk(**asked, lock="skip") == hits[2].pk
        assert next_hit_pk(**asked, lock="wait") == hits[0].pk


def test_the_queue_has_a_limit(requester, worker, settings):
    settings.MARKETPLACE_QUEUE_LIMIT = 2
    hits = [make_hit(requester) for _ in range(3)]
    hit_type = hits[0].hit_type
    for _ in range(2):
        assignments.accept_next(worker=worker, hit_type=hit_type)
    with pytest.raises(Refusal) as refusal:
        assignments.accept_next(worker=worker, hit_type=hit_type)
    assert refusal.value.code == "QueueFull"


def test_a_rejection_pays_nothing_and_can_be_overridden_for_thirty_days(requester, worker):
    hit = make_hit(requester)
    holding = assignments.submit(holding=assignments.accept(worker=worker, hit=hit), fields=[])
    review.reject(holding=holding, feedback="no answer", now=timezone.now())
    assert balances(requester) == (10000, 0, 0, 0)
    with pytest.raises(Refusal):
        review.approve(holding=holding, feedback=None, override=True, now=timezone.now() + timedelta(days=31))
    review.approve(holding=holding, feedback=None, override=True, now=timezone.now())
    assert balances(requester) == (9988, 0, 10, 2)
    worker.refresh_from_db()
    assert (worker.approved_count, worker.rejected_count) == (1, 0)
    assert ledger.audit() == []


@pytest.mark.django_db
def test_without_money_nothing_is_published():
    poor = make_requester(deposit_cents=100)
    with pytest.raises(Refusal) as refusal, transaction.atomic():
        make_hit(poor, places=10)
    assert refusal.value.code == "InsufficientFunds"
    assert not HIT.objects.filter(requester=poor).exists()
    assert balances(poor) == (100, 0, 0, 0)


def test_the_database_itself_refuses_an_account_that_does_not_balance(requester):
    with pytest.raises(IntegrityError), transaction.atomic():
        Requester.objects.filter(pk=requester.pk).update(available_cents=1)


def test_the_database_itself_refuses_to_pay_an_assignment_twice(requester, worker):
    holding = assignments.submit(
        holding=assignments.accept(worker=worker, hit=make_hit(requester)), fields=[]
    )
    review.approve(holding=holding, feedback=None, override=False, now=timezone.now())
    paid = LedgerEntry.objects.get(holding=holding, kind="reward")
    paid.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        paid.save(force_insert=True)


def test_the_audit_names_what_does_not_add_up(requester):
    make_hit(requester)
    LedgerEntry.objects.filter(requester=requester, kind="hold").delete()
    faults = ledger.audit()
    assert len(faults) == 2
    assert all(requester.name in fault for fault in faults)


def test_old_hits_are_disposed_of_and_old_tokens_forgotten(requester, monkeypatch):
    hit = make_hit(requester)
    TokenUse.objects.create(
        requester=requester,
        operation="CreateHIT",
        token="t",
        call_id="00000000-0000-0000-0000-000000000000",
        at=timezone.now(),
    )
    later = timezone.now() + timedelta(days=121)
    monkeypatch.setattr("marketplace.lifecycle.expiry.clock.now", lambda: later)
    sweep()
    hit.refresh_from_db()
    assert hit.disposed_at == hit.expires_at + timedelta(days=120)
    assert not TokenUse.objects.exists()
    assert ledger.audit() == []


def test_a_read_finds_an_old_hit_disposed_before_the_sweep_comes(requester):
    hit = make_hit(requester)
    settle(hits=[hit], now=timezone.now() + timedelta(days=121))
    assert hit.disposed_at == hit.expires_at + timedelta(days=120)
    assert hit_status(hit, timezone.now()) == "Disposed"
    assert balances(requester) == (10000, 0, 0, 0)


def test_a_hit_whose_type_changed_meanwhile_is_not_accepted_unseen(requester, worker):
    hit = make_hit(requester, reward_cents=20)
    seen = HIT.objects.select_related("hit_type").get(pk=hit.pk)
    cheaper = make_hit(requester, reward_cents=10).hit_type
    with transaction.atomic():
        hits.change_type(hit=hit, hit_type=cheaper, now=timezone.now())
    with pytest.raises(Refusal, match="just changed this HIT"):
        assignments.accept(worker=worker, hit=seen)
    assert not Holding.objects.exists()


def test_what_was_paid_for_a_piece_of_work_stays_known_when_the_hit_pays_more(requester, worker):
    hit = make_hit(requester, places=2, reward_cents=10)
    work = [
        assignments.submit(holding=assignments.accept(worker=each, hit=hit), fields=[])
        for each in (worker, make_worker())
    ]
    review.approve(holding=work[0], feedback=None, override=False, now=timezone.now())
    dearer = make_hit(requester, reward_cents=20).hit_type
    with transaction.atomic():
        hits.change_type(hit=hit, hit_type=dearer, now=timezone.now())
    assert [Holding.objects.get(pk=each.pk).pay_cents for each in work] == [10, 20]
    assert ledger.audit() == []


def test_nothing_due_costs_three_short_queries(requester, django_assert_num_queries):
    hit = make_hit(requester)
    with django_assert_num_queries(3):
        settle()
    with django_assert_num_queries(0):
        settle(hits=[hit], now=timezone.now())
