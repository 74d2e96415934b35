"""What a task page carries instead of a cookie: signed, for one assignment, with the address to finish at."""

from dataclasses import dataclass

from django.core import signing

_SALT = "crowd.taskpage"


@dataclass(frozen=True, slots=True)
class Ticket:
    """An assignment's key and where its finished form goes."""

    assignment_pk: int
    submit_to: str


def write(ticket: Ticket) -> str:
    """The ticket as text for a hidden field or a header."""
    return signing.dumps([ticket.assignment_pk, ticket.submit_to], salt=_SALT)


def read(text: str, *, max_age_s: int) -> Ticket | None:
    """The ticket again; None where it is not ours or too old."""
    try:
        pk, submit_to = signing.loads(text, salt=_SALT, max_age=max_age_s)
    except (signing.BadSignature, ValueError):
        return None
    return Ticket(pk, submit_to)
