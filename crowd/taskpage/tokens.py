"""What a task page carries instead of a cookie: signed, for one assignment, with the address to finish at."""

from dataclasses import astuple, dataclass

from django.core import signing

_SALT = "crowd.taskpage"


@dataclass(frozen=True, slots=True)
class Ticket:
    """An assignment's key, where its finished form goes, and whose it is should its row be removed."""

    assignment_pk: int
    submit_to: str
    submission: str = ""
    worker: str = ""


def write(ticket: Ticket) -> str:
    """The ticket as text for a hidden field or a header."""
    return signing.dumps(list(astuple(ticket)), salt=_SALT)


def read(text: str, *, max_age_s: int) -> Ticket | None:
    """The ticket again; None where it is not ours or too old."""
    try:
        return Ticket(*signing.loads(text, salt=_SALT, max_age=max_age_s))
    except (signing.BadSignature, ValueError, TypeError):
        return None
