"""Old MTurk worker ids: brought in by requesters, stated by workers, and what follows when both meet.

Records wait for the id to be stated. A block and a grant take effect in the transaction that accepts the
claim; a bonus is paid on the first answer of that worker to the requester, because money goes with work.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext

from core.files.reading import Reading
from core.files.refusals import RowCounts
from core.money import entered_cents
from marketplace import clock
from marketplace.activity import note
from marketplace.errors import Refusal, invalid_value
from marketplace.forms.sheets import Row, Sheet, SheetError
from marketplace.heritage.models import FormerIdClaim, FormerIdRecord
from marketplace.lifecycle import review
from marketplace.models import Block, Holding, QualificationGrant, QualificationType, Requester, Worker
from metrics.figure import counted

Kind = FormerIdRecord.Kind
ID = re.compile(r"A[A-Z0-9]{5,30}")
MOST_CENTS = 10_000_00
_AT_ONCE = 500
#: What the activity of a requester calls a record that takes effect.
_ACTIONS: dict[str, str] = {Kind.BLOCK: "worker.blocked", Kind.GRANT: "qualification.granted"}
#: Names of the columns of a table, by what they hold.
_COLUMNS = {
    "worker_id": ("worker_id", "workerid", "worker"),
    **{name: (name,) for name in ("block", "qualification", "value", "bonus", "reason")},
}


# Bringing in a table.


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What a table brought in; `same` were there already."""

    reading: Reading
    rows: int
    new: int
    same: int


@transaction.atomic
def bring_in(*, requester: Requester, sheet: Sheet) -> FileOutcome:
    """Read a table of ids: all of it, or none. Raises SheetError naming line and column.

    Columns: the id, and if wanted `block` (a reason), `qualification` (id or name of a type) with `value`,
    `bonus` (an amount) with `reason`. The same table once more changes nothing.
    """
    places = _find_columns(sheet)
    reader = _Reader(sheet, places, _qualifications(requester), requester, clock.now())
    columns = {role: [sheet.columns[place]] for role, place in places.items()}
    read = new = same = 0
    rows = (reader.records_of(row) for row in sheet.rows())
    former_ids: set[str] = set()
    while chunk := list(islice(rows, _AT_ONCE)):
        records = [record for group in chunk for record in group]
        before = FormerIdRecord.objects.filter(requester=requester).count()
        FormerIdRecord.objects.bulk_create(records, ignore_conflicts=True)
        created = FormerIdRecord.objects.filter(requester=requester).count() - before
        read += len(chunk)
        new += created
        same += len(records) - created
        former_ids |= {record.former_id for record in records}
    done = f"{counted(read, 'id')}, {counted(new, 'new record')}"
    note(requester.pk, "former_ids.file", sheet.name[:120], done)
    for claim in FormerIdClaim.objects.filter(accepted=True).select_related("worker").order_by("pk"):
        if claim.former_id in former_ids:
            apply_records(claim)
    return FileOutcome(sheet.reading(columns, RowCounts(read, used=read)), read, new, same)


def _find_columns(sheet: Sheet) -> dict[str, int]:
    remedy = "Rename the others."
    places = {role: sheet.find_column(role, names, remedy=remedy) for role, names in _COLUMNS.items()}
    if places["worker_id"] is None:
        raise sheet.error("it has no column worker_id. Name the column of ids so.", line=sheet.header_row)
    return {role: place for role, place in places.items() if place is not None}


def _qualifications(requester: Requester) -> dict[str, QualificationType]:
    rows = QualificationType.objects.filter(requester=requester, deleted_at=None, disposing_at=None)
    return {key: row for row in rows for key in (row.name, row.qualification_type_id)}


@dataclass(frozen=True, slots=True)
class _Reader:
    """Rows of a table as records."""

    sheet: Sheet
    places: dict[str, int]
    kinds: dict[str, QualificationType]
    requester: Requester
    now: datetime

    def records_of(self, row: Row) -> list[FormerIdRecord]:
        """What a row asks for; SheetError where it cannot be read."""
        cells = {name: row.cells[place].strip() for name, place in self.places.items()}
        former_id = cells["worker_id"]
        if not ID.fullmatch(former_id):
            raise self._error(row, "worker_id", f"{former_id[:40]!r} is no worker id of MTurk.")
        records = [self._record(former_id, Kind.LISTED)]
        if reason := cells.get("block"):
            records.append(self._record(former_id, Kind.BLOCK, reason=reason[:1024]))
        if named := cells.get("qualification"):
            value = cells.get("value") or "1"
            if named not in self.kinds:
                raise self._error(row, "qualification", f"you have no qualification {named[:80]!r}.")
            if not re.fullmatch(r"-?[0-9]{1,9}", value):
                raise self._error(row, "value", f"{value[:20]!r} is not a whole number.")
            kind = self.kinds[named]
            records.append(self._record(former_id, Kind.GRANT, qualification_type=kind, value=int(value)))
        if amount := cells.get("bonus"):
            reason = cells.get("reason") or "For your work on MTurk."
            cents = self._cents(row, amount)
            records.append(self._record(former_id, Kind.BONUS, cents=cents, reason=reason[:1024]))
        return records

    def _record(self, former_id: str, kind: str, **values: Any) -> FormerIdRecord:
        return FormerIdRecord(
            requester=self.requester, former_id=former_id, kind=kind, created_at=self.now, **values
        )

    def _cents(self, row: Row, amount: str) -> int:
        try:
            cents = entered_cents(amount)
        except ValueError as error:
            raise self._error(row, "bonus", str(error)) from error
        if not 0 < cents <= MOST_CENTS:
            raise self._error(row, "bonus", "a bonus is between 0.01 and 10000.00.")
        return cents

    def _error(self, row: Row, column: str, why: str) -> SheetError:
        return self.sheet.error(why, line=row.line, column=column)


