"""Invoices: what a requester spent in a period, written down once and never changed."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q, QuerySet, Sum

from marketplace import clock
from marketplace.errors import Refusal, invalid_value
from marketplace.models import Invoice, LedgerEntry, Requester
from marketplace.services.people import may_book

#: Calls that began before the end of a period may be written down so much later.
SETTLED_AFTER = timedelta(minutes=10)
#: HIT types that an invoice names; what the others cost is one line.
MOST_LINES = 500
LONGEST_ADDRESS = 1000
_ATTEMPTS = 50
Account, Kind = LedgerEntry.Account, LedgerEntry.Kind


class InvoiceLine(TypedDict):
    """What was spent on HITs of one type, in cents; `type_id` is empty for all that are not named."""

    type_id: str
    what: str
    assignments: int
    rewards: int
    bonuses: int
    fees: int
    cents: int


def spent(requester: Requester, begins: datetime, ends: datetime) -> QuerySet[LedgerEntry]:
    """Rewards, bonuses and fees of a period, `ends` excluded."""
    return LedgerEntry.objects.filter(
        requester=requester, credit__in=(Account.WORKERS, Account.FEES), at__gte=begins, at__lt=ends
    )


def lines(requester: Requester, begins: datetime, ends: datetime) -> list[InvoiceLine]:
    """What was spent on each HIT type, the dearest first."""
    rows = (
        spent(requester, begins, ends)
        .order_by()
        .values("hit__hit_type__type_id", "hit__hit_type__title")
        .annotate(
            assignments=Count("pk", filter=Q(kind=Kind.REWARD)),
            rewards=Sum("cents", filter=Q(kind=Kind.REWARD)),
            bonuses=Sum("cents", filter=Q(kind=Kind.BONUS)),
            fees=Sum("cents", filter=Q(credit=Account.FEES)),
            total=Sum("cents"),
        )
        .order_by("-total", "hit__hit_type__type_id")
    )
    found = [_line(row) for row in rows[:MOST_LINES]]
    if len(found) == MOST_LINES and (rest := list(rows[MOST_LINES:].iterator())):
        found.append(_together(rest))
    return found


def _line(row: Mapping[str, Any]) -> InvoiceLine:
    return {
        "type_id": row["hit__hit_type__type_id"] or "",
        "what": row["hit__hit_type__title"] or "",
        "assignments": row["assignments"],
        "rewards": row["rewards"] or 0,
        "bonuses": row["bonuses"] or 0,
        "fees": row["fees"] or 0,
        "cents": row["total"],
    }


def _together(rows: Iterable[Mapping[str, Any]]) -> InvoiceLine:
    each = [_line(row) for row in rows]
    return {
        "type_id": "",
        "what": f"{len(each):,} further HIT types",
        "assignments": sum(line["assignments"] for line in each),
        "rewards": sum(line["rewards"] for line in each),
        "bonuses": sum(line["bonuses"] for line in each),
        "fees": sum(line["fees"] for line in each),
        "cents": sum(line["cents"] for line in each),
    }


def issue(
    *, requester: Requester, begins: datetime, ends: datetime, address: str = "", by: User | None = None
) -> Invoice:
    """Write down what was spent in a period that is over and that no invoice covers yet.

    Numbers run through the whole installation without gaps: the next one is taken in the transaction that
    writes the invoice, and again where somebody else took it first.
    """
    if by is not None and not may_book(requester, by):
        raise Refusal("AccessDenied", "Invoices of real money are issued by staff.")
    if begins >= ends:
        raise invalid_value("begins", "the period ends before it begins.")
    if ends > clock.now() - SETTLED_AFTER:
        raise invalid_value("ends", "the period is not over yet; an invoice does not change later.")
    if len(address) > LONGEST_ADDRESS:
        raise invalid_value("address", f"it has at most {LONGEST_ADDRESS:,} characters.")
    for _ in range(_ATTEMPTS):
        try:
            return _issue(requester, begins, ends, address, by)
        except IntegrityError:
            continue
    raise Refusal("Busy", "Too many invoices are being issued at this moment. Nothing was issued; try again.")


@transaction.atomic
def _issue(requester: Requester, begins: datetime, ends: datetime, address: str, by: User | None) -> Invoice:
    Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    earlier = requester.invoices.filter(begins_at__lt=ends, ends_at__gt=begins).order_by("number").first()
    if earlier is not None:
        raise Refusal(
            "AlreadyInvoiced",
            f"Invoice {earlier.number} covers {earlier.begins_at:%-d %b %Y} to "
            f"{earlier.last_day:%-d %b %Y} already.",
        )
    written = lines(requester, begins, ends)
    if not written:
        raise Refusal("NothingSpent", "Nothing was spent in this period.")
    return Invoice.objects.create(
        requester=requester,
        number=(Invoice.objects.aggregate(number=Max("number"))["number"] or 0) + 1,
        begins_at=begins,
        ends_at=ends,
        address=address.strip(),
        lines=written,
        cents=sum(line["cents"] for line in written),
        real_money=requester.real_money,
        issued_at=clock.now(),
        issued_by=by,
    )
