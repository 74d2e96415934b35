"""Secrets in addresses: tokens of links, states of visits, personal links, codes for another device."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core import signing
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext

from core.crypto import seal, unseal
from people.errors import JoinError
from people.models import Guest, RosterRow, StudyLink, Visit

_VISIT, _GUEST, _ROSTER = "people.visit", "people.guest", "people.roster"
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
TOKEN, RECOVERY, SECRET, EMAIL = "people.token", "people.recovery", "people.secret", "people.email"


def digest(purpose: str, text: str) -> str:
    """A digest under which a secret is found again; it depends on SECRET_KEY only where that is meant."""
    return hashlib.sha256(f"{purpose}\0{text}".encode()).hexdigest()


def keyed_digest(purpose: str, text: str) -> str:
    """A digest that cannot be tried out without SECRET_KEY: for addresses, browsers and e-mail addresses."""
    return salted_hmac(purpose, text, algorithm="sha256").hexdigest()


def new_token() -> str:
    """The part of a link's address that cannot be guessed."""
    return secrets.token_urlsafe(18)


def new_code(length: int = 10) -> str:
    """A code that people can type: no letters that look like digits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def seal_token(token: str) -> tuple[str, str]:
    """Digest and sealed form of a link's token."""
    return digest(TOKEN, token), seal(token, purpose=TOKEN)


def token_of(link: StudyLink) -> str:
    """The link's token again; empty where SECRET_KEY was lost."""
    return unseal(link.token_sealed, purpose=TOKEN) or ""


def recovery_code_of(guest: Guest) -> str:
    """The code by which the person goes on at another device."""
    return unseal(guest.recovery_sealed, purpose=RECOVERY) or ""


def seal_recovery(code: str) -> tuple[str, str]:
    """Digest and sealed form of a recovery code."""
    return digest(RECOVERY, code), seal(code, purpose=RECOVERY)


@dataclass(frozen=True, slots=True)
class VisitState:
    """What an address carries from page to page; `trusted`: the browser is surely the person's own.

    Who only wrote somebody's id into the address of an unsigned link has not that person's rights.
    """

    visit: int
    trusted: bool


def sign_visit(visit: Visit, *, trusted: bool) -> str:
    """The state for addresses and forms: pages work without cookies."""
    return signing.dumps([visit.pk, int(trusted)], salt=_VISIT)


def read_visit(text: str) -> VisitState | None:
    """The state again; None for anything that we did not sign."""
    try:
        key, trusted = signing.loads(text, salt=_VISIT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return VisitState(int(key), bool(trusted))


def sign_guest(guest: Guest, link: StudyLink) -> str:
    """The secret part of a person's private link."""
    return signing.dumps([guest.pk, link.pk], salt=_GUEST)


def read_guest(text: str, link: StudyLink) -> int | None:
    """The key of the guest whose private link this is."""
    return _read_pair(text, _GUEST, link)


def sign_roster(row: RosterRow) -> str:
    """The secret part of the personal link of somebody on a list."""
    return signing.dumps([row.pk, row.link_id], salt=_ROSTER)


def read_roster(text: str, link: StudyLink) -> int | None:
    """The key of the row whose personal link this is."""
    return _read_pair(text, _ROSTER, link)


def _read_pair(text: str, salt: str, link: StudyLink) -> int | None:
    try:
        key, of_link = signing.loads(text, salt=salt)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return int(key) if of_link == link.pk else None


# Signatures of panels: `sig` is the HMAC over the rest of the query, `exp` says until when it holds.


def canonical_query(pairs: Iterable[tuple[str, str]]) -> str:
    """The query without `sig`: sorted by name and value, encoded as in a form."""
    return urlencode(sorted((name, value) for name, value in pairs if name != "sig"))


def sign_query(secret: str, pairs: Iterable[tuple[str, str]]) -> str:
    """What `sig` must be."""
    return hmac.new(secret.encode(), canonical_query(pairs).encode(), hashlib.sha256).hexdigest()


def check_query(link: StudyLink, pairs: list[tuple[str, str]]) -> bool:
    """Whether the address is proven: True by its signature, False where the link asks for none.

    Raises JoinError for a signature that is missing, wrong or over.
    """
    if not link.secret_sealed:
        return False
    secret = unseal(link.secret_sealed, purpose=SECRET)
    parameters = dict(pairs)
    if secret is None or not constant_time_compare(parameters.get("sig", ""), sign_query(secret, pairs)):
        raise JoinError(
            gettext("This address was changed on its way. Open the study again from where you found it.")
        )
    until = parameters.get("exp", "")
    if (
        not (until.isascii() and until.isdigit() and len(until) < 12)
        or int(until) < timezone.now().timestamp()
    ):
        raise JoinError(gettext("This address is too old. Open the study again from where you found it."))
    return True
