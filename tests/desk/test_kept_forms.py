"""A form that is sent after its session ended: nothing is saved, and nothing that was typed is lost."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from core.accounts import keptforms
from core.projects.models import Project
from tests.saving import revision

pytestmark = pytest.mark.django_db
SETTINGS, EDIT = "/desk/projects/reading/settings/", "/desk/projects/reading/edit/"
TYPED = {"title": "Weeks of <b>thought</b>", "language": "en", "wage_floor": "10.00", "budget": "100.00"}
HERE = {"HTTP_ORIGIN": "http://testserver", "HTTP_REFERER": f"http://testserver{SETTINGS}"}


@pytest.fixture
def browser(people) -> Client:
    """The owner's, in which CSRF tokens count."""
    client = Client(enforce_csrf_checks=True)
    sign_in(client, "owner")
    return client


def sign_in(client, name, **fields):
    token = re.search(
        r'csrfmiddlewaretoken" value="([^"]+)"', client.get("/accounts/login/").content.decode()
    )
    given = {"username": name, "password": "seven green kettles", "csrfmiddlewaretoken": token[1]}
    return client.post("/accounts/login/", given | fields)


def filled_in(client) -> dict[str, str]:
    """The form of the settings, opened and typed into."""
    page = client.get(SETTINGS).content.decode()
    hidden = re.search(f'action="{EDIT}">(.*?)</form>', page, re.DOTALL)[1]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', hidden)) | TYPED


def end_session(client, *, token_too: bool) -> None:
    Session.objects.all().delete()
    if token_too:
        del client.cookies["csrftoken"]


def kept_in(page: str) -> dict[str, str]:
    return {
        name: unescape(text).lstrip("\n")
        for name, text in re.findall(
            r'class="mono">([^<]+)</label>\s*<textarea[^>]*readonly>(.*?)</textarea>', page, re.DOTALL
        )
    }


@pytest.mark.parametrize("token_too", [False, True], ids=["session", "session and token"])
def test_a_form_of_an_ended_session_leads_to_sign_in_and_comes_back_as_it_was_typed(
    browser, project, token_too
):
    sent = filled_in(browser)
    end_session(browser, token_too=token_too)
    answer = browser.post(EDIT, sent, **HERE)
    assert urlsplit(answer.headers["Location"]).path == "/accounts/login/"
    then = parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]
    assert then.startswith(f"{SETTINGS}?kept=")
    assert "what you typed is kept" in browser.get(answer.headers["Location"]).content.decode()
    assert sign_in(browser, "owner", next=then).headers["Location"] == then
    page = browser.get(then).content.decode()
    assert "Nothing was saved: your session had ended" in page
    assert kept_in(page) == TYPED
    assert "<b>thought</b>" not in page
    assert sent["revision"] in page  # so that what others saved meanwhile is noticed
    assert Project.objects.get().title == "Reading"


def test_signing_in_again_elsewhere_loses_no_text(browser, project):
    sent = filled_in(browser)
    browser.get("/accounts/login/")
    end_session(browser, token_too=False)
    sign_in(browser, "owner")
    answer = browser.post(EDIT, sent, **HERE)
    assert answer.status_code == 303
    assert kept_in(browser.get(answer.headers["Location"]).content.decode()) == TYPED
    assert Project.objects.get().title == "Reading"


def test_once_it_is_saved_nothing_is_kept(browser, project):
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    then = parse_qs(urlsplit(browser.post(EDIT, sent, **HERE).headers["Location"]).query)["next"][0]
    sign_in(browser, "owner", next=then)
    again = filled_in(browser) | revision(browser, SETTINGS, to=EDIT)
    assert browser.post(EDIT, again, **HERE).status_code == 302
    assert "your session had ended" not in browser.get(then).content.decode()
    assert Project.objects.get().title == TYPED["title"]


def test_nobody_else_gets_what_was_typed(browser, project):
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    then = parse_qs(urlsplit(browser.post(EDIT, sent, **HERE).headers["Location"]).query)["next"][0]
    sign_in(browser, "manager", next=then)
    assert "thought" not in browser.get(then).content.decode()
    assert browser.session["kept_forms"] == {}
    other = browser.post(EDIT, sent, **HERE)
    assert (other.status_code, "thought" in other.content.decode()) == (403, False)


@pytest.mark.parametrize(
    "came",
    [
        {"HTTP_ORIGIN": "https://evil.example.org"},
        {"HTTP_ORIGIN": "null"},
        {"HTTP_SEC_FETCH_SITE": "cross-site"},
        {},
    ],
    ids=["origin", "null", "fetch", "silent"],
)
def test_a_form_of_another_site_is_refused_and_forgotten(browser, project, came):
    forged = filled_in(browser) | {"csrfmiddlewaretoken": "x" * 64}
    for ended in (False, True):
        if ended:
            end_session(browser, token_too=True)
        answer = browser.post(EDIT, forged, **came)
        assert answer.status_code == 403
        assert "kept_forms" not in browser.session
    assert Project.objects.get().title == "Reading"


def test_without_the_mark_of_its_owner_nothing_is_kept(browser, project):
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    for mark in ("", "1", keptforms.owner_mark(1)[:-1]):
        assert browser.post(EDIT, sent | {"form_of": mark}, **HERE).status_code == 403
    assert not Session.objects.exists()


def test_what_is_kept_is_bounded_in_size_number_and_time(browser, project, monkeypatch):
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    long = sent | {"title": "x" * keptforms.MOST_CHARACTERS}
    assert browser.post(EDIT, long, **HERE).status_code == 403
    statuses = [browser.post(EDIT, sent, **HERE).status_code for _ in range(4)]
    assert statuses == [303, 303, 303, 403]
    then = next(iter(browser.session["kept_forms"]))
    sign_in(browser, "owner")
    assert "thought" in browser.get(f"/accounts/kept/?kept={then}").content.decode()
    monkeypatch.setattr(keptforms.timezone, "now", lambda: later)
    later = keptforms.timezone.datetime.now(tz=keptforms.timezone.get_current_timezone()) + keptforms.LIFE
    assert "thought" not in browser.get(f"/accounts/kept/?kept={then}").content.decode()


def test_text_of_a_form_without_a_page_of_its_own_is_listed(browser, project):
    sent = filled_in(browser) | {"username": "someone", "role": "viewer"}
    end_session(browser, token_too=True)
    members = "/desk/projects/reading/members/set/"
    came = HERE | {"HTTP_REFERER": f"http://testserver{members}"}
    answer = browser.post(members, sent, **came)
    then = parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]
    sign_in(browser, "owner", next=then)
    page = browser.get(then, follow=True)
    assert page.redirect_chain[-1][0].startswith("/accounts/kept/?kept=")
    assert kept_in(page.content.decode())["username"] == "someone"
