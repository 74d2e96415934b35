"""Test controls: moving the clock and switching on faults, for whoever knows MARKETPLACE_TEST_TOKEN.

Without that setting these addresses do not exist, and `marketplace.protocol.fault_injection`, which carries
the faults out, is not loaded.
"""

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.db.models import F, Model, Q
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from core.audit import chain as audit
from core.origin import Owner
from core.revisions import ShownColumns
from marketplace import clock
from marketplace.models import (
    HIT,
    AccessKey,
    Batch,
    BatchTask,
    Block,
    Bonus,
    CallLog,
    Chaos,
    HITType,
    Holding,
    Invoice,
    LedgerEntry,
    Letter,
    Message,
    Payable,
    Payout,
    PayoutLine,
    PayoutPart,
    Place,
    QualificationType,
    Requester,
    Template,
    TokenUse,
    Worker,
    YearlyLimit,
)
from marketplace.parts import tables_of_work

# Faults on request: what is switched on for a requester, or for everybody.


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
    # The condition is in the update again: of calls at once, as many are hit as were asked for.
    wanting = Chaos.objects.filter(_concerns(requester_id), **{f"{counter}__gt": 0})
    pk = wanting.values_list("pk", flat=True).first()
    return bool(
        pk and Chaos.objects.filter(pk=pk, **{f"{counter}__gt": 0}).update(**{counter: F(counter) - 1})
    )


def _concerns(requester_id: int) -> Q:
    return Q(requester=None) | Q(requester=requester_id)


def switch_faults(requester: Requester | None, **faults: float | bool) -> None:
    """Set faults of one requester, or of all; those not named stay as they are."""
    chaos, _ = Chaos.objects.get_or_create(requester=requester)
    Chaos.objects.filter(pk=chaos.pk).update(**faults)


@transaction.atomic
def set_faults(requester: Requester, faults: Mapping[str, float | bool], *, seen: ShownColumns) -> None:
    """Set what a form says; ConflictError where the faults are not as the form showed them."""
    row, is_new = Chaos.objects.select_for_update().get_or_create(requester=requester)
    if not is_new and any(getattr(row, name) != value for name, value in faults.items()):
        seen.check(row)
    Chaos.objects.filter(pk=row.pk).update(**faults)


def clear_faults() -> None:
    """No faults for anybody."""
    Chaos.objects.all().delete()


# Emptying a marketplace under test. Only test controls call this.

_WORK: tuple[type[Model], ...] = (
    *(PayoutPart, PayoutLine, Payout, YearlyLimit),
    *(Invoice, Payable, Bonus, Holding, Place, BatchTask, HIT, Batch, Template, HITType),
    *(QualificationType, Block, Message, Letter, TokenUse, CallLog),
)


@transaction.atomic
def wipe_work() -> None:
    """Delete all work and what it moved; requesters, workers, their keys and their deposits stay."""
    LedgerEntry.objects.exclude(kind=LedgerEntry.Kind.DEPOSIT).delete()
    for table in (*tables_of_work(), *_WORK):
        table._default_manager.all().delete()
    audit.empty(Owner.Kind.REQUESTER, why="emptied by test controls")
    Requester.objects.update(available_cents=F("deposited_cents"), held_cents=0, paid_cents=0, fees_cents=0)
    Worker.objects.update(
        submitted_count=0, approved_count=0, rejected_count=0, returned_count=0, abandoned_count=0
    )


# The addresses.

_MAX_ADVANCE = 10 * 365 * 24 * 3600
_COUNTERS = {"lose_response_after_commit", "throttle_next"}
_RATES = {"throttle_rate", "error_rate"}


class InvalidControlError(ValueError):
    """A value that a control does not take; the text says which."""


Control = Callable[[dict[str, Any]], dict[str, Any]]


def _control(control: Control) -> Callable[[HttpRequest], JsonResponse]:
    @csrf_exempt
    def view(request: HttpRequest) -> JsonResponse:
        if not settings.MARKETPLACE_TEST_TOKEN:
            raise Http404
        header = request.headers.get("Authorization", "")
        expected = f"Bearer {settings.MARKETPLACE_TEST_TOKEN}"
        if not hmac.compare_digest(header.encode("utf-8", "replace"), expected.encode()):
            return JsonResponse(
                {"error": "Send MARKETPLACE_TEST_TOKEN as Authorization: Bearer."}, status=401
            )
        if request.method != "POST":
            return JsonResponse({"error": "Use POST."}, status=405)
        try:
            body = json.loads(request.body or b"{}")
            if not isinstance(body, dict):
                raise InvalidControlError("Send a JSON object.")
            return JsonResponse(control(body))
        except (ValueError, RecursionError, SuspiciousOperation) as error:
            return JsonResponse({"error": str(error)}, status=400)

    return view


def _number(name: str, value: Any, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise InvalidControlError(f"{name} is a number between 0 and {most:g}.")
    return value


@_control
def advance_clock(body: dict[str, Any]) -> dict[str, Any]:
    """{"advance_seconds": n}: the marketplace's time goes on by n seconds."""
    seconds = body.get("advance_seconds")
    if set(body) != {"advance_seconds"} or not isinstance(seconds, int):
        raise InvalidControlError("advance_seconds is a whole number of seconds.")
    if clock.advanced_seconds() + seconds > clock.MOST_AHEAD_S:
        raise InvalidControlError("The clock is a hundred years ahead at most; reset it first.")
    clock.advance(int(_number("advance_seconds", seconds, _MAX_ADVANCE)))
    return {"now": clock.now().timestamp(), "advanced_seconds": clock.advanced_seconds()}


@_control
def set_chaos(body: dict[str, Any]) -> dict[str, Any]:
    """Switch faults on or off, for all requesters or for the one with `access_key`."""
    requester: Requester | None = None
    if "access_key" in body:
        named = AccessKey.objects.filter(access_key=str(body.pop("access_key")))
        key = named.select_related("requester").first()
        if key is None:
            raise InvalidControlError("access_key is not one of this marketplace's.")
        requester = key.requester
    faults: dict[str, float | bool] = {}
    for name, value in body.items():
        if name in _COUNTERS:
            faults[name] = int(_number(name, value, 1_000_000))
        elif name in _RATES:
            faults[name] = _number(name, value, 1)
        elif name == "visibility_delay_s":
            faults[name] = _number(name, value, 86_400)
        elif name == "duplicate_events" and isinstance(value, bool):
            faults[name] = value
        else:
            raise InvalidControlError(f"{name} is not a fault that can be switched this way.")
    switch_faults(requester, **faults)
    return {"chaos": faults}


@_control
def reset(body: dict[str, Any]) -> dict[str, Any]:
    """Real time and no faults; with {"data": true} also no HITs, assignments and payments."""
    if not set(body) <= {"data"} or not isinstance(body.get("data", False), bool):
        raise InvalidControlError("reset takes nothing, or data: true.")
    clock.reset()
    clear_faults()
    if body.get("data"):
        wipe_work()
    return {"reset": True}
