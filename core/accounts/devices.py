"""Browsers in which a person is signed in: seen, and ended one by one.

A row is made at sign-in and touched when its session is stored again, which is every ten minutes: no request
asks for more than before. A session that has ended takes its row along at the next look.
"""

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
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
    here: bool


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
