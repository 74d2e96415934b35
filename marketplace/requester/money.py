"""Money of a requester: its statement, deposits, invoices, and reports of what each worker is to be paid."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import chain
from operator import attrgetter

from django.conf import settings
from django.contrib import messages
from django.db.models import Case, F, IntegerField, Max, QuerySet, Sum, Value, When
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.accounts.confirmation import confirmed, needs_factor
from core.files.cells import csv_line_writer, plain
from core.money import dollars
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle.expiry import settle
from marketplace.members import Action
from marketplace.models import Invoice, LedgerEntry, Payable, Requester, Worker
from marketplace.money import deposits, finance
from marketplace.money.amounts import money
from marketplace.money.finance import payment_note, unreported, workers_of
from marketplace.money.payees import details_in_words
from marketplace.requester import charts
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.forms import DepositForm, InvoiceForm, PayableForm
from web import tables as grids
from web.tables import Choices, Column, Grid, GridRequest, Words

Account, Kind = LedgerEntry.Account, LedgerEntry.Kind
# The statement: every movement, with what was available after it.

#: What the movements are called.
WORDS = {
    Kind.DEPOSIT: "Deposit",
    Kind.HOLD: "Put on hold",
    Kind.RELEASE: "Released",
    Kind.REWARD: "Reward",
    Kind.REWARD_FEE: "Fee on a reward",
    Kind.BONUS: "Bonus",
    Kind.BONUS_FEE: "Fee on a bonus",
}
KINDS = {
    "all": "Everything",
    "deposits": "Deposits",
    "holds": "On hold and released",
    "paid": "Rewards and bonuses",
    "fees": "Fees",
}
_OF_KIND = {
    "deposits": (Kind.DEPOSIT,),
    "holds": (Kind.HOLD, Kind.RELEASE),
    "paid": (Kind.REWARD, Kind.BONUS),
    "fees": (Kind.REWARD_FEE, Kind.BONUS_FEE),
}
PERIODS = {
    "all": "Ever",
    "today": "Today",
    "7": "The last 7 days",
    "30": "The last 30 days",
    "month": "This month",
    "before": "Last month",
    "year": "This year",
}
#: Rows whose balances are worked out in one statement.
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A movement as the statement shows it; amounts in cents, less than zero where money left."""

    entry: LedgerEntry
    balance: int

    @property
    def label(self) -> str:
        """What happened."""
        return WORDS[Kind(self.entry.kind)]

    @property
    def available(self) -> int:
        """What it changed of what is available."""
        return self._change(Account.AVAILABLE)

    @property
    def held_cents(self) -> int:
        """What it changed of what is on hold."""
        return self._change(Account.HELD)

    @property
    def spent(self) -> int:
        """What went to workers or fees."""
        return self.entry.cents if self.entry.credit in (Account.WORKERS, Account.FEES) else 0

    @property
    def hit_id(self) -> str:
        """The HIT it was for, if any."""
        return self.entry.hit.hit_id if self.entry.hit else ""

    @property
    def reference(self) -> str:
        """What the lab's books call it, or what else was noted."""
        deposit = getattr(self.entry, "deposit", None)
        return deposit.reference if deposit else self.entry.memo

    @property
    def worker_id(self) -> str:
        """Who got it, if anybody."""
        return self.entry.worker.worker_id if self.entry.worker else ""

    def _change(self, account: str) -> int:
        gained = self.entry.cents if self.entry.credit == account else 0
        return gained - (self.entry.cents if self.entry.debit == account else 0)


def entries(
    requester: Requester, *, kind: str, period: str, hit_id: str, now: datetime
) -> QuerySet[LedgerEntry]:
    """Movements of an account, by the keys of KINDS and PERIODS; a HIT by its whole id."""
    rows = LedgerEntry.objects.filter(requester=requester).select_related("hit", "worker", "deposit")
    rows = rows.defer("hit__question")
    if kind in _OF_KIND:
        rows = rows.filter(kind__in=_OF_KIND[kind])
    if hit_id:
        rows = rows.filter(hit__hit_id=hit_id)
    begins, ends = _bounds(period, now)
    if begins is not None:
        rows = rows.filter(at__gte=begins)
    if ends is not None:
        rows = rows.filter(at__lt=ends)
    return rows


