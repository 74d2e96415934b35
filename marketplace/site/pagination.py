"""Pages of lists that are too long for one, numbered or by what comes after a row."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

ROWS = 20
M = TypeVar("M", bound=Model)


def numbered(rows: QuerySet[Any] | Sequence[Any], request: HttpRequest, *, name: str = "page") -> Page[Any]:
    """The page that the URL asks for; the nearest one where it asks for nonsense."""
    return Paginator(rows, ROWS).get_page(request.GET.get(name))


def after(rows: QuerySet[M], request: HttpRequest, *, name: str = "before") -> tuple[list[M], int | None]:
    """Rows of an endless log, newest first, older than the one in the URL, and where the next page starts.

    Costs the same on the first page and on the thousandth; nothing is counted.
    """
    start = request.GET.get(name, "")
    if start.isascii() and start.isdigit():
        rows = rows.filter(pk__lt=min(int(start), 2**63 - 1))
    found = list(rows.order_by("-pk")[: ROWS + 1])
    return found[:ROWS], found[ROWS - 1].pk if len(found) > ROWS else None
