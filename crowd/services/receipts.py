"""Storing an answer, and the receipt by which the marketplace carries a copy of it.

Our record is written first; then the worker's browser hands a receipt to the marketplace. It names our
record and holds a signed copy of the answer, so that even the loss of our server loses no answer.
"""

import hashlib
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import transaction

from crowd.kinds import kind_of
from crowd.models import Assignment, Exclusion, HitUnit
from crowd.services.apart import keep_out

State = Assignment.State
_SALT = "crowd.receipt"
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
    packed = urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()
    copy = signing.Signer(salt=_SALT).sign(f"{assignment.receipt}.{packed}")
    if len(copy) <= _LONGEST_COPY:
        fields["copy"] = copy
    return fields


def read_copy(answer: Mapping[str, str], assignment: Assignment) -> dict[str, Any] | None:
    """The response from a receipt's copy, where it is ours and belongs to this assignment."""
    try:
        receipt, _, packed = signing.Signer(salt=_SALT).unsign(answer.get("copy", "")).partition(".")
        if receipt != str(assignment.receipt):
            return None
        response = json.loads(zlib.decompress(urlsafe_b64decode(packed)))
    except (signing.BadSignature, ValueError, zlib.error):
        return None
    return response if isinstance(response, dict) else None


@transaction.atomic
def store_response(
    assignment: Assignment,
    response: dict[str, Any],
    *,
    at: datetime,
    states: Collection[str] = (State.WORKING, State.ENDED),
) -> bool:
    """Store the whole answer of an assignment and tell its kind; once, however often it is sent.

    `response` maps units to responses. Checks are counted, and the worker is barred from what the kind
    says this work bars from. False where there is an answer already, or the assignment is in none of
    `states`: a worker's form counts only while they work, a receipt's copy also after we gave them up.
    """
    stored = Assignment.objects.filter(pk=assignment.pk, response__isnull=True, state__in=states).update(
        response=response, state=State.STORED, stored_at=at
    )
    if not stored:
        return False
    assignment.response, assignment.state, assignment.stored_at = response, State.STORED, at
    stage, kind = assignment.stage, kind_of(assignment.stage)
    roles = dict(HitUnit.objects.filter(hit=assignment.hit_id).values_list("unit", "role"))
    failed = 0
    marks: set[str] = set()
    for unit, answer in response.items():
        if roles.get(unit) == HitUnit.Role.CHECK:
            failed += not kind.passes(stage, unit, answer)
        marks.update(kind.marks(stage, unit))
        kind.record(assignment, unit, answer)
    if failed:
        Assignment.objects.filter(pk=assignment.pk).update(failed_checks=failed)
        assignment.failed_checks = failed
    Exclusion.objects.bulk_create(
        [
            Exclusion(
                worker=assignment.worker,
                scope=scope,
                reason=f"Worked on {stage.slug}",
                created_at=at,
            )
            for scope in sorted(marks)
        ],
        ignore_conflicts=True,
    )
    keep_out(assignment)
    return True