# Stating an id.


@transaction.atomic
def state_former_id(*, worker: Worker, former_id: str) -> FormerIdClaim:
    """A worker states the id they had; the first has it, a second waits for staff. It is stated once."""
    former_id = former_id.strip().upper()
    if not ID.fullmatch(former_id):
        raise invalid_value(
            "WorkerId", "an MTurk worker id begins with A and has 6 to 31 letters and digits."
        )
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    if FormerIdClaim.objects.filter(worker=worker).exists():
        raise Refusal(
            "AlreadyStated",
            gettext("You have stated an id. To correct it, ask the people who run this site."),
        )
    claimed = FormerIdClaim.objects.filter(former_id=former_id, accepted=True).exists()
    values = {"worker": worker, "former_id": former_id, "at": clock.now()}
    try:
        with transaction.atomic():
            claim = FormerIdClaim.objects.create(accepted=not claimed, **values)
    except IntegrityError:  # another worker stated it at the same moment
        claim = FormerIdClaim.objects.create(accepted=False, **values)
    if claim.accepted:
        apply_records(claim)
    else:
        _note_for_all(claim, "former_id.contested")
    return claim


def _note_for_all(claim: FormerIdClaim, action: str) -> None:
    """A line for every requester that keeps something on the id."""
    keeping = FormerIdRecord.objects.filter(former_id=claim.former_id).order_by("requester")
    for requester in keeping.values_list("requester", flat=True).distinct():
        note(requester, action, claim.former_id, claim.worker.worker_id)


@transaction.atomic
def settle_claim(*, former_id: str, worker: Worker) -> FormerIdClaim:
    """Staff decide whose an id is. What took effect for another worker stays there, and is not done twice."""
    claims = FormerIdClaim.objects.select_for_update(no_key=True).filter(former_id=former_id)
    winner = next((claim for claim in claims if claim.worker_id == worker.pk), None)
    if winner is None:
        raise Refusal("NotStated", f"{worker.worker_id} has not stated the id {former_id[:40]}.")
    now = clock.now()
    claims.exclude(pk=winner.pk).update(accepted=False, settled_at=now)
    winner.accepted, winner.settled_at = True, now
    winner.save(update_fields=["accepted", "settled_at"])
    apply_records(winner)
    _note_for_all(winner, "former_id.settled")
    return winner


def apply_records(claim: FormerIdClaim) -> None:
    """Have what waits for this id take effect, each record once. Must run in a transaction."""
    waiting = FormerIdRecord.objects.filter(former_id=claim.former_id, applied_at=None)
    rows = waiting.exclude(kind=Kind.BONUS).select_related("qualification_type")
    for record in rows.order_by("pk"):
        done = FormerIdRecord.objects.filter(pk=record.pk, applied_at=None).update(
            applied_at=clock.now(), worker=claim.worker, why=""
        )
        if not done:
            continue
        if record.kind == Kind.BLOCK:
            Block.objects.get_or_create(
                requester_id=record.requester_id,
                worker=claim.worker,
                defaults={"reason": record.reason, "created_at": clock.now()},
            )
        elif record.kind == Kind.GRANT and record.qualification_type_id:
            QualificationGrant.objects.get_or_create(
                qualification_type_id=record.qualification_type_id,
                worker=claim.worker,
                defaults={"value": record.value, "granted_at": clock.now()},
            )
        if action := _ACTIONS.get(record.kind):
            note(record.requester_id, action, claim.worker.worker_id, f"stated MTurk id {claim.former_id}")


def pay_waiting_bonuses() -> int:
    """Pay bonuses of ids that were stated, on an answer of that worker to the requester; how many."""
    claims = FormerIdClaim.objects.filter(former_id=OuterRef("former_id"), accepted=True)
    waiting = FormerIdRecord.objects.filter(Exists(claims), kind=Kind.BONUS, applied_at=None)
    paid = 0
    for record in list(waiting.select_related("requester").order_by("pk")[:_AT_ONCE]):
        claim = FormerIdClaim.objects.select_related("worker").get(former_id=record.former_id, accepted=True)
        holding = (
            Holding.objects.filter(
                requester=record.requester_id, worker=claim.worker, state__in=Holding.ANSWERED
            )
            .order_by("submitted_at", "pk")
            .first()
        )
        if holding is not None and not claim.worker.closed_at:
            paid += _pay(record, claim.worker, holding)
    return paid


