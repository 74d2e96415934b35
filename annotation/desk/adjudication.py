"""The desk's pages for queries on which editors were of two minds."""

from collections.abc import Callable

from django import forms
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.desk.columns import UNDECIDED
from annotation.models import Doubt, Query
from annotation.selectors import adjudication as selectors
from annotation.selectors.doubts import doubts_about
from annotation.services import adjudication as services
from annotation.services.doubts import ask_again, keep_decision, leave_out
from annotation.services.queries import accept_by_hand, exclude_by_hand
from crowd.desk.doors import NotEnteredError, Role, Seat, on_project, posted, run_action, show
from crowd.desk.forms import Form
from crowd.desk.grids import respond
from tables.keys import chosen_keys


class AdjudicationForm(Form):
    """Why, in the researcher's words."""

    reason = forms.CharField(max_length=300, required=False, label="Reason")


@require_safe
@on_project()
def queue(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """Queries that are tied, disputed, excluded by one flag, or decided on work that no longer counts."""
    return respond(
        request,
        seat,
        UNDECIDED,
        lambda asked: selectors.undecided_queries(seat.project, asked["state"]),
        "adjudication.html",
        folder="annotation",
        file=f"{seat.project.slug}-undecided",
        rows_as="queries",
        tab="adjudication",
    )


@require_safe
@on_project()
def case(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """One query with everything that was said about it, and the forms that decide."""
    row = _query(seat, query)
    return show(
        request,
        "adjudication_case.html",
        seat,
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
def following(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """On to the next undecided query, or back to the list where none is left."""
    found = selectors.next_undecided(seat.project, query)
    if found is None:
        return redirect("annotation:adjudication", seat.project.slug)
    return redirect("annotation:case", seat.project.slug, found)


@posted
@on_project(Role.MANAGER)
def accept(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """Accept a query that is tied, or that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        accepting = accept_by_hand if row.status == Query.Status.EXCLUDED else services.accept
        accepting(query=row, actor=seat.user, reason=reason)
        return "Accepted."

    return _decided(request, seat, query, action)


@posted
@on_project(Role.MANAGER)
def exclude(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """Exclude a query that is tied, or leave out one that one flag excluded."""

    def action(row: Query, reason: str) -> str:
        excluding = exclude_by_hand if row.status == Query.Status.EXCLUDED else services.exclude
        excluding(query=row, actor=seat.user, reason=reason)
        return "Excluded."

    return _decided(request, seat, query, action)


@posted
@on_project(Role.MANAGER)
def curate(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """Choose the passages of a disputed query."""
    chosen = chosen_keys(request.POST.getlist("passage"))

    def action(row: Query, reason: str) -> str:
        services.curate(query=row, actor=seat.user, candidates=chosen, reason=reason)
        return "Curated with the passages that you chose."

    return _decided(request, seat, query, action)


@posted
@on_project(Role.MANAGER)
def unanswerable(request: HttpRequest, seat: Seat, *, query: int) -> HttpResponse:
    """Say that a disputed query cannot be answered."""

    def action(row: Query, reason: str) -> str:
        services.declare_unanswerable(query=row, actor=seat.user, reason=reason)
        return "Taken out: its passages cannot answer it."

    return _decided(request, seat, query, action)


@posted
@on_project(Role.MANAGER)
def settle_doubt(request: HttpRequest, seat: Seat, *, query: int, doubt: int) -> HttpResponse:
    """Say what becomes of a decision whose work no longer counts."""
    found = get_object_or_404(
        Doubt.objects.select_related("stage"), query=query, query__project=seat.project, pk=doubt
    )

    def action(_: Query, reason: str) -> str:
        try:
            settle, said = _SETTLED[request.POST.get("decision", "")]
        except KeyError:
            raise NotEnteredError("Choose what becomes of the decision.") from None
        settle(doubt=found, actor=seat.user, reason=reason)
        return said

    return _decided(request, seat, query, action)


_SETTLED: dict[str, tuple[Callable[..., None], str]] = {
    "keep": (keep_decision, "The decision stays."),
    "again": (ask_again, "People are asked again."),
    "out": (leave_out, "The query is left out."),
}


def _decided(
    request: HttpRequest, seat: Seat, query: int, action: Callable[[Query, str], str]
) -> HttpResponse:
    """Decide, then go on to the next query; back to this one where something was wrong."""
    row = _query(seat, query)

    def decide() -> str:
        form = AdjudicationForm(request.POST)
        if not form.is_valid():
            raise NotEnteredError("The reason is longer than 300 characters, or cannot be stored.")
        return action(row, form.cleaned_data["reason"])

    return run_action(
        request, decide, "annotation:following", seat.project.slug, row.pk, other="annotation:case"
    )


def _query(seat: Seat, pk: int) -> Query:
    found: Query = get_object_or_404(Query.objects.select_related("project"), project=seat.project, pk=pk)
    return found
