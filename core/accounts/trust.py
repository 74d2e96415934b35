"""Who may pay, hold keys or name members, and whether they have the second factor that they should have."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from core.accounts.keptforms import PARAMETER
from core.accounts.models import FactorPrompt
from core.extensions import parts_of

#: Factors that stand alone; recovery codes only stand in for one.
_STANDING = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


#: Who chose not now is asked again after so long.
ASKED_AGAIN_AFTER = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Trust:
    """People who may pay, hold keys or name members, by an app's own knowledge; part of its extension."""

    is_given: Callable[[User], bool]


def is_trusted(user: User) -> bool:
    """Whether the person may pay, hold keys or name members somewhere."""
    return user.is_staff or any(part.is_given(user) for part in parts_of(Trust))


def is_required() -> bool:
    """Whether the operator requires a factor for money, keys and members."""
    return bool(settings.SECOND_FACTOR == "require")


def has_factor(user: User) -> bool:
    """Whether the person has an authenticator app or a passkey."""
    return bool(Authenticator.objects.filter(user=user, type__in=_STANDING).exists())


def address_of_prompt(user: User, then: str) -> str:
    """Where log-in leads a person who should set up a factor, and goes on from there; empty: nowhere."""
    # Whoever comes back to what they typed is not held up.
    if settings.SECOND_FACTOR == "off" or f"{PARAMETER}=" in then:
        return ""
    if not is_trusted(user) or has_factor(user):
        return ""
    lately = timezone.now() - ASKED_AGAIN_AFTER
    if not is_required() and FactorPrompt.objects.filter(user=user, put_off_at__gt=lately).exists():
        return ""
    return f"{reverse('accounts:factor_prompt')}?{urlencode({'next': then})}"


def put_off(user: User) -> None:
    """The person chose to set up none now."""
    FactorPrompt.objects.update_or_create(user=user, defaults={"put_off_at": timezone.now()})
