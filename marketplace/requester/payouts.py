"""Payout files of a requester: making them of a report, handing them out, booking results, sums of a year."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from core.accounts.confirmation import confirmed, needs_factor
from core.files.reading import reading_lines
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms.sheets import ACCEPTED
from marketplace.members import Action
from marketplace.models import Payable, PayMethod, Payout, PayoutLine, Worker, YearlyLimit
from marketplace.money import payoutresults
from marketplace.money import payouts as services
from marketplace.money.amounts import money
from marketplace.money.payoutfiles import FORMATS
from marketplace.money.payouts import Claim, ClaimState
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    money_tabs,
    on_requester,
    respond,
    show,
    trail,
)
from marketplace.requester.money import MONEY, find_payable, may_book
from web import cells
from web.cells import Cell, Code, Link, Post, chip, isolated, more, opens, several, short
from web.forms import read_form, run_action
from web.kit import Button, Empty, FormSection, Listing, Note, Own, Page, Tabs, render_form
from web.tables import Choices, Column, Grid, GridRequest, count_column

_PLACE = "money"
STATE_WORDS = {
    ClaimState.READY: "ready",
    ClaimState.BELOW: "below the minimum",
    ClaimState.HELD: "held",
    ClaimState.UNSAID: "not said how",
    ClaimState.CLOSED: "chose a way that is not offered",
}


class ResultsForm(forms.Form):
    """What a service gave out about a file."""

    file = forms.FileField(
        label="Table",
        help_text="With columns for our reference and the status, and a reason if there is one.",
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
    )


class ReleaseForm(forms.Form):
    """Why held payments of a year are paid all the same."""

    decision = forms.CharField(
        label="Why it is paid all the same",
        max_length=services.LONGEST_DECISION,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    year = forms.IntegerField(min_value=2000, max_value=9999, widget=forms.HiddenInput)


# Of one report: what is owed, to whom, and the files that pay it.


@dataclass(frozen=True, slots=True)
class Way:
    """A way to pay in a report: whom a file would pay now."""

    method: str
    label: str
    people: int
    cents: int


def _describe_claim(claim: Claim) -> str:
    if claim.standing == ClaimState.UNSAID and claim.waits_for_link:
        return "waits for the link"
    return STATE_WORDS[claim.standing]


_STANDINGS = {
    ClaimState.READY: ("good", ""),
    ClaimState.BELOW: ("", "carried to the next report"),
    ClaimState.HELD: ("bad", "over the sum of a year"),
    ClaimState.CLOSED: ("bad", "chose a way that cannot pay here"),
}


def _draw_way(cell: Cell) -> object:
    return several(cell.value or cells.NONE, cell.value and not cell.row.confirmed and more("not confirmed"))


def _draw_standing(cell: Cell) -> object:
    claim = cell.row
    level, why = _STANDINGS.get(claim.standing, ("wait", ""))
    words = "not offered" if claim.standing == ClaimState.CLOSED else cell.value
    failed = claim.failed and more(f"failed: {short(claim.failed, 60)}")
    return several(chip(words, level), why and more(why), failed)


CLAIMS = Grid(
    "claims",
    columns=(
        Column("worker_id", "Worker", "worker.worker_id", by="worker_id", cell=cells.mono),
        Column("way", "How", "label", by="way", cell=_draw_way),
        Column("confirmed", "Confirmed", on_page=False),
        Column("state", "State", _describe_claim, by="state", cell=_draw_standing),
        Column("failed", "Why the last file failed", on_page=False),
        count_column("cents", "Owed", cell=cells.money),
    ),
    filters=(
        Choices(
            "state",
            "State",
            {"all": "All", **{str(key): label for key, label in STATE_WORDS.items()}},
            tabs=True,
        ),
    ),
    order="worker_id",
)


@require_safe
@needs_factor
@for_requester
def report_payouts(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponseBase:
    """What is owed by a report and those before it, by way and by person, and the files made of it."""
    report = find_payable(access, payable)
    claims = services.claims_up_to(report)

    def rows(grid: GridRequest) -> list[Claim]:
        return [claim for claim in claims if grid["state"] in ("all", claim.standing)]

    listing = Listing("Which people", "person", "people", _ALL_PAID, heading="Who is owed")
    page = Page(
        f"Pay report {report.number}",
        [Own("marketplace/requester/report_payouts.html"), listing],
        lead="What is owed by this report and those before it, and a file for each service. What is in a "
        "file is in no other.",
        trail=[
            *trail(access, MONEY, ("To pay out", "requester:payables")),
            Link(f"Report {report.number}", access.address("requester:payable", report.number)),
        ],
        here="Pay with files",
        aside=_list_ways(access, report, claims),
        aside_label="New files",
    )
    files = report.payouts.order_by("number")
    sums, name = services.sums_of(report), f"owed-{access.requester.customer_id}-{report.number}"
    context: dict[str, Any] = {"report": report, "sums": sums, "files": files}
    return respond(request, access, CLAIMS, rows, page, place=_PLACE, file=name, **context)


_ALL_PAID = Empty("Nothing is owed", "Everything of this report and those before it is paid or in a file.")
_LEAVE_OUT = "Without people whose details the service would refuse"


class PayoutForm(forms.Form):
    """A file of one way to pay."""

    leave_out = forms.BooleanField(required=False, label=_LEAVE_OUT)


def _list_ways(access: RequesterAccess, report: Payable, claims: list[Claim]) -> list[object]:
    """A card for each way to pay, and one about people who chose a way that is not offered."""
    books, sections = may_book(access), list[object]()
    for way in _ways(claims):
        people = f"{money(way.cents)} to {way.people:,} {'person' if way.people == 1 else 'people'}"
        make = FormSection(
            PayoutForm(auto_id=f"{way.method}_%s"),
            [Button("Make the file")],
            access.address("requester:make_payout", report.number),
            heading=way.label,
            lead=people,
            fields=[("method", way.method)],
        )
        sections.append(make if books and access.requester.real_money else Empty(way.label, people))
    if not sections:
        sections.append(Empty("No file to make", "Of those who are owed, no one can be paid by a file now."))
    count, cents = _sum(claims, ClaimState.CLOSED)
    if count:
        who = f"{count:,} {'person' if count == 1 else 'people'} chose a way that cannot pay here."
        words = f"{money(cents)}. {who} What they are owed waits until they choose another."
        ask = access.address("requester:ask_for_another_way", report.number)
        button = [Button("Ask them for another way")] if books else []
        sections.append(FormSection(forms.Form(), button, ask, heading="Not offered", lead=words))
    return sections if books else [*sections, Note("Staff make files that pay real money.")]


def _sum(claims: list[Claim], state: ClaimState) -> tuple[int, int]:
    mine = [claim.cents for claim in claims if claim.standing == state]
    return len(mine), sum(mine)


def _ways(claims: list[Claim]) -> list[Way]:
    ways = []
    for method in FORMATS:
        ready = [c.cents for c in claims if c.method == method and c.standing == ClaimState.READY]
        if ready:
            ways.append(Way(method, str(PayMethod(method).label), len(ready), sum(ready)))
    return ways


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def make_payout(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponse:
    """Make the file of a way; pressed twice it is the same one."""
    report = find_payable(access, payable)
    try:
        payout, is_new = services.make_payout(
            report=report,
            method=str(request.POST.get("method", ""))[:20],
            by=access.user,
            leave_out=bool(request.POST.get("leave_out")),
        )
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("requester:report_payouts", access.requester.customer_id, report.number)
    if is_new:
        people = ngettext("%d person", "%d people", payout.people) % payout.people
        messages.success(request, f"{money(payout.cents)} to {people} are in payout {payout.number}.")
    else:
        messages.info(request, f"Nothing more is owed in this way; this is payout {payout.number} again.")
    return redirect("requester:payout", access.requester.customer_id, payout.number)


@require_POST
@on_requester(act=Action.PAY)
def ask_for_another_way(request: HttpRequest, access: RequesterAccess, payable: int) -> HttpResponse:
    """Write to those who cannot be paid as they chose."""
    report = find_payable(access, payable)
    try:
        people_count = services.ask_for_another_way(report=report, by=access.user)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request, f"{people_count:,} {'person was' if people_count == 1 else 'people were'} written to."
        )
    return redirect("requester:report_payouts", access.requester.customer_id, report.number)


# The files.


def _draw_made(cell: Cell) -> object:
    row = cell.row
    state = chip("withdrawn") if row.withdrawn_at else not row.sent_at and chip("not downloaded", "wait")
    return several(cells.draw(cell), state)


PAYOUTS = Grid(
    "payouts",
    columns=(
        Column("number", "Payout", by="number", down=True, cell=opens("requester:payout", "Payout {}")),
        Column("method", "How", lambda payout: payout.get_method_display(), by="method"),
        Column("report", "Report", "report.number", by="report__number", down=True, number=True),
        count_column("people", "People"),
        count_column("cents", "Sum", cell=cells.money),
        Column("made_at", "Made", by="made_at", down=True, cell=_draw_made),
        Column("sent_at", "Downloaded", on_page=False),
        Column("withdrawn_at", "Withdrawn", on_page=False),
        Column("digest", "SHA-256", on_page=False),
    ),
    order="number",
)
_LEVELS = {PayoutLine.State.PAID: "good", PayoutLine.State.FAILED: "bad"}


def _draw_payee(cell: Cell) -> object:
    return several(cells.mono(cell), not cell.row.confirmed and chip("not confirmed", "wait"))


def _draw_line_state(cell: Cell) -> object:
    level = _LEVELS.get(cell.row.state, "wait")
    return several(chip(cell.value, level), cell.row.reason and more(short(cell.row.reason)))


_BY_WORKER = "worker__worker_id"
LINES = Grid(
    "payout-lines",
    columns=(
        Column("number", "Line", by="number"),
        Column("worker_id", "Worker", "worker.worker_id", by=_BY_WORKER, head=True, cell=_draw_payee),
        Column("reference", "Reference", by="reference", cell=cells.mono),
        Column("confirmed", "Confirmed", on_page=False),
        Column("state", "State", lambda line: line.get_state_display(), by="state", cell=_draw_line_state),
        Column("reason", "Reason", on_page=False),
        Column("at", "Since", on_page=False),
        count_column("cents", "Sum", cell=cells.money),
    ),
    filters=(Choices("state", "State", {"all": "All", **dict(PayoutLine.State.choices)}, tabs=True),),
    order="number",
)


@require_safe
@needs_factor
@for_requester
def payouts(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """All payout files, and the form for results."""

    def rows(_grid: GridRequest) -> QuerySet[Payout]:
        return access.requester.payouts.select_related("report", "made_by")

    report = Link("report to pay out", access.address("requester:payables"))
    empty = Empty("No file yet", ("Open a ", report, " of real money and choose “Pay with files”."))
    page = Page(
        "Payout files",
        [Listing("Which files to show", "file", "files", empty)],
        lead="Files by which services pay many people at once. They are made on a report to pay out.",
        trail=trail(access, MONEY),
        tabs=money_tabs(access, "Payout files"),
        aside=[_results_form(access)],
        aside_label="Results",
    )
    file = f"payouts-{access.requester.customer_id}"
    return respond(request, access, PAYOUTS, rows, page, place=_PLACE, file=file)


def _results_form(access: RequesterAccess) -> FormSection | Empty:
    if not may_book(access):
        return Empty("Book results", "Staff book results of real money.")
    again = "Failed payments are owed again; the same table twice changes nothing."
    return FormSection(
        ResultsForm(),
        [Button("Book them")],
        access.address("requester:book_results"),
        heading="Book results",
        lead=f"Upload the results that a service gives for a file. {again}",
    )


def _payout(access: RequesterAccess, number: int) -> Payout:
    rows = access.requester.payouts.select_related("report", "requester", "made_by").filter(number=number)
    if (row := rows.first()) is None:
        raise Http404("There is no such payout.")
    return row


@require_safe
@needs_factor
@for_requester
def payout(request: HttpRequest, access: RequesterAccess, payout: int) -> HttpResponseBase:
    """One file: its lines and what became of them."""
    row = _payout(access, payout)

    def rows(grid: GridRequest) -> QuerySet[PayoutLine]:
        lines = row.lines.select_related("worker")
        return lines if grid["state"] == "all" else lines.filter(state=grid["state"])

    file = f"payout-{access.requester.customer_id}-{row.number}-lines"
    return respond(request, access, LINES, rows, _describe_payout(access, row), place=_PLACE, file=file)


def _describe_payout(access: RequesterAccess, row: Payout) -> Page:
    sent = ("downloaded ", row.sent_at) if row.sent_at else ("not downloaded",)
    waiting = row.lines.filter(state=PayoutLine.State.SENT).count()

    def post(words: str, name: str, *, plain: bool = True, danger: bool = False) -> Post:
        return Post(words, access.address(name, row.number), plain=plain, danger=danger)

    posts = [
        waiting and post(f"Mark {waiting:,} on the way as arrived", "requester:payout_paid"),
        not (row.sent_at or row.withdrawn_at)
        and post("Withdraw the file", "requester:withdraw_payout", danger=True),
        not row.withdrawn_at and post("Download the file", "requester:payout_file", plain=False),
    ]
    address = access.address("requester:report_payouts", row.report.number)
    people = f"{row.people:,} {'person' if row.people == 1 else 'people'}"
    onward = Link("go on", access.address("requester:payout", row.number))
    after = ("Once it is downloaded, ", onward, " to say what arrived.")
    same = "The file is the same each time it is downloaded. SHA-256: "
    return Page(
        f"Payout {row.number}",
        [
            *([] if row.sent_at or row.withdrawn_at else [Note(after)]),
            Listing("Which lines", "line", "lines", Empty("No line")),
            Note((same, Code(row.digest))),
        ],
        lead=(
            *(f"{money(row.cents)} to {people}: {row.get_method_display()}, made of ",),
            *(Link(f"report {row.report.number}", address), " ", row.made_at),
            *(row.made_by and f" by {row.made_by.get_username()}", "; "),
            *(("withdrawn",) if row.withdrawn_at else sent),
        ),
        trail=trail(access, MONEY, ("Payout files", "requester:payouts")),
        primary=[each for each in posts if each] if may_book(access) else [],
    )


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def payout_file(request: HttpRequest, access: RequesterAccess, payout: int) -> HttpResponse:
    """The file for the service, which is marked as sent before it leaves."""
    row = _payout(access, payout)
    try:
        content = services.hand_out(payout=row, by=access.user)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("requester:payout", access.requester.customer_id, row.number)
    answer = HttpResponse(content, content_type=FORMATS[row.method].content_type)
    answer["Content-Disposition"] = f'attachment; filename="{services.file_name(row)}"'
    # It has the accounts of people in it: nothing on the way keeps a copy.
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def payout_paid(request: HttpRequest, access: RequesterAccess, payout: int) -> HttpResponse:
    """Everything in a file that is on its way has arrived."""
    row = _payout(access, payout)

    def action() -> str:
        booked = services.book_all_paid(payout=row, by=access.user)
        return f"{booked:,} booked as paid." if booked else "Nothing of it is on its way."

    return run_action(request, action, reverse("requester:payout", args=_names(access, row.number)))


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def withdraw_payout(request: HttpRequest, access: RequesterAccess, payout: int) -> HttpResponse:
    """Take a file back that was never downloaded."""
    row = _payout(access, payout)

    def action() -> str:
        services.withdraw(payout=row, by=access.user)
        return f"Payout {row.number} is withdrawn; its people are owed again."

    return run_action(request, action, reverse("requester:payout", args=_names(access, row.number)))


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def book_results(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Book what a service says of lines: the whole table, or nothing of it."""

    def action() -> str:
        file = read_form(ResultsForm(request.POST, request.FILES))["file"]
        booked, reading = payoutresults.book_file(
            requester=access.requester, name=file.name, file=file.file, by=access.user
        )
        done = f"{booked.paid:,} paid, {booked.failed:,} failed and owed again, {booked.same:,} as before."
        return " ".join([done, *(reading_lines(reading.as_json()) if reading else ())])

    return run_action(request, action, reverse("requester:payouts", args=_names(access)))


