"""How long a session lasts, and ending all of them."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"
HOME = "/accounts/home/"


@pytest.fixture
def person() -> User:
    return User.objects.create_user("mira", password=PASSWORD)


def browser() -> Client:
    client = Client()
    assert client.post("/accounts/login/", {"username": "mira", "password": PASSWORD}).status_code == 302
    return client


def signed_in(client) -> bool:
    return not client.get(HOME).headers["Location"].startswith("/accounts/login/")


def test_a_session_that_is_not_used_for_twelve_hours_ends(person):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = browser()
        clock.shift(timedelta(hours=11))
        assert signed_in(client)
        clock.shift(timedelta(hours=11))
        assert signed_in(client)
        clock.shift(timedelta(hours=12, minutes=1))
        assert not signed_in(client)


def test_a_session_ends_after_two_weeks_however_much_it_is_used(person):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = browser()
        for _ in range(28):
            clock.shift(timedelta(hours=11, minutes=55))
            assert signed_in(client)
        clock.shift(timedelta(hours=3))
        assert not signed_in(client)
        assert not Session.objects.filter(expire_date__gt=timezone.now()).exists()


def test_a_session_in_use_is_stored_every_ten_minutes_and_not_at_every_page(
    person, django_assert_num_queries
):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        client = browser()
        clock.shift(timedelta(minutes=9))
        with django_assert_num_queries(4):
            client.get(HOME)
        clock.shift(timedelta(minutes=2))
        client.get(HOME)
        left = Session.objects.get().expire_date - timezone.now()
        assert left == timedelta(hours=12)


def test_signing_out_everywhere_leaves_this_session_alone(person):
    here, there = browser(), browser()
    place = "/accounts/sign-out-everywhere/"
    wrong = here.post(place, {"password": "wrong"}, follow=True)
    assert "This is not your password." in wrong.content.decode()
    assert signed_in(there)
    right = here.post(place, {"password": PASSWORD}, follow=True)
    assert "signed out everywhere else" in right.content.decode()
    assert (signed_in(here), signed_in(there)) == (True, False)
    assert browser()
    assert here.get(place).status_code == 405


def test_a_session_of_an_earlier_version_lasts_and_can_be_read_by_it_again(person):
    client = browser()
    [stored] = Session.objects.all()
    before = stored.get_decoded()
    assert before[BACKEND_SESSION_KEY] == "accounts.backends.ModelBackend"
    assert signed_in(client)
    assert client.session[BACKEND_SESSION_KEY] == "django.contrib.auth.backends.ModelBackend"
    client.session.save()
    stored.refresh_from_db()
    assert stored.get_decoded()[BACKEND_SESSION_KEY] == before[BACKEND_SESSION_KEY]
