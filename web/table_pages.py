"""A page of the desk with a table, or the table's file.

def listing(request, access):
    return respond(request, access, PEOPLE, lambda asked: people(asked["state"]), "people.html")
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from web import tables
from web.cache import cached_rows
from web.pages import Access, show
from web.tables import Complete, Filter, Grid, GridRequest, Rows, as_they_are


def respond(
    request: HttpRequest,
    access: Access | None,
    grid: Grid,
    rows: Callable[[GridRequest], Rows],
    template: str,
    *,
    complete: Complete = as_they_are,
    more_filters: Sequence[Filter] = (),
    folder: str = "desk",
    file: str = "",
    first_line: str = "",
    rows_as: str = "rows",
    file_at: str = "",
    about: Callable[[list[Any]], Mapping[str, Any]] = lambda _: {},
    **context: Any,
) -> HttpResponseBase:
    """`web.tables.respond` with a template in `folder`, shown to `access` with `context` beside the rows."""
    return tables.respond(
        request,
        grid,
        rows,
        partial(show, request, template, access, folder=folder, **context),
        complete=complete,
        more_filters=more_filters,
        file=file,
        first_line=first_line,
        rows_as=rows_as,
        file_at=file_at,
        about=about,
        keep=cached_rows,
    )
