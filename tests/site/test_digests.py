"""Digests by e-mail, their link that ends them, and the worker's time zone."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from marketplace.accounts import contact
from marketplace.models import Contact, Message, Worker
from tests.site import world


@pytest.fixture(autouse=True)
def post_office(settings):
    settings.NOTICES_BY_EMAIL = True
    settings.DEFAULT_FROM_EMAIL = "site@example.org"
    settings.PUBLIC_URL = "http://testserver"


@pytest.fixture
def row(rosa) -> Contact:
    now = timezone.now()
    return Contact.objects.create(
        worker=rosa,
        email="rosa@example.org",
        confirmed_at=now,
        digest="daily",
        digest_since=now - timedelta(hours=1),
        digest_due_at=now - timedelta(minutes=1),
    )


def due_again(row: Contact) -> None:
    Contact.objects.filter(pk=row.pk).update(digest_due_at=timezone.now() - timedelta(minutes=1))


def test_a_digest_tells_of_work_and_decisions_once(lab, rosa, row):
    group = world.make_group(lab, "Read\na page", reward_cents=35)
    world.approve(world.do(rosa, world.post(group)))
    world.reject(world.do(rosa, world.post(group)), "Empty\r\nBcc: all@example.org")
    paid = world.do(rosa, world.post(group))
    world.bonus(paid, 50, "For the explanation.")
    world.post(group, places=2)
    world.post(
        world.make_group(
            lab, "Only for chess players", requirements=[world.needs(world.make_qualification(lab, "Chess"))]
        )
    )
    Message.objects.create(
        worker=rosa, requester=lab, subject="Thanks", body="secret", sent_at=timezone.now()
    )
    assert contact.send_digests() == 1
    assert contact.send_digests() == 0
    [letter] = mail.outbox
    assert letter.to == ["rosa@example.org"]
    for words in (
        "Read a page (Answer Lab): 1 HIT",
        "1 of your HITs, $0.35",
        "Empty Bcc: all@example.org",
        "$0.50: For the explanation.",
        "Answer Lab: Thanks",
        "http://testserver/projects/",
    ):
        assert words in letter.body, words
    assert "Chess" not in letter.body and "chess" not in letter.body and "secret" not in letter.body
    due_again(row)
    assert contact.send_digests() == 0, "nothing is new"


def test_one_that_was_killed_after_its_claim_is_not_sent_twice_and_loses_nothing(lab, rosa, row, monkeypatch):
    world.post(world.make_group(lab, "Read a page"))

    def killed(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EmailMessage, "send", killed)
        with pytest.raises(KeyboardInterrupt):
            contact.send_digests()
    assert contact.send_digests() == 0
    due_again(row)
    assert contact.send_digests() == 1
    assert "Read a page" in mail.outbox[0].body


def test_two_timers_send_one(lab, rosa, row):
    world.post(world.make_group(lab))
    seen = Contact.objects.select_related("worker").get()
    assert contact.send_digests() == 1
    assert contact._send_digest(seen, None, timezone.now()) == 0


def test_a_refusal_for_now_is_tried_again(lab, rosa, row, monkeypatch):
    world.post(world.make_group(lab))
    with monkeypatch.context() as patch:
        patch.setattr(EmailMessage, "send", lambda self: (_ for _ in ()).throw(ValueError("no")))
        assert contact.send_digests() == 0
    row.refresh_from_db()
    assert row.digest_due_at <= timezone.now() + timedelta(hours=1)


def test_the_link_ends_them_in_one_click_without_a_session(lab, rosa, row):
    world.post(world.make_group(lab))
    contact.send_digests()
    headers = mail.outbox[0].extra_headers
    link = re.fullmatch(r"<http://testserver(\S+)>", headers["List-Unsubscribe"])[1]
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    strict = Client(enforce_csrf_checks=True)
    assert "End them" in strict.get(link).text
    assert Contact.objects.get().digest == "daily"
    assert strict.post(link, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert (Contact.objects.get().digest, Contact.objects.get().digest_due_at) == ("", None)
    assert strict.get("/unsubscribe/1.nonsense").status_code == 404


@pytest.mark.parametrize(
    ("digest", "now", "due"),
    [
        ("daily", "2026-03-28 09:00", "2026-03-29 08:00"),  # the night in which the clocks change
        ("daily", "2026-03-28 07:00", "2026-03-28 08:00"),
        ("weekly", "2026-03-28 09:00", "2026-03-30 08:00"),
        ("weekly", "2026-03-30 08:00", "2026-04-06 08:00"),
    ],
)
def test_digests_come_in_the_morning_of_the_worker(digest, now, due):
    zone = ZoneInfo("Europe/Berlin")
    moment = datetime.fromisoformat(now).replace(tzinfo=zone).astimezone(UTC)
    assert f"{contact.next_due(digest, zone, moment).astimezone(zone):%Y-%m-%d %H:%M}" == due


def test_the_worker_chooses_how_often_and_which_zone(lab, rosa, as_rosa):
    Message.objects.create(worker=rosa, requester=lab, subject="x", body="y", sent_at=timezone.now())
    as_rosa.post("/profile/digest", {"digest": "weekly", "time_zone": "Asia/Tokyo"})
    row, rosa = Contact.objects.get(), Worker.objects.get()
    assert (row.digest, rosa.time_zone) == ("weekly", "Asia/Tokyo")
    assert row.digest_due_at.astimezone(ZoneInfo("Asia/Tokyo")).hour == 8
    assert "JST" in as_rosa.get("/inbox").text and "UTC" not in as_rosa.get("/inbox").text
    assert "JST" not in Client().get("/").text
    as_rosa.post("/profile/digest", {"digest": "", "time_zone": "Mars/Olympus"})
    assert Contact.objects.get().digest == "weekly"
    Worker.objects.update(time_zone="Mars/Olympus")
    assert as_rosa.get("/inbox").status_code == 200


def test_without_an_address_nothing_is_sent(lab, rosa, row):
    world.post(world.make_group(lab))
    Contact.objects.update(email="")
    assert contact.send_digests() == 0
