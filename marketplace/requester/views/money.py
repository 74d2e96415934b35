"""The account of a requester: its statement, what was spent per day, deposits."""

from operator import attrgetter

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from core.accounts.confirmation import needs_factor
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import LedgerEntry
from marketplace.requester import charts
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.forms import DepositForm
from marketplace.requester.statement import KINDS, PERIODS, Balances, entries
from marketplace.services import people
from marketplace.services.members import Action
from marketplace.templatetags.marketplace_money import money
from web.tables import Choices, Column, Grid, GridRequest, Words

STATEMENT = Grid(
    "statement",
    columns=(
        Column("at", "When", attrgetter("entry.at"), by="pk", down=True),
        Column("what", "What", attrgetter("words")),
        Column("hit_id", "For", attrgetter("hit_id")),
        Column("worker_id", "Worker", attrgetter("worker_id"), on_page=False),
        Column("reference", "Reference", attrgetter("reference"), on_page=False),
        Column("from", "From", attrgetter("entry.debit"), on_page=False),
        Column("to", "To", attrgetter("entry.credit"), on_page=False),
        Column("cents", "Cents", attrgetter("entry.cents"), on_page=False),
        Column("held_change_cents", "On hold", attrgetter("held"), number=True),
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
    asked = STATEMENT.asked(request.GET)

    def rows(asked: GridRequest) -> QuerySet[LedgerEntry]:
        return entries(
            access.requester, kind=asked["kind"], period=asked["period"], hit_id=asked["hit"], now=now
        )

    days = [] if "format" in request.GET else charts.spending(access.requester, now=now)
    return respond(
        request,
        access,
        STATEMENT,
        rows,
        "money.html",
        place="money",
        complete=Balances(access.requester, down=asked.descending).complete,
        file=f"statement-{access.requester.customer_id}",
        now=now,
        chart=charts.draw_spending(days),
        spent=charts.sum_spending(days) if days else None,
        may_book=people.may_book(access.requester, access.user),
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
            people.deposit(
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
            messages.success(request, f"{money(data['amount'])} are in the account.")
            return redirect("requester:money", access.requester.customer_id)
    return show(
        request,
        "deposit.html",
        access,
        place="money",
        form=form,
        may_book=people.may_book(access.requester, access.user),
        status=422 if form.errors else 200,
    )
