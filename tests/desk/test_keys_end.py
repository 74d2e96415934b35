"""A key to search with ends with the password under which it was made, or alone where its person ends it."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.keys import keys_of
from accounts.models import UsedKey
from accounts.services import end_all_sessions
from annotation.searching.keys import key_for, seat_of
from crowd.desk.doors import Seat

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("password", ["another warm kettle", "seven green kettles"], ids=["changed", "same"])
def test_a_search_key_ends_with_its_password_and_by_signing_out_everywhere(project, people, password):
    owner = people["owner"]
    key = key_for(Seat(owner, project, "owner"))
    assert seat_of(key, "reading") is not None
    end_all_sessions(user=owner, password=password)
    assert seat_of(key, "reading") is None
    assert seat_of(key_for(Seat(owner, project, "owner")), "reading") is not None


PAGE, END = "/accounts/password/", "/accounts/end-key/"


def signed_in(user):
    browser = Client()
    browser.force_login(user)
    return browser


def two_keys(owner, project):
    """Of one person, signed at different times, as two visits of the page give them."""
    first = key_for(Seat(owner, project, "owner"))
    with time_machine.travel(timezone.now() + timedelta(minutes=5), tick=False):
        second = key_for(Seat(owner, project, "owner"))
        assert seat_of(second, "reading") is not None
    return first, second


def test_a_key_that_was_used_is_listed_and_ends_alone(project, people):
    owner = people["owner"]
    first, second = two_keys(owner, project)
    assert seat_of(first, "reading") is not None
    rows = {row.made_at: row for row in keys_of(owner)}
    assert len(rows) == 2
    page = signed_in(owner).get(PAGE).content.decode()
    assert page.count(f"<strong>Search in {project.title}</strong>") == 2
    answer = signed_in(owner).post(END, {"key": rows[min(rows)].pk}, follow=True)
    assert f"The key “Search in {project.title}” has ended." in answer.content.decode()
    assert seat_of(first, "reading") is None
    assert seat_of(second, "reading") is not None
    assert [row.made_at for row in keys_of(owner)] == [max(rows)]


@pytest.mark.parametrize("key", ["", "x", "0", "9" * 40, "-1"])
def test_a_key_that_there_is_not_is_not_ended(project, people, key):
    answer = signed_in(people["owner"]).post(END, {"key": key}, follow=True)
    assert "There is no such key any more. Nothing was changed." in answer.content.decode()


def test_keys_of_others_are_neither_listed_nor_ended(project, people):
    two_keys(people["owner"], project)
    viewer = signed_in(people["viewer"])
    assert "No program uses one." in viewer.get(PAGE).content.decode()
    viewer.post(END, {"key": UsedKey.objects.get().pk})
    assert keys_of(people["owner"]).count() == 1


def test_keys_of_an_old_password_are_listed_no_more(project, people):
    owner = people["owner"]
    two_keys(owner, project)
    end_all_sessions(user=owner, password="another warm kettle")
    assert not keys_of(owner)


def test_the_last_use_is_noted_to_the_minute_and_keys_that_have_run_out_are_forgotten(project, people):
    owner = people["owner"]
    key = key_for(Seat(owner, project, "owner"))
    seat_of(key, "reading")
    [row] = keys_of(owner)
    with time_machine.travel(timezone.now() + timedelta(minutes=2), tick=False):
        seat_of(key, "reading")
        assert keys_of(owner).get().last_used_at - row.last_used_at >= timedelta(minutes=2)
    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False):
        assert not keys_of(owner)
        seat_of(key_for(Seat(owner, project, "owner")), "reading")
    assert UsedKey.objects.count() == 1
