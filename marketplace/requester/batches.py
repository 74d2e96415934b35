"""Batches of a requester: from a table to a look at every task, the cost, publishing, and the results."""

from operator import itemgetter
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.files.reading import reading_lines
from core.jobs.models import Job, JobState
from core.revisions import ConflictError
from marketplace import clock
from marketplace.batches import drafts, extensions, publication, results, selectors, templates
from marketplace.batches.properties import from_stored
from marketplace.batches.selectors import TASK_STATES, Tally
from marketplace.errors import Refusal
from marketplace.forms.html import SANDBOX
from marketplace.forms.sheets import RESULTS, Sheet
from marketplace.lifecycle.hours import Hours
from marketplace.lifecycle.selectors import hit_status
from marketplace.members import Action
from marketplace.models import Batch, BatchExtension, BatchTask, Requester
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    on_requester,
    respond,
    show,
    show_conflict,
    trail,
)
from marketplace.requester.batchforms import (
    ApproveWaitingForm,
    BatchForm,
    BatchPropertiesForm,
    CancelForm,
    HostsForm,
    PublishForm,
    ReviewForm,
)
from marketplace.site import frames
from marketplace.site.lookup import settle_overdue
from metrics.figure import counted
from people.selectors import links_to
from web import cells
from web.cells import Cell, Link, chip, isolated, more, opens, several
from web.kit import Button, Empty, FormSection, Listing, Note, Own, Page
from web.tables import Choices, Column, Grid, GridRequest, Rows, Words

PLACE = "batches"
LIST = ("Batches", "requester:batches")
State = Batch.State
STATES = {
    "all": "All",
    State.DRAFT: "Drafts",
    State.PUBLISHING: "Publishing",
    State.PUBLISHED: "Published",
    State.FAILED: "Stopped",
    State.CANCELLED: "Cancelled",
}
#: What a state is called in a table.
WORDS = {
    State.DRAFT: ("Draft", ""),
    State.PUBLISHING: ("Publishing", "wait"),
    State.PUBLISHED: ("Published", "good"),
    State.FAILED: ("Stopped", "bad"),
    State.CANCELLED: ("Cancelled", ""),
}


def _draw_state(cell: Cell) -> object:
    row = cell.row
    if not row.hours_words:
        return chip(row.words, row.tone)
    closed = ", closed now" if row.is_closed else ""
    return several(chip(row.words, row.tone), chip("hours"), more(row.hours_words, closed))


def _draw_answered(cell: Cell) -> object:
    total = cell.row.tally.total
    return f"{cell.value:,} of {total:,}" if total else f"{cell.value:,}"


BATCHES = Grid(
    "batches",
    columns=(
        Column("number", "Number", by="number", down=True, number=True, cell=cells.as_it_is),
        Column("name", "Name", by="name", head=True, cell=opens("requester:batch", "{}", "number")),
        Column("state", "State", by="state", cell=_draw_state),
        Column("hours", "Hours", "hours_words", on_page=False),
        Column("tasks", "Tasks", "task_count", by="task_count", down=True, number=True),
        Column("published", "Published", "published_count", by="published_count", number=True),
        Column("answered", "Answered", "tally.answered", number=True, cell=_draw_answered),
        Column("review", "To review", "tally.submitted", number=True),
        Column("made", "Made", "created_at", by="created_at", down=True),
    ),
    filters=(Choices("state", "State", STATES, tabs=True), Words("q", "Name")),
    order="number",
)
TASKS = Grid(
    "tasks",
    columns=(
        Column("task", "Task", "ordinal", by="ordinal", number=True),
        Column("values", "Values"),
        Column("hit", "HIT", lambda row: row.hit.hit_id if row.hit else ""),
        Column("status", "Status"),
        Column("places", "Assignments", lambda row: row.hit.max_assignments if row.hit else "", number=True),
        Column("answered", "Answered", number=True),
        Column("review", "To review", lambda row: row.hit.submitted if row.hit else "", number=True),
    ),
    filters=(Choices("state", "Tasks", TASK_STATES, tabs=True),),
    order="task",
)
TASKS_OF_DRAFT = Grid("tasks", columns=TASKS.columns[:2], order="task")


