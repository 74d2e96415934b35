"""The page of an account: name, e-mail, browsers; and a new password by mail."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.accounts import emails, sessions
from core.accounts.models import SignedInSession
from core.jobs.models import Job
from core.notices import letters
from marketplace.accounts import contact

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def person(settings) -> User:
    settings.NOTICES_BY_EMAIL, settings.SECOND_FACTOR = True, "off"
    return User.objects.create_user("mira", password=PASSWORD, email="typed@example.org", is_staff=True)


def browser(agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    assert client.post("/accounts/login/", {"username": "mira", "password": PASSWORD}).status_code == 302
    return client


def last_letter() -> str:
    job = Job.objects.filter(kind=letters.ACCOUNT_LETTER).latest("pk")
    letters.send_letter(job.payload["letter"])
    return str(mail.outbox[-1].body)


def ask(client: Client, email: str) -> str:
    """The path of the link that confirms."""
    client.post("/accounts/profile/email/", {"email": email})
    found = re.search(r"http://testserver(/accounts/email/\S+)", last_letter())
    assert found
    return found.group(1)


def test_an_address_takes_effect_when_its_link_was_opened(person):
    client = browser()
    path = ask(client, "mira@example.org")
    for made_up in (f"{path[:-2]}x/", "/accounts/email/nothing/"):
        assert Client().post(made_up).status_code == 404
    assert emails.confirmed_address(person) == ""
    assert "mira@example.org" in Client().get(path).text
    assert emails.confirmed_address(person) == "", "programs that check mail open links as well"
    Client().post(path)
    assert emails.confirmed_address(person) == "mira@example.org"
    assert Client().get(path).status_code == 404, "once"


def test_a_former_address_is_told(person):
    client = browser()
    client.post(ask(client, "mira@example.org"))
    client.post("/accounts/profile/email/remove/")
    assert "no longer that of an account" in last_letter()
    assert mail.outbox[-1].to == ["mira@example.org"]
    assert not EmailAddress.objects.exists()


def test_two_accounts_do_not_share_a_confirmed_address(person):
    other = User.objects.create_user("other", password=PASSWORD)
    emails.take_address(other, "mira@example.org")
    client = browser()
    answer = client.post(ask(client, "mira@example.org"), follow=True)
    assert "Another account has confirmed this address" in answer.text
    assert emails.confirmed_address(person) == ""


def reset_links(email: str) -> list[str]:
    contact.ask_for_password(email=email, base="http://testserver")
    before = len(mail.outbox)
    job = Job.objects.filter(kind=contact.RESET).latest("pk")
    contact.send_password_links(sealed=job.payload["email"], base=job.payload["base"])
    return [re.findall(r"http://testserver(\S+)", str(each.body))[0] for each in mail.outbox[before:]]


def test_staff_choose_a_new_password_by_their_confirmed_address(person):
    emails.take_address(person, "mira@example.org")
    [path] = reset_links("Mira@Example.org")
    client = Client()
    form = client.get(path, follow=True)
    chosen = {"new_password1": "three slow rivers", "new_password2": "three slow rivers"}
    assert client.post(form.redirect_chain[-1][0], chosen).status_code == 302
    person.refresh_from_db()
    assert person.check_password("three slow rivers")
    assert reset_links("mira@example.org") == [], "one in ten minutes"


def test_an_address_that_somebody_typed_gets_no_link(person):
    assert reset_links("typed@example.org") == []
    ask(browser(), "waiting@example.org")
    assert reset_links("waiting@example.org") == []


def test_browsers_are_listed_with_where_and_what_and_ended_one_by_one(person):
    here, there = browser(), browser("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Version/18.0 Safari/604.1")
    page = here.get("/accounts/sessions/").text
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    row = SignedInSession.objects.get(device="Safari on iPhone")
    assert row.address == "127.0.0.1"
    stranger = Client()
    stranger.force_login(User.objects.create_user("sam"))
    stranger.post(f"/accounts/sessions/{row.pk}/end/")
    assert "_auth_user_id" in there.session
    here.post(f"/accounts/sessions/{row.pk}/end/")
    assert there.get("/accounts/profile/").status_code == 302
    assert here.get("/accounts/profile/").status_code == 200


def test_all_others_end_at_once(person):
    here, there = browser(), browser()
    here.post("/accounts/sign-out-everywhere/", {"password": PASSWORD, "from": "sessions"})
    assert there.get("/accounts/profile/").status_code == 302
    assert here.get("/accounts/profile/").status_code == 200
    assert SignedInSession.objects.count() == 1


def test_a_browser_that_ended_is_forgotten(person):
    browser()
    Session.objects.all().delete()
    assert sessions.forget_ended().count() == 1


def test_browsers_have_names_of_ours():
    edge = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0"
    for agent, words in (
        (FIREFOX, "Firefox on Linux"),
        (edge, "Edge on Windows"),
        ("<script>alert(1)</script>", "An unknown browser"),
        ("", "An unknown browser"),
    ):
        assert sessions.device_name(agent) == words


def test_a_name_is_saved_and_shown_as_text(person):
    client = browser()
    client.post("/accounts/profile/name/", {"first_name": "<b>Mira</b>", "last_name": "Nair"})
    page = client.get("/accounts/profile/").text
    assert "&lt;b&gt;Mira&lt;/b&gt;" in page
    assert "<b>Mira</b>" not in page


def test_a_page_asks_no_more_than_before_for_being_signed_in(person):
    client = browser()
    client.get("/accounts/kept/")
    with CaptureQueriesContext(connection) as asked:
        client.get("/accounts/kept/")
    tables = ("signedinsession", "mfa_", "socialaccount", "account_email", "factorprompt")
    assert not [each["sql"] for each in asked if any(table in each["sql"] for table in tables)]
