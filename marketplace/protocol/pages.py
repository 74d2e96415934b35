"""Lists in pages, with the real service's habit: a NextToken on every page that is not empty.

A token is signed and bound to operation, requester and filters; it names the last row shown, so every page
costs the same however far one has read (keyset, no offset).
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from marketplace.protocol.calls import Call
from marketplace.protocol.errors import ProtocolError

DEFAULT_SIZE = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PREFIX = "p1:"
Row = TypeVar("Row", bound=Model)


def page(
    call: Call, *parts: QuerySet[Row], by: str, newest_first: bool = False, before: Sequence[Row] = ()
) -> tuple[list[Row], str | None]:
    """One page of rows, ordered by the time field `by` and the primary key, and the token of the next.

    The rows of several parts, which share none, come as one list: each part can have an index of its own
    where a query for all would walk through everything. `before` are rows that stand in no table and come
    before the others, in this order of theirs.

    Raises ProtocolError for a token that is not ours or belongs to another list.
    """
    salt = _salt(call)
    token = call.get("NextToken")
    if token is not None:
        moment, pk = _position(token, salt)
        before = [row for row in before if (getattr(row, by), row.pk) > (moment, pk)]
        after, here = ("lt", "lte") if newest_first else ("gt", "gte")
        # The first condition alone lets the index begin at the position; the second drops what was shown.
        parts = tuple(
            part.filter(**{f"{by}__{here}": moment}).filter(
                Q(**{f"{by}__{after}": moment}) | Q(**{f"pk__{after}": pk})
            )
            for part in parts
        )
    order = (f"-{by}", "-pk") if newest_first else (by, "pk")
    size = call.get("MaxResults", DEFAULT_SIZE)
    left = max(0, size - len(before))
    stored = [row for part in parts for row in part.order_by(*order)[:left]]
    if len(parts) > 1:
        stored.sort(key=lambda row: (getattr(row, by), row.pk), reverse=newest_first)
    found = [*before, *stored[:left]][:size]
    if not found:
        return [], None
    last = found[-1]
    position = [(getattr(last, by) - _EPOCH) // timedelta(microseconds=1), last.pk]
    return found, _PREFIX + signing.dumps(position, salt=salt)


def result(name: str, items: list[dict[str, Any]], token: str | None) -> dict[str, Any]:
    """The answer of a list operation; NextToken is left out after the last page."""
    answer: dict[str, Any] = {"NumResults": len(items), name: items}
    if token is not None:
        answer["NextToken"] = token
    return answer


def _salt(call: Call) -> str:
    filters = {
        name: value for name, value in call.parameters.items() if name not in ("NextToken", "MaxResults")
    }
    return f"{call.operation}:{call.requester.pk}:{json.dumps(filters, sort_keys=True)}"


def _position(token: str, salt: str) -> tuple[datetime, int]:
    try:
        microseconds, pk = signing.loads(token.removeprefix(_PREFIX), salt=salt)
    except signing.BadSignature as error:
        raise ProtocolError(
            "ValidationException",
            "1 validation error detected: Value at 'nextToken' failed to satisfy constraint: "
            "Member must be a token that this list returned, with the same parameters",
        ) from error
    return _EPOCH + timedelta(microseconds=microseconds), pk
