"""A password that was printed on a screen opens nothing but the page on which it is changed."""

import re
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.test import Client

from core.accounts.guards import MUST_CHANGE
from core.accounts.middleware import PasswordChangeMiddleware
from core.accounts.models import PasswordState
from core.accounts.services import create_user_with_printed_password


@pytest.fixture
def printed(db) -> str:
    return create_user_with_printed_password(username="admin", staff=True, superuser=True)


@pytest.fixture
def admin(printed) -> Client:
    client = Client()
    client.post("/accounts/login/", {"username": "admin", "password": printed})
    return client


def change(client, old, new):
    return client.post(
        "/accounts/password/", {"old_password": old, "new_password1": new, "new_password2": new}
    )


def test_a_printed_password_is_random_and_readable(printed):
    other = create_user_with_printed_password(username="other", staff=False, superuser=False)
    assert re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", printed)
    assert printed != other
    user = User.objects.get(username="admin")
    assert user.is_staff and user.is_superuser and user.check_password(printed)
    assert not User.objects.get(username="other").is_staff


CHANGE = "/accounts/password/"


def test_it_leads_from_everywhere_to_the_change_page_and_remembers_the_way(admin, subtests):
    for path in ["/", "/desk/", "/tasks", "/admin/", "/nothing?a=b"]:
        with subtests.test(path=path):
            assert admin.get(path).headers["Location"] == f"{CHANGE}?{urlencode({'next': path})}"
            assert admin.get("/accounts/home/").headers["Location"] == CHANGE
            assert admin.post(path).headers["Location"] == "/accounts/password/"


def test_it_opens_the_change_page_and_the_way_out(admin):
    page = admin.get("/accounts/password/")
    assert page.status_code == 200
    assert "Your password was printed on a screen." in page.content.decode()
    assert admin.post("/accounts/logout/").headers["Location"] == "/"


def test_it_keeps_styles_and_scripts_open(rf, subtests):
    for path, status in [("/static/base.css", 200), ("/accounts/logout/", 200), ("/", 302)]:
        with subtests.test(path=path, status=status):
            request = rf.get(path)
            request.COOKIES["sessionid"] = "any"
            request.session = {MUST_CHANGE: True}
            assert PasswordChangeMiddleware(lambda _: HttpResponse())(request).status_code == status


def test_signing_in_by_the_admin_is_no_way_around(printed, client):
    client.post("/admin/login/", {"username": "admin", "password": printed})
    assert client.get("/admin/").headers["Location"] == f"{CHANGE}?next=%2Fadmin%2F"


def test_after_the_change_everything_is_open(admin, printed):
    assert change(admin, printed, "seven green kettles").headers["Location"] == "/accounts/home/"
    assert admin.get("/desk/").status_code == 200
    assert not PasswordState.objects.get().must_change
    client = Client()
    client.post("/accounts/login/", {"username": "admin", "password": "seven green kettles"})
    page = client.get("/accounts/password/").content.decode()
    assert "printed" not in page


def test_after_the_change_people_go_on_where_they_wanted_to_go(admin, printed):
    way = admin.get("/tasks").headers["Location"]
    assert '<input type="hidden" name="next" value="/tasks">' in admin.get(way).content.decode()
    new = "seven green kettles"
    fields = {"old_password": printed, "new_password1": new, "new_password2": new}
    for elsewhere in ("https://evil.example.org/", "//evil.example.org"):
        wrong = fields | {"next": elsewhere, "new_password2": "another"}
        assert "evil" not in admin.post(CHANGE, wrong).content.decode()
    assert admin.post(CHANGE, fields | {"next": "/tasks"}).headers["Location"] == "/tasks"


def test_the_new_password_must_be_new_and_the_old_one_right(admin, printed):
    assert "entered incorrectly" in change(admin, "wrong", "seven green kettles").content.decode()
    page = change(admin, printed, printed).content.decode()
    assert "This is the password you have now." in page
    assert PasswordState.objects.get().must_change


def test_a_flag_set_by_an_administrator_counts_from_the_next_log_in(db, client):
    user = User.objects.create_user("mira", password="seven green kettles")
    PasswordState.objects.create(user=user)
    client.force_login(user)
    assert client.get("/").headers["Location"] == f"{CHANGE}?next=%2F"


def test_the_middleware_asks_the_database_nothing_about_visitors(db, rf, django_assert_num_queries):
    request = rf.get("/")
    request.user = AnonymousUser()
    with django_assert_num_queries(0):
        answer = PasswordChangeMiddleware(lambda _: HttpResponse("through"))(request)
    assert answer.content == b"through"


def test_the_middleware_needs_only_the_session_of_others(db, client, django_assert_num_queries):
    client.force_login(User.objects.create_user("mira", password="seven green kettles"))
    # Session and user; the page itself asks for the user's projects and studies.
    with django_assert_num_queries(4):
        client.get("/accounts/home/")
