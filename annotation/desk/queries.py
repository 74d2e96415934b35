"""Pages of a project's queries: the table, its download, one query's history, out and back again."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import QUERIES, links_of_query, queries_asked, rows_asked
from annotation.models import Query
from annotation.selectors import queries as selectors
from annotation.selectors.queries import Filters, history
from annotation.selectors.query_progress import NOTHING, Progress, progress
from annotation.services import queries as services
from annotation.services import query_files
from core.errors import ActionError
from core.jobs.models import Job, JobState
from core.projects.models import Project
from web.access import ProjectAccess, Role, on_project
from web.cells import Link, short, with_undo
from web.forms import (
    MOST_MATCHING,
    FormError,
    LogReasonForm,
    chosen_keys,
    is_confirmed,
    matching_keys,
    read_form,
    run_action,
)
from web.job_pages import JobPages
from web.kit import Button, Empty, Listing, Page, Ticks
from web.pages import confirm_all, show, show_table
from web.tables import Choices

QUERY = "annotation:query"
_CSV = "text/csv; charset=utf-8"


class QueryReasonForm(LogReasonForm):
    """A reason that stays in the query's history."""

    help_text = "Stays in the history of the query and in the project's log."


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """The table; filtered, sorted and paged by the address."""
    sources = {str(source.pk): source.name for source in selectors.sources(access.project)}

    def add_progress(page_queries: list[Query]) -> list[tuple[Query, Progress]]:
        done = progress(query.pk for query in page_queries)
        return [(query, done.get(query.pk, NOTHING)) for query in page_queries]

    return show_table(
        request,
        access,
        QUERIES,
        lambda grid: selectors.rows(access.project, Filters.of(grid.values)),
        _describe_list(request, access),
        complete=add_progress,
        more_filters=(Choices("source", "Import", {"": "Any import", **sources}),),
        file_at=reverse("annotation:queries_csv", args=[access.project.slug]),
        tab="queries",
        file_at_once=query_files.AT_ONCE,
    )


def _describe_list(request: HttpRequest, access: ProjectAccess) -> Page:
    ticks = Ticks(
        "chosen",
        lambda row: row[0].pk,
        lambda row: f"“{short(row[0].text, 60)}”",
        f"{access.address('annotation:decide_queries')}?{request.GET.urlencode()}",
        [
            Button("Accept", "decision", "accept", plain=True),
            Button("Exclude", "decision", "exclude", danger=True),
            Button("Take decisions by hand back", "decision", "take_back", plain=True),
        ],
        form=QueryReasonForm(),
        note="This overrides their votes, now and later. Work already done is kept and paid. After you "
        "take it back, the votes decide again.",
        folded="Accept or exclude the ticked queries by hand",
        most=MOST_MATCHING,
    )
    read = "You see what is read, and what the screening rules drop, before anything is stored."
    begin = Link("Import queries", access.address("annotation:import_new")) if access.manages else None
    empty = Empty("No queries yet", f"Queries come in from a query log or a public data set. {read}", begin)
    chosen = ticks if access.manages else None
    return Page("Queries", [Listing("Which queries to show", "query", "queries", empty, ticks=chosen)])