def _names(access: RequesterAccess, *more: object) -> list[object]:
    return [access.requester.customer_id, *more]


# People and years.


@dataclass(frozen=True, slots=True)
class YearOfPerson:
    """What a person gets in a year, and what the thresholds say of it."""

    worker_id: str
    year: int
    cents: int
    state: str
    decision: str
    decided_by: str

    @property
    def amount(self) -> str:
        """The sum with its currency."""
        return money(self.cents)


def _draw_state(cell: Cell) -> object:
    return cell.value and chip(cell.value, {"held": "bad", "released": "good"}.get(cell.value, "wait"))


def _draw_decision(cell: Cell) -> object:
    row = cell.row
    if row.decision:
        return several(isolated(row.decision), more(row.decided_by))
    if row.state != "held" or row.year != cell.now.year:
        return ""
    form = ReleaseForm(initial={"year": row.year}, auto_id=f"{row.worker_id}-%s")
    action = cell.address("requester:release_payments", row.worker_id)
    button = Button(f"Pay them in {row.year}")
    return render_form(cell, FormSection(form, [button], action, folded="Release"))


YEARS = Grid(
    "people-and-years",
    columns=(
        Column("worker_id", "Worker", by="worker_id", cell=cells.mono),
        Column("year", "Year", on_page=False),
        count_column("cents", "Sum", cell=cells.money),
        Column("amount", "Amount", on_page=False),
        Column("state", "State", by="state", cell=_draw_state),
        Column("decision", "Decision", cell=_draw_decision),
        Column("decided_by", "Decided by", on_page=False),
    ),
    order="cents",
)


