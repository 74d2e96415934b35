"""A key to search with ends with the password under which it was made, or alone where its person ends it."""

from datetime import timedelta

import pytest
import time_machine
from django.core import signing
from django.test import Client
from django.utils import timezone

from annotation.desk.search import access_of, key_for
from core.accounts import keys
from core.accounts.keys import epoch_of, keys_of
from core.accounts.models import SignedKey
from core.accounts.services import end_all_sessions
from web.access import ProjectAccess

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("password", ["another warm kettle", "seven green kettles"], ids=["changed", "same"])
def test_a_search_key_ends_with_its_password_and_by_signing_out_everywhere(project, people, password):
    owner = people["owner"]
    key = key_for(ProjectAccess(owner, project, "owner"))
    assert access_of(key, "reading") is not None
    signed_in(owner).post("/accounts/logout/")
    assert access_of(key, "reading") is not None, "signing out of one browser ends no key of a program"
    end_all_sessions(user=owner, password=password)
    assert access_of(key, "reading") is None
    assert not keys_of(owner)
    assert access_of(key_for(ProjectAccess(owner, project, "owner")), "reading") is not None


PAGE, END = "/accounts/password/", "/accounts/end-key/"


def signed_in(user):
    browser = Client()
    browser.force_login(user)
    return browser


def two_keys(owner, project):
    """Of one person, signed at different times, as two visits of the page give them."""
    with time_machine.travel(timezone.now() - timedelta(days=2), tick=False):
        first = key_for(ProjectAccess(owner, project, "owner"))
    second = key_for(ProjectAccess(owner, project, "owner"))
    assert access_of(second, "reading") is not None
    return first, second


def test_every_key_is_listed_from_the_moment_a_page_shows_it_and_ends_alone(project, people):
    owner = people["owner"]
    first, second = two_keys(owner, project)
    page = signed_in(owner).get(PAGE).content.decode()
    assert (page.count("Never used"), page.count("Last used")) == (1, 1)
    assert access_of(first, "reading") is not None
    rows = {row.made_at: row for row in keys_of(owner)}
    assert len(rows) == 2
    page = signed_in(owner).get(PAGE).content.decode()
    assert page.count(f"<strong>Search in {project.title}</strong>") == 2
    answer = signed_in(owner).post(END, {"key": rows[min(rows)].pk}, follow=True)
    assert f"The key “Search in {project.title}” has ended." in answer.content.decode()
    assert access_of(first, "reading") is None
    assert access_of(second, "reading") is not None
    assert [row.made_at for row in keys_of(owner)] == [max(rows)]


def test_no_key_of_others_and_none_that_there_is_not_is_listed_or_ended(project, people):
    two_keys(people["owner"], project)
    viewer = signed_in(people["viewer"])
    assert "You have none." in viewer.get(PAGE).content.decode()
    for key in (SignedKey.objects.first().pk, "", "x", "0", "9" * 40, "-1"):
        answer = viewer.post(END, {"key": key}, follow=True)
        assert "There is no such key any more. Nothing was changed." in answer.content.decode()
    assert keys_of(people["owner"]).count() == 2


def test_the_last_use_is_noted_to_the_minute_and_keys_that_have_run_out_are_forgotten(project, people):
    owner = people["owner"]
    key = key_for(ProjectAccess(owner, project, "owner"))
    access_of(key, "reading")
    [row] = keys_of(owner)
    assert row.first_used_at == row.last_used_at
    with time_machine.travel(timezone.now() + timedelta(minutes=2), tick=False):
        access_of(key, "reading")
        later = keys_of(owner).get()
    assert later.last_used_at - row.last_used_at >= timedelta(minutes=2)
    assert later.first_used_at == row.first_used_at
    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False):
        assert not keys_of(owner)
        access_of(key_for(ProjectAccess(owner, project, "owner")), "reading")
    assert SignedKey.objects.count() == 1


def test_a_page_hands_out_one_key_a_day_and_another_once_it_has_ended(project, people):
    owner, access = people["owner"], ProjectAccess(people["owner"], project, "owner")
    key = key_for(access)
    assert key_for(access) == key
    keys.end_key(user=owner, key=str(keys_of(owner).get().pk))
    other = key_for(access)
    assert other != key
    assert (access_of(key, "reading"), access_of(other, "reading")) == (None, access)
    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1), tick=False):
        assert key_for(access) not in (key, other)


def test_a_key_that_was_handed_out_before_keys_were_listed_still_works_and_is_listed(project, people):
    owner = people["owner"]
    given = {"project": project.pk, "user": owner.pk, "epoch": epoch_of(owner)}
    key = signing.dumps(given, salt="annotation.search", compress=True)
    assert access_of(key, "reading") is not None
    [row] = keys_of(owner)
    assert (row.name, row.first_used_at is not None) == (f"Search in {project.title}", True)
    keys.end_key(user=owner, key=str(row.pk))
    assert access_of(key, "reading") is None
