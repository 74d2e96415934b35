"""Operations that a restored database holds for unfinished, once HITs, work and bonuses were compared."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from crowd.adapters.base import EarlierSuccess
from crowd.models import Assignment, Endpoint, MarketOperation
from crowd.outbox import results

Kind = MarketOperation.Kind
_LOOK_AT_MESSAGE = (
    "Planned before a restore, and messages are not listed: its readers may have it already. Say that it "
    "happened, or that it did not and write it again."
)
_LOOK_AT_DEADLINE = (
    "Planned before a restore, and the HIT has expired at the marketplace. Say that it happened if it "
    "should stay so, or that it did not and give it more time again."
)


def unfinished(endpoint: Endpoint, *kinds: MarketOperation.Kind) -> QuerySet[MarketOperation]:
    """Operations of these kinds that were planned and not finished."""
    return (
        MarketOperation.objects.select_related("stage__project", "hit", "assignment", "endpoint")
        .filter(endpoint=endpoint, kind__in=kinds)
        .exclude(state__in=MarketOperation.FINAL)
        .order_by("planned_at", "pk")
    )


def compare_operations(endpoint: Endpoint) -> None:
    """What is left: decisions that were made, messages that nobody lists, and ends that were set."""
    for operation in unfinished(endpoint, Kind.APPROVE, Kind.REJECT, Kind.UNREJECT).iterator(500):
        _conclude_decision(operation)
    for operation in unfinished(endpoint, Kind.MESSAGE).iterator(500):
        results.ask_a_person(operation, _LOOK_AT_MESSAGE)
    now = timezone.now()
    for operation in unfinished(endpoint, Kind.DEADLINE).filter(hit__expires_at__lte=now).iterator(500):
        results.ask_a_person(operation, _LOOK_AT_DEADLINE)


@transaction.atomic
def _conclude_decision(operation: MarketOperation) -> None:
    """A decision that the marketplace has already, or that another one overtook after the backup."""
    assert operation.assignment is not None
    state = Assignment.objects.values_list("state", flat=True).get(pk=operation.assignment.pk)
    if state not in (Assignment.State.APPROVED, Assignment.State.REJECTED):
        return
    wanted = Assignment.State.REJECTED if operation.kind == Kind.REJECT else Assignment.State.APPROVED
    if state == wanted:
        results.apply(operation, EarlierSuccess(operation.assignment.external_id))
    elif operation.kind != Kind.UNREJECT:
        results.overtake(operation, f"The work was {state} at the marketplace before.")
