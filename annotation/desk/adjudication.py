"""The desk's pages for queries on which editors were of two minds."""

from collections.abc import Callable

from django import forms
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import UNDECIDED
from annotation.models import Doubt, Query
from annotation.selectors import curation as selectors
from annotation.selectors.curation import doubts_about
from annotation.services.curation import accept_query, curate_query, declare_unanswerable, exclude_query
from annotation.services.queries import accept_by_hand, exclude_by_hand
from annotation.services.steps import ask_again, keep_decision, leave_out
from crowd.desk.forms import Form
from web.access import ProjectAccess, Role, on_project
from web.forms import FormError, chosen_keys, run_action
from web.pages import show, show_table


class AdjudicationForm(Form):
    """Why, in the researcher's words."""

    reason = forms.CharField(max_length=300, required=False, label="Reason")


@require_safe
@on_project()
def queue(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """Queries that are tied, disputed, excluded by one flag, or decided on work that no longer counts."""
    return show_table(
        request,
        access,
        UNDECIDED,
        lambda asked: selectors.undecided_queries(access.project, asked["state"]),
        "adjudication.html",
        folder="annotation",
        file=f"{access.project.slug}-undecided",
        rows_as="queries",
        tab="adjudication",
    )


@require_safe
@on_project()
def case(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """One query with everything that was said about it, and the forms that decide."""
    row = _query(access, query)
    return show(
        request,
        "adjudication_case.html",
        access,
        folder="annotation",
        tab="adjudication",
        query=row,
        waits=selectors.waits_for_us(row),
        doubted=doubts_about(row),
        votes=selectors.votes_on(row),
        weighing=selectors.selections_on(row),
    )


@require_safe
@on_project()
def following(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """On to the next undecided query, or back to the list where none is left."""
    found = selectors.next_undecided(access.project, query)
    if found is None:
        return redirect("annotation:adjudication", access.project.slug)
    return redirect("annotation:case", access.project.slug, found)


@require_POST
@on_project(Role.MANAGER)
def accept(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Accept a query that is tied, or that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        accepting = accept_by_hand if row.status == Query.Status.EXCLUDED else accept_query
        accepting(query=row, actor=access.user, reason=reason)
        return "Accepted."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def exclude(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Exclude a query that is tied, or leave out one that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        excluding = exclude_by_hand if row.status == Query.Status.EXCLUDED else exclude_query
        excluding(query=row, actor=access.user, reason=reason)
        return "Excluded."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def curate(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Choose the passages of a disputed query."""
    chosen = chosen_keys(request.POST.getlist("passage"))

    def action(row: Query, reason: str) -> str:
        curate_query(query=row, actor=access.user, candidates=chosen, reason=reason)
        return "Curated with the passages that you chose."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def unanswerable(request: HttpRequest, access: ProjectAccess, *, query: int) -> HttpResponse:
    """Say that a disputed query cannot be answered."""

    def action(row: Query, reason: str) -> str:
        declare_unanswerable(query=row, actor=access.user, reason=reason)
        return "Taken out: its passages cannot answer it."

    return _decided(request, access, query, action)


@require_POST
@on_project(Role.MANAGER)
def settle_doubt(request: HttpRequest, access: ProjectAccess, *, query: int, doubt: int) -> HttpResponse:
    """Say what becomes of a decision whose work no longer counts."""
    found = get_object_or_404(
        Doubt.objects.select_related("stage"), query=query, query__project=access.project, pk=doubt
    )

    def action(_: Query, reason: str) -> str:
        try:
            settle, said = _SETTLED[request.POST.get("decision", "")]
        except KeyError:
            raise FormError("Choose what becomes of the decision.") from None
        settle(doubt=found, actor=access.user, reason=reason)
        return said

    return _decided(request, access, query, action)


_SETTLED: dict[str, tuple[Callable[..., None], str]] = {
    "keep": (keep_decision, "The decision stays."),
    "again": (ask_again, "People are asked again."),
    "out": (leave_out, "The query is left out."),
}


def _decided(
    request: HttpRequest, access: ProjectAccess, query: int, action: Callable[[Query, str], str]
) -> HttpResponse:
    """Decide, then go on to the next query; back to this one where something was wrong."""
    row = _query(access, query)

    def decide() -> str:
        form = AdjudicationForm(request.POST)
        if not form.is_valid():
            raise FormError("The reason is longer than 300 characters, or cannot be stored.")
        return action(row, form.cleaned_data["reason"])

    return run_action(
        request, decide, "annotation:following", access.project.slug, row.pk, other="annotation:case"
    )


def _query(access: ProjectAccess, pk: int) -> Query:
    found: Query = get_object_or_404(Query.objects.select_related("project"), project=access.project, pk=pk)
    return found
