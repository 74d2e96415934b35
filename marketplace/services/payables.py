"""Reports for the finance office: what each worker is to be paid, every payment in one report only."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from core.accounts import security
from core.crypto import seal, unseal
from marketplace import clock
from marketplace.errors import Refusal, invalid_value
from marketplace.models import LedgerEntry, Payable, PayoutLine, PayoutPart, Requester, Worker
from marketplace.services.activity import note
from marketplace.services.people import may_book

_SEALED_FOR = "marketplace.payment_note"
LONGEST_NOTE = 1000
_REWARD = Q(ledger__kind=LedgerEntry.Kind.REWARD)
_BONUS = Q(ledger__kind=LedgerEntry.Kind.BONUS)


def unreported(requester: Requester, *, until: datetime, simulated: bool = False) -> QuerySet[LedgerEntry]:
    """Payments to workers that no report has; those to simulated workers only where asked for."""
    found = LedgerEntry.objects.filter(
        requester=requester, credit=LedgerEntry.Account.WORKERS, payable=None, at__lt=until
    )
    return found if simulated else found.filter(worker__in=Worker.objects.filter(simulated=False))


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
            "Nothing is to be paid out: every payment of that time stands in a report already.",
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
