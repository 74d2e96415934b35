"""Rendering a page of the desk, one with a table or the table's file, and the pages shown in place of one.

def listing(request, access):
    return show_table(request, access, PEOPLE, lambda asked: people(asked["state"]), "people.html")
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import http_date
from django.utils.module_loading import import_string

from web import kit, tables
from web.cache import oldest_on_page
from web.cells import Link
from web.forms import RevisedForm
from web.tables import Complete, Filter, Grid, GridRequest, Rows, as_they_are

# Views by their dotted names: their modules are imported at the first request, not when Django starts.


def lazy_view(name: str) -> Callable[..., HttpResponse]:
    """The view of this dotted name, for pages whose modules load numpy or another slow library."""

    def view(*args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = import_string(name)(*args, **kwargs)
        return response

    view.dotted_name = name  # type: ignore[attr-defined]  # for the test that every name is one of a view
    return view


_ENDING = re.compile(r'(\.[a-z]+")$')


class Access(Protocol):
    """A person at a project or at a part of it."""

    def page_context(self) -> dict[str, Any]:
        """What the frame around a page shows."""


def show(
    request: HttpRequest,
    template: str | kit.Page,
    access: Access | None = None,
    *,
    folder: str = "desk",
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """A page of the desk; apps above `crowd` have templates in a folder of their own."""
    assert isinstance(request.user, User)
    own: dict[str, Any] = {"access": access, "project": None}
    own["figures_at"] = oldest_on_page  # called at the end of the page, when all its figures are there
    if access is not None:
        own |= access.page_context()
    return render_page(request, template, access, own | context, folder=folder, status=status)


def render_page(
    request: HttpRequest,
    page: str | kit.Page,
    access: Any,
    context: Mapping[str, Any],
    *,
    folder: str,
    status: int = 200,
) -> HttpResponse:
    """A page that is declared, or one with a template of its own in the folder."""
    if isinstance(page, kit.Page):
        return render(request, kit.TEMPLATE, {**context, **page.template_context(access)}, status=status)
    return render(request, f"{folder}/{page}", dict(context), status=status)


def show_conflict(
    request: HttpRequest, access: Access, form: RevisedForm, theirs: RevisedForm, back: str
) -> HttpResponse:
    """The page for a small form whose row another person changed first; large forms show it on their own."""
    form.compare(theirs, back)
    return show(request, conflict_page(form), access, status=409)


def conflict_page(form: Any) -> kit.Page:
    """What was typed beside what another person stored meanwhile; the buttons are in the comparison."""
    return kit.Page("Both versions", [kit.FormSection(form, [])])


def confirm_all(
    request: HttpRequest, access: Access, *, count: int, question: str, note: str, back: str, **context: Any
) -> HttpResponse:
    """The page that says how many rows a form acts on, before it does; it sends the form again."""
    again = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in ("csrfmiddlewaretoken", "chosen", "every", "confirmed")
        for value in values
    ]
    form = kit.FormSection(
        forms.Form(),
        [kit.Button(question.removesuffix("?")), Link("Back", back)],
        action=request.get_full_path(),
        lead=note,
        fields=[*again, ("every", count), ("confirmed", 1)],
    )
    return show(request, kit.Page(question, [form]), access, **context)


def date_file(answer: HttpResponseBase) -> HttpResponseBase:
    """Have a file of older figures say when they were counted, in its name and as Last-Modified.

    A page has a sentence for it (`project_base.html`); a file is read later, elsewhere.
    """
    at, name = oldest_on_page(), answer.get("Content-Disposition", "")
    if at is not None and name:
        answer["Last-Modified"] = http_date(at.timestamp())
        answer["Content-Disposition"] = _ENDING.sub(rf"-counted-{at:%Y%m%dT%H%M%SZ}\1", name)
    return answer


def show_table(
    request: HttpRequest,
    access: Access | None,
    grid: Grid,
    rows: Callable[[GridRequest], Rows],
    template: str | kit.Page,
    *,
    complete: Complete = as_they_are,
    more_filters: Sequence[Filter] = (),
    folder: str = "desk",
    file: str = "",
    rows_as: str = "rows",
    file_at: str = "",
    about: Callable[[list[Any]], Mapping[str, Any]] = lambda _: {},
    **context: Any,
) -> HttpResponseBase:
    """`web.tables.respond` with a page, or a template in `folder`, shown to `access` with `context`."""
    return tables.respond(
        request,
        grid,
        rows,
        partial(show, request, template, access, folder=folder, **context),
        complete=complete,
        more_filters=more_filters,
        file=file,
        rows_as=rows_as,
        file_at=file_at,
        about=about,
    )
