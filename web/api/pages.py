"""Pages of rows by an opaque cursor: what comes in meanwhile moves no row to another page.

rows = page_of(Stage.objects.filter(project=…), paging, key=("created_at", "pk"))
return Page[StageOut](items=[describe(row) for row in rows.items], next=rows.next)
"""

import base64
import json
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac
from pydantic import BaseModel, ConfigDict, Field

from web.api.problems import ProblemError

MOST = 200
Item = TypeVar("Item")
Listed = TypeVar("Listed")
Row = TypeVar("Row", bound=Model)


class Order(StrEnum):
    """Which rows come first."""

    OLDEST = "oldest"
    NEWEST = "newest"


class PageRequest(BaseModel):
    """What a list is asked for: where it begins, how many rows, in which order."""

    model_config = ConfigDict(extra="ignore")
    limit: int = Field(50, ge=1, le=MOST, description="Rows of one page.")
    cursor: str = Field(
        "",
        max_length=500,
        description="`next` of the page before, with the same filters and order; else empty.",
    )
    order: Order = Field(Order.OLDEST, description="Rows that come first.")


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: str | None = Field(description="The cursor of the next page; null: this is the last one.")


@dataclass(frozen=True, slots=True)
class RowPage(Generic[Row]):
    """Rows of one page."""

    items: list[Row]
    next: str | None


def page_of(
    rows: QuerySet[Row],
    paging: PageRequest,
    *,
    key: Sequence[str] = ("created_at", "pk"),
    within: object = "",
) -> RowPage[Row]:
    """One page of a queryset in the order of `key`, whose last column is unique and the others not null.

    `within` is what else the rows depend on; a cursor of other filters is refused.
    """
    place = repr((rows.model._meta.label, paging.order.value, within))
    if paging.cursor:
        rows = rows.filter(_after(rows, key, _read(paging.cursor, place), paging.order))
    sign = "-" if paging.order is Order.NEWEST else ""
    fetched = list(rows.order_by(*(f"{sign}{column}" for column in key))[: paging.limit + 1])
    if len(fetched) <= paging.limit:
        return RowPage(fetched, None)
    fetched.pop()
    return RowPage(fetched, _write([_value(fetched[-1], column) for column in key], place))


def page_of_list(
    rows: Iterable[Listed], paging: PageRequest, *, key: Callable[[Listed], int], within: object
) -> tuple[list[Listed], str | None]:
    """One page of rows in memory, and the cursor of the next one; `key` is unique and never changes."""
    place = repr(("list", paging.order.value, within))
    ordered = sorted(rows, key=key, reverse=paging.order is Order.NEWEST)
    if paging.cursor:
        (last,) = _read(paging.cursor, place)
        behind = {Order.NEWEST: operator.lt, Order.OLDEST: operator.gt}[paging.order]
        ordered = [row for row in ordered if behind(key(row), last)]
    if len(ordered) <= paging.limit:
        return ordered, None
    page = ordered[: paging.limit]
    return page, _write([key(page[-1])], place)


def _value(row: Model, column: str) -> Any:
    value: Any = row
    for part in column.split("__"):
        value = getattr(value, part)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _after(rows: QuerySet[Any], key: Sequence[str], values: Sequence[Any], order: Order) -> Q:
    """Rows that come behind these values: (a > x) or (a = x and b > y) …"""
    comparison = "lt" if order is Order.NEWEST else "gt"
    behind, same = Q(), Q()
    for column, value in zip(key, values, strict=True):
        behind |= same & Q(**{f"{column}__{comparison}": value})
        same &= Q(**{column: value})
    return behind


def _write(values: Sequence[Any], place: str) -> str:
    text = json.dumps([_signature(values, place), *values], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str, place: str) -> list[Any]:
    """The values of a cursor that was made for this list; a signature keeps out any other."""
    try:
        decoded = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, list) and decoded and isinstance(decoded[0], str):
        signature, *values = decoded
        if constant_time_compare(signature, _signature(values, place)):
            return values
    raise ProblemError(
        422,
        "cursor_invalid",
        "This cursor is not one of this list with these filters. Begin without a cursor.",
        errors={"cursor": ["Give the `next` of the page before, unchanged, with the same filters."]},
    )


def _signature(values: Sequence[Any], place: str) -> str:
    return salted_hmac("api.cursors", repr((place, values)), algorithm="sha256").hexdigest()[:16]
