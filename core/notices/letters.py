"""E-mails: about notices (planned with the notice, claimed, sent, never twice), and letters to accounts.

Without a mail server in the settings `NoPost` stands in: it plans nothing, sends nothing and says so.
"""

import json
import logging
import unicodedata
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db.models import F, Max, Q, QuerySet
from django.urls import reverse

from core.crypto import seal, unseal
from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from core.notices.models import Letter, Notice, Wish
from core.projects.models import Membership

_LONGEST_SUBJECT = 120


def one_line(text: str) -> str:
    """Text of people without line breaks and control characters, so that it stays one line of a header."""
    printable = "".join(
        " " if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp") else each for each in text
    )
    return " ".join(printable.split())


def subject(notices: Sequence[Notice]) -> str:
    """The sentence of one notice, or how many there are, with the project where it is one."""
    titles = {notice.project.title if notice.project else "Distillery" for notice in notices}
    about = one_line(titles.pop()) if len(titles) == 1 else "Distillery"
    summary = one_line(notices[0].sentence) if len(notices) == 1 else f"{len(notices)} notices"
    line = f"{about}: {summary}"
    return line if len(line) <= _LONGEST_SUBJECT else f"{line[: _LONGEST_SUBJECT - 1]}…"


def body(notices: Sequence[Notice], person: User, *, base: str) -> str:
    """The whole letter; without a public address of the installation, pages are named by their paths."""
    lines = [f"Hello {one_line(person.get_username())},", ""]
    before: tuple[str, int] | None = None
    for notice in sorted(notices, key=_place):
        if _place(notice)[:2] != before:
            project = notice.project
            about = f"In the project {one_line(project.title)}:" if project else "About the installation:"
            lines += [about, ""]
            before = _place(notice)[:2]
        lines.append(f"- {one_line(notice.sentence)}")
        if notice.address:
            lines.append(f"  {base}{notice.address}")
        lines.append("")
    wishes = {notice.project.slug for notice in notices if notice.project}
    if wishes:
        lines.append("You get this because you are a member. Choose which notices are sent to you here:")
        lines += [f"{base}{reverse('desk:project_notices', args=[slug])}" for slug in sorted(wishes)]
    else:
        lines.append("You get this because you are a superuser of this installation.")
    return "\n".join([*lines, ""])


def _place(notice: Notice) -> tuple[str, int, int]:
    """Notices about the installation come first, then project by project."""
    return (notice.project.title if notice.project else "", notice.project_id or 0, notice.pk)


logger = logging.getLogger(__name__)

#: Between two e-mails to the same person; what comes in between goes into the next one.
PAUSE = timedelta(minutes=5)
#: After so long without a mail server a letter is not worth sending.
STALE = timedelta(days=3)
#: Notices in one e-mail; the rest goes into the next.
MOST = 50
_WAITING = Q(claim=None, sent_at=None, dropped_at=None)
_PRESSING = (Notice.Level.WARNING, Notice.Level.ALARM)
_FOR_GOOD = 500


class Post(Protocol):
    """A way to reach members who do not look at the page."""

    @property
    def description(self) -> str:
        """What the page says about it."""

    @property
    def works(self) -> bool:
        """Whether anything is sent."""

    def plan(self, notice: Notice) -> int:
        """Plan a letter to every member who wants one; how many. In the transaction of the notice."""

    def deliver(self, now: datetime) -> int:
        """Send what waits; how many e-mails went out."""


class NoPost:
    """No mail server is set up."""

    description = "Nothing is sent by e-mail: this installation has no mail server in its settings."
    works = False

    def plan(self, notice: Notice) -> int:
        """No letters."""
        return 0

    def deliver(self, now: datetime) -> int:
        """Nothing is sent."""
        return 0


class MailPost:
    """Through the mail server of the settings."""

    works = True

    @property
    def description(self) -> str:
        """From whom the letters come."""
        return f"E-mails come from {settings.DEFAULT_FROM_EMAIL}."

    def plan(self, notice: Notice) -> int:
        """Letters to active members with an address, by what they wish; without a wish, all but news.

        What is about the installation goes to its superusers.
        """
        if notice.project_id is None:
            readers = list(_superusers().exclude(email="").values_list("pk", flat=True))
            return self._write(notice, readers)
        wishes = dict(Wish.objects.filter(project=notice.project_id).values_list("user_id", "post"))
        members = Membership.objects.filter(project=notice.project_id, user__is_active=True)
        readers = [
            pk
            for pk in members.exclude(user__email="").values_list("user_id", flat=True)
            if _is_wished(notice, wishes.get(pk))
        ]
        return self._write(notice, readers)

    def _write(self, notice: Notice, readers: list[int]) -> int:
        Letter.objects.bulk_create(
            (Letter(notice=notice, user_id=pk) for pk in readers), ignore_conflicts=True
        )
        return len(readers)

    def deliver(self, now: datetime) -> int:
        """One e-mail to each person who has letters waiting and got none in the last minutes."""
        people = _due(now)
        if not people:
            return 0
        connection = get_connection()
        try:
            connection.open()
        except (OSError, SMTPException) as error:
            logger.warning("The mail server does not answer: %s", error)
            Letter.objects.filter(_WAITING, user__in=people).update(error=_describe_error(error))
            return 0
        sent = 0
        try:
            for person in people:
                sent += _send(person, connection, now)
        except (OSError, SMTPException) as error:
            logger.warning("The mail server stopped answering: %s", error)
        finally:
            connection.close()
        return sent


