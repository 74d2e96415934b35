"""What a person is paid in a calendar year, over the whole installation, against the operator's thresholds.

What counts is what files were made for in the year and did not fail, and reports that were noted as paid by
hand; play money and what is paid elsewhere count nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from core.accounts import security
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import LedgerEntry, PayMethod, PayoutLine, PayoutPart, Requester, Worker, YearlyLimit
from marketplace.services.activity import note
from marketplace.services.people import may_book

LONGEST_DECISION = 300


def paid_in(year: int, workers: Collection[int] | None = None) -> dict[int, int]:
    """Cents that people get of a year, by worker; of these workers, or of all."""
    sums: dict[int, int] = defaultdict(int)
    only = Q() if workers is None else Q(worker__in=workers)
    lines = PayoutLine.objects.filter(only, payout__made_at__year=year).exclude(
        Q(state=PayoutLine.State.FAILED) | Q(payout__method=PayMethod.NONE)
    )
    for worker, cents in lines.order_by().values_list("worker").annotate(cents=Sum("cents")):
        sums[worker] += cents
    in_file = PayoutPart.objects.filter(report=OuterRef("payable"), worker=OuterRef("worker"), in_force=True)
    by_hand = LedgerEntry.objects.filter(
        only,
        ~Exists(in_file),
        credit=LedgerEntry.Account.WORKERS,
        requester__real_money=True,
        payable__paid_at__year=year,
        worker__simulated=False,
    )
    for worker, cents in by_hand.order_by().values_list("worker").annotate(cents=Sum("cents")):
        sums[worker] += cents
    return dict(sums)


def over_the_hold(owed: Mapping[int, int], year: int) -> set[int]:
    """Of these workers, whose year would pass the threshold by what they are owed, and are not released."""
    if not settings.PAYOUT_HOLD_CENTS:
        return set()
    before = paid_in(year, list(owed))
    over = {pk for pk, cents in owed.items() if before.get(pk, 0) + cents > settings.PAYOUT_HOLD_CENTS}
    released = YearlyLimit.objects.filter(worker__in=over, year=year).exclude(released_at=None)
    return over - set(released.values_list("worker", flat=True))


def note_passed(owed: Mapping[int, int]) -> None:
    """Write down whose year passes a threshold by what they are owed; a notice tells of them."""
    now = clock.now()
    if not settings.PAYOUT_WARN_CENTS and not settings.PAYOUT_HOLD_CENTS:
        return
    before = paid_in(now.year, list(owed))
    rows = {row.worker_id: row for row in YearlyLimit.objects.filter(worker__in=owed, year=now.year)}
    for pk, cents in owed.items():
        total = before.get(pk, 0) + cents
        warned = 0 < settings.PAYOUT_WARN_CENTS < total
        held = 0 < settings.PAYOUT_HOLD_CENTS < total
        row = rows.get(pk) or YearlyLimit(worker_id=pk, year=now.year)
        news = (warned and row.warned_at is None) or (held and row.held_at is None)
        if news:
            row.warned_at = row.warned_at or (now if warned else None)
            row.held_at = row.held_at or (now if held else None)
            row.save()


@transaction.atomic
def release(*, requester: Requester, worker: Worker, year: int, decision: str, by: User) -> YearlyLimit:
    """Pay a person over the threshold for the rest of the year, for a reason that is written down."""
    if not by.is_staff or not may_book(requester, by):
        raise Refusal("AccessDenied", "Staff decide about held payments.")
    decision = " ".join(decision.split())
    if not decision:
        raise Refusal("InvalidParameterValue", "Write why it is paid all the same; it is kept.")
    if len(decision) > LONGEST_DECISION:
        raise Refusal("InvalidParameterValue", f"A decision has at most {LONGEST_DECISION} characters.")
    row, _ = YearlyLimit.objects.get_or_create(worker=worker, year=year)
    done = YearlyLimit.objects.filter(pk=row.pk, released_at=None).update(
        released_at=clock.now(), released_by=by, decision=decision
    )
    if done:
        note(requester.pk, "payout.released", worker.worker_id, f"{year}: {decision}")
        security.log("payout.released", worker=worker.worker_id, year=year, decision=decision)
    row.refresh_from_db()
    return row


def open_limits(year: int) -> QuerySet[YearlyLimit]:
    """Of a year, what was noted and is not decided."""
    return YearlyLimit.objects.filter(year=year, released_at=None)
