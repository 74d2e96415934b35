"""Signing up, and the profile."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.accounts import guards
from marketplace.accounts import people
from marketplace.models import CountryChange, Invitation, Worker
from tests.site import world

FORM = {"username": "mira", "password1": "seven green kettles", "password2": "seven green kettles"}


@pytest.fixture
def link(db) -> str:
    _, token = people.create_invitation(label="Course", max_uses=1, days=None)
    return f"/invitation/{token}"


def test_an_invitation_makes_a_worker_who_is_signed_in(link, visitor):
    assert "Sign up" in visitor.get(link).content.decode()
    page = visitor.post(link, {**FORM, "country": "US", "subdivision": "pa", "adult": "on"}, follow=True)
    assert page.redirect_chain == [("/", 302)]
    assert "Welcome." in page.content.decode()
    worker = Worker.objects.get(user__username="mira")
    assert page.context["worker"] == worker
    assert (worker.country, worker.subdivision, worker.adult) == ("US", "PA", True)
    assert worker.user.check_password("seven green kettles")
    assert not worker.simulated


def test_an_invitation_works_as_often_as_it_says_also_when_it_was_opened_before(link, visitor):
    late = Client()
    late.get(link)
    visitor.post(link, FORM)
    assert late.post(link, FORM | {"username": "late"}).status_code == 404
    assert not User.objects.filter(username="late").exists()
    again = Client().get(link)
    assert again.status_code == 404
    assert "This invitation can no longer be used" in again.content.decode()


def test_a_class_signs_up_from_one_address(db, monkeypatch):
    monkeypatch.setitem(guards._FREE, guards.SIGN_UPS.kind, 2)
    _, token = people.create_invitation(label="Course", max_uses=5, days=None)
    for number in range(5):
        Client().post(f"/invitation/{token}", {**FORM, "username": f"student-{number}"})
    assert Worker.objects.count() == 5


def test_sign_up_is_open_where_registration_is_and_closed_where_it_is_by_invitation(db, visitor, settings):
    page = visitor.get("/signup")
    assert page.status_code == 403
    assert "open by invitation" in page.content.decode()
    assert visitor.post("/signup", FORM).status_code == 403
    assert not User.objects.exists()
    settings.MARKETPLACE_REGISTRATION = "open"
    assert 'href="/signup"' in visitor.get("/").content.decode()
    visitor.post("/signup", FORM)
    assert Worker.objects.get().user.username == "mira"


def test_what_is_wrong_is_said_in_a_summary_and_beside_the_field(link, rosa, visitor, subtests):
    for change, sentence in [
        ({"username": ""}, "This field is required."),
        ({"username": "ROSA"}, "A user with that username already exists."),
        ({"username": "a" * 61}, "at most 60 characters"),
        ({"username": "mi ra"}, "Enter a valid username."),
        ({"password2": "eight green kettles"}, "fields didn"),
        ({"password1": "12345678901", "password2": "12345678901"}, "This password is entirely numeric."),
        (
            {"password1": "short", "password2": "short"},
            "This password is too short.",
        ),
        ({"country": "XX"}, "not one of the available choices"),
        ({"subdivision": "PA"}, "Choose the country this state or province belongs to."),
        ({"country": "US", "subdivision": "P!"}, "Two letters, as in PA."),
    ]:
        with subtests.test(change=change, sentence=sentence):
            page = visitor.post(link, FORM | change).content.decode()
            assert page.count(sentence) == 2
            assert 'role="alert"' in page
            assert not User.objects.filter(username="mira").exists()


def test_an_account_without_a_worker_can_become_one(link, staff, as_staff):
    page = as_staff.get(link).content.decode()
    assert "Become a worker" in page
    assert 'name="password1"' not in page
    as_staff.post(link, {"country": "DE"})
    assert staff.marketplace_worker.country == "DE"


def test_a_worker_cannot_become_a_second_one(link, rosa, as_rosa):
    page = as_rosa.get(link, follow=True)
    assert "You are a worker already." in page.content.decode()
    as_rosa.post(link, FORM)
    assert Worker.objects.count() == 1
    assert Invitation.objects.get().uses == 0


def test_the_profile_is_changed(rosa, as_rosa):
    page = as_rosa.post("/profile", {"country": "GB", "accept_next": "on"}, follow=True)
    assert "Your profile is saved." in page.content.decode()
    rosa.refresh_from_db()
    assert (rosa.country, rosa.adult, rosa.accept_next) == ("", False, True)


def test_a_country_is_changed_seldom_with_a_reason_that_staff_see(lab, rosa, as_rosa, as_staff, caplog):
    Worker.objects.update(country="US", subdivision="PA")
    world.do(rosa, world.post(world.make_group(lab)))
    assert "This field is required." in as_rosa.post("/profile/country", {"country": "DE"}).text
    asked = {"country": "DE", "reason": "I moved\nto Berlin"}
    with caplog.at_level("INFO", "distillery.security"):
        as_rosa.post("/profile/country", asked)
    assert any(record.event["event"] == "country.changed" for record in caplog.records)
    rosa.refresh_from_db()
    assert (rosa.country, rosa.subdivision) == ("DE", "")
    assert "again on" in as_rosa.post("/profile/country", {**asked, "country": "IN"}).text
    rosa.refresh_from_db()
    assert rosa.country == "DE"
    page = as_staff.get(f"/requester/{lab.customer_id}/workers/{rosa.worker_id}/").text
    assert "US-PA" in page and "I moved to Berlin" in page
    CountryChange.objects.update(at=timezone.now() - timedelta(days=31))
    as_rosa.post("/profile/country", {**asked, "country": "IN"})
    rosa.refresh_from_db()
    assert rosa.country == "IN"


def test_sign_ups_are_limited_by_address_and_by_invitation(db, settings):
    settings.MARKETPLACE_SIGN_UPS_PER_ADDRESS, settings.MARKETPLACE_SIGN_UPS_PER_INVITATION = 2, 3
    _, token = people.create_invitation(label="Course", max_uses=9, days=None)

    def sign_up(number: int, address: str) -> str:
        form = {**FORM, "username": f"student-{number}"}
        return Client().post(f"/invitation/{token}", form, follow=True, REMOTE_ADDR=address).text

    assert "Welcome." in sign_up(1, "192.0.2.1") and "Welcome." in sign_up(2, "192.0.2.1")
    assert "signed up from your network" in sign_up(3, "192.0.2.1")
    assert "Welcome." in sign_up(4, "192.0.2.2")
    assert "signed up with this invitation" in sign_up(5, "192.0.2.3")
    assert (Worker.objects.count(), User.objects.count(), Invitation.objects.get().uses) == (3, 3, 3)


def test_the_profile_shows_what_is_counted(lab, rosa, as_rosa):
    world.approve(world.do(rosa, world.post(world.make_group(lab))))
    page = as_rosa.get("/profile").content.decode()
    assert "AROSA" in page
    assert "<dt>Approved</dt><dd>1</dd>" in page
