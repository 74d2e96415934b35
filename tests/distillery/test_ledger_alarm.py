"""A fault in the ledger reaches the people who run the installation."""

import logging

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from core.jobs import runner
from core.jobs.services import enqueue
from core.notices import selectors
from core.notices.conditions import look
from core.notices.letters import post_office
from core.notices.models import Letter, Notice
from distillery import checks
from marketplace.models import LedgerEntry
from marketplace.money import ledger
from tests.marketplace.conftest import make_hit, make_requester

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(settings):
    """A superuser, and somebody who is none."""
    settings.NOTICES_BY_EMAIL = True
    settings.DEFAULT_FROM_EMAIL = "distillery@example.org"
    settings.PUBLIC_URL = "https://crowd.example.org"
    root = User.objects.create_superuser("root", "root@example.org")
    return root, User.objects.create_user("olga", "olga@example.org")


def lose_holds():
    """The movements that set a HIT's money aside are gone; the rows, to put them back."""
    requester = make_requester()
    make_hit(requester)
    holds = list(LedgerEntry.objects.select_related("requester").filter(requester=requester, kind="hold"))
    LedgerEntry.objects.filter(pk__in=[each.pk for each in holds]).delete()
    return holds


def audit(day):
    job = enqueue(kind=ledger.AUDIT, payload={"day": day}, effect=f"ledger-audit:{day}")
    runner.run(job_id=job.pk)
    return job


def test_a_fault_is_an_alarm_a_letter_an_error_of_doctor_and_a_critical_line(people, caplog):
    holds = lose_holds()
    job = audit("2026-11-22")
    assert [record.levelno for record in caplog.records] == [logging.CRITICAL]
    assert holds[0].requester.name in caplog.text

    look(timezone.now())
    look(timezone.now())
    notice = Notice.objects.get(kind="ledger_audit")
    assert (notice.level, notice.project) == (Notice.Level.ALARM, None)
    assert notice.sentence.startswith("The audit of 2026-11-22 found ")
    assert notice.address == reverse("admin:jobs_job_change", args=[job.pk])
    root, olga = people
    assert list(selectors.notices_of(root)) == [notice]
    assert not selectors.notices_of(olga).exists()

    assert post_office().deliver(timezone.now()) == 1
    [letter] = mail.outbox
    assert letter.to == ["root@example.org"]
    assert letter.subject.startswith("Distillery: The audit of 2026-11-22 found ")
    assert "About the installation:" in letter.body
    assert "You get this because you are a superuser of this installation." in letter.body

    finding = checks.ledger()
    assert finding.level == "error"
    assert finding.sentence.startswith("The audit of 2026-11-22 found ")


def test_the_alarm_ends_with_the_next_clean_audit(people):
    holds = lose_holds()
    audit("2026-11-22")
    look(timezone.now())
    LedgerEntry.objects.bulk_create(holds)
    audit("2026-11-23")
    assert look(timezone.now()).ended == 1
    assert checks.ledger().sentence == "The audit of 2026-11-23 found no fault."
    assert post_office().deliver(timezone.now()) == 0
    assert Letter.objects.get().error == "It was over or no longer wanted before it went out."


def test_the_page_of_notices_shows_a_superuser_what_is_about_the_installation(people, client):
    assert checks.ledger().sentence == ""  # without an audit
    assert look(timezone.now()).raised == 0
    lose_holds()
    audit("2026-11-22")
    look(timezone.now())
    client.force_login(people[0])
    page = client.get(reverse("desk:notices")).content.decode()
    assert "The audit of 2026-11-22 found " in page
    assert "This installation" in page
