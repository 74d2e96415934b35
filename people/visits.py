"""What happens to a visit: opened, agreed to or not, led from task to task, ended, or taken back.

    visit = open_visit(link, arrival)     # a row for the live page; the same again for the same session
    agree(visit, text, ...)               # the guest, one for each external identity
    lead(visit, back)                     # the address of the next task, or None where the visit has ended

Where a person leaves a study, what they did stays paid, and its owner is told to publish it no more.
"""

import secrets
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction
from django.db.models import Value
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from core.extensions import parts_of
from people.errors import JoinError, LinkClosedError
from people.links import CODE_WORD, plain_word
from people.models import ConsentText, Guest, Outcome, RosterRow, StudyLink, Visit
from people.owners import NextTask, columns_of, kind_of, record_at, target_of
from people.tokens import TOKEN, digest, new_code, seal_recovery

#: Identities that no panel gave: of a browser without one, and of a row of a class's list.
OWN, ROSTER = "browser", "roster"
#: People from one address after which the project's members are told, without any consequence by itself.
NOTABLE_PER_ADDRESS = 5
_MOST_PARAMETERS, _LONGEST_PARAMETER = 20, 200
_LONGEST_ID = 128
#: Names under which panels hand over the session.
SESSIONS = ("SESSION_ID", "session_id", "sessionId", "session")


@dataclass(frozen=True, slots=True)
class ArrivalFacts:
    """What the address and the browser said when somebody opened a link."""

    pairs: list[tuple[str, str]] = field(default_factory=list)
    proven: bool = False
    address_digest: str = ""
    browser_digest: str = ""
    roster: RosterRow | None = None


def link_by_token(token: str) -> StudyLink:
    """The link of an address. Raises JoinError where there is none."""
    try:
        return StudyLink.objects.select_related("project").get(token_digest=digest(TOKEN, token))
    except ObjectDoesNotExist:
        raise JoinError(
            gettext(gettext("This address leads to no study. Compare it with the one that you were given.")),
            status=404,
        ) from None


def why_closed(link: StudyLink, *, people: int | None = None) -> LinkClosedError | None:
    """Why nobody new can join; `people` is how many have, where that is known already."""
    if link.closed_at is not None:
        return LinkClosedError(gettext(gettext("This study has ended. Thank you for coming.")), status=410)
    if link.expires_at is not None and link.expires_at <= timezone.now():
        return LinkClosedError(
            gettext(gettext("This study was open until a certain day, and that day is over.")), status=410
        )
    if (count_people(link) if people is None else people) >= link.quota:
        return LinkClosedError(
            gettext(gettext("All places of this study are taken. Thank you for coming.")), status=403
        )
    return None


def count_people(link: StudyLink) -> int:
    """People who agreed."""
    rows = Visit.objects.filter(link=link, consented_at__isnull=False)
    return rows.values("guest").distinct().count()


def open_visit(link: StudyLink, facts: ArrivalFacts) -> Visit:
    """The visit of this identity and session, begun now if it is new; without an identity always a new one.

    Raises JoinError where the link needs an identity and the address has none that can be one.
    """
    parameters = dict(facts.pairs)
    kind, value = _identity(link, parameters)
    if facts.roster is not None:
        kind, value = ROSTER, str(facts.roster.pk)
    if link.id_required and not value:
        raise JoinError(
            gettext(
                gettext(
                    "This study is opened from the panel that invited you: the address lacks "
                    "your id there. "
                    "Open it again from there."
                )
            ),
            status=400,
        )
    session = next((parameters[name] for name in SESSIONS if parameters.get(name)), "")[:_LONGEST_ID]
    now = timezone.now()
    values: dict[str, Any] = {
        "parameters": _select_parameters(link, parameters),
        "address_digest": facts.address_digest,
        "browser_digest": facts.browser_digest,
        "proven": facts.proven,
        "opened_at": now,
        "seen_at": now,
    }
    who = {"link": link, "external_kind": kind, "external_id": value, "session": session if value else ""}
    if not value:
        return Visit.objects.create(**who, **values)
    try:
        with transaction.atomic():
            visit, _ = Visit.objects.get_or_create(**who, defaults=values)
    except IntegrityError:  # the same person in two tabs at once
        visit = Visit.objects.get(**who)
    return visit


def find_visit(link: StudyLink, facts: ArrivalFacts) -> Visit | None:
    """The last visit of this identity that agreed: such a person goes on, also where nobody new may join."""
    kind, value = (ROSTER, str(facts.roster.pk)) if facts.roster else _identity(link, dict(facts.pairs))
    if not value:
        return None
    rows = Visit.objects.filter(link=link, external_kind=kind, external_id=value)
    return rows.exclude(consented_at=None).order_by("-pk").first()


def _identity(link: StudyLink, parameters: dict[str, str]) -> tuple[str, str]:
    for name in link.id_parameters:
        value = parameters.get(name, "").strip()
        # A placeholder that a panel did not fill in is no id.
        if value and "{" not in value and "%" not in value:
            if len(value) > _LONGEST_ID or not value.isprintable():
                raise JoinError(f"The id in the address ({name}) is not valid.", status=400)
            return f"{link.id_source}/{name}"[:60] if link.id_source else name[:60], value
    return "", ""


