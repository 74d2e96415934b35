"""Letters to people with an account; the app that can send e-mails brings the sender.

LetterSender(send)      # a part of the extension of `core.notices`
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from core.extensions import parts_of


@dataclass(frozen=True, slots=True)
class LetterSender:
    """Plans one letter: address, subject, lines. It is sent by a job, so that no page waits for it."""

    send: Callable[[str, str, list[str]], None]


def send_letter(address: str, subject: str, lines: list[str]) -> bool:
    """Have a letter sent; False where this installation sends none."""
    if not settings.NOTICES_BY_EMAIL or not address:
        return False
    for sender in parts_of(LetterSender)[:1]:
        sender.send(address, subject, lines)
        return True
    return False
