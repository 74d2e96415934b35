"""Many grants of a qualification at a time, from a file: all of them, or none."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import transaction

from core.files.rowcounts import RowCounts
from marketplace.errors import Refusal
from marketplace.models import QualificationGrant, QualificationType, Worker
from marketplace.services.activity import note

Status = QualificationGrant.Status
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class GrantLine:
    """What a line asks for: a value for a worker, or, where it is not `granted`, that they lose it."""

    line: int
    worker_id: str
    value: int
    granted: bool = True


@dataclass(slots=True)
class Outcome:
    """How many lines changed something, and how many were so already."""

    granted: int = 0
    revoked: int = 0
    same: int = 0

    def counts(self) -> RowCounts:
        """What became of every line; one that cannot be taken refuses the file."""
        used = self.granted + self.revoked
        return RowCounts(rows_read=used + self.same, used=used, repeats=self.same)


@transaction.atomic
def grant_many(
    *, qualification_type: QualificationType, wanted: Iterable[GrantLine], now: datetime
) -> Outcome:
    """Give and take as the lines say, a thousand in memory at a time; nobody gets a message.

    Raises Refusal naming the line of a worker there is not; whatever reading `wanted` raises undoes all, too.
    """
    if qualification_type.status != QualificationType.Status.ACTIVE:
        raise Refusal("InvalidQualificationTypeState", "The qualification is inactive. Make it active first.")
    outcome = Outcome()
    lines = iter(wanted)
    while some := list(islice(lines, _AT_ONCE)):
        _grant(qualification_type, some, now, outcome)
    told = f"{outcome.granted} granted, {outcome.revoked} taken back"
    note(qualification_type.requester_id, "qualification.file", qualification_type.name[:120], told)
    return outcome


def _grant(kind: QualificationType, some: list[GrantLine], now: datetime, outcome: Outcome) -> None:
    ids = [each.worker_id for each in some]
    pks = dict(Worker.objects.filter(worker_id__in=ids).values_list("worker_id", "pk"))
    grants = QualificationGrant.objects.filter(qualification_type=kind, worker__in=pks.values())
    rows: Iterable[tuple[Any, ...]] = grants.values_list("worker", "value", "status")
    held = {worker: (value, status) for worker, value, status in rows}
    changed, lost = [], []
    for each in some:
        pk = pks.get(each.worker_id)
        if pk is None:
            raise Refusal(
                "InvalidParameterValue",
                f"Line {each.line}: there is no worker {each.worker_id!r}. Correct the id, or take the line "
                "out. Nothing was changed.",
            )
        value, status = held.get(pk, (None, ""))
        if each.granted and (value, status) != (each.value, Status.GRANTED):
            changed.append(
                QualificationGrant(qualification_type=kind, worker_id=pk, value=each.value, granted_at=now)
            )
        elif not each.granted and status == Status.GRANTED:
            lost.append(pk)
        else:
            outcome.same += 1
    QualificationGrant.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["qualification_type", "worker"],
        update_fields=["value", "status", "granted_at", "reason"],
    )
    QualificationGrant.objects.filter(qualification_type=kind, worker__in=lost).update(
        status=Status.REVOKED, reason=""
    )
    outcome.granted += len(changed)
    outcome.revoked += len(lost)
