"""UniqueRequestToken: for 24 hours, the second call with a token does nothing but say so.

The token row is written in the transaction of the operation itself, so a token is used exactly when its
effect was committed; of parallel calls, the database lets one through and the others wait for it.
"""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import QuerySet

from core.composed_queries import ComposedInsert
from marketplace.errors import Refusal
from marketplace.models import TokenUse
from marketplace.protocol.calls import Call

REMEMBERED = timedelta(hours=24)
_NEW = ComposedInsert(TokenUse)


def claim(
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
    if _NEW.run_if_new(use):
        return
    use = _uses(call, token).get()
    expired = _uses(call, token).filter(call_id=use.call_id, at__lte=call.now - REMEMBERED)
    if not expired.update(call_id=call.request_id, at=call.now, result=result):
        raise duplicate(token, use.result)


def _uses(call: Call, token: str) -> QuerySet[TokenUse]:
    return TokenUse.objects.filter(requester=call.requester, operation=call.operation, token=token)


def already_processed(token: str, _result: str) -> Refusal:
    """Refusal of a repeated extension or bonus."""
    return Refusal("DuplicateRequest", f'The idempotency token "{token}" has already been processed.')


def hit_exists(_token: str, hit_id: str) -> Refusal:
    """Refusal of a repeated creation, naming the HIT that the first call made."""
    return Refusal(
        "HITAlreadyExists", f"You have already created a HIT with this UniqueRequestToken. HITId: {hit_id}"
    )