@require_safe
@needs_factor
@for_requester
def paid_people(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Sums per person and calendar year, over all requesters with real money; for staff."""
    this_year = clock.now().year
    year_text = request.GET.get("year", "")
    year = (
        int(year_text)
        if year_text.isascii() and year_text.isdigit() and len(year_text) == len("2026")
        else this_year
    )
    page = _describe_years(access, year, range(this_year, this_year - 5, -1))
    if not access.staff:
        return show(request, page, access, place=_PLACE)
    file = f"people-{year}"
    return respond(request, access, YEARS, lambda _grid: _years(year), page, place=_PLACE, file=file)


def _describe_years(access: RequesterAccess, year: int, years: range) -> Page:
    hold, warn = settings.PAYOUT_HOLD_CENTS, settings.PAYOUT_WARN_CENTS
    own = "They cover the whole installation, and concern people of other requesters too."
    empty = Empty(f"Nothing in {year}", "Nothing was paid in files or by hand.")
    tabs = Tabs("Year", str(year), [(str(each), f"?year={each}") for each in years])
    people = Listing("Which people", "person", "people", empty)
    return Page(
        "People and years",
        [tabs, people] if access.staff else [Empty("Staff see these sums", own)],
        lead=(
            f"What each person is paid in {year}, over all requesters with real money.",
            hold and f" Over {money(hold)} they are held until staff decide.",
            warn and f" From {money(warn)} on, a notice names them.",
        ),
        trail=trail(access, MONEY),
        tabs=money_tabs(access, "People and years"),
    )


def _years(year: int) -> list[YearOfPerson]:
    sums = services.paid_in(year)
    limits = {
        row.worker_id: row for row in YearlyLimit.objects.filter(year=year).select_related("released_by")
    }
    workers = Worker.objects.in_bulk({*sums, *limits})
    return [
        YearOfPerson(
            worker_id=workers[pk].worker_id,
            year=year,
            cents=sums.get(pk, 0),
            state=_state(limits.get(pk)),
            decision=limits[pk].decision if pk in limits else "",
            decided_by=_decider(limits.get(pk)),
        )
        for pk in workers
    ]


def _state(row: YearlyLimit | None) -> str:
    if row is None:
        return ""
    if row.released_at:
        return "released"
    return "held" if row.held_at else "over the warning" if row.warned_at else ""


def _decider(row: YearlyLimit | None) -> str:
    return row.released_by.get_username() if row is not None and row.released_by else ""


@require_POST
@confirmed
@on_requester(act=Action.PAY)
def release_payments(request: HttpRequest, access: RequesterAccess, worker_id: str) -> HttpResponse:
    """Pay a held person for the rest of the year, for a reason."""
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None:
        raise Http404("There is no such worker.")

    def action() -> str:
        values = read_form(ReleaseForm(request.POST))
        services.release_hold(
            requester=access.requester,
            worker=worker,
            year=values["year"],
            decision=values["decision"],
            by=access.user,
        )
        return f"{worker.worker_id} is paid in {values['year']}."

    return run_action(request, action, reverse("requester:paid_people", args=_names(access)))
