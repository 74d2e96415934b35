"""What the answer to an operation changes in our rows, in the caller's transaction.

An operation is finished by one conditional update: whoever finds it finished already changes nothing.
"""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from crowd import budget
from crowd.adapters.base import AlreadyDone, Done, Outcome, Refused
from crowd.budget import Cost, For
from crowd.models import Assignment, Hit, MarketOperation, Stage
from crowd.services import decisions
from projects.services import record

Kind = MarketOperation.Kind
State = MarketOperation.State


def apply(operation: MarketOperation, outcome: Outcome[Any]) -> bool:
    """Finish an operation with a clear outcome; False where it was finished before."""
    refused = isinstance(outcome, Refused)
    ref = _reference(outcome)
    if not refused and operation.kind == Kind.PUBLISH and not ref:
        return _look_it_up(operation)
    finished = (
        MarketOperation.objects.filter(pk=operation.pk)
        .exclude(state__in=MarketOperation.FINAL)
        .update(
            state=State.REFUSED if refused else State.CONFIRMED,
            finished_at=timezone.now(),
            lease_owner=None,
            lease_until=None,
            needs_person=False,
            result_ref=ref,
            request_id=str(getattr(outcome, "raw", {}).get("request_id", "")),
            error_code=outcome.code if isinstance(outcome, Refused) else "",
            error_text=outcome.text[:2000] if isinstance(outcome, Refused) else "",
        )
    )
    if not finished:
        return False
    if refused:
        assert isinstance(outcome, Refused)
        _after_refusal(operation, outcome)
    else:
        _after_success(operation, ref)
    return True


def _reference(outcome: Outcome[Any]) -> str:
    if isinstance(outcome, Done | AlreadyDone) and isinstance(outcome.ref, str):
        return outcome.ref
    return ""


def _look_it_up(operation: MarketOperation) -> bool:
    """The marketplace says that it published this before, but not as what: the reconciler finds it."""
    MarketOperation.objects.filter(pk=operation.pk).exclude(state__in=MarketOperation.FINAL).update(
        state=State.UNKNOWN, needs_person=False, result_lost=True
    )
    return False


def _after_success(operation: MarketOperation, ref: str) -> None:
    now = timezone.now()
    stage, cost = operation.stage, Cost(operation.amount_cents, operation.fee_cents)
    match operation.kind:
        case Kind.PUBLISH:
            assert operation.hit is not None
            lifetime = operation.payload["open_seconds"]
            Hit.objects.filter(pk=operation.hit.pk, state=Hit.State.PLANNED).update(
                state=Hit.State.OPEN,
                external_id=ref,
                published_at=now,
                expires_at=now + timedelta(seconds=lifetime),
            )
        case Kind.EXTEND:
            assert operation.hit is not None
            decisions.places_added(operation.hit, operation.payload["places"])
        case Kind.APPROVE | Kind.UNREJECT:
            assert operation.assignment is not None
            decisions.approved(operation.assignment, at=now)
        case Kind.REJECT:
            assert operation.assignment is not None
            decisions.rejected(operation.assignment, at=now)
        case Kind.BONUS:
            assert stage is not None
            budget.spend(stage, cost, For("bonus", operation=operation), at=now)
        case Kind.GROUP:
            decisions.group_made(operation.payload["group_pk"], ref)
        case _:
            pass


def _after_refusal(operation: MarketOperation, outcome: Refused) -> None:
    now = timezone.now()
    stage = operation.stage
    if stage is None:
        return
    cost = Cost(operation.amount_cents, operation.fee_cents)
    budget.release(stage, cost, For("refused", operation=operation), at=now)
    if operation.kind == Kind.PUBLISH and operation.hit:
        Hit.objects.filter(pk=operation.hit.pk).update(state=Hit.State.REFUSED)
    if operation.kind in (Kind.APPROVE, Kind.REJECT, Kind.UNREJECT) and operation.assignment:
        Assignment.objects.filter(pk=operation.assignment.pk).update(
            held=True, note=f"{operation.get_kind_display()} was refused: {outcome.text}"[:300]
        )
    record(
        project=stage.project,
        action="operation.refused",
        subject=f"{operation.kind} {operation.target}",
        details={"code": outcome.code, "text": outcome.text[:500], "operation": str(operation.pk)},
    )


def out_of_funds(operation: MarketOperation, text: str) -> None:
    """The account is empty: pause the stage, so that a person sees it before anything else is tried."""
    if operation.stage is None:
        return
    paused = Stage.objects.filter(pk=operation.stage.pk, status=Stage.Status.OPEN).update(
        status=Stage.Status.PAUSED
    )
    if paused:
        record(
            project=operation.stage.project,
            action="stage.paused",
            subject=operation.stage.slug,
            details={"why": f"The marketplace account has no funds: {text}"[:500]},
        )