def _bounds(period: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    today = datetime.combine(now.date(), time.min, tzinfo=UTC)
    month = today.replace(day=1)
    if period == "today":
        return today, None
    if period in ("7", "30"):
        return today - timedelta(days=int(period) - 1), None
    if period == "month":
        return month, None
    if period == "before":
        return (month - timedelta(days=1)).replace(day=1), month
    return (today.replace(month=1, day=1), None) if period == "year" else (None, None)


class Balances:
    """What was available after each of some movements that come in the order of their keys, up or down.

    Each call begins where the one before ended, so a file of all rows reads every movement once.
    """

    def __init__(self, requester: Requester, *, down: bool) -> None:
        self._requester = requester
        self._down = down
        self._known: tuple[int, int] | None = None if down else (0, 0)

    def complete(self, rows: list[LedgerEntry]) -> list[Line]:
        """The movements as lines."""
        lines: list[Line] = []
        for start in range(0, len(rows), _AT_ONCE):
            lines += self._fill_lines(rows[start : start + _AT_ONCE])
        return lines

    def _fill_lines(self, rows: list[LedgerEntry]) -> Iterator[Line]:
        keys = [row.pk for row in rows]
        sums, now = self._between(keys)
        balance = now if self._known is None else self._known[1]
        for number, row in enumerate(rows):
            balance += -sums.get(number, 0) if self._down else sums.get(number, 0)
            yield Line(row, balance)
        self._known = (keys[-1], balance)

    def _between(self, keys: list[int]) -> tuple[dict[int, int], int]:
        """What moved between each key and the one before it, and what is available at the same moment."""
        change = Case(
            When(credit=Account.AVAILABLE, then=F("cents")),
            When(debit=Account.AVAILABLE, then=-F("cents")),
            default=0,
        )
        reached = "pk__gt" if self._down else "pk__lte"
        place = Case(
            *(When(**{reached: key}, then=Value(number)) for number, key in enumerate(keys)),
            default=Value(-1),
            output_field=IntegerField(),
        )
        every = LedgerEntry.objects.filter(requester=self._requester).order_by()
        if self._down:
            every = every.filter(pk__gte=keys[-1])
            if self._known is not None:
                every = every.filter(pk__lte=self._known[0])
        else:
            assert self._known is not None
            every = every.filter(pk__gt=self._known[0], pk__lte=keys[-1])
        sums = list(
            every.values(place=place).annotate(sum=Sum(change), now=Max("requester__available_cents"))
        )
        return {row["place"]: row["sum"] for row in sums}, max((row["now"] for row in sums), default=0)


STATEMENT = Grid(
    "statement",
    columns=(
        Column("at", "When", attrgetter("entry.at"), by="pk", down=True),
        Column("what", "What", attrgetter("label")),
        Column("hit_id", "For", attrgetter("hit_id")),
        Column("worker_id", "Worker", attrgetter("worker_id"), on_page=False),
        Column("reference", "Reference", attrgetter("reference"), on_page=False),
        Column("from", "From", attrgetter("entry.debit"), on_page=False),
        Column("to", "To", attrgetter("entry.credit"), on_page=False),
        Column("cents", "Cents", attrgetter("entry.cents"), on_page=False),
        Column("held_change_cents", "On hold", attrgetter("held_cents"), number=True),
        Column("available_change_cents", "Available", attrgetter("available"), number=True),
        Column("available_after_cents", "Balance", attrgetter("balance"), number=True),
    ),
    filters=(
        Choices("kind", "What", KINDS),
        Choices("period", "When", PERIODS),
        Words("hit", "HIT (its whole id)"),
    ),
    order="at",
)


@require_safe
@needs_factor
@for_requester
def statement(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Every movement, the latest first, and the last thirty days as bars."""
    now = clock.now()
    grid = STATEMENT.read_request(request.GET)

    def rows(grid: GridRequest) -> QuerySet[LedgerEntry]:
        return entries(
            access.requester, kind=grid["kind"], period=grid["period"], hit_id=grid["hit"], now=now
        )

    days = [] if "format" in request.GET else charts.spending(access.requester, now=now)
    return respond(
        request,
        access,
        STATEMENT,
        rows,
        "money.html",
        place="money",
        complete=Balances(access.requester, down=grid.descending).complete,
        file=f"statement-{access.requester.customer_id}",
        now=now,
        chart=charts.draw_spending(days),
        spent=charts.sum_spending(days) if days else None,
        may_book=deposits.may_book(access.requester, access.user),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@needs_factor
@on_requester(look=Action.PAY, act=Action.PAY)
def deposit(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Book money that came in: play money by its owner, real money by staff."""
    form = DepositForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            deposits.deposit(
                requester=access.requester,
                cents=data["amount"],
                reference=data["reference"],
                note=data["note"],
                by=access.user,
                once=data["once"],
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, f"{money(data['amount'])} deposited.")
            return redirect("requester:money", access.requester.customer_id)
    return show(
        request,
        "deposit.html",
        access,
        place="money",
        form=form,
        may_book=deposits.may_book(access.requester, access.user),
        status=422 if form.errors else 200,
    )


# Invoices: what was spent in a period, frozen, to print or as a file.

INVOICES = Grid(
    "invoices",
    columns=(
        Column("number", "Invoice", attrgetter("number"), by="number", down=True),
        Column("begins_at", "From", attrgetter("begins_at"), by="begins_at", down=True),
        Column("ends_at", "Before", attrgetter("ends_at"), on_page=False),
        Column("until", "To", attrgetter("last_day")),
        Column("cents", "Sum", attrgetter("cents"), by="cents", down=True, number=True),
        Column("issued_at", "Issued", attrgetter("issued_at"), by="issued_at", down=True),
    ),
    order="number",
)


@require_safe
@needs_factor
@for_requester
def invoices(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The invoices, the latest first."""

    def rows(_grid: GridRequest) -> QuerySet[Invoice]:
        return access.requester.invoices.defer("lines", "address")

    return respond(
        request,
        access,
        INVOICES,
        rows,
        "invoices.html",
        place="money",
        file=f"invoices-{access.requester.customer_id}",
        now=clock.now(),
        may_book=deposits.may_book(access.requester, access.user),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@needs_factor
@on_requester(look=Action.PAY, act=Action.PAY)
def new_invoice(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Choose a period, look at what it comes to, issue the invoice."""
    form_data = (
        request.POST if request.method == "POST" else request.GET if "begins_on" in request.GET else None
    )
    form = InvoiceForm(form_data, now=clock.now())
    lines = None
    if form.is_valid():
        if request.method != "POST":
            lines = finance.invoice_lines(access.requester, form.begins, form.ends)
        else:
            # What is due by the clock is paid first: an issued invoice never gets another line.
            settle()
            try:
                invoice = finance.issue_invoice(
                    requester=access.requester,
                    begins=form.begins,
                    ends=form.ends,
                    address=form.cleaned_data["address"],
                    by=access.user,
                )
            except Refusal as refusal:
                form.add_error(None, refusal.message)
            else:
                messages.success(request, f"Invoice {invoice.number} is issued.")
                return redirect("requester:invoice", access.requester.customer_id, invoice.number)
    return show(
        request,
        "invoice_new.html",
        access,
        place="money",
        form=form,
        lines=lines,
        total=sum(line["cents"] for line in lines or ()),
        may_book=deposits.may_book(access.requester, access.user),
        status=422 if request.method == "POST" else 200,
    )


def _invoice(access: RequesterAccess, number: int) -> Invoice:
    invoice = access.requester.invoices.select_related("issued_by").filter(number=number).first()
    if invoice is None:
        raise Http404("There is no such invoice.")
    return invoice


@require_safe
@needs_factor
@for_requester
def invoice(request: HttpRequest, access: RequesterAccess, invoice: int) -> HttpResponseBase:
    """One invoice, as it is printed; with `?format=csv` its lines as a file."""
    row = _invoice(access, invoice)
    if request.GET.get("format") == "csv":
        return _file(row)
    return show(request, "invoice.html", access, place="money", invoice=row)


def _file(invoice: Invoice) -> HttpResponse:
    """Its lines; they are bounded, because invoicing bounds them."""
    text = io.StringIO()
    writer = csv.writer(text)
    names = ("type_id", "what", "assignments", "rewards", "bonuses", "fees", "cents")
    heads = {"rewards": "rewards_cents", "bonuses": "bonuses_cents", "fees": "fees_cents"}
    writer.writerow(("invoice", *(heads.get(name, name) for name in names), "amount", "currency"))
    currency = settings.MARKETPLACE_CURRENCY
    for line in invoice.lines:
        cells = (plain(line[name]) for name in names)
        writer.writerow((invoice.number, *cells, dollars(line["cents"]), currency))
    sums = (sum(line[name] for line in invoice.lines) for name in names[2:])
    writer.writerow((invoice.number, "", "Total", *sums, dollars(invoice.cents), currency))
    answer = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="invoice-{invoice.number}.csv"'
    return answer


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

    def rows(grid: GridRequest) -> QuerySet[Payable]:
        reports = access.requester.payables.select_related("made_by")
        if grid["state"] == "all":
            return reports
        return reports.filter(paid_at=None) if grid["state"] == "open" else reports.exclude(paid_at=None)

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
        may_book=deposits.may_book(access.requester, access.user),
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
        report = finance.make_payable(
            requester=access.requester,
            until=form.until or clock.now(),
            by=access.user,
            simulated=form.cleaned_data["simulated"],
        )
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("requester:payables", access.requester.customer_id)
    people_paid = ngettext("%d person", "%d people", report.workers) % report.workers
    messages.success(request, f"Report {report.number} is made: {money(report.cents)} for {people_paid}.")
    return redirect("requester:payable", access.requester.customer_id, report.number)


def find_payable(access: RequesterAccess, number: int) -> Payable:
    """The requester's report of this number; Http404 where there is none."""
    report = access.requester.payables.select_related("made_by", "requester").filter(number=number).first()
    if report is None:
        raise Http404("There is no such report.")
    return report


@require_safe
@needs_factor
@for_requester
def payable(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponseBase:
    """One report: its workers, and the file for the finance office with a line of totals at its end."""
    report = find_payable(access, payable)
    complete = partial(_lines, with_details=report.requester.real_money and access.staff)
    if request.GET.get("format") == "csv":
        return _payable_file(request, report, complete)
    return respond(
        request,
        access,
        PAYABLE,
        lambda _grid: workers_of(report),
        "payable.html",
        place="money",
        complete=complete,
        now=clock.now(),
        report=report,
        may_book=deposits.may_book(access.requester, access.user),
    )


def _lines(workers: list[Worker], *, with_details: bool) -> list[Due]:
    """Rows of workers. How to pay them is for staff alone, and for real money."""
    details_of = details_in_words(workers) if with_details else {}
    return [
        Due(
            worker_id=worker.worker_id,
            details=" | ".join(filter(None, (details_of.get(worker.pk), payment_note(worker))))
            if with_details
            else "",
            simulated=worker.simulated,
            **{name: getattr(worker, name) for name in _SUMS},
        )
        for worker in workers
    ]


def _payable_file(
    request: HttpRequest, report: Payable, complete: Callable[[list[Worker]], list[Due]]
) -> StreamingHttpResponse:
    rows = PAYABLE.read_request(request.GET).sort(workers_of(report))
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
    report = find_payable(access, payable)
    try:
        noted = finance.mark_paid(report=report, by=access.user)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Noted as paid out." if noted else "It was noted before.")
    return redirect("requester:payable", access.requester.customer_id, report.number)
