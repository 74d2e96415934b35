"""Hours of a batch: when its HITs can be taken, on a clock that is moved."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from marketplace import clock
from marketplace.batches import drafts, publication, schedule
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments
from marketplace.lifecycle.hours import Hours
from marketplace.models import HIT, Activity, Holding
from tests.batches import making
from tests.site.conftest import signed_in

OFFICE = Hours("Europe/Berlin", (0, 1, 2, 3, 4), time(9), time(17))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_hours_follow_the_clock_on_the_wall(subtests):
    for now, is_open, opens in [
        ("2026-11-27 07:59", False, "2026-11-27 08:00"),  # a Friday, in winter
        ("2026-11-27 08:00", True, "2026-11-27 08:00"),
        ("2026-11-27 15:59", True, "2026-11-27 15:59"),
        ("2026-11-27 16:00", False, "2026-11-30 08:00"),
        ("2026-07-03 07:00", True, "2026-07-03 07:00"),  # in summer nine o'clock is seven
        ("2026-03-27 16:00", False, "2026-03-30 07:00"),  # clocks are set forward on the Sunday between
        ("2026-10-23 15:00", False, "2026-10-26 08:00"),  # and back
    ]:
        with subtests.test(now=now, is_open=is_open):
            assert OFFICE.is_open(utc(now)) is is_open
            assert OFFICE.next_opening(utc(now)) == utc(opens)


def test_a_night_belongs_to_the_day_on_which_it_begins_also_where_it_has_23_or_25_hours():
    night = Hours("Europe/Berlin", (5,), time(22), time(2))
    early = Hours("Europe/Berlin", (6,), time(1), time(2, 30))
    for hours, now, is_open in (
        (night, "2026-11-28 20:59", False),
        (night, "2026-11-28 21:00", True),
        (night, "2026-11-29 00:59", True),  # still Saturday's
        (night, "2026-11-29 01:00", False),
        (night, "2026-11-29 22:00", False),
        (early, "2026-10-25 00:00", True),  # the first two o'clock of the night in which clocks are set back
        (early, "2026-10-25 01:29", True),  # the second
        (early, "2026-10-25 01:31", False),
        (early, "2026-03-29 01:00", True),  # three o'clock of the night in which two o'clock does not exist
        (early, "2026-03-29 01:31", False),
    ):
        assert hours.is_open(utc(now)) is is_open, now


def test_days_in_a_row_are_told_as_such():
    assert str(OFFICE) == "Mon-Fri 09:00-17:00 Europe/Berlin"
    assert str(Hours("UTC", (0, 2), time(9), time(0))) == "Mon, Wed 09:00-00:00 UTC"
    assert str(Hours("UTC", tuple(range(7)), time(0), time(12))).startswith("Every day")


@pytest.fixture
def batch(lab):
    """Published, of two tasks, with office hours."""
    batch = making.draft(lab)
    schedule.set_hours(batch=batch, hours=OFFICE)
    publication.publish(batch=batch)
    making.run_jobs()
    batch.refresh_from_db()
    # Otherwise they expire in seven days: on a Friday, before the hours of the next one.
    HIT.objects.update(expires_at=F("expires_at") + timedelta(days=7))
    return batch


@pytest.fixture
def at_time(monkeypatch):
    """Moves the clock of the marketplace to a time on the next Friday from now, by the hour in UTC."""
    today = clock.now()
    friday = today + timedelta(days=(4 - today.weekday()) % 7 or 7)

    def move(hour: int) -> datetime:
        moment = friday.replace(hour=hour, minute=30)
        monkeypatch.setattr(clock, "now", lambda: moment)
        return moment

    return move


def test_nothing_new_is_accepted_outside_of_the_hours_and_running_work_goes_on(batch, rosa, at_time):
    hit_type = HIT.objects.first().hit_type
    at_time(12)
    holding = assignments.accept_next(worker=rosa, hit_type=hit_type)
    at_time(18)
    with pytest.raises(Refusal, match=r"Mon-Fri 09:00-17:00 Europe/Berlin. It opens again Mon .*, 09:00"):
        assignments.accept_next(worker=rosa, hit_type=hit_type)
    other = HIT.objects.exclude(pk=holding.hit_id).get()
    with pytest.raises(Refusal, match="opens again"):
        assignments.accept(worker=rosa, hit=other)
    assert Holding.objects.count() == 1
    Holding.objects.update(deadline=clock.now() + timedelta(hours=1))
    submitted = assignments.submit(holding=Holding.objects.select_related("hit__hit_type").get(), fields=[])
    assert submitted.state == Holding.State.SUBMITTED


def test_other_hits_of_the_group_are_given_meanwhile(batch, rosa, at_time):
    at_time(18)
    free = HIT.objects.order_by("pk").last()
    HIT.objects.filter(pk=free.pk).update(batch=None)
    assert assignments.accept_next(worker=rosa, hit_type=free.hit_type).hit_id == free.pk


def test_the_preview_says_when_it_opens_again(batch, rosa, at_time):
    as_rosa = signed_in(rosa.user)
    address = reverse("site:preview", args=[HIT.objects.first().hit_type.group_id])
    at_time(12)
    assert "Closed at the moment" not in as_rosa.get(address).content.decode()
    at_time(18)
    page = as_rosa.get(address).content.decode()
    assert "Closed at the moment" in page
    assert "Mon-Fri 09:00-17:00 Europe/Berlin" in page
    assert ">Accept</button>" not in page


def test_hours_are_set_by_form_kept_in_copies_and_taken_away(lab, as_owner):
    batch = making.draft(lab)
    address = reverse("requester:batch_schedule", args=[lab.customer_id, batch.number])
    sent = {
        "hours": "set",
        "hours-days": ["0", "4"],
        "hours-opens": "09:00",
        "hours-closes": "17:30",
        "hours-zone": "America/New_York",
    }
    assert as_owner.post(address, sent).status_code == 302
    batch.refresh_from_db()
    assert batch.hours == {"zone": "America/New_York", "days": [0, 4], "opens": "09:00", "closes": "17:30"}
    page = as_owner.get(reverse("requester:batch", args=[lab.customer_id, batch.number])).content.decode()
    assert "Mon, Fri 09:00-17:30 America/New_York" in page
    assert drafts.copy_draft(batch=batch).hours == batch.hours
    assert Activity.objects.filter(action="batch.hours").count() == 1
    assert as_owner.post(address, sent | {"hours-days": []}).status_code == 302
    batch.refresh_from_db()
    assert batch.hours is None


def test_hours_that_cannot_be_are_refused_in_words(lab, as_owner, subtests):
    for wrong, words in [
        ({"hours-closes": "09:00"}, "It closes when it opens"),
        ({"hours-opens": ""}, "Say this, too"),
        ({"hours-opens": "09:00:20"}, "Write hours and minutes, such as 09:00 or 17:30, without seconds."),
        ({"hours-closes": "17:00:00"}, "without seconds"),
        ({"hours-closes": "5 pm"}, "Write hours and minutes"),
        ({"hours-zone": "Mars/Olympus"}, "Select a valid choice"),
        ({"hours-days": ["9"]}, "Select a valid choice"),
    ]:
        with subtests.test(wrong=wrong, words=words):
            batch = making.draft(lab)
            address = reverse("requester:batch_schedule", args=[lab.customer_id, batch.number])
            sent = {"hours": "set", "hours-days": ["0"], "hours-opens": "09:00", "hours-closes": "17:00"}
            answer = as_owner.post(address, sent | {"hours-zone": "UTC"} | wrong)
            assert answer.status_code == 422
            assert words in answer.content.decode()
            batch.refresh_from_db()
            assert batch.hours is None
