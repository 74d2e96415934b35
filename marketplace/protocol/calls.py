"""One call of the protocol, the table of the operations that answer calls, and their tokens."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.errors import Refusal
from marketplace.models import HITType, Requester, TokenUse

Result = dict[str, Any]


@dataclass(slots=True)
class Call:
    """A checked call: who asks for what, at which marketplace time."""

    operation: str
    requester: Requester
    parameters: dict[str, Any]
    now: datetime
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    #: Origin of this site, as the caller calls it.
    base_url: str = ""
    #: The access key may change nothing.
    read_only: bool = False
    #: The caller's type of this HITTypeId, where it was read before the transaction.
    hit_type: HITType | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """An optional parameter."""
        return self.parameters.get(name, default)

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


Handler = Callable[[Call], Result]


@dataclass(frozen=True, slots=True)
class Operation:
    """How an operation is answered; `writes` says that it changes something."""

    handler: Handler
    writes: bool


OPERATIONS: dict[str, Operation] = {}


def operation(name: str, *, writes: bool) -> Callable[[Handler], Handler]:
    """Register the function that answers the operation `name`."""

    def register(handler: Handler) -> Handler:
        OPERATIONS[name] = Operation(handler, writes)
        return handler

    return register


# UniqueRequestToken: for 24 hours, the second call with a token does nothing but say so.
#
# The token row is written in the transaction of the operation itself, so a token is used exactly when its
# effect was committed; of parallel calls, the database lets one through and the others wait for it.

REMEMBERED = timedelta(hours=24)


def claim_token(
    call: Call, *, duplicate: Callable[[str, str], Refusal], token: str | None = None, result: str = ""
) -> None:
    """Take the call's token; must run in the operation's transaction. Calls without a token pass.

    `result` is what the call is about to make. Raises `duplicate(token, result of the first call)` where
    the token was used in the last 24 hours.
    """
    token = token or call.get("UniqueRequestToken")
    if token is None:
        return
    use = TokenUse(
        requester=call.requester,
        operation=call.operation,
        token=token,
        call_id=call.request_id,
        result=result,
        at=call.now,
    )
    try:
        with transaction.atomic():
            use.save(force_insert=True)
    except IntegrityError:
        uses = TokenUse.objects.filter(requester=call.requester, operation=call.operation, token=token)
        first_use = uses.get()
        # Of two that come after a day at once, one takes the row over: the other finds its call_id changed.
        expired = uses.filter(call_id=first_use.call_id, at__lte=call.now - REMEMBERED)
        if not expired.update(call_id=call.request_id, at=call.now, result=result):
            raise duplicate(token, first_use.result) from None


def already_processed(token: str, _result: str) -> Refusal:
    """Refusal of a repeated extension or bonus."""
    return Refusal("DuplicateRequest", f'The idempotency token "{token}" has already been processed.')


def hit_exists(_token: str, hit_id: str) -> Refusal:
    """Refusal of a repeated creation, naming the HIT that the first call made."""
    return Refusal(
        "HITAlreadyExists", f"You have already created a HIT with this UniqueRequestToken. HITId: {hit_id}"
    )
