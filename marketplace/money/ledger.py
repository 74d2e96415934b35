"""Moving money between a requester's accounts, and proving that none is lost.

Every movement is one ledger row (debit and credit in one, so it always balances) and one conditional
update of the requester's balances, in the caller's transaction.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Count, F, OuterRef, Q, Subquery, Sum

from core.jobs.models import Job, JobState
from marketplace.errors import Refusal
from marketplace.models import (
    HIT,
    Deposit,
    Holding,
    LedgerEntry,
    Payable,
    Payout,
    PayoutLine,
    PayoutPart,
    Requester,
    Worker,
)

# What the nightly audits of the ledger found, as their jobs keep it.

AUDIT = "marketplace.ledger-audit"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """One audit: its job, the day it is of, and the faults it found."""

    job: int
    day: str
    faults: tuple[str, ...]


def last_audit() -> AuditReport | None:
    """The newest audit that came to its end."""
    job = Job.objects.filter(kind=AUDIT, state=JobState.DONE).order_by("-finished_at", "-pk").first()
    if job is None:
        return None
    return AuditReport(job.pk, str(job.payload.get("day", "")), tuple((job.result or {}).get("faults", ())))


Account = LedgerEntry.Account
Kind = LedgerEntry.Kind

_BALANCE = {
    Account.AVAILABLE: "available_cents",
    Account.HELD: "held_cents",
    Account.WORKERS: "paid_cents",
    Account.FEES: "fees_cents",
}
#: From which account to which each kind moves money.
_ROUTE = {
    Kind.DEPOSIT: (Account.OUTSIDE, Account.AVAILABLE),
    Kind.HOLD: (Account.AVAILABLE, Account.HELD),
    Kind.RELEASE: (Account.HELD, Account.AVAILABLE),
    Kind.REWARD: (Account.HELD, Account.WORKERS),
    Kind.REWARD_FEE: (Account.HELD, Account.FEES),
    Kind.BONUS: (Account.AVAILABLE, Account.WORKERS),
    Kind.BONUS_FEE: (Account.AVAILABLE, Account.FEES),
}


@dataclass(frozen=True, slots=True)
class Movement:
    """Money to move: `kind` says between which accounts; `cents` of 0 moves nothing and leaves no row."""

    kind: LedgerEntry.Kind
    cents: int
    hit: HIT | None = None
    holding: Holding | None = None
    worker: Worker | None = None
    memo: str = ""


def post(requester_id: int, movements: Sequence[Movement], *, at: datetime) -> list[LedgerEntry]:
    """Post movements of one requester, all or none; their rows.

    Raises Refusal("InsufficientFunds") where an account would go below zero. Must run in a transaction.
    """
    moving = [movement for movement in movements if movement.cents]
    if not moving:
        return []
    change: dict[str, int] = defaultdict(int)
    for movement in moving:
        debit, credit = _ROUTE[movement.kind]
        if debit == Account.OUTSIDE:
            change["deposited_cents"] += movement.cents
        else:
            change[_BALANCE[debit]] -= movement.cents
        change[_BALANCE[credit]] += movement.cents
    amounts = {field: amount for field, amount in change.items() if amount}
    covered = {f"{field}__gte": -amount for field, amount in amounts.items() if amount < 0}
    # The update's condition is the check: no balance is read before, so of calls at once none decides by an
    # old one, and the later is refused where the money is enough for one. It comes first, so that nothing is
    # written where a caller goes on after the refusal.
    balances = Requester.objects.filter(pk=requester_id, **covered)
    if not balances.update(**{field: F(field) + amount for field, amount in amounts.items()}):
        raise Refusal(
            "InsufficientFunds",
            "This Requester has insufficient funds in their account to complete this transaction.",
        )
    return LedgerEntry.objects.bulk_create(
        LedgerEntry(
            requester_id=requester_id,
            at=at,
            kind=movement.kind,
            debit=_ROUTE[movement.kind][0],
            credit=_ROUTE[movement.kind][1],
            cents=movement.cents,
            hit=movement.hit,
            holding=movement.holding,
            worker=movement.worker,
            memo=movement.memo,
        )
        for movement in moving
    )


def audit() -> list[str]:
    """Sentences about everything that does not add up; an empty list is a clean ledger.

    Checks, per requester, that the balances are what the movements sum to, that available + held + paid +
    fees = deposits, that what is on hold is what open and undecided places cost, and that deposits and
    reports to pay out are what their movements sum to. Reads one snapshot, so work that goes on meanwhile
    raises no false alarm.
    """
    # PostgreSQL takes a level only before the first query of a transaction; one around this has begun.
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return _faults()


def _faults() -> list[str]:
    faults: list[str] = []
    sums: dict[tuple[int, str], int] = defaultdict(int)
    for row in LedgerEntry.objects.values("requester_id", "debit", "credit").annotate(total=Sum("cents")):
        sums[row["requester_id"], row["debit"]] -= row["total"]
        sums[row["requester_id"], row["credit"]] += row["total"]
    liability = dict(
        HIT.objects.values_list("requester_id").annotate(
            total=Sum(F("held_places") * (F("reward_cents") + F("fee_cents")))
        )
    )
    for requester in Requester.objects.all():
        for account, field in _BALANCE.items():
            booked, stored = sums[requester.pk, account], getattr(requester, field)
            if booked != stored:
                faults.append(
                    f"{requester.name}: movements give {booked} cents {account}, the account says {stored}."
                )
        if -sums[requester.pk, Account.OUTSIDE] != requester.deposited_cents:
            faults.append(f"{requester.name}: the deposits booked are not {requester.deposited_cents} cents.")
        spent = requester.available_cents + requester.held_cents + requester.paid_cents + requester.fees_cents
        if spent != requester.deposited_cents:
            faults.append(
                f"{requester.name}: the accounts sum to {spent} cents, "
                f"deposits to {requester.deposited_cents}."
            )
        if liability.get(requester.pk, 0) != requester.held_cents:
            faults.append(
                f"{requester.name}: open and undecided places cost {liability.get(requester.pk, 0)} cents, "
                f"on hold are {requester.held_cents}."
            )
    return faults + _wrong_papers()


def _wrong_papers() -> list[str]:
    booked = Deposit.objects.select_related("requester", "entry")
    wrong = booked.exclude(entry__kind=Kind.DEPOSIT, entry__cents=F("cents"), entry__requester=F("requester"))
    faults = [
        f"{each.requester.name}: deposit {each.pk} says {each.cents} cents, its movement {each.entry.cents}."
        for each in wrong
    ]
    its_own = Q(entries__requester=F("requester"), entries__credit=Account.WORKERS)
    reports = Payable.objects.select_related("requester").annotate(
        bound=Sum("entries__cents", default=0), strange=Count("entries", filter=~its_own)
    )
    faults += [
        f"{each.requester.name}: report {each.number} says {each.cents} cents, "
        f"its payments sum to {each.bound}."
        for each in reports.exclude(bound=F("cents"), strange=0)
    ]
    return faults + _wrong_payouts()


def _wrong_payouts() -> list[str]:
    """Files that pay another sum than their lines, or lines another one than the reports they are made of."""
    files = Payout.objects.select_related("requester").annotate(sum=Sum("lines__cents", default=0))
    faults = [
        f"{each.requester.name}: payout {each.number} says {each.cents} cents, its lines sum to {each.sum}."
        for each in files.exclude(sum=F("cents"))
    ]
    lines = PayoutLine.objects.select_related("payout__requester").annotate(
        sum=Sum("parts__cents", default=0)
    )
    faults += [
        f"{each.payout.requester.name}: line {each.reference} says {each.cents} cents, "
        f"its parts sum to {each.sum}."
        for each in lines.exclude(sum=F("cents"))
    ]
    owed = (
        LedgerEntry.objects.filter(
            payable=OuterRef("report"), worker=OuterRef("worker"), credit=Account.WORKERS
        )
        .order_by()
        .values("worker")
        .annotate(sum=Sum("cents"))
        .values("sum")
    )
    parts = PayoutPart.objects.select_related("line").annotate(owed=Subquery(owed)).exclude(owed=F("cents"))
    # A part is in force exactly as long as its line has not failed; then its sum is owed again.
    loose = Q(in_force=False) ^ Q(line__state=PayoutLine.State.FAILED)
    return (
        faults
        + [f"Line {each.line.reference} pays another sum than its report owes." for each in parts]
        + [
            f"Line {each.line.reference} is {each.line.state}, but what it is for is "
            f"{'in force' if each.in_force else 'owed again'}."
            for each in PayoutPart.objects.select_related("line").filter(loose)
        ]
    )