def _select_parameters(link: StudyLink, parameters: dict[str, str]) -> dict[str, str]:
    names = [*link.kept_parameters, *link.id_parameters, *SESSIONS, "STUDY_ID"]
    named_values = {name: parameters[name][:_LONGEST_PARAMETER] for name in names if parameters.get(name)}
    return dict(list(named_values.items())[:_MOST_PARAMETERS])


def continues(visit: Visit, text: ConsentText) -> bool:
    """Whether the person agreed to this very text before, by another link of its owner: asked once."""
    if visit.guest_id is not None:
        return True
    if not visit.external_id:
        return False
    guest = _known_guest(visit)
    if guest is None or guest.withdrawn_at is not None:
        return False
    return Visit.objects.filter(guest=guest, consent_text=text).exists()


@transaction.atomic
def agree(visit: Visit, text: ConsentText, *, code_word: str = "") -> Visit:
    """The person agrees to this text and becomes a guest; done again, nothing changes.

    Raises JoinError: the link is closed or full, the code word is wrong, too many came from this address.
    """
    # The link's own row alone: the project may be none, and that side of a join cannot be locked.
    rows = StudyLink.objects.select_for_update(of=("self",)).select_related("project")
    link = rows.get(pk=visit.link_id)
    visit = Visit.objects.select_for_update().get(pk=visit.pk)
    visit.link = link
    if visit.consented_at is not None:
        return visit
    guest = _known_guest(visit)
    if guest is not None and guest.withdrawn_at is not None:
        raise JoinError("You withdrew from this study. Thank you for what you did.")
    joined = (
        guest is not None
        and Visit.objects.filter(link=link, guest=guest, consented_at__isnull=False).exists()
    )
    if not joined:
        if refusal := why_closed(link):
            raise refusal
        if link.code_word_digest and not constant_time_compare(
            link.code_word_digest, digest(CODE_WORD, plain_word(code_word))
        ):
            raise JoinError("This is not the code word. Ask the person who invited you for it.", status=422)
        _watch_address(link, visit)
    now = timezone.now()
    visit.guest = guest or _make_guest(visit)
    visit.consent_text, visit.consented_at, visit.seen_at = text, now, now
    visit.outcome, visit.ended_at, visit.code = "", None, ""
    visit.save(
        update_fields=["guest", "consent_text", "consented_at", "seen_at", "outcome", "ended_at", "code"]
    )
    visit.agreed_just_now = True
    if visit.external_kind == ROSTER and visit.external_id:
        RosterRow.objects.filter(pk=int(visit.external_id), link=link).update(guest=visit.guest)
    target_of(link).welcome(link, visit.guest)
    return visit


def _known_guest(visit: Visit) -> Guest | None:
    if not visit.external_id:
        return None
    return Guest.objects.filter(
        **columns_of(visit.link.owner), identity_kind=visit.external_kind, identity=visit.external_id
    ).first()


def _make_guest(visit: Visit) -> Guest:
    code_digest, code_sealed = seal_recovery(new_code())
    guest, _ = Guest.objects.get_or_create(
        **columns_of(visit.link.owner),
        identity_kind=visit.external_kind or OWN,
        identity=visit.external_id or secrets.token_hex(16),
        defaults={
            "worker_id": f"G{new_code(13)}",
            "recovery_digest": code_digest,
            "recovery_sealed": code_sealed,
            "made_at": timezone.now(),
        },
    )
    return guest


def _watch_address(link: StudyLink, visit: Visit) -> None:
    """Refuse who is beyond the limit of one address, and tell the owner of many: a hint, no verdict."""
    if not visit.address_digest:
        return
    same = Visit.objects.filter(link=link, address_digest=visit.address_digest, consented_at__isnull=False)
    people = same.values("guest").distinct().count()
    if link.most_per_address and people >= link.most_per_address:
        raise JoinError(
            "As many people as this study takes from one network have joined from yours. "
            "Open it from another network."
        )
    if people + 1 >= NOTABLE_PER_ADDRESS:
        kind_of(link.owner).notify(
            link,
            kind="shared_address",
            key=f"shared-address:{link.pk}",
            level="news",
            sentence=f"{NOTABLE_PER_ADDRESS} or more people came to “{link.title[:120]}” from one network "
            "address. A class or an office looks the same; nothing was refused.",
        )


def refuse_consent(visit: Visit) -> Visit:
    """The person does not agree; who has agreed already stays so."""
    if visit.consented_at is None:
        _end(visit, Outcome.NO_CONSENT)
    return visit


