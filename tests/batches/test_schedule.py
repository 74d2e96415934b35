"""Batches that are published and ended at a time, and the e-mail at their end."""

from datetime import timedelta

import pytest
from django.core import mail
from django.urls import reverse

from core.money import dollars
from marketplace import clock
from marketplace.batches import extensions, publication, schedule
from marketplace.errors import Refusal
from marketplace.models import HIT, Activity, Batch
from marketplace.money import deposits
from marketplace.tasks import sweep_task
from tests.batches import making
from tests.batches.test_publishing import spend
from tests.saving import save
from tests.site import world

NOW = clock.now
HOUR = timedelta(hours=1)
State = Batch.State


@pytest.fixture
def draft(lab, owner) -> Batch:
    owner.email = "otto@lab.example"
    owner.save()
    return making.draft(lab)


def set_times(batch: Batch, user, publish_in=None, end_in=None) -> None:
    """Times from now on; those that are past are set as they would be after a stop."""
    now = NOW()
    schedule.set_schedule(
        batch=batch,
        publish_at=now + abs(publish_in) if publish_in else None,
        end_at=now + abs(publish_in or end_in) * 2 if end_in else None,
        cents=publication.cost_of(batch).total,
        user=user,
    )
    values = {"publish_at": publish_in, "end_at": end_in}
    Batch.objects.filter(pk=batch.pk).update(**{name: now + by for name, by in values.items() if by})


def after_sweeps(batch: Batch) -> Batch:
    for _ in range(2):
        sweep_task()
        making.run_jobs()
    batch.refresh_from_db()
    return batch


def test_a_batch_is_published_at_its_time_once_and_as_its_person(draft, owner):
    set_times(draft, owner, publish_in=HOUR)
    assert after_sweeps(draft).state == State.DRAFT
    Batch.objects.update(publish_at=NOW() - timedelta(seconds=20))
    batch = after_sweeps(draft)
    assert (batch.state, batch.publish_at, HIT.objects.count()) == (State.PUBLISHED, None, 2)
    assert batch.schedule_note.startswith("Published as scheduled")
    assert Activity.objects.get(action="batch.published").user == owner


def test_a_time_that_was_missed_is_made_up_for_and_told(draft, owner):
    set_times(draft, owner, publish_in=-3 * HOUR)
    batch = after_sweeps(draft)
    assert batch.state == State.PUBLISHED
    assert "published late" in batch.schedule_note and "was not running" in batch.schedule_note


def test_nothing_is_published_where_its_end_was_missed_as_well(draft, owner):
    set_times(draft, owner, publish_in=-3 * HOUR, end_in=-HOUR)
    batch = after_sweeps(draft)
    assert (batch.state, batch.publish_at, batch.end_at) == (State.DRAFT, None, None)
    assert "so nothing was published" in batch.schedule_note


def test_a_batch_ends_at_its_time(draft, owner):
    batch = making.published(draft.requester)
    set_times(batch, owner, end_in=-HOUR)
    batch = after_sweeps(batch)
    assert (batch.state, batch.end_at) == (State.CANCELLED, None)
    assert "ended late" in batch.schedule_note
    assert not HIT.objects.filter(batch=batch, expires_at__gt=NOW()).exists()


def test_added_rows_have_no_end_of_their_own(lab, owner):
    batch = making.published(lab)
    added = extensions.make_addition(
        batch=batch, sheet=making.sheet(making.CSV + "Who?,/3.jpg\n"), leave_out=True
    )
    with pytest.raises(Refusal, match="end with their batch"):
        set_times(added, owner, publish_in=HOUR, end_in=HOUR)
    set_times(added, owner, publish_in=HOUR)
    added.refresh_from_db()
    assert added.publish_at is not None


def test_missing_money_is_told_on_the_page_and_by_mail_and_nothing_is_published(lab, draft, owner):
    set_times(draft, owner, publish_in=-HOUR)
    lab.refresh_from_db()
    spend(lab, lab.available_cents - 5)
    batch = after_sweeps(draft)
    assert batch.state == State.DRAFT
    assert "was not: Publishing puts" in batch.schedule_note
    assert [each.subject for each in mail.outbox] == [f"{draft.name} was not published as scheduled"]


def test_the_page_asks_for_the_total_and_for_times_to_come(lab, draft, as_owner):
    address = reverse("requester:batch_schedule", args=[lab.customer_id, draft.number])
    total = dollars(publication.cost_of(draft).total)
    soon = f"{NOW() + HOUR:%Y-%m-%dT%H:%M}"
    for form, sentence in (
        ({"publish_at": soon, "amount": "0.01"}, f"The total is ${total}"),
        ({"publish_at": "2020-01-01T10:00", "amount": total}, "within a year from now"),
        ({"publish_at": soon, "end_at": soon, "amount": total}, "ends before it is published"),
    ):
        answer = as_owner.post(address, form)
        assert (answer.status_code, sentence in answer.content.decode()) == (422, True), form
    assert as_owner.post(address, {"publish_at": soon, "amount": total}).status_code == 302
    assert Batch.objects.get().publish_at is not None
    properties = reverse("requester:batch_properties", args=[lab.customer_id, draft.number])
    form = {"name": "n", "title": "t", "description": "d", "reward": "0.20", "places": "1", "guard": "Accept"}
    for name in ("duration", "lifetime", "auto_approval"):
        form |= {f"{name}_0": "1", f"{name}_1": "3600"}
    assert save(as_owner, properties, form).status_code == 302
    batch = Batch.objects.get()
    assert batch.properties["reward_cents"] == 20
    assert (batch.publish_at, "Schedule it again" in batch.schedule_note) == (None, True)


def test_one_mail_at_the_end_for_who_asked(lab, draft, owner, as_owner, rosa):
    batch = making.published(lab, making.CSV.splitlines()[0] + "\nWhat?,/1.jpg\n")
    address = reverse("requester:batch_mail", args=[lab.customer_id, batch.number])
    as_owner.post(address)
    after_sweeps(batch)
    assert mail.outbox == []
    held = world.take(rosa, HIT.objects.get(batch=batch))
    after_sweeps(batch)
    assert mail.outbox == []
    world.submit(held)
    after_sweeps(batch)
    [letter] = mail.outbox
    assert (letter.to, "has come to its end" in letter.subject) == (["otto@lab.example"], True)
    assert "1 of 1 assignments were answered." in letter.body
    world.approve(held)
    after_sweeps(batch)
    assert len(mail.outbox) == 1


def test_an_account_without_address_is_told_so(lab, as_owner):
    batch = making.published(lab)
    answer = as_owner.post(reverse("requester:batch_mail", args=[lab.customer_id, batch.number]), follow=True)
    assert "has no e-mail address" in answer.content.decode()
    schedule.look_for_ends(NOW())
    deposits.deposit(requester=lab, cents=1)
    assert Batch.objects.get().end_mail_to is None
