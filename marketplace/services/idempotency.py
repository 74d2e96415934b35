"""Forms that do their work once, however often they are sent."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from marketplace.errors import Refusal
from marketplace.models import Requester, TokenUse

AGAIN = "This was done already; nothing was done twice."


def claim(*, requester: Requester, action: str, once: UUID, now: datetime) -> None:
    """Take the number of a form; must run in the transaction of what the form does.

    Raises Refusal("DuplicateRequest") where the form was sent before. A number is kept for two days, longer
    than any browser repeats a post by itself.
    """
    use = TokenUse(
        requester=requester, operation=f"page:{action}", token=once.hex, call_id=once, result="", at=now
    )
    try:
        with transaction.atomic():
            use.save(force_insert=True)
    except IntegrityError as error:
        raise Refusal("DuplicateRequest", AGAIN) from error
