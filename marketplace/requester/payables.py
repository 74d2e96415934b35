"""Reports for the finance office: what each worker is to be paid."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from core.accounts.confirmation import confirmed, needs_factor
from core.files.cells import csv_line_writer, plain
from core.money import dollars
from marketplace import clock
from marketplace.amounts import money
from marketplace.errors import Refusal
from marketplace.models import Payable, Worker
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond
from marketplace.requester.forms import PayableForm
from marketplace.services import finance as services
from marketplace.services import people
from marketplace.services.finance import payment_note, unreported, workers_of
from marketplace.services.members import Action
from marketplace.services.payees import details_in_words
from marketplace.sweep import settle
from web import tables as grids
from web.tables import Choices, Column, Grid, GridRequest

PAYABLES = Grid(
    "payables",
    columns=(
        Column("number", "Report", attrgetter("number"), by="number", down=True),
        Column("until", "Payments before", attrgetter("until")),
        Column("workers", "Workers", attrgetter("workers"), by="workers", down=True, number=True),
        Column("cents", "Sum", attrgetter("cents"), by="cents", down=True, number=True),
        Column("made_at", "Made", attrgetter("made_at"), on_page=False),
        Column("paid_at", "Paid out", attrgetter("paid_at"), by="paid_at", down=True, gaps=True),
    ),
    filters=(Choices("state", "State", {"all": "All", "open": "To pay out", "paid": "Paid out"}, tabs=True),),
    order="number",
)


@dataclass(frozen=True, slots=True)
class Due:
    """A row of a report: a worker (or all of them) and what they get."""

    worker_id: str
    details: str
    simulated: bool
    reward_count: int
    rewards_cents: int
    bonus_count: int
    bonuses_cents: int
    total_cents: int

    @property
    def amount(self) -> str:
        """The total with two decimals."""
        return dollars(self.total_cents)

    @property
    def currency(self) -> str:
        """What it is counted in."""
        return settings.MARKETPLACE_CURRENCY


def _number(name: str, label: str) -> Column:
    return Column(name, label, attrgetter(name), by=name, down=True, number=True)


PAYABLE = Grid(
    "payable",
    columns=(
        Column("worker_id", "Worker", attrgetter("worker_id"), by="worker_id"),
        Column("payment_details", "How to be paid", attrgetter("details"), on_page=False),
        Column("simulated", "Simulated", attrgetter("simulated"), on_page=False),
        _number("reward_count", "Rewards"),
        _number("rewards_cents", "In rewards"),
        _number("bonus_count", "Bonuses"),
        _number("bonuses_cents", "In bonuses"),
        _number("total_cents", "Together"),
        Column("total", "Total", attrgetter("amount"), on_page=False),
        Column("currency", "Currency", attrgetter("currency"), on_page=False),
    ),
    order="worker_id",
)
_SUMS = ("reward_count", "rewards_cents", "bonus_count", "bonuses_cents", "total_cents")


@require_safe
@needs_factor
@for_requester
def payables(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The reports, the latest first, and what no report has yet."""
    now = clock.now()
    people_due = unreported(access.requester, until=now)
    all_due = unreported(access.requester, until=now, simulated=True)

    def rows(asked: GridRequest) -> QuerySet[Payable]:
        found = access.requester.payables.select_related("made_by")
        if asked["state"] == "all":
            return found
        return found.filter(paid_at=None) if asked["state"] == "open" else found.exclude(paid_at=None)

    due = people_due.aggregate(cents=Sum("cents"))["cents"] or 0
    return respond(
        request,
        access,
        PAYABLES,
        rows,
        "payables.html",
        place="money",
        file=f"payables-{access.requester.customer_id}",
        now=now,
        form=PayableForm(),
        due=due,
        simulated_due=(all_due.aggregate(cents=Sum("cents"))["cents"] or 0) - due,
        may_book=people.may_book(access.requester, access.user),
    )


@require_POST
@needs_factor
@on_requester(act=Action.PAY)
def make_payable(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Put all payments that no report has into a new one."""
    form = PayableForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Write the day as in 2026-11-30, or leave it empty.")
        return redirect("requester:payables", access.requester.customer_id)
    # What is due by the clock is paid first, so that the report has it.
    settle()
    try:
        report = services.make_payable(
            requester=access.requester,
            until=form.until or clock.now(),
            by=access.user,
            simulated=form.cleaned_data["simulated"],
        )
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("requester:payables", access.requester.customer_id)
    messages.success(request, f"{money(report.cents)} to {report.workers} stand in report {report.number}.")
    return redirect("requester:payable", access.requester.customer_id, report.number)


def _report(access: RequesterAccess, number: int) -> Payable:
    report = access.requester.payables.select_related("made_by", "requester").filter(number=number).first()
    if report is None:
        raise Http404("There is no such report.")
    return report


@require_safe
@needs_factor
@for_requester
def payable(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponseBase:
    """One report: its workers, and the file for the finance office with a line of totals at its end."""
    report = _report(access, payable)
    complete = partial(_lines, shown=report.requester.real_money and access.staff)
    if request.GET.get("format") == "csv":
        return _file(request, report, complete)
    return respond(
        request,
        access,
        PAYABLE,
        lambda _asked: workers_of(report),
        "payable.html",
        place="money",
        complete=complete,
        now=clock.now(),
        report=report,
        may_book=people.may_book(access.requester, access.user),
    )


def _lines(workers: list[Worker], *, shown: bool) -> list[Due]:
    """Rows of workers. How to pay them is for staff alone, and for real money."""
    said = details_in_words(workers) if shown else {}
    return [
        Due(
            worker_id=worker.worker_id,
            details=" | ".join(filter(None, (said.get(worker.pk), payment_note(worker)))) if shown else "",
            simulated=worker.simulated,
            **{name: getattr(worker, name) for name in _SUMS},
        )
        for worker in workers
    ]


def _file(
    request: HttpRequest, report: Payable, complete: Callable[[list[Worker]], list[Due]]
) -> StreamingHttpResponse:
    rows = PAYABLE.asked(request.GET).sort(workers_of(report))
    name = f"payable-{report.requester.customer_id}-{report.number}"
    answer = grids.stream(PAYABLE, rows, name, complete=complete)
    answer.streaming_content = chain(iter(answer), _totals(report))
    return answer


def _totals(report: Payable) -> Iterator[str]:
    sums = workers_of(report).aggregate(**{f"all_{name}": Sum(name) for name in _SUMS})
    line = Due("Total", "", False, **{name: sums[f"all_{name}"] or 0 for name in _SUMS})
    yield csv_line_writer()(
        "" if column.name == "simulated" else plain(column.value(line))
        for column in PAYABLE.columns
        if column.value
    )


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def pay_out(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponse:
    """Note that a report was paid out."""
    report = _report(access, payable)
    try:
        noted = services.mark_paid(report=report, by=access.user)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Noted as paid out." if noted else "It was noted before.")
    return redirect("requester:payable", access.requester.customer_id, report.number)
