"""Workers: the table, one of them, what they are sent or given, singly or by files; their ids at MTurk."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.files.reading import reading_lines
from core.jobs.models import JobState
from core.money import dollars
from marketplace import clock, models, workerfiles
from marketplace.amounts import money
from marketplace.batches.sheets import ACCEPTED, ENCODINGS, Sheet
from marketplace.errors import Refusal
from marketplace.requester import selectors
from marketplace.requester.access import RequesterAccess, for_requester, may_one, on_requester, respond, show
from marketplace.requester.batchforms import AmountField
from marketplace.requester.charts import pace
from marketplace.requester.forms import BlockForm, GrantForm, InvitationForm, MessageForm
from marketplace.requester.lookup import own_worker
from marketplace.services import formerids, people, qualifications
from marketplace.services.decisions import claim
from marketplace.services.members import Action
from marketplace.taskpages import site_url
from marketplace.workerfiles import BONUSES
from web.forms import read_form, run_action
from web.tables import Choices, Column, Grid, GridRequest, Rows, Words

PLACE = "workers"
#: Workers of one message, as the protocol has it.
MOST_NOTIFIED = 100
_BARS, _ROWS = 60, 20


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Everybody who answered something; sorted, filtered and paged by the address."""
    now = clock.now()
    return respond(
        request,
        access,
        selectors.WORKERS,
        lambda grid: selectors.workers(access.requester, state=grid["state"], query=grid["q"], now=now),
        "workers.html",
        place=PLACE,
        complete=lambda rows: selectors.say_how_fast(access.requester, rows, now),
        file="workers",
        now=now,
        latest=selectors.LATEST,
        invitation_form=InvitationForm(auto_id="invite_%s") if access.user.is_staff else None,
    )


