"""Devices on which people have signed in: a signed cookie with digests of names; no way in by itself."""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

_MOST_PEOPLE, _YEAR_S = 5, 365 * 86_400
_signer = signing.Signer(salt="accounts.devices")


def known_as(request: HttpRequest, name: str) -> str:
    """The device's own number where somebody of this name has signed in on it; else empty."""
    number, *people = _read(request)
    return number if _digest(name) in people else ""


def remember(request: HttpRequest, response: HttpResponseBase, name: str) -> None:
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
