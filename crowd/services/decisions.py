"""What follows from a decision on submitted work, in the caller's transaction: state, money, recounts."""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import F

from crowd import budget
from crowd.budget import Cost, MovementPurpose
from crowd.counted_work import counting, counts
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Group, Hit, LedgerEntry, Recount, Stage

# Work begins or ceases to count after it came in: what was decided on it is decided again.
#
# A row is written in the transaction that changes the work. The stage's next round hands the rows to its
# kind, and removes them in the transaction in which the kind drew its consequences: killed in between, it is
# done again, and doing it again changes nothing.

#: Pieces of work whose consequences are drawn in one transaction.
_BATCH = 100


def recount(work: Assignment, what: str) -> None:
    """Have what was decided on this work decided again; `what` says what became of it: "was rejected"."""
    recount_all([work], what)


def recount_all(works: Iterable[Assignment], what: str) -> None:
    """`recount` of several, each read with its worker."""
    Recount.objects.bulk_create(
        Recount(
            stage_id=work.stage_id,
            assignment=work,
            why=f"the work of {work.worker.external_id} {what}"[:200],
        )
        for work in works
    )


def reconsider(stage: Stage) -> int:
    """Let the stage's kind decide again where it has to; how many pieces of work were the reason."""
    done, kind, mine = 0, kind_of(stage), Recount.objects.filter(stage=stage).order_by("pk")
    while mine.exists():
        with transaction.atomic():
            rows = list(mine[:_BATCH])
            kind.reconsider(stage, {row.assignment_id: row.why for row in rows})
            Recount.objects.filter(pk__in=[row.pk for row in rows]).delete()
            done += len(rows)
    return done


State = Assignment.State


def share_of_fee(hit: Hit, cents: int) -> int:
    """The fee on a part of a HIT's reward, rounded up."""
    return -(-hit.fee_cents * cents // max(1, hit.reward_cents))


def _spend(stage: Stage, work: Assignment, hit: Hit, *, at: datetime) -> None:
    """Spend what was set aside for a piece of work; of one paid in part, the rest goes back."""
    cost = budget.unit_cost(hit)
    if work.paid_cents is not None:
        part = Cost(work.paid_cents, share_of_fee(hit, work.paid_cents))
        rest = Cost(cost.cents - part.cents, cost.fee_cents - part.fee_cents)
        budget.release(stage, rest, MovementPurpose("rest of a part", assignment=work), at=at)
        cost = part
    budget.spend(stage, cost, MovementPurpose("reward", assignment=work), at=at)


def book_approval(assignment: Assignment, *, at: datetime, reserved: bool = False) -> bool:
    """Book approved work as paid, whoever approved it; doing it twice books once.

    What rejected work would have cost was given back, so it is set aside again unless it is `reserved`.
    """
    before = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    if before.state == State.APPROVED:
        return False
    cost = budget.unit_cost(before.hit)
    if before.state == State.REJECTED and not reserved:
        budget.reserve(before.stage, cost, MovementPurpose("override", assignment=before), at=at)
    Assignment.objects.filter(pk=before.pk).update(state=State.APPROVED, decided_at=at, held=False)
    _spend(before.stage, before, before.hit, at=at)
    if not counts(before):
        recount(before, "was approved after all" if before.state == State.REJECTED else "was approved")
    return True


def book_approvals(stage: Stage, assignments: Collection[int], *, at: datetime) -> None:
    """What `approved` does to each, with one movement of the budgets for all; none of them was rejected."""
    unpaid = Assignment.objects.filter(stage=stage, pk__in=assignments).exclude(
        state__in=[State.APPROVED, State.REJECTED]
    )
    rows = unpaid.select_for_update(no_key=True, of=("self",)).order_by("pk")
    payments = list(rows.values_list("pk", "hit__reward_cents", "hit__fee_cents", "paid_cents"))
    if not payments:
        return
    costs = {pk: Cost(reward, fee) for pk, reward, fee, part in payments if part is None}
    parts = Assignment.objects.filter(pk__in=[pk for pk, *_, part in payments if part is not None])
    in_part = list(parts.select_related("hit")) if len(costs) < len(payments) else []
    recount_all(unpaid.exclude(counting()).select_related("worker"), "was approved")
    Assignment.objects.filter(pk__in=[pk for pk, *_ in payments]).update(
        state=State.APPROVED, decided_at=at, held=False
    )
    for work in in_part:
        _spend(stage, work, work.hit, at=at)
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            stage=stage,
            assignment_id=pk,
            kind=LedgerEntry.Kind.SPEND,
            cents=cost.cents,
            fee_cents=cost.fee_cents,
            reason="reward",
            at=at,
        )
        for pk, cost in costs.items()
        if cost.total
    )
    budget.spend_together(stage, sum(costs.values(), Cost(0)))


def book_rejection(assignment: Assignment, *, at: datetime) -> bool:
    """Give back what rejected work would have cost; its place is not open again."""
    before = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    if before.state in (State.REJECTED, State.APPROVED):
        return False
    Assignment.objects.filter(pk=before.pk).update(state=State.REJECTED, decided_at=at, held=False)
    budget.release(
        before.stage, budget.unit_cost(before.hit), MovementPurpose("rejected", assignment=before), at=at
    )
    recount(before, "was rejected")
    return True


def hold_assignment(assignment: Assignment, *, note: str) -> None:
    """A person has to decide on this work; until then it decides nothing."""
    before = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    Assignment.objects.filter(pk=before.pk).update(held=True, note=note[:300])
    if counts(before):
        recount(before, "waits for a decision")


def quarantine(assignment: Assignment, *, note: str) -> None:
    """What the marketplace says and what was stored here do not agree; a person looks at it."""
    before = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    Assignment.objects.filter(pk=before.pk).update(state=State.QUARANTINED, held=True, note=note[:300])
    if counts(before):
        recount(before, "is in quarantine")


def end_assignment(assignment: Assignment) -> bool:
    """An assignment was returned or abandoned: its units are free again for this worker and others."""
    changed = Assignment.objects.filter(pk=assignment.pk, state=State.WORKING).update(state=State.ENDED)
    if changed:
        Claim.objects.filter(assignment=assignment).delete()
    return bool(changed)


def add_places(hit: Hit, places: int) -> None:
    """A HIT was extended."""
    Hit.objects.filter(pk=hit.pk).update(places=F("places") + places)


def note_group_made(group_pk: int, external_id: str) -> None:
    """A group exists at the marketplace now."""
    Group.objects.filter(pk=group_pk).update(external_id=external_id)
