"""Study links: made, changed as far as they may be, closed."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import segno
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from core.crypto import seal
from core.origin import Owner
from people import consents
from people.errors import PeopleError
from people.models import Outcome, StudyLink
from people.owners import all_choices, columns_of, kind_of, record_at, target_of
from people.tokens import SECRET, digest, new_token, seal_token, token_of

CODE_WORD = "people.code_word"
#: Simulated people of one rehearsal.
MOST_REHEARSING = 200


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """What somebody asks for; `target` is `kind:name`, such as `stage:poll` or `batch:12`."""

    title: str
    target: str
    quota: int = 100
    expires_at: datetime | None = None
    languages: list[str] = field(default_factory=list)
    code_word: str = ""
    granted: str = ""
    granted_value: int | None = None
    id_parameters: list[str] = field(default_factory=list)
    id_source: str = ""
    id_required: bool = False
    kept_parameters: list[str] = field(default_factory=list)
    secret: str = ""
    returns: dict[str, dict[str, str]] = field(default_factory=dict)
    returns_at_once: bool = False
    compensation: str = StudyLink.Compensation.NOTHING
    most_tasks: int = 0
    most_per_address: int = 0


@transaction.atomic
def make_link(*, owner: Owner, plan: LinkPlan, actor: Any) -> StudyLink:
    """A link with a new token; its owner gets their first consent text where they have none."""
    if why := kind_of(owner).why_read_only(owner.pk):
        raise PeopleError(why)
    choices = all_choices(owner)
    if plan.target not in choices:
        offered = ", ".join(list(choices)[:5]) or "nothing yet: make a stage or a batch first"
        offered += f" and {len(choices) - 5} more" if len(choices) > 5 else ""
        raise PeopleError(f"A link cannot lead to {plan.target[:60]!r}. Choose from: {offered}.")
    grants = kind_of(owner).grants(owner.pk)
    if plan.granted and grants is not None and plan.granted not in {key for key, _ in grants}:
        raise PeopleError("Choose what is granted on joining, from what the form lists, or nothing.")
    for outcome, way in plan.returns.items():
        _check_return(outcome, way)
    kind, key, _ = choices[plan.target]
    token_digest, token_sealed = seal_token(new_token())
    link = StudyLink.objects.create(
        **columns_of(owner),
        token_digest=token_digest,
        token_sealed=token_sealed,
        target_kind=kind,
        target_id=key,
        title=plan.title,
        quota=plan.quota,
        expires_at=plan.expires_at,
        languages=plan.languages,
        code_word_digest=digest(CODE_WORD, plain_word(plan.code_word)) if plan.code_word.strip() else "",
        granted=plan.granted,
        granted_value=plan.granted_value if plan.granted else None,
        id_parameters=plan.id_parameters,
        id_source=plan.id_source,
        id_required=plan.id_required,
        kept_parameters=plan.kept_parameters,
        secret_sealed=seal(plan.secret, purpose=SECRET) if plan.secret else "",
        returns=plan.returns,
        returns_at_once=plan.returns_at_once,
        compensation=plan.compensation,
        most_tasks=plan.most_tasks,
        most_per_address=plan.most_per_address,
        made_by=actor,
        made_at=timezone.now(),
    )
    consents.text_for(link, [])
    record_at(link, "link.made", link.title, actor=actor, link=link.pk)
    return link


def _check_return(outcome: str, way: dict[str, str]) -> None:
    label = Outcome(outcome).label
    address = way.get("address", "")
    if not address:
        return
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise PeopleError(f"{label}: {address[:80]!r} is no address: {error}.") from error
    if any(letter.isspace() or not letter.isprintable() for letter in address):
        raise PeopleError(f"{label}: the return address has a blank or a line break in it. Write it without.")
    if parts.username is not None or parts.password is not None:
        raise PeopleError(f"{label}: the return address names a user or a password. Write it without.")
    if parts.scheme not in {"https", "http"} or not parts.hostname or "{" in parts.netloc:
        raise PeopleError(f"{label}: the return address must begin with https:// and name a host.")
    for name in ("{worker_id}", "{session_id}", "{code}"):
        address = address.replace(name, "")
    if "{" in address or "}" in address:
        raise PeopleError(
            f"{label}: in braces, a return address may hold {{worker_id}}, {{session_id}} and {{code}} alone."
        )


def plain_word(word: str) -> str:
    """A code word as it counts: case and blanks around it do not."""
    return " ".join(word.split()).casefold()


def draw_code(address: str) -> SafeString:
    """The address as a QR code, an image of the page itself; dark on light also where pages are dark."""
    image = segno.make(address, error="m").svg_inline(scale=4, border=4, light="#fff")
    return SafeString(image)


@transaction.atomic
def close_link(*, link: StudyLink, actor: Any) -> None:
    """No new people join; those who have begun can finish."""
    if StudyLink.objects.filter(pk=link.pk, closed_at=None).update(closed_at=timezone.now()):
        record_at(link, "link.closed", link.title, actor=actor)


@transaction.atomic
def reopen_link(*, link: StudyLink, actor: Any) -> None:
    """People may join again, under the same address."""
    if StudyLink.objects.filter(pk=link.pk).exclude(closed_at=None).update(closed_at=None):
        record_at(link, "link.reopened", link.title, actor=actor)


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """What may change while people come; where it leads and what they get stays as it was agreed to."""

    title: str
    quota: int
    expires_at: datetime | None
    returns: dict[str, dict[str, str]]
    returns_at_once: bool
    most_tasks: int
    most_per_address: int


@transaction.atomic
def change_link(*, link: StudyLink, changes: LinkChanges, actor: Any) -> StudyLink:
    """Take the changes; who has ended keeps the code that they were shown."""
    for outcome, way in changes.returns.items():
        _check_return(outcome, way)
    row = StudyLink.objects.select_for_update(of=("self",)).select_related("project").get(pk=link.pk)
    if why := kind_of(row.owner).why_read_only(row.owner.pk):
        raise PeopleError(why)
    names = [each.name for each in fields(changes) if getattr(row, each.name) != getattr(changes, each.name)]
    for name in names:
        setattr(row, name, getattr(changes, name))
    if names:
        row.save(update_fields=names)
        record_at(row, "link.changed", row.title, actor=actor, changed=", ".join(sorted(names)))
    return row


@transaction.atomic
def set_quota(*, link: StudyLink, quota: int, actor: Any) -> None:
    """More or fewer people; who has joined stays."""
    if StudyLink.objects.filter(pk=link.pk).exclude(quota=quota).update(quota=quota):
        record_at(link, "link.quota", link.title, actor=actor, quota=quota)


def plan_rehearsal(*, link: StudyLink, people: int, actor: Any) -> None:
    """Simulated people come by the link, to try the study before its people do. PeopleError says why not."""
    if not 1 <= people <= MOST_REHEARSING:
        raise PeopleError(f"Simulated people: a whole number from 1 to {MOST_REHEARSING}.")
    if link.code_word_digest:
        raise PeopleError("The link asks for a code word, which simulated people do not know.")
    target_of(link).plan_rehearsal(link, people=people)
    record_at(link, "link.rehearsed", link.title, actor=actor, people=people)


def address_of(link: StudyLink) -> str:
    """The address that people are given."""
    return f"{settings.TASK_URL}{reverse('join:open', args=[token_of(link)])}"
