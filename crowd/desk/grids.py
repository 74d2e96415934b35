"""A page of the desk with a table, or the table's file.

def listing(request, seat):
    return respond(request, seat, PEOPLE, lambda asked: people(asked["state"]), "people.html")
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from crowd.desk.doors import Seat, show
from crowd.selectors.cached_figures import kept_rows
from tables import grids
from tables.grids import Complete, Filter, Grid, GridRequest, Rows, as_they_are


def respond(
    request: HttpRequest,
    seat: Seat | None,
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
    """`tables.grids.respond` with a template in `folder`, shown to `seat` with `context` beside the rows."""
    return grids.respond(
        request,
        grid,
        rows,
        partial(show, request, template, seat, folder=folder, **context),
        complete=complete,
        more_filters=more_filters,
        file=file,
        first_line=first_line,
        rows_as=rows_as,
        file_at=file_at,
        about=about,
        keep=kept_rows,
    )