@require_safe
@for_requester
def batches(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The list of batches."""
    now = clock.now()

    def rows(grid: GridRequest) -> Rows:
        matches = selectors.batches(access.requester).filter(name__icontains=grid["q"])
        return matches if grid["state"] == "all" else matches.filter(state=grid["state"])

    def complete(page: list[Any]) -> list[Any]:
        tallies = selectors.tallies(page, now)
        for batch in page:
            batch.tally = tallies[batch.pk]
            batch.words, batch.tone = WORDS[batch.state]
            hours = Hours.of(batch.hours) if batch.hours else None
            batch.hours_words = str(hours) if hours else ""
            batch.is_closed = hours is not None and not hours.is_open(now)
        return page

    return respond(
        request, access, BATCHES, rows, _describe_list(access), place=PLACE, complete=complete, now=now
    )


def _describe_list(access: RequesterAccess) -> Page:
    samples = Link("Templates", access.address("requester:templates"), plain=True)
    new_batch = [Link("New batch", access.address("requester:new_batch"))] if access.may["manage"] else []
    empty, primary = _no_template(access), list[Link]()
    if access.requester.templates.exists():
        begin = "You have a template; now it needs a table: a CSV file whose first line names the columns."
        look = "You see each of them, and what all of them cost, before anything is published."
        empty = Empty("Your first batch", f"{begin} Every line below it becomes a task. {look}", *new_batch)
        primary = [samples, *new_batch]
    return Page(
        "Batches",
        [Listing("Which batches to show", "batch", "batches", empty)],
        lead="A template with ${variables} and a table become HITs, one for each row.",
        primary=primary,
    )


def _no_template(access: RequesterAccess) -> Empty:
    own_page = "Take a sample and change it, or bring one of your own from MTurk as it is."
    words = f"A template is the page that workers see, with ${{variables}} where tasks differ. {own_page}"
    return Empty("First, a template", words, Link("See the samples", access.address("requester:templates")))


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def new(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A template and a table become a draft."""
    posted = request.method == "POST"
    form = BatchForm(
        request.POST if posted else None,
        request.FILES if posted else None,
        requester=access.requester,
        label_suffix="",
        initial={"template": request.GET.get("template", "")},
    )
    if posted and form.is_valid() and (batch := _draft(form, access)):
        messages.success(request, f"{counted(batch.task_count, 'task')} read. Nothing is published yet.")
        return redirect("requester:batch", access.requester.customer_id, batch.number)
    section = FormSection(form, [Button("Read the table")])
    any_template = access.requester.templates.exists()
    page = Page(
        "New batch",
        [section, Own("marketplace/requester/parts/table_sample.html")]
        if any_template
        else [_no_template(access)],
        lead="You see every task, where it loads from, and what all of them cost, before anything is "
        "published.",
        trail=trail(access, LIST),
    )
    return show(request, page, access, place=PLACE, status=422 if form.errors else 200)


def _draft(form: BatchForm, access: RequesterAccess) -> Batch | None:
    fields = form.cleaned_data
    upload = form.upload()
    try:
        sheet = Sheet(
            upload.file,  # type: ignore[arg-type]
            upload.name or "table.csv",
            encoding=fields["encoding"],
            sheet=fields["sheet"],
        )
        return drafts.make_draft(
            requester=access.requester,
            template=fields["template"],
            properties=from_stored(fields["template"].properties),
            sheet=sheet,
            name=fields["name"],
            user=access.user,
        )
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None


@require_safe
@for_requester
def batch(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """One batch: as a draft, what to look at before publishing; afterwards, how far it is."""
    return _page(request, access, own(access, number))


def _page(
    request: HttpRequest,
    access: RequesterAccess,
    batch: Batch,
    *,
    form: PublishForm | None = None,
    cancelling: CancelForm | None = None,
) -> HttpResponseBase:
    now = clock.now()
    settle_overdue(now)

    def rows(grid: GridRequest) -> Rows:
        return selectors.tasks(batch, grid.values.get("state", "all"), now)

    def complete(page: list[Any]) -> list[Any]:
        for task in page:
            hit = task.hit
            task.status = hit_status(hit, now) if hit else ""
            task.answered = hit.submitted + hit.approved + hit.rejected if hit else ""
        return page

    page = templates.parse(batch.html)
    facts = _standing(batch, now)
    hours = Hours.of(batch.hours) if batch.hours else None
    more: dict[str, Any] = facts
    if batch.state == State.DRAFT:
        more |= _of_draft(access.requester, batch, page)
        more["form"] = form or PublishForm(total=facts["cost"].total, label_suffix="")
    return respond(
        request,
        access,
        TASKS_OF_DRAFT if batch.state == State.DRAFT else TASKS,
        rows,
        "batch.html",
        place=PLACE,
        complete=complete,
        file=f"batch-{batch.number}-tasks",
        properties=from_stored(batch.properties),
        variables=page.names,
        now=now,
        shown=results.SHOWN,
        seen=now.isoformat(),
        once=uuid4(),
        hours=hours,
        opens_again=hours.next_opening(now) if hours and not hours.is_open(now) else None,
        study_links=links_to("batch", batch.pk),
        additions=batch.additions.filter(task_count__gt=0).order_by("number")[:5],
        waiting_cents=selectors.waiting_cents(batch) if facts["tally"].submitted else 0,
        cancel_form=cancelling or CancelForm(batch=batch),
        status=422 if form or cancelling else 200,
        **more,
    )


def _standing(batch: Batch, now: Any) -> dict[str, Any]:
    """What a batch's page and the part of it that renews itself both show."""
    publishing_job = publication.job_of(batch, publication.PUBLISH)
    cancelling_job = publication.job_of(batch, publication.CANCEL)
    unfinished = batch.extensions.exclude(state=BatchExtension.State.DONE)
    extension = unfinished.order_by("-pk").first() if batch.state == State.PUBLISHED else None
    extending = extensions.job_of_extension(extension) if extension else None
    label, tone = WORDS[State(batch.state)]
    tally: Tally = selectors.tallies([batch], now)[batch.pk]
    at_work = _open(publishing_job) or _open(cancelling_job)
    return {
        "batch": batch,
        "words": label,
        "tone": tone,
        "tally": tally,
        "cost": publication.cost_of(batch),
        "left": publication.cost_of(batch, tasks=batch.task_count - batch.published_count),
        "publishing": publishing_job,
        "cancelling": cancelling_job,
        "at_work": at_work or _open(extending),
        "extension": extension,
        "extending": extending,
        # No job is at it any more, such as after all its attempts failed: the page offers to go on.
        "stuck": batch.state == State.PUBLISHING and not at_work,
    }


def _open(job: Job | None) -> bool:
    return job is not None and job.state in (JobState.QUEUED, JobState.RUNNING)


def _of_draft(requester: Requester, batch: Batch, page: templates.Page) -> dict[str, Any]:
    cost = publication.cost_of(batch)
    return {
        "hosts": HostsForm(batch=batch, label_suffix=""),
        "unused": templates.unused(page, batch.columns),
        "missing_cents": max(0, cost.total - requester.available_cents),
        "after_cents": requester.available_cents - cost.total,
        "first": 1,
    }


@require_safe
@never_cache
@for_requester
def live(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """The part of a batch's page that changes by itself."""
    batch = own(access, number)
    return show(request, "parts/batch_live.html", access, place=PLACE, **_standing(batch, clock.now()))


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def properties(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Change what the HITs of a draft will have in common."""
    batch = own(access, number)
    posted = request.method == "POST"
    form = BatchPropertiesForm(request.POST if posted else None, requester=access.requester, batch=batch)
    if posted and form.is_valid():
        try:
            drafts.set_properties(
                batch=batch, name=form.cleaned_data["name"], properties=form.properties(), seen=form.seen
            )
        except ConflictError:
            batch = own(access, number)
            form.compare(BatchPropertiesForm(requester=access.requester, batch=batch), request.path)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, "The properties are stored.")
            return redirect("requester:batch", access.requester.customer_id, number)
    published = Note(
        "The batch is published. What its HITs have in common can no longer be changed here.", "warning"
    )
    draft = batch.state == State.DRAFT
    back = Link("Back", access.address("requester:batch", number))
    section = FormSection(
        form,
        [Button("Save"), back] if draft else [back],
        groups=[("The batch", ("name",))],
        after="marketplace/requester/parts/properties_fields.html",
        checked=False,
    )
    page = Page(
        "Properties",
        [section] if draft else [published, section],
        title=f"Properties of {batch.name}",
        lead=isolated(batch.name),
        trail=trail_to(access, batch),
    )
    status = 409 if form.conflict else 422 if form.errors else 200
    return show(request, page, access, place=PLACE, form=form, status=status)


def trail_to(access: RequesterAccess, batch: Batch) -> list[Link]:
    """Where the pages about a batch are."""
    return [*trail(access, LIST), Link(batch.name, access.address("requester:batch", batch.number))]


@require_POST
@for_requester
def set_hosts(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Choose which hosts a draft's tasks load from."""
    batch = own(access, number)
    form = HostsForm(request.POST, batch=batch, label_suffix="")
    if form.is_valid():
        try:
            _act(
                request,
                lambda: drafts.set_hosts(batch=batch, hosts=form.hosts(), seen=form.seen),
                "The tasks load from the hosts that are ticked, and from no other.",
            )
        except ConflictError:
            theirs = HostsForm(batch=own(access, number), label_suffix="")
            back = reverse("requester:batch", args=[access.requester.customer_id, number])
            return show_conflict(request, access, form, theirs, back, place=PLACE)
    else:
        messages.error(request, " ".join(str(each) for errors in form.errors.values() for each in errors))
    return redirect("requester:batch", access.requester.customer_id, number)


@require_safe
@frames.may_frame_ours
@for_requester
def task(request: HttpRequest, access: RequesterAccess, *, number: int, ordinal: int) -> HttpResponse:
    """One task of a batch as its workers see it, with its values; the others are a link away."""
    batch = own(access, number)
    batch_task = get_object_or_404(BatchTask.objects.select_related("hit"), batch=batch, ordinal=ordinal)
    batch_task.batch = batch
    jump = request.GET.get("task", "")
    if jump.isascii() and jump.isdigit() and 1 <= int(jump[:9]) <= batch.task_count:
        return redirect("requester:batch_task", access.requester.customer_id, number, int(jump[:9]))
    return show(
        request,
        "batch_task.html",
        access,
        place=PLACE,
        batch=batch,
        task=batch_task,
        values=list(zip(batch.columns, batch_task.values, strict=True)),
        previous=ordinal - 1 if ordinal > 1 else None,
        next=ordinal + 1 if ordinal < batch.task_count else None,
        frame_url=frames.address_of(batch_task),
        sandbox=SANDBOX,
    )


@require_POST
@for_requester
def publish(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """Publish a draft after its total was typed, or go on with a batch that stopped."""
    batch = own(access, number)
    # Only a draft has its total typed; that of a batch that stopped was confirmed when it was one.
    if batch.state == State.DRAFT:
        form = PublishForm(request.POST, total=publication.cost_of(batch).total, label_suffix="")
        if not form.is_valid():
            return _page(request, access, batch, form=form)
    if batch.extends_id is None:
        _act(request, lambda: publication.publish(batch=batch), "The batch is being published.")
    elif _act(request, lambda: extensions.add_rows(draft=batch), "The rows are added and being published."):
        number = batch.extends.number if batch.extends else number
    return redirect("requester:batch", access.requester.customer_id, number)


@require_POST
@for_requester
def cancel(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """Expire a batch after its number was typed; what is on offer still when it was cancelled, at once."""
    batch = own(access, number)
    if batch.state not in (State.DRAFT, State.CANCELLED):
        form = CancelForm(request.POST, batch=batch)
        if not form.is_valid():
            return _page(request, access, batch, cancelling=form)
    message = "The HITs of the batch are being expired. Work in progress can still be submitted."
    _act(request, lambda: publication.cancel(batch=batch), message)
    return redirect("requester:batch", access.requester.customer_id, number)


@require_POST
@for_requester
def delete(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Throw a draft away."""
    batch = own(access, number)
    if _act(request, lambda: drafts.delete(batch=batch), "The draft is deleted."):
        return redirect("requester:batches", access.requester.customer_id)
    return redirect("requester:batch", access.requester.customer_id, number)


@require_safe
@for_requester
def results_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> StreamingHttpResponse:
    """The answers with MTurk's columns; `show` says which, `times=pacific` has the zone of MTurk's files."""
    batch = own(access, number)
    state_param = request.GET.get("show", "all")
    state = state_param if state_param in results.SHOWN else "all"
    times = "pacific" if request.GET.get("times") == "pacific" else "utc"
    answer = StreamingHttpResponse(
        results.result_lines(batch, now=clock.now(), state=state, times=times),
        content_type="text/csv; charset=utf-8",
    )
    # As MTurk names the file; scripts look for it.
    answer["Content-Disposition"] = f'attachment; filename="Batch_{batch.number}_batch_results.csv"'
    return answer


def own(access: RequesterAccess, number: int) -> Batch:
    """A batch of this requester whose file is read."""
    batches = access.requester.batches.select_related("extends", "end_mail_to")
    # A number that the column cannot hold is an error on PostgreSQL; nothing is found for the largest one.
    row = batches.filter(number=min(number, 2**31 - 1), task_count__gt=0).first()
    if row is None:
        raise Http404("There is no such batch.")
    row.requester = access.requester
    return row


def _act(request: HttpRequest, action: Any, message: str) -> bool:
    try:
        action()
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return False
    messages.success(request, message)
    return True


# Decisions about a whole batch, by a file or all at once: made by a job, with a report per line.

REPORT = Grid(
    "review",
    columns=(
        Column("line", "Line", itemgetter(0), by="line", number=True),
        Column("assignment", "Assignment", itemgetter(1), by="assignment"),
        Column("outcome", "What became of it", lambda row: results.OUTCOMES[row[2]], by="outcome"),
        Column("why", "Why", itemgetter(3)),
    ),
    filters=(Choices("outcome", "Outcome", {"all": "All", **results.OUTCOMES}, tabs=True),),
    order="line",
)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.REVIEW, act=Action.REVIEW)
def upload(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Take a reviewed results file."""
    batch = own(access, number)
    posted = request.method == "POST"
    form = ReviewForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    if posted and form.is_valid() and (job := _start(form, batch)):
        messages.success(request, f"{counted(len(job.payload['decisions']), 'decision')} read.")
        return redirect("requester:batch_review_report", access.requester.customer_id, number, job.pk)
    before = Job.objects.filter(effect__startswith=f"{results.REVIEW}:{batch.pk}:").order_by("-pk")
    return show(
        request,
        "batch_review.html",
        access,
        place=PLACE,
        batch=batch,
        form=form,
        # A result has a line for every decision, thousands of them.
        before=before.defer("result")[:10],
        status=422 if form.errors else 200,
    )


def _start(form: ReviewForm, batch: Batch) -> Job | None:
    fields, file = form.cleaned_data, form.upload()
    try:
        sheet = Sheet(
            file.file,  # type: ignore[arg-type]
            file.name or "results.csv",
            encoding=fields["encoding"],
            sheet=fields["sheet"],
            limits=RESULTS,
        )
        decisions, reading = results.read_decisions(sheet, batch)
        return results.start_decisions(
            batch=batch,
            decisions=decisions,
            reading=reading,
            file_name=sheet.name,
            override=fields["override"],
            once=fields["once"].hex,
        )
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None


@require_POST
@on_requester(act=Action.REVIEW)
def approve_waiting(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Approve all that waited when the batch's page was looked at."""
    batch = own(access, number)
    form = ApproveWaitingForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was approved: open the batch again and press there.")
        return redirect("requester:batch", access.requester.customer_id, number)
    fields = form.cleaned_data
    decisions = results.decisions_on_all_waiting(batch, seen=fields["seen"])
    if not decisions:
        messages.info(request, "Nothing waits for a decision now.")
        return redirect("requester:batch", access.requester.customer_id, number)
    job = results.start_decisions(
        batch=batch, decisions=decisions, file_name="All that waited", override=False, once=fields["once"].hex
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

    def rows(grid: GridRequest) -> Rows:
        lines: list[Any] = row.result or []
        return [line for line in lines if grid["outcome"] in ("all", line[2])]

    labels = {**results.OUTCOMES, "left": "Left as they are"}
    counts = [(labels[key], count) for key, count in results.count_outcomes(row).items()]
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
        read_as=reading_lines(row.payload["read_as"]) if row.payload.get("read_as") else [],
        outcomes=results.OUTCOMES,
    )


@require_safe
@never_cache
@for_requester
def live_reviews(request: HttpRequest, access: RequesterAccess, *, number: int, job: int) -> HttpResponse:
    """The part of a running review's page that changes by itself."""
    batch = own(access, number)
    return show(
        request, "parts/batch_review_live.html", access, place=PLACE, **_live(batch, _job(batch, job))
    )


def _live(batch: Batch, job: Job) -> dict[str, Any]:
    over = job.state in (JobState.FAILED, JobState.CANCELLED)
    return {"batch": batch, "job": job, "over": over, "done": job.state == JobState.DONE}


def _job(batch: Batch, pk: int) -> Job:
    row = get_object_or_404(Job, pk=pk, kind=results.REVIEW)
    # Jobs are numbered over all requesters: the number in the address may be of another one's.
    if row.payload.get("batch") != batch.pk:
        raise Http404("There is no such review.")
    return row
