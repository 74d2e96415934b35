"""Papers of the finance office: reports of what each worker is to be paid, and invoices of what was spent."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from core.accounts import security
from core.crypto import seal, unseal
from marketplace import clock
from marketplace.activity import note
from marketplace.errors import Refusal, invalid_value
from marketplace.models import Invoice, LedgerEntry, Payable, PayoutLine, PayoutPart, Requester, Worker
from marketplace.money.deposits import may_book

# Reports: what each worker is to be paid, every payment in one report only.

_SEALED_FOR = "marketplace.payment_note"
LONGEST_NOTE = 1000
_REWARD = Q(ledger__kind=LedgerEntry.Kind.REWARD)
_BONUS = Q(ledger__kind=LedgerEntry.Kind.BONUS)


def unreported(requester: Requester, *, until: datetime, simulated: bool = False) -> QuerySet[LedgerEntry]:
    """Payments to workers that no report has; those to simulated workers only where asked for."""
    entries = LedgerEntry.objects.filter(
        requester=requester, credit=LedgerEntry.Account.WORKERS, payable=None, at__lt=until
    )
    return entries if simulated else entries.filter(worker__in=Worker.objects.filter(simulated=False))


@transaction.atomic
def make_payable(
    *, requester: Requester, until: datetime, by: User | None = None, simulated: bool = False
) -> Payable:
    """Bind every payment before `until` that no report has to a new one: all of them, or none.

    Reports of one requester are made one after the other, so that a payment is never in two. `by` is who
    asks for it in a browser.
    """
    now = clock.now()
    if by is not None and not may_book(requester, by):
        raise Refusal("AccessDenied", "Reports about real money are made by staff.")
    if until > now:
        raise invalid_value("until", "it lies in the future; payments of that time are not known yet.")
    Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    latest = requester.payables.aggregate(number=Max("number"))["number"] or 0
    report = Payable.objects.create(
        requester=requester,
        number=latest + 1,
        until=until,
        workers=0,
        cents=0,
        made_at=now,
        made_by=by,
    )
    unreported(requester, until=until, simulated=simulated).update(payable=report)
    sums = report.entries.aggregate(cents=Sum("cents"), workers=Count("worker", distinct=True))
    if not sums["cents"]:
        raise Refusal(
            "NothingToPay",
            "Nothing is to be paid out: every payment of that time is in a report already.",
        )
    report.cents, report.workers = sums["cents"], sums["workers"]
    report.save(update_fields=["cents", "workers"])
    return report


def mark_paid(*, report: Payable, by: User | None = None) -> bool:
    """Note that the finance office has paid a report out; False where that was noted before."""
    if by is not None and not may_book(report.requester, by):
        raise Refusal("AccessDenied", "Staff note what was paid of real money.")
    with transaction.atomic():
        Requester.objects.select_for_update(no_key=True).get(pk=report.requester_id)
        waiting = PayoutPart.objects.filter(report=report, in_force=True)
        if waiting.filter(line__state__in=[PayoutLine.State.OWED, PayoutLine.State.SENT]).exists():
            raise Refusal(
                "OnItsWay",
                f"Files that pay report {report.number} are on their way: book what became of them first. "
                "Then this notes that the rest was paid by hand.",
            )
        noted = Payable.objects.filter(pk=report.pk, paid_at=None).update(paid_at=clock.now())
        if noted:
            note(report.requester_id, "payable.paid", f"Report {report.number}")
    return bool(noted)


def workers_of(report: Payable) -> QuerySet[Worker]:
    """Everybody in a report, with counts and sums of their rewards and bonuses and what they get."""
    return Worker.objects.filter(ledger__payable=report).annotate(
        reward_count=Count("ledger", filter=_REWARD),
        rewards_cents=Coalesce(Sum("ledger__cents", filter=_REWARD), 0),
        bonus_count=Count("ledger", filter=_BONUS),
        bonuses_cents=Coalesce(Sum("ledger__cents", filter=_BONUS), 0),
        total_cents=Sum("ledger__cents"),
    )


def payment_note(worker: Worker) -> str:
    """How a worker wants to be paid, in their own words; empty where they said nothing."""
    if not worker.payment_note_sealed:
        return ""
    return unseal(worker.payment_note_sealed, purpose=_SEALED_FOR) or ""


def set_payment_note(*, worker: Worker, note: str) -> None:
    """Keep, or forget where it is empty, what a worker says on how to be paid. It is stored sealed."""
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise invalid_value("payment_note", f"it has at most {LONGEST_NOTE:,} characters.")
    worker.payment_note_sealed = seal(note, purpose=_SEALED_FOR) if note else ""
    open_account = Worker.objects.filter(pk=worker.pk, closed_at=None)
    if open_account.update(payment_note_sealed=worker.payment_note_sealed):
        security.log("payment_details.changed", worker=worker.worker_id)


# Invoices: what a requester spent in a period, written down once and never changed.

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


def spent_in(requester: Requester, begins: datetime, ends: datetime) -> QuerySet[LedgerEntry]:
    """Rewards, bonuses and fees of a period, `ends` excluded."""
    return LedgerEntry.objects.filter(
        requester=requester, credit__in=(Account.WORKERS, Account.FEES), at__gte=begins, at__lt=ends
    )


def invoice_lines(requester: Requester, begins: datetime, ends: datetime) -> list[InvoiceLine]:
    """What was spent on each HIT type, the dearest first."""
    rows = (
        spent_in(requester, begins, ends)
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
    lines = [_line(row) for row in rows[:MOST_LINES]]
    if len(lines) == MOST_LINES and (rest := list(rows[MOST_LINES:].iterator())):
        lines.append(_together(rest))
    return lines


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


def issue_invoice(
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
    written = invoice_lines(requester, begins, ends)
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
