"""Sessions in the database, and the browsers in which a person is signed in.

Browsers are seen, and ended one by one. A row is made at sign-in and touched when its session is stored
again, which is every ten minutes: no request asks for more than before. A session that has ended takes its
row along at the next look.
"""

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from core.accounts import security
from core.accounts.models import SignedInSession
from core.accounts.security import client_address

_BROWSERS = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox", "Firefox"),
    ("HeadlessChrome", "Chrome"), ("Chrome", "Chrome"), ("Safari", "Safari"), ("curl", "curl"),
)  # fmt: skip
_SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"),
    ("Windows", "Windows"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Device:
    """A browser of a person as their page shows it."""

    row: SignedInSession
    is_current: bool


def device_name(agent: str) -> str:
    """What a browser says of itself, in few words; never its own text."""
    browser = next((name for mark, name in _BROWSERS if re.search(rf"\b{mark}/", agent)), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    return " on ".join(word for word in (browser, system) if word) or "An unknown browser"


def note_sign_in(*, request: HttpRequest | None, user: User, **_: object) -> None:
    """On log-in: the browser is on the person's list."""
    if request is None:
        return
    if not request.session.session_key:
        request.session.create()
    now = timezone.now()
    SignedInSession.objects.update_or_create(
        session_key=request.session.session_key,
        defaults={
            "user": user,
            "device": device_name(request.META.get("HTTP_USER_AGENT", "")),
            "address": client_address(request),
            "began_at": now,
            "seen_at": now,
        },
    )


def note_use(request: HttpRequest) -> None:
    """The session is stored again: its browser was seen now, from this address."""
    rows = SignedInSession.objects.filter(session_key=request.session.session_key)
    rows.update(seen_at=timezone.now(), address=client_address(request))


def devices_of(user: User, request: HttpRequest) -> list[Device]:
    """Every browser in which the person is signed in, the one seen last first."""
    key = request.session.session_key
    return [Device(row, row.session_key == key) for row in _living(user).order_by("-seen_at", "-pk")]


def end_device(*, user: User, pk: int) -> str:
    """Sign one browser out; its name, or nothing where it is none of the person's."""
    row = SignedInSession.objects.filter(user=user, pk=pk).first()
    if row is None:
        return ""
    Session.objects.filter(session_key=row.session_key).delete()
    row.delete()
    security.log("session.ended", subject=row.device)
    return row.device


def end_other_devices(*, user: User, request: HttpRequest) -> None:
    """Sign every other browser out that has a row."""
    others = SignedInSession.objects.filter(user=user).exclude(session_key=request.session.session_key)
    Session.objects.filter(session_key__in=list(others.values_list("session_key", flat=True))).delete()
    others.delete()


def forget_ended() -> QuerySet[SignedInSession]:
    """Rows whose sessions are no more, for the hourly clearing."""
    return SignedInSession.objects.exclude(_session_exists())


def _living(user: User) -> QuerySet[SignedInSession]:
    return SignedInSession.objects.filter(_session_exists(), user=user)


def _session_exists() -> Exists:
    return Exists(Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=timezone.now()))


#: What stored sessions call the backend of passwords, and where it is. The first was its address once, and
#: stays the name: sessions outlive an upgrade, and hosts of two versions share them while they are restarted.
_STORED_BACKEND, _BACKEND = "accounts.backends.ModelBackend", "django.contrib.auth.backends.ModelBackend"


#: Sessions that were read lately, by what is stored of them.
_decoded: dict[tuple[str, ...], dict[str, Any]] = {}
_MOST_DECODED, _LONGEST_DECODED = 2_000, 4_000


class SessionStore(db.SessionStore):
    """Django's own but for the stored name of the backend that signed the person in."""

    def encode(self, session_dict: dict[str, Any]) -> str:
        """As it is stored."""
        if session_dict.get(BACKEND_SESSION_KEY) == _BACKEND:
            session_dict = session_dict | {BACKEND_SESSION_KEY: _STORED_BACKEND}
        return super().encode(session_dict)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """What was stored. The same text is the same session: its signature is checked once."""
        mark = (str(session_data), settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        decoded = _decoded.get(mark)
        if decoded is None:
            decoded = super().decode(session_data)
            if len(_decoded) >= _MOST_DECODED:
                _decoded.clear()
            if decoded and len(session_data) <= _LONGEST_DECODED:
                _decoded[mark] = decoded
        session = deepcopy(decoded)
        if session.get(BACKEND_SESSION_KEY) == _STORED_BACKEND:
            session[BACKEND_SESSION_KEY] = _BACKEND
        return session

    def cycle_key(self) -> None:
        """Another key for the same session; the person's list of browsers goes on with it."""
        before = self.session_key
        super().cycle_key()
        if before and self.get(SESSION_KEY):
            SignedInSession.objects.filter(session_key=before).update(session_key=self.session_key)


#: When a session began, when it was last stored again, and when the person last showed who they are (by
#: signing in, a password or a factor); times since the epoch.
BEGAN, USED, CONFIRMED = "began_at", "used_at", "confirmed_at"
#: How often a session that is used is stored again, which puts off its end.
STORED_EVERY_S = 600


def note_beginning(*, request: HttpRequest | None, **_: object) -> None:
    """On log-in: from now on the session's age counts."""
    if request is not None:
        now = int(timezone.now().timestamp())
        request.session[BEGAN] = request.session[USED] = request.session[CONFIRMED] = now


def note_confirmation(request: HttpRequest) -> None:
    """The person has shown again who they are."""
    request.session[CONFIRMED] = int(timezone.now().timestamp())


def is_confirmed(request: HttpRequest) -> bool:
    """Whether that was within the minutes of REAUTHENTICATION_MINUTES."""
    age = int(timezone.now().timestamp()) - request.session.get(CONFIRMED, 0)
    return bool(0 <= age < settings.REAUTHENTICATION_MINUTES * 60)


def is_over(request: HttpRequest) -> bool:
    """Whether a signed-in session is too old; one that is not, and is used, is kept alive."""
    now = int(timezone.now().timestamp())
    if now - request.session.setdefault(BEGAN, now) > settings.SESSION_LONGEST_S:
        return True
    if now - request.session.get(USED, 0) > STORED_EVERY_S:
        request.session[USED] = now
        note_use(request)
    return False
