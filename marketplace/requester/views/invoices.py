"""Invoices: what was spent in a period, frozen, to print or as a file."""

import csv
import io
from operator import attrgetter

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from core.accounts.confirmation import needs_factor
from core.files.cells import plain
from core.money import dollars
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Invoice
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.forms import InvoiceForm
from marketplace.services import finance, people
from marketplace.services.members import Action
from marketplace.sweep import settle
from web.tables import Column, Grid, GridRequest

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

    def rows(_asked: GridRequest) -> QuerySet[Invoice]:
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
        may_book=people.may_book(access.requester, access.user),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@needs_factor
@on_requester(look=Action.PAY, act=Action.PAY)
def new_invoice(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Choose a period, look at what it comes to, issue the invoice."""
    given = request.POST if request.method == "POST" else request.GET if "begins_on" in request.GET else None
    form = InvoiceForm(given, now=clock.now())
    lines = None
    if form.is_valid():
        if request.method != "POST":
            lines = finance.invoice_lines(access.requester, form.begins, form.ends)
        else:
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
        may_book=people.may_book(access.requester, access.user),
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
    found = _invoice(access, invoice)
    if request.GET.get("format") == "csv":
        return _file(found)
    return show(request, "invoice.html", access, place="money", invoice=found)


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
