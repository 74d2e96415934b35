"""Pages of files that name workers line by line: bonuses to pay, and values of a qualification."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import ActionError
from core.files.reading import reading_lines
from core.jobs.models import JobState
from core.money import dollars
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms.sheets import ACCEPTED, ENCODINGS, Sheet
from marketplace.heritage import workerfiles
from marketplace.heritage.models import WorkerFile, WorkerFileLine
from marketplace.heritage.workerfiles import (
    BONUSES,
    GRANT_COLUMNS,
    MOST_TOLD,
    FileFaults,
    grant_lines,
    make_file,
    open_grants,
    reading_of,
)
from marketplace.members import Action
from marketplace.models import QualificationType
from marketplace.money.amounts import money
from marketplace.qualifications.grants import grant_many
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    may_one,
    on_requester,
    respond,
    show,
    trail,
)
from marketplace.requester.batchforms import AmountField
from marketplace.requester.lookup import own_qualification
from marketplace.requester.qualifications import FileForm as GrantsForm
from marketplace.requester.qualifications import act_on_qualification, address_of_qualification
from web import cells
from web.cells import Cell, Code, isolated, opens, several
from web.forms import read_form, run_action
from web.kit import Button, FormSection, Note, Page, Table
from web.tables import Choices, Column, Grid, GridRequest, Rows

PLACE = "workers"
#: Who pays bonuses by files; grants are for managers.
PAYERS = (Action.PAY, Action.MANAGE)
State, LineState = WorkerFile.State, WorkerFileLine.State
#: What became of a line, in words, by what the file is for.
OUTCOMES = {
    WorkerFile.Kind.BONUSES: {
        LineState.WAITING.value: "To pay",
        LineState.DONE.value: "Paid",
        LineState.SAME.value: "Paid before",
        LineState.REFUSED.value: "Refused",
    },
    WorkerFile.Kind.GRANTS: {
        LineState.WAITING.value: "To change",
        LineState.DONE.value: "Changed",
        LineState.SAME.value: "As before",
        LineState.REFUSED.value: "Refused",
    },
}


def _amount(row: WorkerFileLine) -> str | int:
    return dollars(row.amount) if row.holding_id else row.amount


def _grid(file: WorkerFile) -> Grid:
    outcomes = OUTCOMES[WorkerFile.Kind(file.kind)]
    bonus = file.kind == WorkerFile.Kind.BONUSES
    return Grid(
        "lines",
        columns=(
            Column("line", "Line", by="line", number=True),
            Column("worker", "Worker", "worker.worker_id", by="worker__worker_id"),
            *((Column("assignment", "Assignment", "holding.assignment_id"),) if bonus else ()),
            Column("amount", "Amount" if bonus else "Value", _amount, by="amount", down=True, number=True),
            Column("words", "Reason" if bonus else "Status"),
            Column("outcome", "Outcome", lambda row: outcomes[row.state], by="state"),
            Column("why", "Why"),
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
    page = _describe_files(access, form, faults)
    return show(request, page, access, place=PLACE, status=422 if form.errors else 200)


def _draw_purpose(cell: Cell) -> object:
    row = cell.row
    if row.qualification_type:
        return isolated(row.qualification_type.name, most=60)
    return f"Bonuses, {money(row.cents)}"


def _draw_maker(cell: Cell) -> object:
    by = cell.row.created_by
    return several(cells.draw(cell), by and isolated(by), between=", ")


_FILES = (
    Column("number", "Number", number=True, cell=cells.as_it_is),
    Column("file_name", "File", head=True, cell=opens("requester:worker_file", "{}", "number")),
    Column("for", "For", None, cell=_draw_purpose),
    Column("line_count", "Lines", number=True),
    Column("state", "State", lambda row: row.get_state_display()),
    Column("created_at", "Made", cell=_draw_maker),
)
_FAULTS = (
    Column("line", "Line", number=True, cell=cells.as_it_is),
    Column("message", "What is wrong", head=True),
)
_HOW = (
    *(
        Code("worker"),
        " or ",
        Code("assignment"),
        " (an id, or both), ",
        Code("amount"),
        ", ",
        Code("reason"),
    ),
    ". With a worker's id alone the bonus belongs to their latest answer. What was paid before, the same "
    "amount to the same id for the same reason, is never paid again.",
)


def _describe_files(access: RequesterAccess, form: FileForm, faults: list[Any]) -> Page:
    shown, left = faults[: workerfiles.MOST_TOLD], len(faults) - workerfiles.MOST_TOLD
    before: list[Any] = [Table("Lines that are not right", _FAULTS, shown)] if faults else []
    if left > 0:
        before.append(Note(f"And {left:,} more."))
    rows = access.requester.worker_files.exclude(state=State.WITHDRAWN)
    files = rows.select_related("qualification_type", "created_by").order_by("-number")[:50]
    section = FormSection(form, [Button("Preview")], before=before, note=_HOW)
    may_pay = may_one(access.user, access.requester, PAYERS)
    table = Table("Files", _FILES, files, heading="Files", empty="No file yet.")
    return Page(
        "Bonuses by file",
        [section, table] if may_pay else [table],
        lead="A table with a line per bonus: whom, how much, why. You look at all lines and at the total "
        "before anything is paid.",
        trail=trail(access, ("Workers", "requester:workers")),
    )


def _own(access: RequesterAccess, number: int) -> WorkerFile:
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
    request: HttpRequest, access: RequesterAccess, row: WorkerFile, *, form: TotalForm | None = None
) -> HttpResponseBase:
    grid = _grid(row)

    def rows(grid: GridRequest) -> Rows:
        lines = row.lines.select_related("worker", "holding").defer("holding__answer")
        return lines if grid["outcome"] == "all" else lines.filter(state=grid["outcome"])

    outcomes = OUTCOMES[WorkerFile.Kind(row.kind)]
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


def _may_do(access: RequesterAccess, row: WorkerFile) -> bool:
    needed = PAYERS if row.kind == WorkerFile.Kind.BONUSES else Action.MANAGE
    return may_one(access.user, access.requester, needed)


def _standing(row: WorkerFile) -> dict[str, Any]:
    job = workerfiles.job_of_file(row)
    counts = workerfiles.count_lines(row)
    outcomes = OUTCOMES[WorkerFile.Kind(row.kind)]
    return {
        "worker_file": row,
        "bonus": row.kind == WorkerFile.Kind.BONUSES,
        "job": job,
        "at_work": job is not None and job.state in (JobState.QUEUED, JobState.RUNNING),
        "counts": [(outcomes[state], number) for state, number in counts.items()],
        "waiting": counts[LineState.WAITING],
        "paid_cents": workerfiles.paid_cents(row) if row.kind == WorkerFile.Kind.BONUSES else 0,
    }


@require_safe
@never_cache
@on_requester()
def live_file(request: HttpRequest, access: RequesterAccess, *, number: int) -> HttpResponse:
    """The part of a file's page that reloads while its job runs."""
    return show(
        request, "parts/worker_file_live.html", access, place=PLACE, **_standing(_own(access, number))
    )