def _pay(record: FormerIdRecord, worker: Worker, holding: Holding) -> int:
    """One bonus: the record is taken and the money moves in one transaction, or neither."""
    now = clock.now()
    try:
        with transaction.atomic():
            updated = FormerIdRecord.objects.filter(pk=record.pk, applied_at=None).update(
                applied_at=now, worker=worker, why=""
            )
            if not updated:
                return 0
            review.send_bonus(
                holding=holding,
                worker_id=worker.worker_id,
                cents=record.cents,
                reason=record.reason,
                now=now,
            )
            return 1
    except Refusal as refusal:
        FormerIdRecord.objects.filter(pk=record.pk, applied_at=None).update(why=refusal.message[:300])
        return 0


# The protocol: ids that are nobody's yet.


def is_listed(requester: Requester, former_id: str) -> bool:
    """Whether the requester brought this id in."""
    return FormerIdRecord.objects.filter(requester=requester, former_id=former_id[:64]).exists()


def keep_block(*, requester: Requester, former_id: str, reason: str) -> None:
    """Keep a block until the id is stated; a second one renews the reason."""
    FormerIdRecord.objects.update_or_create(
        requester=requester,
        former_id=former_id,
        kind=Kind.BLOCK,
        defaults={"reason": reason, "applied_at": None},
        create_defaults={"reason": reason, "created_at": clock.now()},
    )


def keep_grant(*, qualification_type: QualificationType, former_id: str, value: int) -> None:
    """Keep a grant, or another value, until the id is stated."""
    FormerIdRecord.objects.update_or_create(
        qualification_type=qualification_type,
        former_id=former_id,
        kind=Kind.GRANT,
        defaults={"value": value, "applied_at": None, "requester": qualification_type.requester},
        create_defaults={
            "value": value,
            "created_at": clock.now(),
            "requester": qualification_type.requester,
        },
    )


def forget_records(
    *,
    requester: Requester,
    former_id: str,
    kind: str,
    qualification_type: QualificationType | None = None,
) -> int:
    """Take back what waits; how many records."""
    rows = FormerIdRecord.objects.filter(requester=requester, former_id=former_id, kind=kind, applied_at=None)
    if qualification_type is not None:
        rows = rows.filter(qualification_type=qualification_type)
    return rows.delete()[0]


def waiting_grant(qualification_type: QualificationType, former_id: str) -> FormerIdRecord | None:
    """The grant that waits for an id."""
    rows = FormerIdRecord.objects.filter(
        qualification_type=qualification_type, former_id=former_id, kind=Kind.GRANT, applied_at=None
    )
    return rows.first()


@dataclass(frozen=True, slots=True)
class ContestedId:
    """An id that several workers state: how many, and a requester that keeps something on it, or ""."""

    former_id: str
    people: int
    kept_by: str


def unsettled(most: int) -> list[ContestedId]:
    """Contested ids about which staff have not decided since the last worker stated them."""
    keeping = FormerIdRecord.objects.filter(former_id=OuterRef("former_id")).order_by("pk")
    rows = (
        FormerIdClaim.objects.values("former_id")
        .annotate(people=Count("pk"), waiting=Count("pk", filter=Q(accepted=False, settled_at=None)))
        .filter(people__gt=1, waiting__gt=0)
        .annotate(kept_by=Subquery(keeping.values("requester__customer_id")[:1]))
        .order_by("former_id")[:most]
    )
    return [ContestedId(row["former_id"], row["people"], row["kept_by"] or "") for row in rows]


def contested(requester: Requester | None = None) -> QuerySet[FormerIdClaim]:
    """Claims to ids that several workers state; with a requester, those of its tables."""
    others = FormerIdClaim.objects.filter(former_id=OuterRef("former_id")).exclude(pk=OuterRef("pk"))
    rows = FormerIdClaim.objects.filter(Exists(others)).select_related("worker")
    if requester is not None:
        records = FormerIdRecord.objects.filter(requester=requester, former_id=OuterRef("former_id"))
        rows = rows.filter(Exists(records))
    return rows.order_by("former_id", "at", "pk")


def find_workers(former_ids: Collection[str]) -> dict[str, Worker]:
    """The workers whose these ids are, by id."""
    claims = FormerIdClaim.objects.filter(former_id__in=former_ids, accepted=True).select_related("worker")
    return {claim.former_id: claim.worker for claim in claims}


def explain_unstated(requester: Requester, former_ids: Collection[str]) -> dict[str, str]:
    """Why ids that the requester brought in lead to no worker."""
    listed = FormerIdRecord.objects.filter(requester=requester, former_id__in=former_ids)
    reason = "This is an id of MTurk, and no worker here has stated it yet."
    return dict.fromkeys(listed.values_list("former_id", flat=True), reason)
