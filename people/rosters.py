"""Classes: a list of names and addresses, personal links by mail, reminders to who has done nothing yet."""

import csv
import io
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from core.crypto import seal, unseal
from core.jobs.services import enqueue
from core.notices.letters import one_line
from people.errors import PeopleError
from people.models import RosterRow, StudyLink
from people.owners import record_at, target_of
from people.tokens import EMAIL, keyed_digest, sign_roster, token_of

MAIL = "people.mail"
#: Bytes of the longest file, and people of the longest list: its page shows all of them.
MOST_BYTES = 1 << 20
MOST_PEOPLE = 5_000
_TOO_MANY = f"The list would have more than {MOST_PEOPLE:,} people. Make a second link for the rest."
_NAMES = {
    "name": {"name", "student"},
    "email": {"email", "e-mail", "mail", "e-mail address", "email address"},
}


def read_roster_file(data: bytes) -> list[tuple[str, str]]:
    """Names and addresses of a CSV with the columns name and email. PeopleError says line and remedy."""
    if len(data) > MOST_BYTES:
        raise PeopleError("The file is larger than 1 MB. Send the list in parts.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PeopleError("The file is not in UTF-8. Save it as CSV UTF-8, then send it again.") from error
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise PeopleError(f"The file is no CSV: {error}.") from error
    if not lines:
        raise PeopleError("The file is empty. Its first line names the columns: name,email.")
    places = {
        field: next((at for at, head in enumerate(lines[0]) if head.strip().casefold() in names), -1)
        for field, names in _NAMES.items()
    }
    if missing := [field for field, at in places.items() if at < 0]:
        raise PeopleError(f"Line 1: there is no column {missing[0]!r}. The first line must be: name,email.")
    rows: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) <= max(places.values()):
            raise PeopleError(f"Line {number}: it has fewer columns than the first line. Complete it.")
        name, email = (line[places[field]].strip() for field in ("name", "email"))
        try:
            validate_email(email)
        except ValidationError as error:
            raise PeopleError(
                f"Line {number}, column email: {email[:80]!r} is no e-mail address. Correct it."
            ) from error
        rows[email] = one_line(name)
    if len(rows) > MOST_PEOPLE:
        raise PeopleError(_TOO_MANY)
    return [(name, email) for email, name in rows.items()]


@transaction.atomic
def add_people(*, link: StudyLink, people: list[tuple[str, str]], actor: Any) -> int:
    """Put people on the list of a link; how many are new. Who is on it already stays as they are.

    PeopleError where the list would be too long; then no one is added.
    """
    # Of two that add at once, the second counts what the first has added.
    StudyLink.objects.select_for_update(no_key=True).get(pk=link.pk)
    now = timezone.now()
    before = RosterRow.objects.filter(link=link).count()
    RosterRow.objects.bulk_create(
        (
            RosterRow(
                link=link,
                name=name[:200],
                email_sealed=seal(email, purpose=EMAIL),
                email_digest=keyed_digest("people.email", email.casefold()),
                made_at=now,
            )
            for name, email in people
        ),
        ignore_conflicts=True,
        batch_size=500,
    )
    added = RosterRow.objects.filter(link=link).count() - before
    if added and before + added > MOST_PEOPLE:
        raise PeopleError(_TOO_MANY)
    record_at(link, "roster.added", link.title, actor=actor, people=added)
    return added


def plan_mail(*, link: StudyLink, reminder: bool, actor: Any) -> str:
    """Send personal links to who has none yet, or remind who has and has finished nothing; a sentence."""
    if settings.MAIL is None:
        raise PeopleError(
            "This installation has no mail server (EMAIL_URL). Copy the personal links from the list instead."
        )
    if link.closed_at is not None:
        raise PeopleError("The link is closed: open it again before you invite people.")
    enqueue(kind=MAIL, payload={"link": link.pk, "reminder": reminder})
    record_at(link, "roster.mailed", link.title, actor=actor, reminder=reminder)
    return "Reminders are being sent." if reminder else "Personal links are being sent."


def personal_address(link: StudyLink, row: RosterRow) -> str:
    """The personal link of somebody on the list."""
    return f"{settings.TASK_URL}{reverse('join:invited', args=[token_of(link), sign_roster(row)])}"


def send_letters(link: StudyLink, *, reminder: bool) -> int:
    """Send what is due; how many went out.

    A row is marked before its letter is handed over and unmarked where that fails, so that a process that
    dies in between sends nobody two. Who got nothing for it is seen on the list and can be reminded.
    """
    sent = 0
    for row in _due(link, reminder=reminder):
        column = "reminded_at" if reminder else "invited_at"
        now = timezone.now()
        before = getattr(row, column)
        if not RosterRow.objects.filter(pk=row.pk, **{column: before}).update(**{column: now}):
            continue
        with ExitStack() as undo:
            undo.callback(RosterRow.objects.filter(pk=row.pk, **{column: now}).update, **{column: before})
            _letter(link, row, reminder=reminder).send()
            undo.pop_all()
        sent += 1
    return sent


def _due(link: StudyLink, *, reminder: bool) -> list[RosterRow]:
    rows = RosterRow.objects.filter(link=link).select_related("guest").order_by("pk")
    if not reminder:
        return list(rows.filter(invited_at=None))
    # One reminder a day, whoever presses the button how often.
    lately = timezone.now() - timedelta(days=1)
    waiting = list(rows.exclude(invited_at=None).exclude(reminded_at__gt=lately))
    done = target_of(link).finished(link, [row.guest.worker_id for row in waiting if row.guest])
    return [row for row in waiting if row.guest is None or not done.get(row.guest.worker_id)]


def _letter(link: StudyLink, row: RosterRow, *, reminder: bool) -> EmailMessage:
    title = one_line(link.title)
    host = urlsplit(settings.TASK_URL).hostname or "this site"
    lines = [
        f"Hello {one_line(row.name)},",
        "",
        f"{'You have not begun yet' if reminder else 'You are invited to take part'}: {title}",
        "",
        "This is your personal link. Please do not pass it on.",
        personal_address(link, row),
        "",
        f"The page is on {host}. Taking part is voluntary; the first page says what is kept.",
        "",
    ]
    subject = f"Reminder: {title}" if reminder else title
    to = unseal(row.email_sealed, purpose=EMAIL) or ""
    return EmailMessage(subject=subject[:150], body="\n".join(lines), to=[to])