def _own_to_do(access: RequesterAccess, number: int) -> WorkerFile:
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
    if row.kind == WorkerFile.Kind.BONUSES and row.state == State.DRAFT:
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


# Values of a qualification.


@require_POST
@for_requester
def upload(request: HttpRequest, access: RequesterAccess, *, kind: str) -> HttpResponse:
    """Give and take as a file says: all of its lines, or none; or, for a preview, keep it as a draft."""
    if "preview" in request.POST:
        return _preview(request, access, own_qualification(access.requester, kind))

    def action(row: QualificationType) -> str:
        form = GrantsForm(request.POST, request.FILES)
        file = read_form(form)["file"]
        sheet = open_grants(file.name, file.file)
        outcome = grant_many(qualification_type=row, grants=grant_lines(sheet), now=clock.now())
        read_as = reading_lines(reading_of(sheet, GRANT_COLUMNS, outcome.counts()).as_json())
        return (
            f"{outcome.granted:,} given or changed, {outcome.revoked:,} taken back, "
            f"{outcome.same:,} as before. No messages were sent. "
            f"The file was read as {sheet.description}. {' '.join(read_as)}"
        )

    return act_on_qualification(request, access, kind, action)


def _preview(request: HttpRequest, access: RequesterAccess, row: QualificationType) -> HttpResponse:
    form = GrantsForm(request.POST, request.FILES)
    try:
        file = read_form(form)["file"]
        file_row = make_file(
            requester=access.requester,
            sheet=open_grants(file.name, file.file),
            qualification_type=row,
            user=access.user,
        )
    except FileFaults as error:
        shown_faults = error.faults[:MOST_TOLD]
        messages.error(
            request,
            " ".join([error.message, *(f"Line {each.line}: {each.message}" for each in shown_faults)]),
        )
    except ActionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Lines read: {file_row.line_count:,}. Nothing is changed yet.")
        return redirect("requester:worker_file", access.requester.customer_id, file_row.number)
    return redirect(address_of_qualification(access, row))
