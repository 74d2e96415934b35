"""A requester is told when one of its keys is used from where it never was: on its pages and by e-mail."""

import smtplib
from unittest.mock import Mock

import pytest
from django.core import mail
from django.utils import timezone

from core.jobs import runner
from core.jobs.models import Job, JobState
from marketplace import activity, clock
from marketplace.accounts import accesskeys
from marketplace.models import Activity, KeyAlert
from tests.cases import apart
from tests.site import world

pytestmark = pytest.mark.django_db
NEW = "An access key was used from an address not seen before."


@pytest.fixture
def key(lab):
    return accesskeys.issue_key(requester=lab, label="nightly script").row


def use(key, *addresses):
    for address in addresses:
        key.refresh_from_db()
        accesskeys.note_use(key, address)


def send_letters():
    for job in Job.objects.filter(kind=accesskeys.LETTER, state=JobState.QUEUED):
        runner.run(job_id=job.pk)


@pytest.fixture
def by_mail(settings, owner):
    settings.NOTICES_BY_EMAIL = True
    settings.PUBLIC_URL = "https://crowd.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    owner.email = "olga@example.org"
    owner.save()


def test_a_new_address_stays_on_the_requesters_pages_until_a_person_has_seen_it(lab, key, as_owner, at):
    use(key, "192.0.2.7", "192.0.2.7", "198.51.100.4", "198.51.100.4")
    assert NEW in as_owner.get(at()).content.decode()
    page = as_owner.get(at("keys/"))
    assert "from 198.51.100.4" in page.content.decode()
    assert "from 192.0.2.7," not in page.content.decode()
    shown = page.context["alerts"][0].pk
    use(key, "203.0.113.9")
    assert as_owner.post(at("keys/seen"), {"last": shown}).status_code == 302
    assert [each.address for each in accesskeys.open_alerts(lab)] == ["203.0.113.9"]
    seen = KeyAlert.objects.get(address="198.51.100.4")
    assert (seen.seen_by.get_username(), seen.seen_at is not None) == ("olga", True)
    as_owner.post(at("keys/seen"), {"last": shown + 1})
    assert NEW not in as_owner.get(at()).content.decode()


def test_addresses_of_one_ipv6_network_are_one(key):
    use(key, "2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::9")
    assert not KeyAlert.objects.exists()
    use(key, "2001:db8:0:1::1")
    assert KeyAlert.objects.get().address == "2001:db8:0:1::1"


def test_what_is_no_alert_of_ours_is_neither_shown_nor_closed(lab, other, key, as_owner, at, subtests):
    theirs = accesskeys.issue_key(requester=other).row
    use(theirs, "192.0.2.7", "198.51.100.4")
    assert NEW not in as_owner.get(at()).content.decode()
    as_owner.post(at("keys/seen"), {"last": KeyAlert.objects.get().pk})
    assert accesskeys.open_alerts(other).count() == 1
    use(key, "192.0.2.7", "198.51.100.4")
    for last in ["", "x", "9" * 40, "-1"]:
        with subtests.test(last=last):
            as_owner.post(at("keys/seen"), {"last": last})
            assert accesskeys.open_alerts(lab).count() == 1


def test_a_key_that_is_used_from_everywhere_fills_nothing(lab, key):
    use(key, *(f"192.0.2.{last}" for last in range(60)))
    assert accesskeys.open_alerts(lab).count() == accesskeys.MOST_OPEN
    assert Activity.objects.filter(action="key.new_address").count() == 59


def test_the_owner_gets_one_e_mail_an_hour(by_mail, key, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    use(key, "192.0.2.7")
    send_letters()
    assert not mail.outbox
    use(key, "198.51.100.4", "203.0.113.9")
    send_letters()
    [letter] = mail.outbox
    assert (letter.to, letter.subject) == (
        ["olga@example.org"],
        "Answer Lab: an access key was used from a new address",
    )
    assert f"- {key.access_key} (nightly script): from 198.51.100.4 on " in letter.body
    assert "from 203.0.113.9" in letter.body
    assert f"https://crowd.example.org/requester/{key.requester.customer_id}/keys/" in letter.body


def test_nothing_is_sent_where_all_was_seen_or_nobody_can_be_written_to(by_mail, lab, key, owner):
    use(key, "192.0.2.7", "198.51.100.4")
    accesskeys.mark_alerts_seen(requester=lab, last=KeyAlert.objects.get().pk, by=owner)
    send_letters()
    nobodys = world.make_requester("Without Owner")
    use(accesskeys.issue_key(requester=nobodys).row, "192.0.2.7", "198.51.100.4")
    send_letters()
    assert not mail.outbox
    assert set(Job.objects.filter(kind=accesskeys.LETTER).values_list("state", flat=True)) == {JobState.DONE}


def test_without_a_mail_server_no_letter_is_planned(key):
    use(key, "192.0.2.7", "198.51.100.4")
    assert not Job.objects.filter(kind=accesskeys.LETTER).exists()


def test_a_mail_server_that_does_not_answer_is_asked_again(by_mail, key, monkeypatch, subtests):
    for error, state in [
        (smtplib.SMTPServerDisconnected("gone"), JobState.QUEUED),
        (OSError("no route"), JobState.QUEUED),
        (smtplib.SMTPRecipientsRefused({}), JobState.FAILED),
    ]:
        with apart(subtests, error=error, state=state):
            use(key, "192.0.2.7", "198.51.100.4")
            monkeypatch.setattr(accesskeys.EmailMessage, "send", Mock(side_effect=error))
            send_letters()
            job = Job.objects.get(kind=accesskeys.LETTER)
            assert (job.state, bool(job.error)) == (state, True)


def test_alerts_that_were_seen_are_forgotten_with_the_logs(lab, key, owner, settings):
    settings.LOGS_KEPT_DAYS = 30
    use(key, "192.0.2.7", "198.51.100.4", "203.0.113.9")
    accesskeys.mark_alerts_seen(requester=lab, last=KeyAlert.objects.first().pk, by=owner)
    KeyAlert.objects.filter(seen_by=owner).update(seen_at="2020-01-01T00:00Z")
    activity.forget_logs()
    assert KeyAlert.objects.get().address == "203.0.113.9"
