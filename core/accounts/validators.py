"""Passwords that are guessed first: the site's name, the person's name over and over, rows of letters."""

import re
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

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
                "This password is on every list of common passwords.", code="password_common"
            )
        if len(set(plain)) < _FEWEST_DIFFERENT:
            raise ValidationError(
                f"Use at least {_FEWEST_DIFFERENT} different letters or digits.", code="password_repeats"
            )
        if _is_row(plain):
            raise ValidationError(
                "These are letters or digits in their order, which is guessed at once.", code="password_row"
            )
        words = [*HERE, *_names(user)]
        if len(_without(plain, words)) < _LEAST and any(word in plain for word in words):
            raise ValidationError(
                "This is little more than your name or a word of this site.", code="password_of_names"
            )

    def get_help_text(self) -> str:
        """What stands beside the field."""
        return "It is not your name, a word of this site, or letters repeated or in a row."


def _names(user: Any) -> list[str]:
    if not isinstance(user, User):
        return []
    given = (user.get_username(), user.first_name, user.last_name, user.email.partition("@")[0])
    return [plain for name in given if name and len(plain := _NO_LETTER.sub("", name.lower())) > 1]


def _without(text: str, words: list[str]) -> str:
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "")
    return text


def _is_row(text: str) -> bool:
    steps = {ord(after) - ord(before) for before, after in pairwise(text)}
    return steps in ({1}, {-1})
