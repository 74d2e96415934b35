"""A form that is sent after its session ended: nothing is saved, and its sender comes back to its page."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from core.projects.models import Project

pytestmark = pytest.mark.django_db
SETTINGS, EDIT = "/desk/projects/reading/settings/", "/desk/projects/reading/edit/"
TYPED = {"title": "Weeks of <b>thought</b>", "language": "en", "wage_floor": "10.00", "budget": "100.00"}
NOT_SAVED = "<span data-lost>Nothing was saved yet"
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


@pytest.mark.parametrize("token_too", [False, True], ids=["session", "session and token"])
def test_a_form_of_an_ended_session_leads_to_sign_in_and_back_to_its_page(browser, project, token_too):
    sent = filled_in(browser)
    end_session(browser, token_too=token_too)
    answer = browser.post(EDIT, sent, **HERE)
    assert urlsplit(answer.headers["Location"]).path == "/accounts/login/"
    then = parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]
    assert then == SETTINGS
    assert "come back to your form" in browser.get(answer.headers["Location"]).text
    assert sign_in(browser, "owner", next=then).headers["Location"] == then
    page = browser.get(then).text
    assert f"You are signed in again. {NOT_SAVED}" in page
    assert "thought" not in page + str(dict(browser.session)), "the server keeps nothing of it"
    assert "Nothing was saved" not in browser.get(then).text, "it is said once"
    assert Project.objects.get().title == "Reading"


def test_signing_in_again_elsewhere_leads_back_to_the_page(browser, project):
    sent = filled_in(browser)
    browser.get("/accounts/login/")
    end_session(browser, token_too=False)
    sign_in(browser, "owner")
    answer = browser.post(EDIT, sent, **HERE)
    assert (answer.status_code, answer.headers["Location"]) == (303, SETTINGS)
    assert f"The form was from an earlier session. {NOT_SAVED}" in browser.get(SETTINGS).text
    assert Project.objects.get().title == "Reading"


def test_nobody_is_held_up_by_the_question_for_a_second_factor_on_the_way_back(browser, project, settings):
    settings.SECOND_FACTOR = "ask"
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    browser.post(EDIT, sent, **HERE)
    assert sign_in(browser, "owner", next="/desk/").headers["Location"].startswith("/accounts/factors/ask/")
    end_session(browser, token_too=True)
    browser.post(EDIT, sent, **HERE)
    assert sign_in(browser, "owner", next=SETTINGS).headers["Location"] == SETTINGS


def test_a_form_of_another_site_is_refused(browser, project):
    forged = filled_in(browser) | {"csrfmiddlewaretoken": "x" * 64}
    for ended in (False, True):
        if ended:
            end_session(browser, token_too=True)
        for came in (
            {"HTTP_ORIGIN": "https://evil.example.org"},
            {"HTTP_ORIGIN": "null"},
            {"HTTP_SEC_FETCH_SITE": "cross-site"},
            {},
        ):
            answer = browser.post(EDIT, forged, **{"HTTP_REFERER": HERE["HTTP_REFERER"]} | came)
            assert answer.status_code == 403, (ended, came)
    assert not Session.objects.exists()
    assert Project.objects.get().title == "Reading"


def test_nobody_is_led_to_another_site_or_away_from_the_desk(browser, project):
    sent = filled_in(browser)
    end_session(browser, token_too=True)
    for page in (
        "https://evil.example.org/desk/",
        "http://testserver//evil.example.org/desk/",
        "http://testserver/history",
    ):
        assert browser.post(EDIT, sent, **HERE | {"HTTP_REFERER": page}).status_code == 403, page


def test_a_form_without_a_page_of_its_own_leads_to_the_page_above(browser, project):
    sent = filled_in(browser) | {"username": "someone", "role": "viewer"}
    end_session(browser, token_too=True)
    members = "/desk/projects/reading/members/set/"
    browser.post(members, sent, **HERE | {"HTTP_REFERER": f"http://testserver{members}"})
    sign_in(browser, "owner", next=members)
    page = browser.get(members, follow=True)
    assert page.redirect_chain[-1][0] == "/desk/projects/reading/members/"
    assert NOT_SAVED in page.text


def test_pages_that_keep_entries_say_whose_they_are(browser, project):
    script = re.search(r'/static/[^"]*entries[^"]*js[^>]*>', browser.get(SETTINGS).text)[0]
    assert f'data-person="{browser.session["_auth_user_id"]}"' in script
    for path in ("/", "/accounts/profile/"):
        assert "data-person" not in browser.get(path).text
