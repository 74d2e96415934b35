"""Decisions about a whole batch, by a file or all at once: made by a job, with a report per line."""

from operator import itemgetter
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.jobs.models import Job, JobState
from marketplace.batches import reviewed_results
from marketplace.batches.sheets import RESULTS, Sheet
from marketplace.errors import Refusal
from marketplace.models import Batch
from marketplace.requester.access import RequesterAccess, for_requester, respond, show
from marketplace.requester.batchforms import ApproveWaitingForm, ReviewForm
from marketplace.requester.views.batches import PLACE, own
from web.tables import Choices, Column, Grid, GridRequest, Rows

REPORT = Grid(
    "review",
    columns=(
        Column("line", "Line", itemgetter(0), by="line", number=True),
        Column("assignment", "Assignment", itemgetter(1), by="assignment"),
        Column("outcome", "What became of it", lambda row: reviewed_results.OUTCOMES[row[2]], by="outcome"),
        Column("why", "Why", itemgetter(3)),
    ),
    filters=(Choices("outcome", "Outcome", {"all": "All", **reviewed_results.OUTCOMES}, tabs=True),),
    order="line",
)


@require_http_methods(["GET", "HEAD", "POST"])
@for_requester
def upload(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Take a reviewed results file."""
    batch = own(access, number)
    posted = request.method == "POST"
    form = ReviewForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    if posted and form.is_valid() and (job := _start(form, batch)):
        messages.success(request, f"{len(job.payload['decisions']):,} decisions were read.")
        return redirect("requester:batch_review_report", access.requester.customer_id, number, job.pk)
    before = Job.objects.filter(effect__startswith=f"{reviewed_results.REVIEW}:{batch.pk}:").order_by("-pk")
    return show(
        request,
        "batch_review.html",
        access,
        place=PLACE,
        batch=batch,
        form=form,
        before=before.defer("result")[:10],
        status=422 if form.errors else 200,
    )


def _start(form: ReviewForm, batch: Batch) -> Job | None:
    given, file = form.cleaned_data, form.upload()
    try:
        sheet = Sheet(
            file.file,  # type: ignore[arg-type]
            file.name or "results.csv",
            encoding=given["encoding"],
            sheet=given["sheet"],
            limits=RESULTS,
        )
        decisions, left = reviewed_results.read(sheet)
        return reviewed_results.start(
            batch=batch,
            decisions=decisions,
            left=left,
            file_name=sheet.name,
            override=given["override"],
            once=given["once"].hex,
        )
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None


@require_POST
@for_requester
def approve_waiting(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Approve all that waited when the batch's page was looked at."""
    batch = own(access, number)
    form = ApproveWaitingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was approved: open the batch again and press there.")
        return redirect("requester:batch", access.requester.customer_id, number)
    given = form.cleaned_data
    decisions = reviewed_results.all_waiting(batch, seen=given["seen"])
    if not decisions:
        messages.info(request, "Nothing waits for a decision any more.")
        return redirect("requester:batch", access.requester.customer_id, number)
    job = reviewed_results.start(
        batch=batch,
        decisions=decisions,
        file_name="All that waited",
        override=False,
        once=given["once"].hex,
    )
    return redirect("requester:batch_review_report", access.requester.customer_id, number, job.pk)


@require_safe
@for_requester
def report(request: HttpRequest, access: RequesterAccess, *, number: int, job: int) -> HttpResponseBase:
    """What became of every line, or how far the job is."""
    batch = own(access, number)
    row = _job(batch, job)
    if row.state != JobState.DONE:
        return show(request, "batch_review_job.html", access, place=PLACE, **_live(batch, row))

    def rows(asked: GridRequest) -> Rows:
        lines: list[Any] = row.result or []
        return [line for line in lines if asked["outcome"] in ("all", line[2])]

    words = {**reviewed_results.OUTCOMES, "left": "Left as they are"}
    counts = [(words[key], count) for key, count in reviewed_results.count_outcomes(row).items()]
    return respond(
        request,
        access,
        REPORT,
        rows,
        "batch_review_report.html",
        place=PLACE,
        file=f"batch-{batch.number}-review",
        batch=batch,
        job=row,
        counts=counts,
        outcomes=reviewed_results.OUTCOMES,
    )


@require_safe
@never_cache
@for_requester
def live(request: HttpRequest, access: RequesterAccess, *, number: int, job: int) -> HttpResponse:
    """The part of a running review's page that changes by itself."""
    batch = own(access, number)
    return show(
        request, "parts/batch_review_live.html", access, place=PLACE, **_live(batch, _job(batch, job))
    )


def _live(batch: Batch, job: Job) -> dict[str, Any]:
    over = job.state in (JobState.FAILED, JobState.CANCELLED)
    return {"batch": batch, "job": job, "over": over, "done": job.state == JobState.DONE}


def _job(batch: Batch, pk: int) -> Job:
    row = get_object_or_404(Job, pk=pk, kind=reviewed_results.REVIEW)
    if row.payload.get("batch") != batch.pk:
        raise Http404("There is no such review.")
    return row
