"""A worker's e-mail address, and a new password by e-mail."""

import re

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from core.accounts import guards
from core.jobs.models import Job
from core.jobs.runner import run
from marketplace.accounts import account_closure, contact
from marketplace.models import Contact, Worker
from tests.site import world

PASSWORD = "still warm copper"


@pytest.fixture(autouse=True)
def post_office(settings):
    settings.NOTICES_BY_EMAIL = True
    settings.DEFAULT_FROM_EMAIL = "site@example.org"
    settings.PUBLIC_URL = "http://testserver"


def deliver() -> list[mail.EmailMessage]:
    """Run the jobs that wait; what they sent."""
    mail.outbox.clear()
    for job in Job.objects.filter(state="queued").order_by("pk"):
        run(job_id=job.pk)
    return list(mail.outbox)


def link_in(letter: mail.EmailMessage) -> str:
    return re.search(r"http://testserver(\S+)", letter.body)[1]


def give(client: Client, email: str, **more: str):
    return client.post("/profile/email", {"email": email, "password": PASSWORD, **more}, follow=True)


def confirmed(worker: Worker, email: str) -> Contact:
    type(worker.user).objects.filter(pk=worker.user.pk).update(email=email)
    return Contact.objects.create(worker=worker, email=email, confirmed_at=timezone.now())


def test_an_address_counts_once_its_link_was_opened_and_the_button_pressed(rosa, as_rosa, visitor):
    assert "Open the link in the e-mail to rosa@example.org" in give(as_rosa, "rosa@example.org").text
    [letter] = deliver()
    assert (letter.to, letter.extra_headers["Auto-Submitted"]) == (["rosa@example.org"], "auto-generated")
    link = link_in(letter)
    shown = visitor.get(link).text
    assert "r…@example.org" in shown and "rosa@example.org" not in shown
    assert Contact.objects.get().email == ""
    assert visitor.post(link).status_code == 302
    row = Contact.objects.select_related("worker__user").get()
    assert (row.email, row.waiting_email, row.worker.user.email) == (
        "rosa@example.org",
        "",
        "rosa@example.org",
    )
    assert visitor.get(link).status_code == 404
    assert "rosa@example.org" in as_rosa.get("/profile/email").text


def test_another_address_replaces_it_only_when_it_is_confirmed(rosa, as_rosa, visitor, monkeypatch):
    confirmed(rosa, "old@example.org")
    give(as_rosa, "new@example.org")
    [letter] = deliver()
    assert Contact.objects.get().email == "old@example.org"
    visitor.post(link_in(letter))
    assert Contact.objects.get().email == "new@example.org"
    [farewell] = deliver()
    assert farewell.to == ["old@example.org"] and "no longer" in farewell.body


def test_links_are_for_one_address_and_end(rosa, as_rosa, visitor, monkeypatch):
    give(as_rosa, "one@example.org")
    [first] = deliver()
    Contact.objects.update(waiting_since=timezone.now() - contact.PAUSE)
    give(as_rosa, "two@example.org")
    [second] = deliver()
    assert visitor.get(link_in(first)).status_code == 404
    Contact.objects.update(waiting_since=timezone.now() - contact.LINK_LASTS)
    assert visitor.get(link_in(second)).status_code == 404
    assert visitor.get("/email/nonsense").status_code == 404
    assert visitor.post(f"/email/{contact._signer.sign('1-' + '0' * 32)}").status_code == 404


def test_the_password_is_asked_and_letters_are_few(rosa, as_rosa):
    assert "This is not your password." in give(as_rosa, "rosa@example.org", password="wrong").text
    give(as_rosa, "rosa@example.org")
    assert "Wait a minute" in give(as_rosa, "rosa@example.org").text
    assert len(deliver()) == 1


def test_letters_to_one_address_are_limited_whoever_asks(rosa, ben, as_rosa, as_ben, monkeypatch):
    monkeypatch.setitem(guards._FREE, guards.LETTERS_TO.kind, 1)
    give(as_rosa, "victim@example.org")
    assert give(as_ben, "Victim@example.org").status_code == 429
    assert len(deliver()) == 1


