"""The signed part of a link to a rewrite: for one answer, for some days."""

from django.conf import settings
from django.core import signing
from django.urls import reverse

_SALT = "annotation.rewriting"
DAYS = 14


def write(answer: int) -> str:
    """The token of an answer."""
    return signing.dumps(answer, salt=_SALT)


def address(answer: int) -> str:
    """Where its author writes it again; whole, for a message."""
    return f"{settings.TASK_URL}{reverse('rewriting:rewrite', args=[write(answer)])}"


def read(token: str) -> int | None:
    """The answer of a token; None where it is not ours or too old."""
    try:
        answer = signing.loads(token, salt=_SALT, max_age=DAYS * 24 * 3600)
    except (signing.BadSignature, ValueError):
        return None
    return answer if isinstance(answer, int) else None
