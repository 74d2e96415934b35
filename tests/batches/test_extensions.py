"""More places and more time for the HITs of a batch that runs."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse

from core.money import dollars
from marketplace import clock
from marketplace.batches import extensions
from marketplace.batches.extensions import Wish, cost_of_extension, extend_batch, parse_ordinals
from marketplace.errors import Refusal
from marketplace.models import HIT, Batch, BatchExtension, Requester
from marketplace.money import deposits, ledger
from tests.batches import making
from tests.batches.test_publishing import spend


@pytest.fixture
def batch(lab) -> Batch:
    batch = making.published(lab, making.rows(5), places=2)
    batch.requester.refresh_from_db()
    return batch


def each_cents(batch: Batch) -> int:
    """What a place of its HITs puts on hold."""
    hit = HIT.objects.filter(batch=batch).first()
    return hit.reward_cents + hit.fee_cents


def extend(batch: Batch, **wish: object) -> BatchExtension:
    asked = Wish(**wish)
    cost = cost_of_extension(batch, asked, clock.now())
    made = extend_batch(batch=batch, wish=asked, cents=cost.total, once=uuid4())
    making.run_jobs()
    made.refresh_from_db()
    return made


def places(batch: Batch) -> list[int]:
    return list(HIT.objects.filter(batch=batch).order_by("pk").values_list("max_assignments", flat=True))


def test_numbers_of_tasks_are_read_and_refused_in_words():
    assert parse_ordinals("1-3, 5", 9) == (1, 2, 3, 5)
    assert parse_ordinals(" ", 9) is None
    for text in ("0", "8-10", "3-1", "two", "1-", "-3", "9" * 30):
        with pytest.raises(ValueError, match="is n"):
            parse_ordinals(text, 9)


def test_chosen_hits_get_places_and_their_cost_is_put_on_hold(lab, batch):
    before = batch.requester.held_cents
    made = extend(batch, places=3, ordinals=(2, 4))
    assert places(batch) == [2, 5, 2, 5, 2]
    lab.refresh_from_db()
    assert lab.held_cents - before == made.held_cents == made.cents == 6 * each_cents(batch)
    assert (made.state, made.changed) == ("done", 2)
    assert ledger.audit() == []


def test_more_time_offers_expired_hits_again(batch):
    now = clock.now()
    HIT.objects.filter(batch=batch).update(expires_at=now - timedelta(days=1))
    from marketplace.lifecycle.expiry import settle

    settle(now=now)
    cost = cost_of_extension(batch, Wish(seconds=3600), now)
    assert (cost.expired, cost.places_cents, cost.reopened_cents) == (5, 0, 5 * 2 * each_cents(batch))
    extend(batch, seconds=3600)
    assert HIT.objects.filter(batch=batch, expires_at__gt=now, held_places=2).count() == 5
    assert ledger.audit() == []


def test_hits_that_would_come_to_ten_places_stay_and_the_report_says_why(batch):
    HIT.objects.filter(pk=batch.tasks.get(ordinal=1).hit_id).update(
        max_assignments=9, open_places=9, held_places=9
    )
    held = 17 * each_cents(batch)
    Requester.objects.update(held_cents=held, available_cents=10_000 - held)
    batch.requester.refresh_from_db()
    made = extend(batch, places=2)
    assert places(batch) == [9, 4, 4, 4, 4]
    assert made.passed_over == [[1, "It has 9; made with fewer than 10, it never gets 10."]]
    with pytest.raises(Refusal, match="No HIT of"):
        extend(batch, places=50)


def test_one_form_is_one_extension_and_what_it_costs_must_be_what_was_shown(batch):
    once, cents = uuid4(), 5 * each_cents(batch)
    for _ in range(2):
        extend_batch(batch=batch, wish=Wish(places=1), cents=cents, once=once)
    making.run_jobs()
    assert places(batch) == [3] * 5
    with pytest.raises(Refusal, match="by now"):
        extend_batch(batch=batch, wish=Wish(places=1), cents=cents - 1, once=uuid4())


def test_money_that_does_not_last_stops_it_and_it_goes_on(lab, batch, as_owner):
    each = each_cents(batch)
    made = extend_batch(batch=batch, wish=Wish(places=1), cents=5 * each, once=uuid4())
    lab.refresh_from_db()
    spend(lab, lab.available_cents - 2 * each - 1)
    making.run_jobs()
    made.refresh_from_db()
    assert (made.state, made.changed, made.after) == ("stopped", 2, 2)
    page = as_owner.get(reverse("requester:batch", args=[lab.customer_id, batch.number])).content.decode()
    assert "Stopped after task 2" in page
    deposits.deposit(requester=lab, cents=1000)
    as_owner.post(
        reverse("requester:batch_extension_continue", args=[lab.customer_id, batch.number, made.pk])
    )
    making.run_jobs()
    assert places(batch) == [3] * 5
    assert BatchExtension.objects.get().held_cents == 5 * each


def test_the_page_shows_the_cost_before_anything_is_done(lab, batch, as_owner):
    address = reverse("requester:batch_extend", args=[lab.customer_id, batch.number])
    form = {
        "places": "2",
        "time_0": "0",
        "time_1": "3600",
        "tasks": "1-2",
        "once": str(uuid4()),
        "amount": "",
    }
    total = dollars(4 * each_cents(batch))
    assert f"<dd>${total}</dd>" in as_owner.post(address, form).content.decode()
    wrong = as_owner.post(address, form | {"amount": "0.01"})
    assert (wrong.status_code, BatchExtension.objects.count()) == (422, 0)
    for _ in range(2):
        assert as_owner.post(address, form | {"amount": total}).status_code == 302
        making.run_jobs()
    assert places(batch) == [4, 4, 2, 2, 2]
    assert f"${total} on hold" in as_owner.get(address).content.decode()
    assert as_owner.post(address, form | {"places": "0"}).status_code == 422


def test_a_draft_is_not_extended(lab, as_owner):
    batch = making.draft(lab)
    with pytest.raises(Refusal, match="Only a published batch"):
        extend_batch(batch=batch, wish=Wish(places=1), cents=100, once=uuid4())
    for name in ("batch_extend", "batch_rows"):
        assert (
            as_owner.get(reverse(f"requester:{name}", args=[lab.customer_id, batch.number])).status_code
            == 302
        )
    assert extensions.job_of_extension(BatchExtension(pk=1)) is None
