"""Guards of sign-in: after too many failed tries people wait, and printed passwords must be changed.

A backend, so that it guards every form that signs people in, the admin's too. The middleware then says how
long the wait is, and marks the device of who got in.
"""

import math
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.accounts.models import FailedTries, PasswordState
from core.accounts.security import client_address, neighbourhood

# Devices on which people have signed in: a signed cookie with digests of names; no way in by itself.

_MOST_PEOPLE, _YEAR_S = 5, 365 * 86_400
_signer = signing.Signer(salt="accounts.devices")


def known_as(request: HttpRequest, name: str) -> str:
    """The device's own number where somebody of this name has signed in on it; else empty."""
    number, *people = _read(request)
    return number if _digest(name) in people else ""


def remember_device(request: HttpRequest, response: HttpResponseBase, name: str) -> None:
    """Note on the device that somebody of this name signed in."""
    number, *people = _read(request)
    others = [each for each in people if each != _digest(name)]
    value = _signer.sign(
        ".".join([number or secrets.token_hex(8), _digest(name), *others[: _MOST_PEOPLE - 1]])
    )
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        value,
        max_age=_YEAR_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> list[str]:
    try:
        return _signer.unsign(request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")).split(".")
    except signing.BadSignature:
        return [""]


def _digest(name: str) -> str:
    return salted_hmac("accounts.devices", name, algorithm="sha256").hexdigest()[:24]


# Limits on guessing: failed tries are counted by name, by device and by address, and slow the next ones.
#
# After some free tries each further one doubles the wait, up to fifteen minutes. A device on which somebody
# has signed in before is not held up by what others try with their name: it has a count of its own, so that
# nobody can lock a person out. Counts are forgotten a day after the last try. Keys are digests: a table of
# what people typed as their name would hold passwords.

FIRST_WAIT_S, LONGEST_WAIT_S = 15, 900
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """How many tries of a kind may fail before the next has to wait."""

    kind: str
    free: int

    def key(self, text: str) -> str:
        """The row that counts for this name, device or address."""
        return f"{self.kind}:{salted_hmac('accounts.throttle', text, algorithm='sha256').hexdigest()[:40]}"


BY_NAME = Limit("name", 10)
BY_DEVICE = Limit("device", 10)
BY_ADDRESS = Limit("address", 50)
INVITATIONS = Limit("invitation", 20)
SIGN_UPS = Limit("sign-up", 60)
#: Codes of a second factor, by the account; passkeys that open nothing, by the network address.
FACTORS, PASSKEYS = Limit("factor", 5), Limit("passkey", 20)
#: Links to a role that open nothing, by the network address.
ROLE_LINKS = Limit("role-link", 20)
#: Letters that a visitor can have sent: by the network address they come from, and by where a letter goes.
LETTERS_FROM, LETTERS_TO = Limit("letters-from", 10), Limit("letters-to", 5)
_FREE = {
    limit.kind: limit.free
    for limit in (
        *(BY_NAME, BY_DEVICE, BY_ADDRESS, INVITATIONS, SIGN_UPS, LETTERS_FROM, LETTERS_TO),
        *(FACTORS, PASSKEYS, ROLE_LINKS),
    )
}


def address_key(limit: Limit, request: HttpRequest) -> str:
    """The key of the address that a request comes from."""
    return limit.key(neighbourhood(client_address(request)))


def seconds_to_wait(*keys: str) -> int:
    """Seconds until another try is heard; 0: now."""
    now = timezone.now()
    until = FailedTries.objects.filter(key__in=keys, blocked_until__gt=now).values_list(
        "blocked_until", flat=True
    )
    return max((math.ceil((each - now).total_seconds()) for each in until if each), default=0)


def count_try(*keys: str) -> None:
    """One more try failed."""
    now = timezone.now()
    FailedTries.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
    for key in sorted(keys):
        with transaction.atomic():
            row, is_new = FailedTries.objects.select_for_update().get_or_create(
                key=key, defaults={"failures": 1, "last_at": now}
            )
            if not is_new:
                row.failures += 1
            over = row.failures - _FREE[key.partition(":")[0]]
            if over >= 0:
                seconds = min(LONGEST_WAIT_S, FIRST_WAIT_S << min(over, 10))
                row.blocked_until = now + timedelta(seconds=seconds)
            row.last_at = now
            row.save()


def wait_for_letter(request: HttpRequest, email: str) -> int:
    """Count a letter that is asked for; how many seconds to wait before it may be, 0 where it goes out."""
    keys = (address_key(LETTERS_FROM, request), LETTERS_TO.key(email.lower()))
    if wait := seconds_to_wait(*keys):
        return wait
    count_try(*keys)
    return 0


def forget_tries(*keys: str) -> None:
    """A try succeeded."""
    FailedTries.objects.filter(key__in=keys).delete()


#: Attributes of a request: seconds to wait; the name that has just signed in.
WAIT, SIGNED_IN = "sign_in_wait_s", "signed_in_name"


class ThrottleBackend:
    """Comes first; knows nobody, and refuses everybody who has to wait."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        """Nobody; PermissionDenied ends the attempt before a password is looked at."""
        name = credentials.get("username")
        if request is None or name is None:
            return None
        if wait := seconds_to_wait(*_keys(request, str(name))):
            setattr(request, WAIT, wait)
            raise PermissionDenied
        return None


def count_failure(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: object) -> None:
    """Somebody could not sign in; a try that was not heard counts for nothing."""
    name = credentials.get("username")
    if request is None or name is None or getattr(request, WAIT, None):
        return
    keys = _keys(request, str(name))
    count_try(*keys)
    if wait := seconds_to_wait(*keys):
        setattr(request, WAIT, wait)


def count_success(*, request: HttpRequest | None, user: User, **_: object) -> None:
    """Somebody signed in: their tries are forgotten, those of the address are not."""
    if request is None:
        return
    name = user.get_username()
    device = known_as(request, name)
    forget_tries(BY_DEVICE.key(device) if device else BY_NAME.key(name))
    setattr(request, SIGNED_IN, name)


def device_number(request: HttpRequest) -> str:
    """The random number of the device's cookie, which outlasts sessions; empty where it has none."""
    return _read(request)[0]


def _keys(request: HttpRequest, name: str) -> list[str]:
    device = known_as(request, name)
    person = BY_DEVICE.key(device) if device else BY_NAME.key(name)
    return [person, address_key(BY_ADDRESS, request)]


# The demand for a new password, as one session remembers it.
#
# The database is asked once, at log-in. A password that somebody else sets ends every session of the
# person (Django's session hash), so what a session remembers cannot be older than the password.

#: Of the session: whether the person has to choose a password before anything else.
MUST_CHANGE = "must_change_password"


def note_password_demand(*, request: HttpRequest | None, user: User, **_: object) -> None:
    """On log-in: remember in the session that this person has to choose a password first."""
    if request is not None and PasswordState.objects.filter(user=user, must_change=True).exists():
        request.session[MUST_CHANGE] = True


def forget_password_demand(request: HttpRequest) -> None:
    """The person has chosen a password; the session may go where it likes."""
    request.session.pop(MUST_CHANGE, None)
