"""Faults on request: what the test controls switched on for a requester, or for everybody.

`marketplace.protocol.fault_injection` carries them out, and is loaded only where test controls are on.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q

from core.revisions import ShownColumns
from marketplace.models import Chaos, Requester


@dataclass(frozen=True, slots=True)
class Faults:
    """Rates are probabilities per call; the delay is in seconds."""

    throttle_rate: float = 0
    error_rate: float = 0
    visibility_delay_s: float = 0
    duplicate_events: bool = False


def faults_for(requester_id: int) -> Faults:
    """The faults in force for a requester: the larger of their own and everybody's."""
    rows = Chaos.objects.filter(_concerns(requester_id)).values_list(
        "throttle_rate", "error_rate", "visibility_delay_s", "duplicate_events"
    )
    return Faults(*(max(values) for values in zip(*rows, strict=True))) if rows else Faults()


def take_throttle(requester_id: int) -> bool:
    """True if a call was to be throttled for certain; uses up one of those asked for."""
    return _take("throttle_next", requester_id)


def take_lost_response(requester_id: int) -> bool:
    """True if the answer to a committed call is to be lost; uses up one of those asked for."""
    return _take("lose_response_after_commit", requester_id)


def _take(counter: str, requester_id: int) -> bool:
    wanting = Chaos.objects.filter(_concerns(requester_id), **{f"{counter}__gt": 0})
    pk = wanting.values_list("pk", flat=True).first()
    return bool(
        pk and Chaos.objects.filter(pk=pk, **{f"{counter}__gt": 0}).update(**{counter: F(counter) - 1})
    )


def _concerns(requester_id: int) -> Q:
    return Q(requester=None) | Q(requester=requester_id)


def switch(requester: Requester | None, **faults: float | bool) -> None:
    """Set faults of one requester, or of all; those not named stay as they are."""
    chaos, _ = Chaos.objects.get_or_create(requester=requester)
    Chaos.objects.filter(pk=chaos.pk).update(**faults)


@transaction.atomic
def set_faults(requester: Requester, faults: Mapping[str, float | bool], *, seen: ShownColumns) -> None:
    """Set what a form says; ConflictError where the faults are not as the form showed them."""
    row, made = Chaos.objects.select_for_update().get_or_create(requester=requester)
    if not made and any(getattr(row, name) != value for name, value in faults.items()):
        seen.check(row)
    Chaos.objects.filter(pk=row.pk).update(**faults)


def reset() -> None:
    """No faults for anybody."""
    Chaos.objects.all().delete()
