"""E-mails about notices: planned with the notice, sent once, together, and only to those who want them."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from core.notices import services
from core.notices.letters import post_office
from core.notices.models import Letter, Notice
from core.notices.tasks import deliver_task
from core.projects.services import ProjectError, remove_member
from distillery.mail_server import MailServer, read_mail_server
from tests.cases import apart
from tests.notices.conftest import tell
from tests.notices.smtp import mail_server

pytestmark = pytest.mark.django_db


def deliver(minutes=0):
    return post_office().deliver(timezone.now() + timedelta(minutes=minutes))


def to():
    return sorted(message.to[0] for message in mail.outbox)


@pytest.fixture
def box(by_email, settings):
    """Letters go to a real server on this machine."""
    with mail_server() as here:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", here.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_TIMEOUT = 5
        yield here


def test_members_with_an_address_get_a_letter_with_the_page_to_go_to(by_email, reading):
    tell(reading, sentence="Nobody comes.")
    assert deliver() == 2
    assert to() == ["olga@example.org", "vera@example.org"]
    letter = next(each for each in mail.outbox if each.to == ["olga@example.org"])
    assert letter.subject == "Books: Nobody comes."
    assert letter.from_email == "distillery@example.org"
    assert letter.body == (
        "Hello olga,\n\nIn the project Books:\n\n- Nobody comes.\n"
        "  https://crowd.example.org/desk/projects/books/\n\n"
        "You get this because you are a member. Choose which notices are sent to you here:\n"
        "https://crowd.example.org/desk/projects/books/notices/\n"
    )


def test_a_letter_is_sent_once(by_email, reading):
    tell(reading)
    assert (deliver(), deliver(), deliver(minutes=60)) == (2, 0, 0)
    assert len(mail.outbox) == 2


def test_many_notices_go_in_one_letter(by_email, reading):
    for number in range(3):
        tell(reading, key=f"stuck:{number}", sentence=f"Number {number}.")
    assert deliver() == 2
    assert {message.subject for message in mail.outbox} == {"Books: 3 notices"}
    assert "- Number 0." in mail.outbox[0].body
    assert "- Number 2." in mail.outbox[0].body


def test_after_a_letter_the_next_ones_are_collected_for_some_minutes(by_email, reading):
    tell(reading, key="first")
    deliver()
    tell(reading, key="second")
    assert deliver(minutes=1) == 0
    tell(reading, key="third")
    assert deliver(minutes=6) == 2
    assert len(mail.outbox) == 4


def test_letters_are_planned_with_the_notice_or_not_at_all(by_email, reading):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        tell(reading)
        raise ZeroDivisionError
    assert (Notice.objects.count(), Letter.objects.count()) == (0, 0)


def test_people_choose_what_they_get(by_email, reading, subtests):
    for post, level, readers in [
        (None, "news", 0),
        (None, "warning", 1),
        (None, "alarm", 1),
        ("pressing", "news", 0),
        ("pressing", "alarm", 1),
        ("all", "news", 1),
        ("none", "alarm", 0),
    ]:
        with apart(subtests, post=post, level=level):
            remove_member(project=reading, user=User.objects.get(username="vera"))
            if post:
                services.wish(user=User.objects.get(username="olga"), project=reading, post=post)
            tell(reading, level=level)
            assert deliver() == readers


def test_who_left_or_changed_their_mind_gets_no_letter_that_still_waited(by_email, reading):
    tell(reading)
    remove_member(project=reading, user=User.objects.get(username="vera"))
    with pytest.raises(ProjectError, match="Choose which notices"):
        services.wish(user=User.objects.get(username="olga"), project=reading, post="sometimes")
    services.wish(user=User.objects.get(username="olga"), project=reading, post="none")
    assert deliver() == 0
    services.wish(user=User.objects.get(username="olga"), project=reading, post="all")
    tell(reading, key="over")
    services.end_notices(Notice.objects.filter(key="over"))
    assert deliver() == 0 and mail.outbox == [], "it is over before the letter goes out"
    assert Letter.objects.filter(dropped_at=None).count() == 0


def test_without_a_mail_server_nothing_is_planned_sent_or_saved_for_later(reading, settings):
    tell(reading)
    deliver_task()
    assert (Letter.objects.count(), mail.outbox) == (0, [])
    assert post_office().description == (
        "Nothing is sent by e-mail: this installation has no mail server in its settings."
    )


def test_hostile_words_stay_in_their_line(by_email, reading):
    reading.title = "Books\r\nBcc: everybody@example.org"
    reading.save()
    tell(reading, sentence="One\nBcc: a@example.org\u202etwo")
    deliver()
    assert mail.outbox[0].subject == "Books Bcc: everybody@example.org: One Bcc: a@example.org two"
    assert mail.outbox[0].bcc == []
    assert "\n- One Bcc: a@example.org two\n" in mail.outbox[0].body


def test_a_real_server_gets_plain_text(box, reading):
    tell(reading, sentence="Café: nobody comes.")
    assert deliver() == 2
    recipient, letter = box.letters[0]
    assert recipient == "olga@example.org"
    assert letter["Subject"] == "Books: Café: nobody comes."
    assert letter["Auto-Submitted"] == "auto-generated"
    assert letter.get_content_type() == "text/plain"
    assert "- Café: nobody comes." in letter.get_content()


def test_letters_wait_while_the_server_is_down_and_go_out_when_it_is_back(box, settings, reading):
    tell(reading)
    settings.EMAIL_PORT = 9
    assert deliver() == 0
    assert "ConnectionRefusedError" in Letter.objects.first().error
    settings.EMAIL_PORT = box.port
    box.answers["RCPT"] = b"451 not now"
    assert deliver(minutes=1) == 0
    box.answers.clear()
    assert deliver(minutes=5) == 2
    assert len(box.letters) == 2
    assert not Letter.objects.exclude(error="").exists()


def test_an_address_that_does_not_exist_is_not_tried_again(box, reading):
    tell(reading)
    box.answers["RCPT"] = b"550 nobody of that name"
    assert (deliver(), deliver(minutes=1)) == (0, 0)
    assert Letter.objects.filter(dropped_at=None).count() == 0
    assert "nobody of that name" in Letter.objects.first().error


def test_a_letter_that_may_have_gone_out_is_never_sent_again(box, reading):
    remove_member(project=reading, user=User.objects.get(username="vera"))
    tell(reading)
    box.hangs_up_after_data = True
    assert deliver() == 0
    box.hangs_up_after_data = False
    assert (deliver(minutes=10), deliver(minutes=60)) == (0, 0)
    assert len(box.letters) == 1
    assert Letter.objects.get().error.startswith("It is unknown whether it was sent")


def test_a_letter_of_a_process_that_died_is_never_sent_again(box, reading):
    tell(reading)
    Letter.objects.update(claim="00000000-0000-0000-0000-000000000001", claimed_at=timezone.now())
    assert deliver(minutes=60) == 0
    assert box.letters == []


def given(**fields):
    names = {
        "url": "",
        "host": "",
        "port": 0,
        "user": "",
        "password": "",
        "tls": "starttls",
        "sender": "d@e.org",
    }
    return read_mail_server(**names | fields)


def test_the_mail_server_is_one_address_or_single_settings():
    assert given() is None
    assert given(url="smtp+starttls://me%40e.org:s%2Fcret@mail.e.org") == MailServer(
        "mail.e.org", 587, "me@e.org", "s/cret", "starttls", "d@e.org"
    )
    assert given(url="smtps://mail.e.org:4650") == MailServer(
        "mail.e.org", 4650, "", "", "implicit", "d@e.org"
    )
    assert given(host="mail.e.org", tls="none") == MailServer("mail.e.org", 25, "", "", "none", "d@e.org")


def test_half_a_mail_server_stops_the_start(subtests):
    for fields, words in [
        ({"url": "http://mail.e.org"}, "must look like"),
        ({"url": "smtp://mail.e.org:port"}, "port that is no number"),
        ({"url": "smtp://mail.e.org", "host": "mail.e.org"}, "Both EMAIL_URL and EMAIL_HOST"),
        ({"host": "mail.e.org", "sender": ""}, "not DEFAULT_FROM_EMAIL"),
    ]:
        with subtests.test(fields=fields), pytest.raises(ImproperlyConfigured, match=words):
            given(**fields)
