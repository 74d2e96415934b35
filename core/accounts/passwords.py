"""Passwords: which are refused because they are guessed first, and the form for a new one."""

import re
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordMixin
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from core.accounts import security
from core.accounts.memberships import memberships_of
from core.accounts.models import PasswordState

#: Words that are easy to think of here; Django's list of 20,000 common passwords has none of them.
HERE = (
    "distillery",
    "crowd",
    "mturk",
    "turk",
    "requester",
    "worker",
    "researcher",
    "admin",
    "welcome",
    "password",
)
#: Common passwords of ten characters and more that Django's list lacks, without spaces and in small letters.
COMMON = frozenset(
    {
        *("qwertzuiop", "azertyuiop", "asdfghjklzxcvbnm", "1q2w3e4r5t6y", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv"),
        *("zaq12wsxcde3", "q1w2e3r4t5y6", "qazwsxedcrfv", "letmeinplease", "letmeinletmein"),
        *("iloveyouforever", "correcthorsebatterystaple", "trustno1trustno1", "changemenow"),
        *("changemeplease", "secretsecret", "opensesame123", "administrator", "administrator1"),
        *("superuser123", "rootrootroot"),
    }
)
_NO_LETTER = re.compile(r"[\W_]+")
_FEWEST_DIFFERENT, _LEAST = 5, 4


class EasyPasswordValidator:
    """Refuse a password of which little is left without spaces, repetition and known words."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError with the reason."""
        plain = _NO_LETTER.sub("", password.lower())
        if plain in COMMON:
            raise ValidationError(
                gettext("This password is on every list of common passwords."), code="password_common"
            )
        if len(set(plain)) < _FEWEST_DIFFERENT:
            raise ValidationError(
                gettext("Use at least %(fewest_different)s different letters or digits.")
                % {"fewest_different": _FEWEST_DIFFERENT},
                code="password_repeats",
            )
        if _is_row(plain):
            raise ValidationError(
                gettext("These are letters or digits in their order, which is guessed at once."),
                code="password_row",
            )
        easy_words = [*HERE, *_names(user), *_surroundings(user)]
        if len(_without(plain, easy_words)) < _LEAST and any(word in plain for word in easy_words):
            raise ValidationError(
                gettext("This is little more than your name or a word of this site."),
                code="password_of_names",
            )

    def password_changed(self, password: str, user: Any = None) -> None:
        """Django's call after any way of setting a password: pages, letters, its admin, a command."""
        # A first password in place of the printed one is no sign that an account was taken over: tokens stay.
        if not PasswordState.objects.filter(user=user, must_change=True).exists():
            security.credentials_ended.send(User, user=user)

    def get_help_text(self) -> str:
        """What is beside the field."""
        return gettext("It is not your name, a word of this site, or letters repeated or in a row.")


def _names(user: Any) -> list[str]:
    if not isinstance(user, User):
        return []
    names = (user.get_username(), user.first_name, user.last_name, user.email.partition("@")[0])
    return [plain for name in names if name and len(plain := _NO_LETTER.sub("", name.lower())) > 1]


def _surroundings(user: Any) -> list[str]:
    """Names of this host, and of the projects and requesters that the person belongs to."""
    names = re.split(r"[^a-z0-9]+", (urlsplit(settings.PUBLIC_URL).hostname or "").lower())
    if isinstance(user, User) and user.pk is not None:
        names += [each.title.lower() for each in memberships_of(user)]
    return [plain for name in names if len(plain := _NO_LETTER.sub("", name)) > _LEAST]


def _without(text: str, terms: list[str]) -> str:
    for word in sorted(terms, key=len, reverse=True):
        text = text.replace(word, "")
    return text


class BreachedPasswordValidator:
    """Refuse a password from breaches with a little added: digits, signs, signs for letters, itself again.

    The list is Django's own: 20,000 passwords that were found most often in breaches, gathered by Royce
    Williams. It lies on this machine, and no other is asked. By itself it holds few of ten characters.
    """

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError with the reason."""
        lower = password.lower()
        for text in (lower, lower.translate(_LETTERS), lower.translate(_LETTERS_TOO)):
            for core in (text, _ENDS.sub("", text), _NO_LETTER.sub("", text)):
                half = core[: len(core) // 2]
                twice = half and half * 2 == core
                if {core, core[::-1], half if twice else core} & _breached():
                    raise ValidationError(
                        gettext(
                            "This is a password from a breach with a little added. Such ones are tried first."
                        ),
                        code="password_breached",
                    )

    def get_help_text(self) -> str:
        """What is beside the field."""
        return gettext("It is no password that was found in a breach, with something added or not.")


#: Signs that stand for letters.
_LETTERS = str.maketrans("013457@$!", "oieastasi")
_LETTERS_TOO = str.maketrans("013457@$!", "oleastasl")
#: Digits and signs around a word.
_ENDS = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_SHORTEST = 5


@cache
def _breached() -> frozenset[str]:
    """Loaded with the first password that is chosen, not at start."""
    return frozenset(word for word in CommonPasswordValidator().passwords if len(word) >= _SHORTEST)


def _is_row(text: str) -> bool:
    steps = {ord(after) - ord(before) for before, after in pairwise(text)}
    return steps in ({1}, {-1})


def new_password_fields(label: StrOrPromise) -> tuple[forms.CharField, forms.CharField]:
    """A new password and its repetition; the rules stand beside the first."""
    first, second = SetPasswordMixin.create_password_fields(
        label1=label, label2=gettext_lazy("The same once more")
    )
    second.help_text = ""
    return first, second


class NewPasswordForm(PasswordChangeForm):
    """The old password, then a new one twice; the new one must really be new."""

    new_password1, new_password2 = new_password_fields(gettext_lazy("New password"))

    def clean(self) -> dict[str, Any]:
        """Refuse the password that is being replaced."""
        cleaned = super().clean() or {}
        if cleaned.get("new_password1") and cleaned["new_password1"] == cleaned.get("old_password"):
            self.add_error("new_password1", gettext("This is the password you have now. Choose another one."))
        return cleaned
