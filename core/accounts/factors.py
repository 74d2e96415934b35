"""Second factors: an authenticator app, passkeys, recovery codes; who should have one, and their forms.

Protocols and tables are django-allauth's. What is ours: a code counts once and for all processes, wrong ones
wait as wrong passwords do, and who may pay or hold keys is asked for a factor.
"""

import base64
import struct
import time
from dataclasses import dataclass
from typing import Any

from allauth.mfa import app_settings
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.utils import decrypt
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext, gettext_lazy

from core.accounts import guards, security

Type = Authenticator.Type
_LAST_COUNTER = "last_counter"


def _code_field() -> forms.CharField:
    attributes = {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
    return forms.CharField(
        label=gettext_lazy("Code"), max_length=20, widget=forms.TextInput(attrs=attributes)
    )


class GuardedCode:
    """For forms of django-allauth that take a code: wrong ones wait, right ones count once."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        """The code; ValidationError with a sentence."""
        key = guards.FACTORS.key(str(self.user.pk))
        if wait := guards.seconds_to_wait(key):
            raise ValidationError(
                gettext("Too many wrong codes. Wait %(wait)s seconds, then try again.") % {"wait": wait}
            )
        try:
            code: str = super().clean_code()  # type: ignore[misc]  # of the form beside this class
            if self.authenticator.type == Type.TOTP and not accept_once(self.authenticator, code):
                raise ValidationError(gettext("This code was used already. Wait for the next one."))
        except ValidationError:
            guards.count_try(key)
            security.log("factor.failed", actor=self.user.get_username())
            raise
        guards.forget_tries(key)
        return code


class SignInCodeForm(GuardedCode, AuthenticateForm):  # type: ignore[misc]  # theirs has no types
    """The code at sign-in, of the app or a recovery code."""

    code = _code_field()


class ConfirmCodeForm(GuardedCode, ReauthenticateForm):  # type: ignore[misc]
    """The code by which a signed-in person shows again who they are."""

    code = _code_field()


class NewAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of a new authenticator app."""

    code = _code_field()


#: What the library raises for a credential that was made up, beside the refusals that it knows.
_MADE_UP = (KeyError, AttributeError, TypeError, ValueError, IndexError, struct.error, InvalidSignature)


class GuardedCredential:
    """For forms of django-allauth that take a passkey: whatever is no credential is refused in words."""

    def clean_credential(self) -> Any:
        """Whose passkey it is."""
        try:
            return super().clean_credential()  # type: ignore[misc]  # of the form beside this class
        except _MADE_UP as error:
            raise ValidationError(gettext("This is no passkey.")) from error


class SignInPasskeyForm(GuardedCredential, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as the second factor."""


class PasskeyForm(GuardedCredential, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey in place of name and password."""


class ConfirmPasskeyForm(GuardedCredential, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey by which a signed-in person shows again who they are."""


class NewPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey that a browser has just made."""

    def clean(self) -> dict[str, Any]:
        """Its credential as the library wants it."""
        try:
            cleaned: dict[str, Any] = super().clean()
        except _MADE_UP as error:
            raise ValidationError(gettext("This is no passkey.")) from error
        return cleaned


def accept_once(authenticator: Authenticator, code: str) -> bool:
    """Note the time step of a right code; False where it, or a later one, was used before."""
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        step = _step_of(decrypt(row.data["secret"]), code)
        if step is None or step <= row.data.get(_LAST_COUNTER, -1):
            return False
        row.data[_LAST_COUNTER] = step
        row.save(update_fields=["data"])
    authenticator.data = row.data
    return True


def _step_of(secret: str, code: str) -> int | None:
    digits = "".join(each for each in code if each.isalnum())
    generator = HOTP(base64.b32decode(secret, casefold=True), app_settings.TOTP_DIGITS, SHA1())  # noqa: S303  # the algorithm of authenticator apps
    now, tolerance = int(time.time()) // app_settings.TOTP_PERIOD, app_settings.TOTP_TOLERANCE
    for step in range(now - tolerance, now + tolerance + 1):
        if constant_time_compare(generator.generate(step), digits):
            return step
    return None


@dataclass(frozen=True, slots=True)
class Factors:
    """What a person has, as their page shows it."""

    app: Authenticator | None
    passkeys: list[Authenticator]
    codes_left: int | None

    @property
    def any(self) -> bool:
        """Whether there is one that needs no other."""
        return self.app is not None or bool(self.passkeys)


def factors_of(user: User) -> Factors:
    """All factors of a person, in one query."""
    rows = list(Authenticator.objects.filter(user=user).order_by("pk"))
    codes = next((row for row in rows if row.type == Type.RECOVERY_CODES), None)
    return Factors(
        app=next((row for row in rows if row.type == Type.TOTP), None),
        passkeys=[row for row in rows if row.type == Type.WEBAUTHN],
        codes_left=len(codes.wrap().get_unused_codes()) if codes else None,
    )


def sealed_secrets(row: Authenticator) -> dict[str, str]:
    """The sealed values in a row's data, by name: they are sealed anew when SECRET_KEY changes."""
    return {name: row.data[name] for name in ("secret", "seed") if row.data.get(name)}
