"""Money of a requester: its statement, deposits, invoices, and reports of what each worker is to be paid."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

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
from marketplace.money.amounts import money, signed_money
from marketplace.money.finance import InvoiceLine, payment_note, unreported, workers_of
from marketplace.money.payees import details_in_words
from marketplace.requester import charts
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    money_tabs,
    on_requester,
    respond,
    show,
    trail,
)
from marketplace.requester.forms import DepositForm, InvoiceForm, PayableForm
from metrics.figure import counted
from web import cells
from web import tables as grids
from web.cells import Cell, Link, Post, chip, isolated, link, more, opens, several
from web.kit import Button, Empty, FormSection, Listing, Note, Own, Page, Table
from web.tables import Choices, Column, Grid, GridRequest, Words, count_column

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


def _draw_movement(cell: Cell) -> object:
    line = cell.row
    to = line.entry.credit == Account.WORKERS and several(" to ", isolated(line.worker_id, mono=True))
    return several(cell.value, line.spent and more(money(line.entry.cents), to or ""))


def _draw_cause(cell: Cell) -> object:
    line = cell.row
    if line.hit_id:
        return link(line.hit_id, f"?hit={line.hit_id}", mono=True)
    return isolated(line.reference) if line.reference else cells.NONE


def _draw_change(cell: Cell) -> object:
    return signed_money(cell.value) if cell.value else cells.NONE


MONEY = ("Money", "requester:money")


def may_book(access: RequesterAccess) -> bool:
    """Whether this person may book money of this account."""
    return deposits.may_book(access.requester, access.user)


STATEMENT = Grid(
    "statement",
    columns=(
        Column("at", "When", "entry.at", by="pk", down=True, cell=cells.moment),
        Column("what", "What", "label", head=True, cell=_draw_movement),
        Column("hit_id", "For", cell=_draw_cause),
        Column("worker_id", "Worker", on_page=False),
        Column("reference", "Reference", on_page=False),
        Column("from", "From", "entry.debit", on_page=False),
        Column("to", "To", "entry.credit", on_page=False),
        Column("cents", "Cents", "entry.cents", on_page=False),
        Column("held_change_cents", "On hold", "held_cents", number=True, cell=_draw_change),
        Column("available_change_cents", "Available", "available", number=True, cell=_draw_change),
        Column("available_after_cents", "Balance", "balance", number=True, cell=cells.money),
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
    chart = charts.draw_spending(days)
    return respond(
        request,
        access,
        STATEMENT,
        rows,
        _describe_statement(access),
        place="money",
        complete=Balances(access.requester, down=grid.descending).complete,
        file=f"statement-{access.requester.customer_id}",
        chart=chart,
        spent=charts.sum_spending(days) if days else None,
        table=Table("Spent per day", _DAYS, [bar for bar in reversed(chart.bars) if bar.subject.total]),
    )


_REAL = "This account holds real money: your lab pays workers what it says here."
_PLAY = "This account holds play money: no one is paid; everything else works as with real money."
_DAYS = (
    Column("day", "Day", "subject.date", cell=cells.day),
    Column("rewards", "Rewards", "subject.rewards", number=True, cell=cells.money),
    Column("bonuses", "Bonuses", "subject.bonuses", number=True, cell=cells.money),
    Column("fees", "Fees", "subject.fees", number=True, cell=cells.money),
    Column("total", "Together", "subject.total", number=True, cell=cells.money),
)


def _describe_statement(access: RequesterAccess) -> Page:
    deposit = Link("Deposit", access.address("requester:deposit"))
    empty = Empty("No money yet", "Deposits of real money are booked by staff; ask them.")
    if may_book(access):
        words = "HITs can be posted as soon as there is money to put on hold for them. "
        empty = Empty("No money yet", (words, Link("Deposit some", deposit.address)))
    note = (
        "The balance is what was available after the movement. Rewards and their fees are paid from what "
        "is on hold, so they do not change it."
    )
    statement = Listing(
        "Which movements to show", "movement", "movements", empty, heading="Statement", note=note
    )
    return Page(
        "Money",
        [Own("marketplace/requester/money.html"), statement],
        lead=_REAL if access.requester.real_money else _PLAY,
        tabs=money_tabs(access, "Statement"),
        primary=[deposit] if may_book(access) else [],
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
    page = Page(
        "Deposit",
        _deposit_form(access, form),
        lead=f"{money(access.requester.available_cents)} is available now.",
        trail=trail(access, MONEY),
    )
    return show(request, page, access, place="money", status=422 if form.errors else 200)


def _deposit_form(access: RequesterAccess, form: DepositForm) -> list[Any]:
    if not may_book(access):
        back = Link("Back to the statement", access.address("requester:money"))
        words = "Tell them the amount and the number of the transfer. "
        return [Empty("Staff book deposits of real money", (words, back))]
    kind = "real" if access.requester.real_money else "play"
    buttons = [Button(f"Deposit {kind} money"), Link("Back", access.address("requester:money"))]
    note = Note("Real money: book what has arrived in your lab's books, and nothing else.", "")
    before = [note] if access.requester.real_money else []
    stays = "A deposit stays in the books. It cannot be taken back here."
    return [FormSection(form, buttons, before=before, note=stays)]


# Invoices: what was spent in a period, frozen, to print or as a file.


def _sum_column(name: str, label: str) -> Column:
    return count_column(name, label, cell=cells.money)


INVOICES = Grid(
    "invoices",
    columns=(
        Column("number", "Invoice", by="number", down=True, cell=opens("requester:invoice", "Invoice {}")),
        Column("begins_at", "From", by="begins_at", down=True, cell=cells.day),
        Column("ends_at", "Before", on_page=False),
        Column("until", "To", "last_day", cell=cells.day),
        _sum_column("cents", "Sum"),
        Column("issued_at", "Issued", by="issued_at", down=True),
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
        Page(
            "Invoices",
            [Listing("Which invoices to show", "invoice", "invoices", _no_invoice(access))],
            lead="What was spent in a period, numbered without gaps and never changed.",
            trail=trail(access, MONEY),
            primary=[Link("New invoice", access.address("requester:new_invoice"))]
            if may_book(access)
            else [],
            tabs=money_tabs(access, "Invoices"),
        ),
        place="money",
        file=f"invoices-{access.requester.customer_id}",
    )


def _no_invoice(access: RequesterAccess) -> Empty:
    if not may_book(access):
        return Empty("No invoice yet", "Staff issue invoices of real money.")
    words = "An invoice says what was spent in a period that is over, by kind of HIT. "
    return Empty(
        "No invoice yet", (words, Link("Issue the first one", access.address("requester:new_invoice")))
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
    status = 422 if request.method == "POST" else 200
    return show(request, _invoice_form(access, form, lines), access, place="money", status=status)


def _invoice_form(access: RequesterAccess, form: InvoiceForm, lines: list[InvoiceLine] | None) -> Page:
    section = FormSection(
        form,
        [Button("Look at it first", plain=True, look=True), Button("Issue the invoice")],
        action=access.address("requester:new_invoice"),
        note="An invoice stays as it was issued; there is no way to change or delete it.",
    )
    back = Link("Back to the invoices", access.address("requester:invoices"))
    staff = Empty("Staff issue invoices of real money", ("Tell them the period. ", back))
    preview = [] if lines is None else [_draw_invoice_lines(lines, "What it would say")]
    return Page(
        "New invoice",
        [section, *preview] if may_book(access) else [staff],
        lead="For days that are over and that no invoice covers yet.",
        trail=trail(access, MONEY, ("Invoices", "requester:invoices")),
        here="New",
    )


def _draw_type(cell: Cell) -> object:
    return several(isolated(cell.value), cell.row["type_id"] and more(cell.row["type_id"], mono=True))


_INVOICE_LINES = (
    Column("what", "HITs", itemgetter("what"), cell=_draw_type),
    Column("assignments", "Approved", itemgetter("assignments"), number=True),
    Column("rewards", "Rewards", itemgetter("rewards"), number=True, cell=cells.money),
    Column("bonuses", "Bonuses", itemgetter("bonuses"), number=True, cell=cells.money),
    Column("fees", "Fees", itemgetter("fees"), number=True, cell=cells.money),
    Column("cents", "Together", itemgetter("cents"), number=True, cell=cells.money),
)


def _draw_invoice_lines(lines: list[InvoiceLine], heading: str = "") -> Table:
    foot = ["Total", "", "", "", "", money(sum(line["cents"] for line in lines))]
    nothing = "Nothing was spent in this period."
    return Table("What was spent", _INVOICE_LINES, lines, heading=heading, empty=nothing, foot=foot)


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
    paid = "Rewards and bonuses were paid from the account's deposits when work was approved. Days are UTC."
    page = Page(
        f"Invoice {row.number}",
        [Own("marketplace/requester/invoice.html"), _draw_invoice_lines(row.lines), Note(paid)],
        trail=trail(access, MONEY, ("Invoices", "requester:invoices")),
        primary=[Link("Download as CSV", "?format=csv", plain=True, download=True)],
    )
    return show(request, page, access, place="money", invoice=row)


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


def _draw_paid(cell: Cell) -> object:
    if cell.value is None:
        return chip("to pay out", "wait")
    return several(chip("paid out", "good"), more(cells.draw(cell)))


PAYABLES = Grid(
    "payables",
    columns=(
        Column("number", "Report", by="number", down=True, cell=opens("requester:payable", "Report {}")),
        Column("until", "Payments before", cell=cells.moment),
        count_column("workers", "Workers"),
        _sum_column("cents", "Sum"),
        Column("made_at", "Made", on_page=False),
        Column("paid_at", "Paid out", by="paid_at", down=True, gaps=True, cell=_draw_paid),
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


def _draw_payee(cell: Cell) -> object:
    return several(cells.mono(cell), cell.row.simulated and chip("simulated"))


PAYABLE = Grid(
    "payable",
    columns=(
        Column("worker_id", "Worker", by="worker_id", cell=_draw_payee),
        Column("payment_details", "How to be paid", "details", on_page=False),
        Column("simulated", "Simulated", on_page=False),
        count_column("reward_count", "Rewards"),
        _sum_column("rewards_cents", "In rewards"),
        count_column("bonus_count", "Bonuses"),
        _sum_column("bonuses_cents", "In bonuses"),
        _sum_column("total_cents", "Together"),
        Column("total", "Total", "amount", on_page=False),
        Column("currency", "Currency", on_page=False),
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
    simulated = (all_due.aggregate(cents=Sum("cents"))["cents"] or 0) - due
    begin = "make a report, give its file to your finance office, and note here when it has paid."
    empty = Empty("No report yet", f"When workers have earned something, {begin}")
    page = Page(
        "To pay out",
        [Listing("Which reports to show", "report", "reports", empty)],
        lead="Reports for the finance office: what each worker is paid. A payment is in one of them only.",
        trail=trail(access, MONEY),
        tabs=money_tabs(access, "To pay out"),
        aside=_list_due(access, due, simulated),
        aside_label="New report",
    )
    file = f"payables-{access.requester.customer_id}"
    return respond(request, access, PAYABLES, rows, page, place="money", file=file)


def _list_due(access: RequesterAccess, due: int, simulated: int) -> list[Any]:
    heading = f"In no report yet: {money(due)}"
    said = f"And {money(simulated)} to simulated workers, who are not paid." if simulated else ""
    if not may_book(access):
        return [Empty(heading, f"{said} Staff make reports about real money.")]
    action = access.address("requester:make_payable")
    return [FormSection(PayableForm(), [Button("Make a report")], action, heading=heading, lead=said)]


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
        _describe_payable(access, report),
        place="money",
        complete=complete,
    )


def _describe_payable(access: RequesterAccess, report: Payable) -> Page:
    real = access.requester.real_money
    primary: list[object] = []
    note = "Workers are known by their ids. "
    if real:
        who = "" if access.staff else " to staff only"
        note += f"Where a worker wrote how they want to be paid, the file says so{who}. "
        address = access.address("requester:report_payouts", report.number)
        primary.append(Link("Pay with files", address, plain=True))
    if may_book(access) and not report.paid_at:
        address = access.address("requester:pay_out", report.number)
        primary.append(Post("Mark as paid out", address, plain=False))
    play = Note("This is play money: the report shows what a real one would, and no payment is due.", "")
    lines = Listing("Workers", "worker", "workers", note=f"{note}The last line of the file is the total.")
    to = counted(report.workers, "worker")
    return Page(
        f"Report {report.number}",
        [lines] if real else [play, lines],
        lead=(
            *(f"{money(report.cents)} to {to}: payments before ", report.until, " that were in no report. "),
            *("Made ", report.made_at, report.made_by and f" by {report.made_by.get_username()}", "; "),
            *(("paid out ", report.paid_at) if report.paid_at else ("to pay out",)),
        ),
        trail=trail(access, MONEY, ("To pay out", "requester:payables")),
        primary=primary,
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
        "" if column.name == "simulated" else plain(column.read(line))
        for column in PAYABLE.columns
        if column.read
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
