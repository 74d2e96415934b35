"""Keys, payees, members and payouts: by people who lately showed who they are, with a factor if required."""

from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.projects.services import create_project
from marketplace.accounts import accesskeys
from tests.site import world as site

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("olga", password=PASSWORD)


@pytest.fixture
def lab(owner):
    return site.make_requester("Answer Lab", owner=owner)


@pytest.fixture
def clock():
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


@pytest.fixture
def browser(owner) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def new_key(browser: Client, lab, **extra: str):
    at = f"/requester/{lab.customer_id}/keys/"
    return browser.post(
        f"{at}new", {"label": "nightly", **extra}, headers={"referer": f"http://testserver{at}"}
    )


def test_a_key_is_made_after_the_password_is_given_again_unless_it_was_lately(lab, browser, clock):
    clock.shift(timedelta(minutes=14))
    new_key(browser, lab)
    assert lab.keys.count() == 2
    clock.shift(timedelta(minutes=2))
    answer = new_key(browser, lab)
    assert answer["Location"].startswith("/accounts/confirm/?next=")
    assert lab.keys.count() == 2
    page = browser.get(answer["Location"])
    assert "Nothing was changed yet" in page.text
    wrong = browser.post("/accounts/confirm/", {"password": "not this one"})
    assert wrong.status_code == 422
    assert "not your password" in wrong.text
    keys = f"/requester/{lab.customer_id}/keys/"
    assert "Confirmed." not in browser.get(keys).text, "not before it is true"
    confirmed = browser.post(answer["Location"], {"password": PASSWORD})
    assert confirmed["Location"] == keys
    assert lab.keys.count() == 2, "nothing is done before the form is sent again"
    assert "Confirmed. <span data-lost>Nothing was saved yet" in browser.get(keys).text
    assert "Nothing was saved yet" not in browser.get(keys).text, "it is said once"
    new_key(browser, lab)
    assert lab.keys.count() == 3


def test_the_way_back_stays_here(browser, clock):
    answer = browser.post("/accounts/confirm/?next=https://evil.example.org/", {"password": PASSWORD})
    assert answer["Location"] == "/accounts/home/"


def test_members_and_payees_ask_too(lab, browser, clock, owner):
    create_project(slug="reading", title="Reading", owner=owner)
    worker = site.make_worker("rosa")
    as_worker = Client()
    as_worker.force_login(worker.user)
    clock.shift(timedelta(minutes=16))
    at = f"/requester/{lab.customer_id}"
    for client, path in (
        (browser, f"{at}/members/set"),
        (browser, f"{at}/money/payables/1/files/new"),
        (browser, f"{at}/money/payouts/1/file"),
        (browser, "/desk/projects/reading/members/set/"),
        (browser, "/accounts/members/project/reading/invite/"),
        (as_worker, "/profile/payment"),
    ):
        assert client.post(path)["Location"].startswith("/accounts/confirm/"), path


def test_where_a_factor_is_required_money_and_keys_refuse_without_one(lab, browser, settings):
    settings.SECOND_FACTOR = "require"
    at = f"/requester/{lab.customer_id}"
    for path in (
        "/money/",
        "/money/deposit",
        "/money/payables/",
        "/money/payouts/",
        "/money/invoices/",
        "/keys/",
    ):
        answer = browser.get(f"{at}{path}")
        assert answer["Location"].startswith("/accounts/factors/?next="), path
    assert "Set one up first" in browser.get(new_key(browser, lab)["Location"]).text
    browser.post(f"{at}/members/set", {"username": "sam", "role": "viewer"})
    assert lab.keys.count() == 1
    assert browser.get(f"{at}/").status_code == 200, "the rest goes on"


def test_with_a_factor_they_are_as_before_and_scripts_never_were_asked(lab, owner, browser, settings):
    settings.SECOND_FACTOR = "require"
    Authenticator.objects.create(user=owner, type="totp", data={"secret": "sealed"})
    assert browser.get(f"/requester/{lab.customer_id}/money/").status_code == 200
    new_key(browser, lab)
    assert lab.keys.count() == 2
    assert accesskeys.secret_of(lab.keys.first()), "keys of scripts are theirs"


def test_djangos_admin_asks_for_both_too(clock, settings):
    """Rights and passwords of people are changed there."""
    settings.SECOND_FACTOR = "require"
    root = User.objects.create_superuser("root", password=PASSWORD)
    browser = Client()
    browser.force_login(root)
    at = f"/admin/auth/user/{root.pk}/password/"
    assert browser.get(at)["Location"].startswith("/accounts/factors/")
    Authenticator.objects.create(user=root, type=Authenticator.Type.TOTP, data={})
    assert browser.get(at).status_code == 200
    clock.shift(timedelta(minutes=16))
    for address in (at, "/admin/", "/admin/auth/user/add/"):
        assert browser.get(address)["Location"].startswith("/accounts/confirm/?next=%2Fadmin%2F")
    sent = browser.post(at, {"password1": "plum tree harbour", "password2": "plum tree harbour"})
    assert sent["Location"].startswith("/accounts/confirm/")
    root.refresh_from_db()
    assert root.check_password(PASSWORD)
    assert browser.post("/admin/logout/")["Location"] == "/"


def test_workers_need_no_factor_to_be_paid(settings):
    settings.SECOND_FACTOR = "require"
    client = Client()
    client.force_login(site.make_worker("rosa").user)
    assert client.get("/profile/payment").status_code == 200


def test_pages_of_money_cost_no_further_query(lab, browser, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        browser.get(f"/requester/{lab.customer_id}/money/")
