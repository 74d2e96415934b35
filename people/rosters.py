"""Classes: a list of names and addresses, personal links by mail, reminders to who has done nothing yet."""

import io
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from core.crypto import seal, unseal
from core.files.reading import NAMES, reading_lines
from core.files.refusals import FileRefusedError, RowCounts
from core.files.sheets import Sheet, copied_source, open_sheet
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


@dataclass(frozen=True, slots=True)
class Roster:
    """Names and addresses of a file, each address once, and how it was read, in sentences."""

    people: list[tuple[str, str]]
    sentences: list[str]


def read_roster_file(file: BinaryIO, name: str) -> Roster:
    """A table with the columns name and email; a person is on it once. PeopleError says line and remedy."""
    if file.seek(0, io.SEEK_END) > MOST_BYTES:
        raise PeopleError("The file is larger than 1 MB. Send the list in parts.")
    try:
        return _read_roster(
            open_sheet(copied_source(file, name), column_names=[*NAMES["name"], *NAMES["email"]])
        )
    except FileRefusedError as error:
        raise PeopleError(str(error)) from error


def _read_roster(sheet: Sheet) -> Roster:
    name_at, email_at = (_find_column(sheet, role) for role in ("name", "email"))
    people: dict[str, tuple[str, str]] = {}
    times, renamed = Counter[str](), list[int]()
    for line, cells in sheet.rows():
        person = (one_line(cells[name_at]), cells[email_at].strip())
        try:
            validate_email(person[1])
        except ValidationError as error:
            raise sheet.error(
                f"{person[1][:80]!r} is no e-mail address. Correct it.", line=line, column="email"
            ) from error
        times[key := person[1].casefold()] += 1
        if people.setdefault(key, person)[0] != person[0]:
            renamed.append(line)
        if len(people) > MOST_PEOPLE:
            raise PeopleError(_TOO_MANY)
    repeats = times.total() - len(people) - len(renamed)
    rows = RowCounts(times.total(), used=len(people), repeats=repeats, refused=len(renamed))
    columns = {"name": [sheet.columns[name_at]], "email": [sheet.columns[email_at]]}
    sentences = [*reading_lines(sheet.reading(columns, rows).as_json()), *sheet.notes()]
    if nameless := sum(not name for name, _email in people.values()):
        sentences.append(f"Addresses without a name, whose letters begin with “Hello,”: {nameless:,}.")
    if several := sum(count > 1 for count in times.values()):
        who = "1 person is" if several == 1 else f"{several:,} people are"
        sentences.append(f"{who} on it more than once, and added once.")
    if renamed:
        sentences.append(
            f"The first name of an address counts, not that of line {', '.join(map(str, renamed[:20]))}."
        )
    return Roster(list(people.values()), [*sentences, *sheet.doubts()])


def _find_column(sheet: Sheet, role: str) -> int:
    place = sheet.find_column(role, NAMES[role], remedy="Rename the others.")
    if place is None:
        raise sheet.error(
            f"there is no column {role!r}. The first line must be: name,email.", line=sheet.header_row
        )
    return place


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
        f"{f'Hello {one_line(row.name)}'.strip()},",
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
