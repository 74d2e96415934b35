"""Pages of a project's queries: the table, its download, one query's history, out and back again."""

from collections.abc import Iterator
from operator import attrgetter, itemgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import QUERIES, links_of_query
from annotation.models import Query
from annotation.selectors import queries as selectors
from annotation.selectors.queries import Filters, history
from annotation.selectors.query_progress import NOTHING, Progress, progress, with_progress
from annotation.services import queries as services
from core.errors import ActionError
from core.files.cells import cell, csv_text
from core.projects.models import Project
from web.access import ProjectAccess, Role, on_project
from web.forms import FormError, LogReasonForm, chosen_keys, read_form, run_action
from web.pages import show, show_table
from web.tables import Choices

QUERY = "annotation:query"
_AT_ONCE = 1000
#: Columns of the download with the fields that they hold; counts of what people said follow them.
_COLUMNS = {
    "id": "pk", "key": "key", "text": "text", "status": "status", "reason": "status_reason", "type": "type",
    "yes_no": "yes_no", "count": "count", "stratum": "stratum", "weight": "weight",
    "conversation": "conversation", "turn": "turn", "source": "source__name", "line": "line",
}  # fmt: skip
_COUNTS = ("screening_votes", "selections", "answers")
_COUNTS_OF = attrgetter("votes", "selections", "answers")
#: Columns that strangers may have written into; the others hold numbers and our own words.
_TEXTS = frozenset({"key", "text", "reason", "type", "stratum", "conversation", "source"})


class QueryReasonForm(LogReasonForm):
    """A reason that stays in the query's history."""

    help_text = "Stays in the history of the query and in the project's log."


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """The table; filtered, sorted and paged by the address."""
    sources = {str(source.pk): source.name for source in selectors.sources(access.project)}

    def add_progress(found: list[Query]) -> list[tuple[Query, Progress]]:
        done = progress(query.pk for query in found)
        return [(query, done.get(query.pk, NOTHING)) for query in found]

    return show_table(
        request,
        access,
        QUERIES,
        lambda asked: selectors.rows(access.project, Filters.of(asked.values)),
        "queries.html",
        complete=add_progress,
        more_filters=(Choices("source", "Import", {"": "Any import", **sources}),),
        folder="annotation",
        rows_as="page",
        file_at=reverse("annotation:queries_csv", args=[access.project.slug]),
        about=lambda rows: {
            "rows": rows,
            "choosable": access.manages and bool(rows),
            "why_form": QueryReasonForm(),
        },
        tab="queries",
    )


@require_safe
@on_project()
def download(request: HttpRequest, access: ProjectAccess) -> StreamingHttpResponse:
    """What the table shows on all its pages, as CSV, a thousand rows in memory at a time."""
    asked = QUERIES.asked(request.GET)
    rows = asked.sort(selectors.rows(access.project, Filters.of(request.GET.dict())))
    answer = StreamingHttpResponse(_lines(access.project, rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{access.project.slug}-queries.csv"'
    return answer


def _lines(project: Project, found: Any) -> Iterator[str]:
    yield csv_text([(*_COLUMNS, *_COUNTS)])
    rows = found.values_list(*_COLUMNS.values()).iterator(chunk_size=_AT_ONCE)
    for some, counts in with_progress(project, rows, itemgetter(0)):
        # Column by column: of a hundred thousand queries these are two million cells.
        columns = [
            map(cell, column) if name in _TEXTS else column
            for name, column in zip(_COLUMNS, zip(*some, strict=True), strict=True)
        ]
        votes, selections, answers = zip(*map(_COUNTS_OF, counts), strict=True)
        yield csv_text(zip(*columns, votes, selections, answers, strict=True))


def _query(access: ProjectAccess, pk: int) -> Query:
    found: Query = get_object_or_404(selectors.of_project(access.project).select_related("source"), pk=pk)
    found.project = access.project
    return found


@require_safe
@on_project()
def query(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """A query's whole history, from the line of its file to its answers."""
    row = _query(access, pk)
    return show(
        request,
        "query.html",
        access,
        folder="annotation",
        tab="queries",
        query=row,
        beside=links_of_query(access.project, row),
        history=history(row),
        why_form=QueryReasonForm(),
        can_accept=services.can_be_accepted(row),
        can_exclude=services.can_be_excluded(row),
        can_take_back=services.can_be_taken_back(row),
    )


@require_POST
@on_project(Role.MANAGER)
def take_out(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Take a query out of the project."""
    row = _query(access, pk)

    def action() -> str:
        reason = read_form(QueryReasonForm(request.POST))["reason"]
        services.withdraw(query=row, reason=reason, actor=access.user)
        return "Taken out. No more work is asked for it; work already done stays, and is paid."

    return run_action(request, action, QUERY, access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def back(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Put a query back to where it was."""
    row = _query(access, pk)

    def action() -> str:
        reason = read_form(QueryReasonForm(request.POST))["reason"]
        services.put_back(query=row, reason=reason, actor=access.user)
        return f"Put back: {row.get_status_display()}."

    return run_action(request, action, QUERY, access.project.slug, pk)


#: What is said of one query that was decided about, and of several.
_DONE = {
    "accept": "accepted by hand",
    "exclude": "excluded by hand",
    "take_back": "decided by the votes again",
}
#: Refusals that the note after a decision about many spells out.
_TOLD = 10


@require_POST
@on_project(Role.MANAGER)
def decide(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Accept or exclude one query by hand, or take that back."""
    row = _query(access, pk)

    def action() -> str:
        decision = request.POST.get("decision", "")
        if decision not in services.DECISIONS:
            raise FormError("Choose what to do with the query.")
        reason = read_form(QueryReasonForm(request.POST))["reason"]
        services.DECISIONS[decision](query=row, reason=reason, actor=access.user)
        if row.status == Query.Status.DISPUTED:
            return "The decision is taken back: its passages are disputed again."
        return f"It is {_DONE[decision]}: {row.get_status_display()}."

    return run_action(request, action, QUERY, access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def decide_chosen(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Decide about the queries that are ticked in the table, which comes back as it was filtered."""
    chosen = chosen_keys(request.POST.getlist("chosen"))
    decision = request.POST.get("decision", "")
    try:
        outcome = services.decide_chosen(
            project=access.project,
            chosen=chosen,
            decision=decision,
            reason=read_form(QueryReasonForm(request.POST))["reason"],
            actor=access.user,
        )
    except ActionError as error:
        messages.error(request, str(error))
    else:
        if outcome.done:
            many = "query is" if outcome.done == 1 else "queries are"
            messages.success(request, f"{outcome.done} {many} {_DONE[decision]}.")
        for text, why in outcome.refused[:_TOLD]:
            messages.warning(request, f"“{text[:80]}” stays as it is. {why}")
        if len(outcome.refused) > _TOLD:
            messages.warning(request, f"{len(outcome.refused) - _TOLD} more stay as they are.")
    address = reverse("annotation:queries", args=[access.project.slug])
    filters = request.GET.urlencode()
    return redirect(f"{address}?{filters}" if filters else address)