def lead(visit: Visit, back: str) -> str | None:
    """The address of the person's open or next task; None where there is none, and the visit has ended.

    A visit that ended begins again where there is work again.
    """
    guest, link = visit.guest, visit.link
    assert guest is not None
    if guest.withdrawn_at is not None:
        _end(visit, Outcome.WITHDRAWN)
        return None
    with transaction.atomic():  # two tabs at once get the same task
        Guest.objects.select_for_update(no_key=True).get(pk=guest.pk)
        next_step = target_of(link).begin(visit, back)
        if isinstance(next_step, NextTask):
            now = timezone.now()
            Visit.objects.filter(pk=visit.pk).update(
                seen_at=now, ended_at=None, outcome="", first_task_at=Coalesce("first_task_at", Value(now))
            )
            return next_step.address
        _end(visit, next_step)
    return None


def _end(visit: Visit, outcome: Outcome) -> None:
    now = timezone.now()
    code = visit.link.returns.get(outcome, {}).get("code", "")[:100]
    visit.outcome, visit.code = outcome, code
    visit.ended_at = visit.ended_at or now
    Visit.objects.filter(pk=visit.pk).update(outcome=outcome, code=code, ended_at=visit.ended_at, seen_at=now)


def visit_too_late(link: StudyLink, facts: ArrivalFacts) -> Visit:
    """The visit of somebody for whom there is no place, with its ending; it is not stored."""
    parameters = dict(facts.pairs)
    visit = Visit(link=link, parameters=_select_parameters(link, parameters), outcome=Outcome.NOTHING_LEFT)
    with suppress(JoinError):
        visit.external_id = _identity(link, parameters)[1]
    visit.code = link.returns.get(Outcome.NOTHING_LEFT, {}).get("code", "")[:100]
    return visit


def return_address(visit: Visit) -> str:
    """Where the browser goes back to when a visit has ended; empty: nowhere."""
    # Without blanks: links of earlier versions may have a line break, with which no browser is sent anywhere.
    template = "".join(str(visit.link.returns.get(visit.outcome, {}).get("address", "")).split())
    session = visit.session or visit.parameters.get("SESSION_ID", "")
    # One pass over the template, so that an id with braces in it stays an id.
    values = {"{worker_id}": visit.external_id, "{session_id}": session, "{code}": visit.code}
    return _fill(template, values)


def _fill(template: str, values: dict[str, str]) -> str:
    filled, rest = "", template
    while rest:
        name = next((each for each in values if rest.startswith(each)), "")
        filled += quote(values[name], safe="") if name else rest[0]
        rest = rest[len(name) or 1 :]
    return filled


def guest_by_code(link: StudyLink, code: str) -> Guest:
    """Who goes on here with the code from another device. Raises JoinError for one that nobody has."""
    plain = "".join(code.upper().split()).replace("-", "")
    guest = Guest.objects.filter(
        **columns_of(link.owner), recovery_digest=seal_recovery(plain)[0], withdrawn_at=None
    ).first()
    if guest is None:
        raise JoinError("This code is not known. Compare it with the one on your other device.", status=422)
    return guest


def visit_of_guest(link: StudyLink, guest: Guest) -> Visit:
    """The last visit of a person who comes back by their code. Raises JoinError without one."""
    visit = (
        Visit.objects.filter(link=link, guest=guest, consented_at__isnull=False)
        .select_related("link__project", "guest")
        .order_by("-pk")
        .first()
    )
    if visit is None:
        raise JoinError(
            "You have not joined this study by this link. Open the link without the additions at its end."
        )
    return visit


# Leaving a study

#: What an owner reads whose data are tables that they download themselves.
LEFT_OUT = "Leave their answers out of what you publish; the table of visits says who withdrew and when."


class AnswerHolder(ABC):
    """An app that keeps or publishes what people did; part of its extension."""

    @abstractmethod
    def published_with(self, guest: Guest) -> list[str]:
        """Names of what is published already and holds answers of this person."""

    def set_aside(self, guest: Guest) -> int:
        """Take out of what counts what would stay in otherwise; how many pieces of work. In a transaction."""
        return 0


@transaction.atomic
def withdraw_guest(guest: Guest, link: StudyLink) -> None:
    """The person withdraws; the owner is told which releases hold their answers. Again, nothing changes."""
    if not Guest.objects.filter(pk=guest.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
        guest.refresh_from_db()
        return
    guest.refresh_from_db()
    # Releases and judgments are a project's.
    holders = parts_of(AnswerHolder) if guest.project_id else ()  # type: ignore[type-abstract]
    owner_kind = kind_of(guest.owner)
    owner_kind.let_go(guest)
    published = [name for holder in holders for name in holder.published_with(guest)]
    hit_count = sum(holder.set_aside(guest) for holder in holders)
    taken_out = (
        f" What they judged counts no more ({hit_count} HIT{'' if hit_count == 1 else 's'}): scores are "
        "computed again without it."
        if hit_count
        else ""
    )
    releases_sentence = f"Published already with their answers: {', '.join(published)}." if published else ""
    rest = "What they wrote stays out of coming releases." if guest.project_id else LEFT_OUT
    owner_kind.notify(
        link,
        kind="withdrawal",
        key=f"withdrawal:{guest.pk}",
        level="warning",
        sentence=f"{guest.worker_id} withdrew. {rest}{taken_out} {releases_sentence}".strip(),
    )
    record_at(guest, "guest.withdrew", guest.worker_id, published=published, judged=hit_count)