@require_POST
@for_requester
def invite(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A link by which people sign up as workers of this installation, for its administrators; shown once."""
    if not access.user.is_staff:
        raise Http404("Administrators invite workers.")
    form = InvitationForm(request.POST, auto_id="invite_%s")
    if not form.is_valid():
        return show(request, "invite_workers.html", access, place=PLACE, form=form, status=422)
    fields = form.cleaned_data
    _, token = people.create_invitation(label=fields["label"], max_uses=fields["uses"], days=fields["days"])
    address = f"{site_url(request)}{reverse('site:invitation', args=[token])}"
    return show(request, "invite_workers.html", access, place=PLACE, address=address, asked=fields)


@require_safe
@for_requester
def worker(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponseBase:
    """What somebody did here, how fast, and what can be done about them."""
    now = clock.now()
    whose = own_worker(access.requester, worker_id, now)
    latest = selectors.latest_work(access.requester, whose, now, rows=_BARS)
    kinds = list(grantable(access.requester))
    return show(
        request,
        "worker.html",
        access,
        place=PLACE,
        now=now,
        whose=whose,
        record=selectors.record(access.requester, whose, now),
        latest=latest[:_ROWS],
        pace=pace(latest),
        blocked=models.Block.objects.filter(requester=access.requester, worker=whose).first(),
        grants=selectors.grants(access.requester, whose),
        written=models.Message.objects.filter(requester=access.requester, worker=whose).order_by("-sent_at")[
            :5
        ],
        country_changes=models.CountryChange.objects.filter(worker=whose).order_by("-at", "-pk")
        if access.user.is_staff
        else None,
        block_form=BlockForm(auto_id="block_%s"),
        grant_form=GrantForm(kinds=kinds, auto_id="grant_%s") if kinds else None,
    )


def grantable(requester: models.Requester) -> QuerySet[models.QualificationType]:
    """Qualifications that this requester can give now."""
    return models.QualificationType.objects.filter(
        requester=requester, deleted_at=None, status=models.QualificationType.Status.ACTIVE
    ).order_by("name")


def _address(access: RequesterAccess, whose: models.Worker) -> str:
    return reverse("requester:worker", args=[access.requester.customer_id, whose.worker_id])


def _act(
    request: HttpRequest, access: RequesterAccess, worker_id: str, action: Callable[[models.Worker], str]
) -> HttpResponse:
    whose = own_worker(access.requester, worker_id, clock.now())

    def all_of_it() -> str:
        with transaction.atomic():
            return action(whose)

    return run_action(request, all_of_it, _address(access, whose))


@require_POST
@for_requester
def block(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Keep somebody from accepting this requester's HITs."""

    def action(whose: models.Worker) -> str:
        reason = read_form(BlockForm(request.POST))["reason"]
        people.block(requester=access.requester, worker=whose, reason=reason)
        return "Blocked: they cannot accept your HITs. What they did stays, and is paid as you decide."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def unblock(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Let somebody in again."""

    def action(whose: models.Worker) -> str:
        people.unblock(requester=access.requester, worker=whose)
        return "Unblocked."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def grant(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Give a qualification, or change its value."""

    def action(whose: models.Worker) -> str:
        values = read_form(GrantForm(request.POST, kinds=grantable(access.requester)))
        kind = models.QualificationType.objects.get(
            requester=access.requester, qualification_type_id=values["kind"], deleted_at=None
        )
        kind.requester = access.requester
        qualifications.grant(
            qualification_type=kind, worker=whose, value=values["value"], notify=values["tell"]
        )
        return f"“{kind.name}” is given, value {values['value']}."

    return _act(request, access, worker_id, action)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def message(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Write to workers: into the inboxes of those who did work here or hold a qualification."""
    posted = request.method == "POST"
    posted_ids = (request.POST if posted else request.GET).getlist("worker")
    worker_ids = [each for each in dict.fromkeys(posted_ids) if "\0" not in each]
    form = MessageForm(request.POST if posted else None)
    problem = ""
    if not worker_ids:
        problem = "Choose recipients first: tick workers in the table, or open one of them."
    elif len(worker_ids) > MOST_NOTIFIED:
        problem = f"One message goes to at most {MOST_NOTIFIED} workers; {len(worker_ids)} are chosen."
    if posted and not problem and form.is_valid():
        return _send(request, access, worker_ids, form.cleaned_data)
    return show(
        request,
        "message.html",
        access,
        place=PLACE,
        form=form,
        asked=worker_ids[:MOST_NOTIFIED],
        problem=problem,
        status=422 if posted else 200,
    )


def _send(
    request: HttpRequest, access: RequesterAccess, worker_ids: list[str], fields: dict[str, Any]
) -> HttpResponse:
    def action() -> str:
        with transaction.atomic():
            claim(requester=access.requester, action="message", once=fields["once"], now=clock.now())
            failures = people.notify_workers(
                requester=access.requester,
                worker_ids=worker_ids,
                subject=fields["subject"],
                body=fields["body"],
            )
            if len(failures) == len(worker_ids):
                why = next(iter(failures.values()))
                raise Refusal("InvalidParameterValue", f"It was not sent to anyone. {why}")
        sent = len(worker_ids) - len(failures)
        left = f" {len(failures)} did not get it: they never worked for you." if failures else ""
        return f"Sent to {sent} worker{'s' if sent != 1 else ''}.{left}"

    back = reverse("requester:workers", args=[access.requester.customer_id])
    return run_action(request, action, back)


# Worker ids of MTurk: a table brought in, and what became of each id.

Kind = models.FormerIdRecord.Kind
RECORDS = Grid(
    "former-ids",
    columns=(
        Column("id", "MTurk id", lambda row: row.former_id, by="former_id"),
        Column("kind", "What is kept", lambda row: row.get_kind_display(), by="kind"),
        Column("applied", "Took effect", lambda row: row.applied_at, by="applied_at", down=True),
    ),
    filters=(
        Choices("kind", "Kept", {"all": "All", **{each.value: each.label for each in Kind}}, tabs=True),
        Words("q", "MTurk id"),
    ),
    order="id",
)


class FormerIdsForm(forms.Form):
    """A table of ids."""

    file = forms.FileField(
        label="Table",
        help_text="CSV or a workbook with the column worker_id, and optionally block (a reason), "
        "qualification (its name or id), value, bonus (an amount) and reason.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(act=Action.MANAGE)
def former_ids(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The records, and the form for a table."""
    posted = request.method == "POST"
    form = FormerIdsForm(request.POST if posted else None, request.FILES if posted else None)
    if posted and form.is_valid() and (answer := _bring_in(request, access, form)):
        return answer

    def rows(grid: GridRequest) -> QuerySet[models.FormerIdRecord]:
        records = models.FormerIdRecord.objects.filter(
            requester=access.requester, former_id__icontains=grid["q"]
        )
        if grid["kind"] != "all":
            records = records.filter(kind=grid["kind"])
        return records.select_related("worker", "qualification_type")

    claims = formerids.contested(access.requester).values("former_id").distinct().order_by("former_id")
    response = respond(
        request,
        access,
        RECORDS,
        rows,
        "former_ids.html",
        place=PLACE,
        form=form,
        contested=claims.count(),
    )
    if form.errors:
        response.status_code = 422
    return response


_MOST_CLAIMS = 500


@require_safe
@on_requester()
def conflicts(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Ids of the requester's tables that several workers state; staff see buttons that settle them."""
    contested: dict[str, list[models.FormerIdClaim]] = {}
    # One more than is shown, which tells whether there are more without counting them.
    claims = list(formerids.contested(access.requester)[: _MOST_CLAIMS + 1])
    for row in claims[:_MOST_CLAIMS]:
        contested.setdefault(row.former_id, []).append(row)
    most = _MOST_CLAIMS if len(claims) > _MOST_CLAIMS else 0
    return show(request, "former_id_conflicts.html", access, place=PLACE, contested=contested, most=most)


@require_POST
@on_requester()
def settle(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Staff decide whose an id is: it concerns all requesters, so none of them does."""
    if not access.staff:
        raise Http404("Staff settle whose an id is.")
    named = request.POST.get("worker", "").replace("\0", "")[:64]
    former_id = request.POST.get("former_id", "").replace("\0", "")[:64]

    def action() -> str:
        worker = models.Worker.objects.filter(worker_id=named).first()
        if worker is None:
            raise Refusal("InvalidParameterValue", "There is no such worker.")
        formerids.settle_claim(former_id=former_id, worker=worker)
        return f"{former_id} is {worker.worker_id}'s."

    address = reverse("requester:former_id_conflicts", args=[access.requester.customer_id])
    return run_action(request, action, address)


def _bring_in(request: HttpRequest, access: RequesterAccess, form: FormerIdsForm) -> HttpResponse | None:
    file = form.cleaned_data["file"]
    try:
        outcome = formerids.bring_in(requester=access.requester, sheet=Sheet(file, file.name or "ids.csv"))
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None
    read_as = " ".join(reading_lines(outcome.reading.as_json()))
    messages.success(request, f"Ids read: {outcome.rows:,}. New records: {outcome.new:,}. {read_as}")
    return redirect("requester:former_ids", access.requester.customer_id)


#: Who pays bonuses by files; grants are for managers.
PAYERS = (Action.PAY, Action.MANAGE)
State, LineState = models.WorkerFile.State, models.WorkerFileLine.State
#: What became of a line, in words, by what the file is for.
OUTCOMES = {
    models.WorkerFile.Kind.BONUSES: {
        LineState.WAITING.value: "To pay",
        LineState.DONE.value: "Paid",
        LineState.SAME.value: "Paid before",
        LineState.REFUSED.value: "Refused",
    },
    models.WorkerFile.Kind.GRANTS: {
        LineState.WAITING.value: "To change",
        LineState.DONE.value: "Changed",
        LineState.SAME.value: "As before",
        LineState.REFUSED.value: "Refused",
    },
}


def _amount(row: models.WorkerFileLine) -> str | int:
    return dollars(row.amount) if row.holding_id else row.amount


def _grid(file: models.WorkerFile) -> Grid:
    outcomes = OUTCOMES[models.WorkerFile.Kind(file.kind)]
    bonus = file.kind == models.WorkerFile.Kind.BONUSES
    return Grid(
        "lines",
        columns=(
            Column("line", "Line", lambda row: row.line, by="line", number=True),
            Column("worker", "Worker", lambda row: row.worker.worker_id, by="worker__worker_id"),
            *((Column("assignment", "Assignment", lambda row: row.holding.assignment_id),) if bonus else ()),
            Column("amount", "Amount" if bonus else "Value", _amount, by="amount", down=True, number=True),
            Column("words", "Reason" if bonus else "Status", lambda row: row.words),
            Column("outcome", "Outcome", lambda row: outcomes[row.state], by="state"),
            Column("why", "Why", lambda row: row.why),
        ),
        filters=(Choices("outcome", "Outcome", {"all": "All", **outcomes}, tabs=True),),
        order="line",
    )


class FileForm(forms.Form):
    """A file of bonuses."""

    file = forms.FileField(
        label="Table",
        help_text="CSV or a workbook with the columns worker or assignment, amount, and reason.",
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()), initial="auto")
    sheet = forms.CharField(
        max_length=200,
        required=False,
        label="Sheet",
        help_text="Of a workbook. Empty: the first one with data.",
    )


class TotalForm(forms.Form):
    """The total with fees, typed."""

    amount = AmountField(label="Type the total to pay", help_text="With fees; so much leaves the account.")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, label_suffix="")


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(act=PAYERS)
def bonuses(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Take a file of bonuses to look at, and list those that were taken."""
    posted = request.method == "POST"
    form = FileForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    faults: list[Any] = []
    if posted and form.is_valid():
        fields = form.cleaned_data
        try:
            sheet = Sheet(
                fields["file"].file,
                fields["file"].name or "bonuses.csv",
                encoding=fields["encoding"],
                sheet=fields["sheet"],
                limits=BONUSES,
            )
            file_row = workerfiles.make_file(requester=access.requester, sheet=sheet, user=access.user)
        except workerfiles.FileFaults as error:
            form.add_error("file", error.message)
            faults = error.faults
        except Refusal as refusal:
            form.add_error("file", refusal.message)
        else:
            messages.success(request, f"Lines read: {file_row.line_count:,}. Nothing is paid yet.")
            return redirect("requester:worker_file", access.requester.customer_id, file_row.number)
    return show(
        request,
        "bonus_files.html",
        access,
        place=PLACE,
        form=form,
        faults=faults[: workerfiles.MOST_TOLD],
        more_faults=max(0, len(faults) - workerfiles.MOST_TOLD),
        may_pay=may_one(access.user, access.requester, PAYERS),
        files=access.requester.worker_files.exclude(state=State.WITHDRAWN)
        .select_related("qualification_type", "created_by")
        .order_by("-number")[:50],
        now=clock.now(),
        status=422 if form.errors else 200,
    )


def _own(access: RequesterAccess, number: int) -> models.WorkerFile:
    files = access.requester.worker_files.select_related("qualification_type", "created_by", "confirmed_by")
    # A number that the column cannot hold is an error on PostgreSQL.
    row = files.filter(number=min(number, 2**31 - 1)).exclude(state=State.WITHDRAWN).first()
    if row is None:
        raise Http404("There is no such file.")
    row.requester = access.requester
    return row


@require_safe
@on_requester()
def file_page(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """As a draft, what each line asks for; afterwards, what became of it."""
    return _page(request, access, _own(access, number))


def _page(
    request: HttpRequest, access: RequesterAccess, row: models.WorkerFile, *, form: TotalForm | None = None
) -> HttpResponseBase:
    grid = _grid(row)

    def rows(grid: GridRequest) -> Rows:
        lines = row.lines.select_related("worker", "holding").defer("holding__answer")
        return lines if grid["outcome"] == "all" else lines.filter(state=grid["outcome"])

    outcomes = OUTCOMES[models.WorkerFile.Kind(row.kind)]
    total = row.cents + row.fee_cents
    return respond(
        request,
        access,
        grid,
        rows,
        "worker_file.html",
        place=PLACE,
        file=f"file-{row.number}",
        outcomes=outcomes,
        read_as=reading_lines(row.read_as) if row.read_as else [],
        form=form or TotalForm(),
        total=total,
        missing_cents=max(0, total - access.requester.available_cents),
        may_do=_may_do(access, row),
        now=clock.now(),
        status=422 if form else 200,
        **_standing(row),
    )


def _may_do(access: RequesterAccess, row: models.WorkerFile) -> bool:
    needed = PAYERS if row.kind == models.WorkerFile.Kind.BONUSES else Action.MANAGE
    return may_one(access.user, access.requester, needed)


def _standing(row: models.WorkerFile) -> dict[str, Any]:
    job = workerfiles.job_of_file(row)
    counts = workerfiles.count_lines(row)
    outcomes = OUTCOMES[models.WorkerFile.Kind(row.kind)]
    return {
        "worker_file": row,
        "bonus": row.kind == models.WorkerFile.Kind.BONUSES,
        "job": job,
        "at_work": job is not None and job.state in (JobState.QUEUED, JobState.RUNNING),
        "counts": [(outcomes[state], number) for state, number in counts.items()],
        "waiting": counts[LineState.WAITING],
        "paid_cents": workerfiles.paid_cents(row) if row.kind == models.WorkerFile.Kind.BONUSES else 0,
    }


@require_safe
@never_cache
@on_requester()
def live_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """The part of a file's page that changes by itself."""
    return show(
        request, "parts/worker_file_live.html", access, place=PLACE, **_standing(_own(access, number))
    )


def _own_to_do(access: RequesterAccess, number: int) -> models.WorkerFile:
    row = _own(access, number)
    if not _may_do(access, row):
        raise Http404("There is no such file.")
    return row


@require_POST
@on_requester(act=PAYERS)
def confirm_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponseBase:
    """Pay, or give: once, however often the form is sent."""
    row = _own_to_do(access, number)
    cents = None
    if row.kind == models.WorkerFile.Kind.BONUSES and row.state == State.DRAFT:
        form = TotalForm(request.POST)
        if form.is_valid() and form.cleaned_data["amount"] != row.cents + row.fee_cents:
            form.add_error("amount", f"The total is {money(row.cents + row.fee_cents)}.")
        if not form.is_valid():
            return _page(request, access, row, form=form)
        cents = read_form(form)["amount"]

    def action() -> str:
        workerfiles.confirm(file=row, cents=cents, user=access.user)
        return "The file is confirmed."

    return run_action(request, action, _file_address(access, number))


@require_POST
@on_requester(act=PAYERS)
def withdraw_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Throw a draft away."""
    row = _own_to_do(access, number)

    def action() -> str:
        workerfiles.withdraw(file=row)
        return "The file is discarded. None of it was done."

    listing = reverse("requester:bonus_files", args=[access.requester.customer_id])
    return run_action(request, action, listing, other=_file_address(access, number))


@require_POST
@on_requester(act=PAYERS)
def continue_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """Go on with a file for which the money did not last."""
    row = _own_to_do(access, number)

    def action() -> str:
        workerfiles.go_on(file=row)
        return "It goes on where it stopped."

    return run_action(request, action, _file_address(access, number))


def _file_address(access: RequesterAccess, number: int) -> str:
    return reverse("requester:worker_file", args=[access.requester.customer_id, number])