def test_no_address_carries_a_second_header(rosa, as_rosa):
    for address in (
        "rosa@example.org\nBcc: all@example.org",
        "rosa@example.org\r\nSubject: x",
        '"a\\\x01b"@example.org',
        '"rosa lind"@example.org',
        "rosa@example.org\u2028x",
        "rosa\u200b@example.org",
        "rosa",
        "a" * 250 + "@example.org",
    ):
        with pytest.raises(ValidationError):
            contact.checked_address(address)
    give(as_rosa, "rosa@example.org\r\nBcc: all@example.org")
    assert not Contact.objects.exclude(waiting_email="").exists() and deliver() == []


def test_an_address_is_deleted_with_what_hangs_on_it(rosa, as_rosa):
    confirmed(rosa, "rosa@example.org")
    as_rosa.post("/profile/email/remove")
    rosa.user.refresh_from_db()
    assert (Contact.objects.get().email, rosa.user.email) == ("", "")
    confirmed_again = Contact.objects.get()
    confirmed_again.email = "rosa@example.org"
    confirmed_again.save()
    account_closure.close(worker=rosa)
    assert not Contact.objects.exists()


def test_without_a_mail_server_nothing_is_asked(rosa, as_rosa, settings, visitor):
    settings.NOTICES_BY_EMAIL = False
    assert "sends no e-mails" in as_rosa.get("/profile/email").text
    assert "sends no e-mails" in visitor.get("/password").text
    give(as_rosa, "rosa@example.org")
    visitor.post("/password", {"email": "rosa@example.org"})
    assert not Job.objects.exists()


def test_an_address_can_be_given_at_sign_up(db, visitor, settings):
    settings.MARKETPLACE_REGISTRATION = "open"
    form = {"username": "mira", "password1": "seven green kettles", "password2": "seven green kettles"}
    page = visitor.post("/signup", {**form, "email": "mira@example.org"}, follow=True).text
    assert "mira@example.org" in page
    [letter] = deliver()
    assert letter.to == ["mira@example.org"]
    assert Worker.objects.get().user.email == ""


def test_a_new_password_by_e_mail(rosa, as_rosa, visitor):
    confirmed(rosa, "rosa@example.org")
    visitor.post("/password", {"email": "Rosa@Example.org"})
    [letter] = deliver()
    form = visitor.get(link_in(letter), follow=True)
    chosen = {"new_password1": "seven green kettles", "new_password2": "seven green kettles"}
    assert "Choose a new password" in form.text
    assert (
        "entirely numeric"
        in visitor.post(
            form.request["PATH_INFO"], {"new_password1": "12345678901", "new_password2": "12345678901"}
        ).text
    )
    visitor.post(form.request["PATH_INFO"], chosen)
    rosa.user.refresh_from_db()
    assert rosa.user.check_password("seven green kettles")
    assert as_rosa.get("/profile").status_code == 302
    assert "does not work" in Client().get(link_in(letter), follow=True).text


def test_the_answer_is_the_same_for_addresses_that_nobody_has(rosa, ben):
    """Nobody has one that was never confirmed; staff get no letter, and nobody two in ten minutes."""
    confirmed(rosa, "rosa@example.org")
    boss = world.make_worker("boss")
    confirmed(boss, "boss@example.org")
    type(boss.user).objects.filter(pk=boss.user.pk).update(is_staff=True)
    ben.user.email = "ben@example.org"
    ben.user.save()
    asked = ("rosa", "ben", "none", "boss", "rosa")
    answers = [Client().post("/password", {"email": f"{each}@example.org"}, follow=True) for each in asked]
    assert len({(each.status_code, each.request["PATH_INFO"]) for each in answers}) == 1
    assert Job.objects.count() == 5
    assert "example.org" not in str(list(Job.objects.values_list("payload__email", flat=True)))
    assert [letter.to for letter in deliver()] == [["rosa@example.org"]]


def test_asking_too_often_has_to_wait(db, visitor, monkeypatch):
    monkeypatch.setitem(guards._FREE, guards.LETTERS_FROM.kind, 2)
    codes = [visitor.post("/password", {"email": f"p{n}@example.org"}).status_code for n in range(3)]
    assert codes == [302, 302, 429]


def test_security_events_are_written(rosa, as_rosa, visitor, caplog):
    with caplog.at_level("INFO", "distillery.security"):
        give(as_rosa, "rosa@example.org")
        visitor.post(link_in(deliver()[0]))
        visitor.post("/password", {"email": "rosa@example.org"})
    events = [record.event["event"] for record in caplog.records if hasattr(record, "event")]
    assert events == ["email.asked", "email.confirmed", "password.reset_asked"]
    assert "rosa@example.org" not in caplog.text