@require_safe
@on_project()
def download(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """What the table shows on all its pages, as CSV; of many queries the page of the job that makes it."""
    address_query = queries_asked(request.GET)
    rows = rows_asked(access.project, address_query)
    if query_files.needs_job(rows):
        job = query_files.ask_file(access.project, address_query)
        return redirect("annotation:queries_file_job", access.project.slug, job.pk)
    answer = StreamingHttpResponse(query_files.lines_of(access.project, rows), content_type=_CSV)
    answer["Content-Disposition"] = f'attachment; filename="{_file_name(access.project)}"'
    return answer


def _file_name(project: Project) -> str:
    return f"{project.slug}-queries.csv"


class QueriesFile(JobPages):
    """Making the file of many queries."""

    app = live_folder = "annotation"
    name = "queries_file"
    tab = "queries"
    kinds = (query_files.MAKE,)
    role = Role.VIEWER
    subject = "The file"
    missing = "There is no such file."
    doing, failed = "File of queries", "The file was not made"

    def name_file(self, project: Project, job: Job) -> str:
        """What it is downloaded as."""
        return _file_name(project)

    def list_trail(self, access: ProjectAccess, context: Mapping[str, Any]) -> list[Link]:
        """The queries that it holds."""
        return [Link("Queries", access.address("annotation:queries"))]

    def context(self, job: Job) -> dict[str, Any]:
        """The same, and until when the file is there."""
        at = job.finished_at + query_files.KEPT if job.finished_at else None
        return super().context(job) | {"until": at, "gone": self.is_over(job)}

    def is_over(self, job: Job) -> bool:
        """Whether its file was kept for as long as files are."""
        return job.finished_at is not None and job.finished_at + query_files.KEPT < timezone.now()

    def describe_rest(self, job: Job) -> str:
        """A file is there whole or not at all."""
        return "Nothing of it is kept."


QUERIES_FILE = QueriesFile()


@require_safe
@on_project()
def made_file(request: HttpRequest, access: ProjectAccess, *, job: int) -> FileResponse:
    """The file that a job made."""
    row = QUERIES_FILE.find_job(access.project, job)
    is_there = row.state == JobState.DONE and not QUERIES_FILE.is_over(row)
    file = query_files.open_file(access.project, row.pk) if is_there else None
    if file is None:
        raise Http404("There is no such file, or it was deleted after a day. Download the queries again.")
    answer = FileResponse(file, as_attachment=True, filename=_file_name(access.project), content_type=_CSV)
    assert row.result is not None  # it is done
    answer["Content-Length"] = str(row.result["bytes"])
    return answer


def _query(access: ProjectAccess, pk: int) -> Query:
    row: Query = get_object_or_404(selectors.of_project(access.project).select_related("source"), pk=pk)
    row.project = access.project
    return row


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
        return "Taken out. People are no longer asked about it; work already done stays, and is paid."

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
        if decision not in _DONE:
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
    decision = request.POST.get("decision", "")
    filters = request.GET.urlencode()
    address = access.address("annotation:queries") + (f"?{filters}" if filters else "")
    try:
        if decision not in _DONE:
            raise FormError("Choose what to do with the queries.")
        reason = read_form(QueryReasonForm(request.POST))["reason"]
        if "every" in request.POST:
            query_ids = matching_keys(request.POST, rows_asked(access.project, queries_asked(request.GET)))
            if not is_confirmed(request.POST):
                return _confirm_decision(request, access, len(query_ids), address)
        else:
            query_ids = chosen_keys(request.POST.getlist("chosen"))
        # What was done to many at once is undone at once.
        at_once = "every" in request.POST or "undo" in request.POST
        decide = services.decide_each if at_once else services.decide_chosen
        outcome = decide(
            project=access.project, queries=query_ids, decision=decision, reason=reason, actor=access.user
        )
    except ActionError as error:
        messages.error(request, str(error))
    else:
        if outcome.done:
            many = "query is" if len(outcome.done) == 1 else "queries are"
            sentence = f"{len(outcome.done)} {many} {_DONE[decision]}."
            if decision in ("accept", "exclude"):
                undo = {
                    "chosen": list(outcome.done),
                    "decision": "take_back",
                    "reason": "Undone at once.",
                    "undo": 1,
                }
                sentence = with_undo(request, sentence, request.get_full_path(), **undo)
            messages.success(request, sentence)
        for text, why in outcome.refused[:_TOLD]:
            messages.warning(request, f"“{text[:80]}” stays as it is. {why}")
        if len(outcome.refused) > _TOLD:
            messages.warning(request, f"Unchanged besides these: {len(outcome.refused) - _TOLD:,}.")
    return redirect(address)


def _confirm_decision(request: HttpRequest, access: ProjectAccess, count: int, back: str) -> HttpResponse:
    verb = {"accept": "Accept", "exclude": "Exclude"}.get(request.POST["decision"], "Take back decisions on")
    note = (
        "All that match the filter. Those about which this cannot be decided stay as they are; the page says "
        "which. It can be undone."
    )
    question = f"{verb} {count:,} {'query' if count == 1 else 'queries'}?"
    return confirm_all(request, access, count=count, question=question, note=note, back=back, tab="queries")