def post_office() -> Post:
    """The way that the settings give."""
    return MailPost() if settings.NOTICES_BY_EMAIL else NoPost()


def _superusers() -> QuerySet[User]:
    return User.objects.filter(is_superuser=True, is_active=True)


def _is_wished(notice: Notice, wish: str | None) -> bool:
    if wish == Wish.Post.NONE:
        return False
    return wish == Wish.Post.ALL or notice.level in _PRESSING


def _due(now: datetime) -> list[User]:
    lately = Letter.objects.filter(sent_at__gt=now - PAUSE).values("user")
    waiting = Letter.objects.filter(_WAITING).exclude(user__in=lately).values("user")
    return list(User.objects.filter(pk__in=waiting).order_by("pk"))


def _send(person: User, connection: Any, now: datetime) -> int:
    """Claim somebody's letters and send them as one e-mail.

    A refusal says that nothing went out: letters wait again, or are dropped where it is for good. Any other
    trouble leaves it open whether the e-mail went out; the letters stay claimed, and the round ends.
    """
    letters = _claimed(person, now)
    if not letters:
        return 0
    mine = Letter.objects.filter(pk__in=[letter.pk for letter in letters])
    notices = [letter.notice for letter in letters]
    message = EmailMessage(
        subject=subject(notices),
        body=body(notices, person, base=settings.PUBLIC_URL),
        to=[person.email],
        headers={"Auto-Submitted": "auto-generated"},
        connection=connection,
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPDataError, SMTPResponseException, ValueError) as error:
        if _is_for_good(error):
            mine.update(dropped_at=now, error=_describe_error(error))
        else:
            mine.update(claim=None, claimed_at=None, error=_describe_error(error))
        return 0
    except (OSError, SMTPException) as error:
        mine.update(error=f"It is unknown whether it was sent: {_describe_error(error)}"[:300])
        raise
    mine.update(sent_at=now, error="")
    return 1


def _claimed(person: User, now: datetime) -> list[Letter]:
    """Somebody's waiting letters, claimed by this call alone; those no longer wanted are dropped."""
    claim = uuid.uuid4()
    keys = list(
        Letter.objects.filter(_WAITING, user=person).order_by("pk").values_list("pk", flat=True)[:MOST]
    )
    Letter.objects.filter(_WAITING, pk__in=keys).update(claim=claim, claimed_at=now)
    letters = Letter.objects.filter(claim=claim).select_related("notice__project").order_by("notice_id")
    wishes = dict(Wish.objects.filter(user=person).values_list("project_id", "post"))
    mine = set(Membership.objects.filter(user=person).values_list("project_id", flat=True))
    kept_letters: list[Letter] = []
    dropped: list[Letter] = []
    for letter in letters:
        notice = letter.notice
        is_current = (
            person.is_active
            and person.email
            and notice.over_at is None
            and notice.raised_at > now - STALE
            and (
                person.is_superuser
                if notice.project_id is None
                else notice.project_id in mine and _is_wished(notice, wishes.get(notice.project_id))
            )
        )
        (kept_letters if is_current else dropped).append(letter)
    if dropped:
        Letter.objects.filter(pk__in=[letter.pk for letter in dropped]).update(
            dropped_at=now, error="It was over or no longer wanted before it went out."
        )
    return kept_letters


def _is_for_good(error: Exception) -> bool:
    """The server said no for good (codes 500 and above, RFC 5321), or what we made is no letter."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= _FOR_GOOD for code, _ in error.recipients.values())
    return isinstance(error, ValueError) or (
        isinstance(error, SMTPResponseException) and error.smtp_code >= _FOR_GOOD
    )


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def last_sent(user: User) -> datetime | None:
    """When somebody last got an e-mail about notices."""
    moment: datetime | None = Letter.objects.filter(user=user).aggregate(at=Max(F("sent_at")))["at"]
    return moment


# Letters to people with an account, sent by jobs: a page takes as long for any address.

ACCOUNT_LETTER = "notices.account_letter"
#: Links in letters let people in, so the row of the job holds them sealed.
_SEALED_FOR = "notices.account_letter"


def plan_letter(address: str, subject: str, lines: list[str]) -> None:
    """Have one letter sent."""
    enqueue(
        kind=ACCOUNT_LETTER,
        payload={"letter": seal(json.dumps([address, subject, lines]), purpose=_SEALED_FOR)},
    )


def send_letter(sealed: str) -> None:
    """Send it; PermanentError where the server refuses it for good."""
    opened = unseal(sealed, purpose=_SEALED_FOR)
    if opened is None or not settings.NOTICES_BY_EMAIL:
        return
    address, subject, lines = json.loads(opened)
    message = EmailMessage(
        subject=one_line(subject)[:120],
        body="\n".join(lines),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPDataError, ValueError) as error:
        raise PermanentError(f"The e-mail cannot be sent: {type(error).__name__}") from error
