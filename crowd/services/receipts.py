"""Storing an answer, and the receipt by which the marketplace carries a copy of it.

Our record is written first; then the worker's browser hands a receipt to the marketplace. It names our
record and holds a signed copy of the answer, so that even the loss of our server loses no answer. The copy
names units by their places in the HIT, as the page did: workers can read it, and checks come again.
"""

import hashlib
import json
import uuid
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import transaction
from django.utils import timezone

from crowd.kinds import kind_of
from crowd.models import Assignment, Exclusion, HitUnit
from crowd.services.stage_exclusions import keep_out
from crowd.webhooks import tell_arrival

State = Assignment.State
_SALT = "crowd.receipt"
#: Before a unit's place in the copies; those from before have units' names.
_PLACE = "#"
#: Longest copy that travels with a receipt, in characters; longer answers travel without one.
_LONGEST_COPY = 60_000


def canonical(response: Mapping[str, Any]) -> str:
    """The response as text, the same for the same response."""
    return json.dumps(response, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def receipt_fields(assignment: Assignment) -> dict[str, str]:
    """What the worker's browser posts to the marketplace besides the assignment's id."""
    assert assignment.response is not None
    text = canonical(assignment.response)
    fields = {
        "receipt": str(assignment.receipt),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    places = {unit: f"{_PLACE}{place}" for unit, place in _places(assignment)}
    told = canonical({places.get(unit, unit): answer for unit, answer in assignment.response.items()})
    packed = urlsafe_b64encode(zlib.compress(told.encode(), 9)).decode()
    copy = signing.Signer(salt=_SALT).sign(f"{assignment.receipt}.{packed}")
    if len(copy) <= _LONGEST_COPY:
        fields["copy"] = copy
    return fields


def read_copy(answer: Mapping[str, str], assignment: Assignment) -> dict[str, Any] | None:
    """The response from a receipt's copy, where it is ours and belongs to this assignment."""
    receipt, packed = _signed(answer)
    if receipt != str(assignment.receipt):
        return None
    try:
        response = json.loads(zlib.decompress(urlsafe_b64decode(packed)))
    except (ValueError, zlib.error):
        return None
    if not isinstance(response, dict):
        return None
    units: dict[str, str] = {f"{_PLACE}{place}": unit for unit, place in _places(assignment)}
    return {units.get(str(name), str(name)): said for name, said in response.items()}


def receipt_in(answer: Mapping[str, str]) -> uuid.UUID | None:
    """The receipt that a copy was given out with, where we signed it: of an answer that was stored once."""
    try:
        return uuid.UUID(_signed(answer)[0])
    except ValueError:
        return None


def _signed(answer: Mapping[str, str]) -> tuple[str, str]:
    """The receipt and the packed answer of a copy; empty where it is not ours."""
    try:
        receipt, _, packed = signing.Signer(salt=_SALT).unsign(answer.get("copy", "")).partition(".")
    except signing.BadSignature:
        return "", ""
    return receipt, packed


def _places(assignment: Assignment) -> Iterable[tuple[str, int]]:
    """The units of an assignment's HIT with their places."""
    return HitUnit.objects.filter(hit=assignment.hit_id).values_list("unit", "position")


@transaction.atomic
def store_response(
    assignment: Assignment,
    response: dict[str, Any],
    *,
    at: datetime,
    states: Collection[str] = (State.WORKING, State.ENDED),
) -> bool:
    """Store the whole answer of an assignment and tell its kind; once, however often it is sent.

    `response` maps units to responses. Checks are counted, and the worker of a proven arrival is barred from
    what the kind says this work bars from; of another one when the marketplace lists it. False where there is
    an answer already, or the assignment is in none of `states`: a worker's form counts only while they work,
    a receipt's copy also after we gave them up.
    """
    stored = Assignment.objects.filter(pk=assignment.pk, response__isnull=True, state__in=states).update(
        response=response, state=State.STORED, stored_at=at
    )
    if not stored:
        return False
    assignment.response, assignment.state, assignment.stored_at = response, State.STORED, at
    stage, kind = assignment.stage, kind_of(assignment.stage)
    roles = dict(HitUnit.objects.filter(hit=assignment.hit_id).values_list("unit", "role"))
    checks = {unit: answer for unit, answer in response.items() if roles.get(unit) == HitUnit.Role.CHECK}
    failed = sum(not kind.passes(stage, unit, answer) for unit, answer in checks.items())
    kind.record_all(assignment, response)
    if failed:
        Assignment.objects.filter(pk=assignment.pk).update(failed_checks=failed)
        assignment.failed_checks = failed
    if assignment.proven or assignment.submitted_at is not None:
        bar_from_more(assignment)
    tell_arrival(assignment, at)
    return True


def bar_from_more(assignment: Assignment) -> None:
    """Bar the worker from what the kind says this work bars from: once it is certain whose work it is."""
    stage, response = assignment.stage, assignment.response or {}
    Exclusion.objects.bulk_create(
        [
            Exclusion(
                worker=assignment.worker,
                scope=scope,
                reason=f"Worked on {stage.slug}",
                created_at=timezone.now(),
            )
            for scope in sorted(kind_of(stage).all_marks(stage, list(response)))
        ],
        ignore_conflicts=True,
    )
    keep_out(assignment)
