"""Links that sign in once: for the one account, for an hour, never past a second factor."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.accounts.sign_in_links import path_of_link

HERE = "/desk/projects/answers/"
BROKEN = "This link does not work"


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada", password=None)


def signed_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


def test_the_button_signs_in_once_and_looking_does_not(ada):
    path, browser = path_of_link(ada, HERE), Client()
    for _ in range(2):
        page = browser.get(path)
        assert "This link signs you in as <bdi>ada</bdi>" in page.content.decode()
    assert not signed_in(browser)
    answer = browser.post(path, {"next": HERE})
    assert (answer.status_code, answer["Location"]) == (302, HERE)
    assert signed_in(browser)
    stranger = Client()
    for ask in (stranger.get, stranger.post):
        answer = ask(path)
        assert (answer.status_code, BROKEN in answer.content.decode()) == (404, True)
    assert not signed_in(stranger)


def test_every_sign_in_ends_all_links_before_it(ada):
    first, second = path_of_link(ada, HERE), path_of_link(ada, HERE)
    Client().post(second)
    with time_machine.travel(timezone.now() + timedelta(seconds=2)):
        assert Client().post(first).status_code == 404
        ada.refresh_from_db()
        assert Client().post(path_of_link(ada, HERE)).status_code == 302


def test_links_of_others_and_of_accounts_that_may_not(ada, subtests):
    ben = User.objects.create_user("ben")
    path = urlsplit(path_of_link(ada, HERE)).path
    _, number, token, _ = path.removeprefix("/accounts").rsplit("/", 3)
    other = urlsplit(path_of_link(ben, HERE)).path.rsplit("/", 3)[1]
    for what, tried in (
        ("another account's number", f"/accounts/once/{other}/{token}/"),
        ("no number", f"/accounts/once/!!/{token}/"),
        ("a number beyond all", f"/accounts/once/{'z' * 13}/{token}/"),
        ("another token", f"/accounts/once/{number}/{token[:-1]}x/"),
    ):
        with subtests.test(what):
            assert Client().post(tried).status_code == 404
    with subtests.test("an hour later"), time_machine.travel(timezone.now() + timedelta(minutes=61)):
        assert Client().post(path).status_code == 404
    with subtests.test("a second factor"):
        factor = Authenticator.objects.create(user=ada, type=Authenticator.Type.TOTP, data={})
        assert Client().post(path).status_code == 404
        factor.delete()
    with subtests.test("an account that was switched off"):
        User.objects.filter(pk=ada.pk).update(is_active=False)
        assert Client().post(path).status_code == 404


def test_who_has_no_password_is_told_how_to_confirm(ada):
    browser = Client()
    browser.post(path_of_link(ada, HERE))
    with time_machine.travel(timezone.now() + timedelta(minutes=settings.REAUTHENTICATION_MINUTES + 1)):
        page = browser.get("/accounts/confirm/").content.decode()
        assert "Start the command that printed your" in page
    ada.set_password("a long one, with words")
    ada.save()
    browser.force_login(ada)
    assert "Start the command" not in browser.get("/accounts/confirm/").content.decode()


def test_it_leads_nowhere_else(ada):
    answer = Client().post(
        path_of_link(ada, "https://elsewhere.example/"), {"next": "https://elsewhere.example/"}
    )
    assert answer["Location"] == "/accounts/home/"
