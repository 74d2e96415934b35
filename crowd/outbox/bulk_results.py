"""What nearly all answers change, booked for a whole batch: HITs that are on offer now, work that is paid.

Each does what `results.apply` does to one operation, with as many statements for many as for one. Whatever is
not of this kind is left to it. In the caller's transaction, which holds the stage and the assignments.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from crowd import budget, bulk
from crowd.adapters.base import CallSuccess, EarlierSuccess, Outcome
from crowd.budget import Cost
from crowd.counted_work import counting
from crowd.models import Assignment, Hit, LedgerEntry, MarketOperation, Stage
from crowd.services.recounts import recount_all

Kind, State = MarketOperation.Kind, MarketOperation.State
Pair = tuple[MarketOperation, Outcome[Any]]


def book(stage: Stage | None, pairs: Sequence[Pair]) -> list[Pair]:
    """Book the ordinary ones among a stage's answers; the others are returned."""
    if stage is None or len(pairs) < 2:
        return list(pairs)
    published = _ordinary_publications(stage, pairs)
    paid = _ordinary_approvals(stage, pairs)
    ordinary = {operation.pk: (operation, outcome) for operation, outcome in [*published, *paid]}
    still_open = _still_open(list(ordinary))
    _finish([pair for pk, pair in ordinary.items() if pk in still_open])
    _on_offer([pair for pair in published if pair[0].pk in still_open])
    _pay(stage, [operation for operation, _ in paid if operation.pk in still_open])
    return [pair for pair in pairs if pair[0].pk not in ordinary]


def _reference(outcome: Outcome[Any]) -> str:
    """The marketplace's id of what was done; empty where it was not done, or nobody knows as what."""
    if isinstance(outcome, CallSuccess | EarlierSuccess) and isinstance(outcome.ref, str):
        return outcome.ref
    return ""


def _ordinary_publications(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of a stage that was not closed meanwhile, whose HIT the marketplace named."""
    found = [pair for pair in pairs if pair[0].kind == Kind.PUBLISH and _reference(pair[1])]
    if not found or Stage.objects.filter(pk=stage.pk, status=Stage.Status.CLOSED).exists():
        return []
    return found


def _ordinary_approvals(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of work that was not rejected before: its money is reserved."""
    found = [pair for pair in pairs if pair[0].kind == Kind.APPROVE and _reference(pair[1])]
    if not found:
        return []
    assignments = [operation.assignment_id for operation, _ in found if operation.assignment_id]
    plain = set(
        Assignment.objects.filter(pk__in=assignments, stage=stage)
        .exclude(state=Assignment.State.REJECTED)
        .values_list("pk", flat=True)
    )
    return [pair for pair in found if pair[0].assignment_id in plain]


def _still_open(pks: Sequence[Any]) -> set[Any]:
    rows = MarketOperation.objects.filter(pk__in=pks).exclude(state__in=MarketOperation.FINAL)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _finish(pairs: Sequence[Pair]) -> None:
    bulk.update(
        MarketOperation,
        ("result_ref", "request_id"),
        [(operation.pk, _reference(outcome), _request(outcome)) for operation, outcome in pairs],
        {
            "state": State.CONFIRMED,
            "finished_at": timezone.now(),
            "lease_owner": None,
            "lease_until": None,
            "needs_person": False,
            "error_code": "",
            "error_text": "",
        },
    )


def _request(outcome: Outcome[Any]) -> str:
    return str(getattr(outcome, "raw", {}).get("request_id", ""))


def _on_offer(pairs: Sequence[Pair]) -> None:
    now = timezone.now()
    known = {operation.hit_id: (operation, outcome) for operation, outcome in pairs}
    planned = Hit.objects.filter(pk__in=list(filter(None, known)), state=Hit.State.PLANNED)
    rows = []
    for pk in planned.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True):
        operation, outcome = known[pk]
        until = now + timedelta(seconds=operation.payload["open_seconds"])
        rows.append((pk, _reference(outcome), until))
    bulk.update(Hit, ("external_id", "expires_at"), rows, {"state": Hit.State.OPEN, "published_at": now})


def _pay(stage: Stage, operations: Sequence[MarketOperation]) -> None:
    """What `decisions.approved` does to each, with one movement of the budgets for all."""
    now = timezone.now()
    unpaid = Assignment.objects.filter(pk__in=[operation.assignment_id for operation in operations]).exclude(
        state=Assignment.State.APPROVED
    )
    costs = {
        pk: Cost(reward, fee)
        for pk, reward, fee in unpaid.values_list("pk", "hit__reward_cents", "hit__fee_cents")
    }
    if not costs:
        return
    recount_all(unpaid.exclude(counting()).select_related("worker"), "was approved")
    Assignment.objects.filter(pk__in=costs).update(
        state=Assignment.State.APPROVED, decided_at=now, held=False
    )
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            stage=stage,
            assignment_id=pk,
            kind=LedgerEntry.Kind.SPEND,
            cents=cost.cents,
            fee_cents=cost.fee_cents,
            reason="reward",
            at=now,
        )
        for pk, cost in costs.items()
        if cost.total
    )
    budget.spend_together(stage, sum(costs.values(), Cost(0)))
