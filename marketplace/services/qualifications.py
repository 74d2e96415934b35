"""Custom qualifications: types, grants one by one or from a file, and tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction

from core.files.refusals import RowCounts
from core.revisions import ShownColumns
from marketplace import clock, ids
from marketplace.errors import Refusal, invalid_value
from marketplace.models import (
    HIT,
    Message,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.questionform.answerkey import parse_key
from marketplace.questionform.parsing import parse_form
from marketplace.selectors import asking_for, hit_types_asking_for
from marketplace.services.activity import note

# Many grants of a qualification at a time, from a file: all of them, or none.

RowStatus = QualificationGrant.Status
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
        if each.granted and (value, status) != (each.value, RowStatus.GRANTED):
            changed.append(
                QualificationGrant(qualification_type=kind, worker_id=pk, value=each.value, granted_at=now)
            )
        elif not each.granted and status == RowStatus.GRANTED:
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
        status=RowStatus.REVOKED, reason=""
    )
    outcome.granted += len(changed)
    outcome.revoked += len(lost)


# Tests of qualifications: a QuestionForm to answer within a time, scored by an AnswerKey if there is one.

MAX_DURATION_S = 31_536_000


@dataclass(frozen=True, slots=True)
class QualificationTest:
    """What a worker has to answer. XML as it came; without an answer key the requester decides."""

    questions: str
    answer_key: str
    duration_s: int

    def check(self) -> None:
        """Raises Refusal for what cannot be shown, scored or done in time."""
        form = parse_form(self.questions, parameter="Test")
        if self.answer_key:
            parse_key(self.answer_key, form)
        if not 1 <= self.duration_s <= MAX_DURATION_S:
            raise invalid_value(
                "TestDurationInSeconds", f"{self.duration_s} is not between 1 and {MAX_DURATION_S}."
            )

    def fields(self) -> dict[str, str | int]:
        """Values of the qualification type's fields."""
        return {"test": self.questions, "answer_key": self.answer_key, "test_duration_s": self.duration_s}


Status = QualificationType.Status
Granted = QualificationGrant.Status
State = QualificationRequest.State


def create_qualification_type(
    *,
    requester: Requester,
    name: str,
    description: str,
    keywords: str,
    status: str,
    auto_granted: bool,
    auto_granted_value: int,
    retry_delay_s: int | None,
    now: datetime,
    test: QualificationTest | None = None,
) -> QualificationType:
    """A new type; its name is unique among the requester's and cannot change."""
    _check_test(test, auto_granted=auto_granted)
    try:
        with transaction.atomic():
            return QualificationType.objects.create(
                requester=requester,
                qualification_type_id=ids.new_entity_id(),
                name=name,
                description=description,
                keywords=keywords,
                status=status,
                auto_granted=auto_granted,
                auto_granted_value=auto_granted_value,
                retry_delay_s=retry_delay_s,
                created_at=now,
                **(test.fields() if test else {}),
            )
    except IntegrityError as error:
        raise Refusal(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name.",
        ) from error


@transaction.atomic
def update_qualification_type(
    *,
    qualification_type: QualificationType,
    changes: dict[str, Any],
    test: QualificationTest | None = None,
    seen: ShownColumns | None = None,
) -> QualificationType:
    """Change what may change: description, status, automatic granting, retry delay; and the test as a whole.

    A test once there cannot be removed, only replaced, with or without an answer key. Workers who are taking
    it finish the one they began. With `seen`, ConflictError where the type is not as the form showed it.
    """
    row = QualificationType.objects.select_for_update(no_key=True).get(pk=qualification_type.pk)
    if row.disposing_at:
        raise disposing_error()
    _check_test(test or row.test, auto_granted=changes.get("auto_granted", row.auto_granted))
    if test:
        changes = {**changes, **test.fields()}
    if seen is not None and any(getattr(row, name) != value for name, value in changes.items()):
        seen.check(row)
    for name, value in changes.items():
        setattr(qualification_type, name, value)
    qualification_type.save(update_fields=list(changes))
    return qualification_type


def _check_test(test: QualificationTest | str | None, *, auto_granted: bool) -> None:
    if test and auto_granted:
        raise invalid_value("AutoGranted", "a qualification with a Test is not granted without it.")
    if isinstance(test, QualificationTest):
        test.check()


@transaction.atomic
def delete_qualification_type(*, qualification_type: QualificationType, now: datetime) -> None:
    """Delete a type, at once or, where HITs still ask for it, when they are gone.

    Until then it is Disposing: who holds it takes these HITs, and nothing else can be done with it. Requests
    that wait for a decision are rejected.
    """
    row = QualificationType.objects.select_for_update(no_key=True).get(pk=qualification_type.pk)
    if row.disposing_at or row.deleted_at:
        raise disposing_error()
    qualification_type.disposing_at = now
    qualification_type.status = Status.INACTIVE
    if not _is_asked_for(row):
        qualification_type.deleted_at = now
    qualification_type.save(update_fields=["disposing_at", "status", "deleted_at"])
    qualification_type.requests.filter(state__in=QualificationRequest.OPEN).update(
        state=State.REJECTED, decided_at=now, reason="This qualification is no longer given."
    )


def disposing_error() -> Refusal:
    """Refusal of a change to a type that is Disposing or gone."""
    return Refusal(
        "InvalidQualificationTypeState", "This operation can be called with a status of: Active,Inactive"
    )


def _is_asked_for(row: QualificationType) -> bool:
    asking = asking_for(row.qualification_type_id, requester=row.requester)
    own = HIT.objects.filter(asking, disposed_at=None)
    others = hit_types_asking_for(row.qualification_type_id).exclude(requester=row.requester_id)
    return own.exists() or HIT.objects.filter(hit_type__in=others, disposed_at=None).exists()


def finish_disposals(now: datetime, *, requester: Requester | None = None) -> None:
    """Delete types that are Disposing and for which no HIT asks any more: one requester's, or all."""
    rows = QualificationType.objects.filter(disposing_at__isnull=False, deleted_at=None)
    if requester is not None:
        rows = rows.filter(requester=requester)
    for row in rows.select_related("requester"):
        if not _is_asked_for(row):
            QualificationType.objects.filter(pk=row.pk, deleted_at=None).update(deleted_at=now)


@transaction.atomic
def grant(
    *, qualification_type: QualificationType, worker: Worker, value: int, notify: bool
) -> QualificationGrant:
    """Give a worker the qualification with this value, or change the value."""
    check_active(qualification_type)
    note_grant(qualification_type, worker, value)
    return write_grant(qualification_type=qualification_type, worker=worker, value=value, notify=notify)


def check_active(qualification_type: QualificationType) -> None:
    """Raise Refusal for a type that is not given at present."""
    if qualification_type.status != Status.ACTIVE:
        raise Refusal(
            "InvalidQualificationTypeState", "This operation can be called with a status of: Active"
        )


def note_grant(qualification_type: QualificationType, worker: Worker, value: int) -> None:
    """Write down who granted it."""
    told = f"{qualification_type.name}: {value}"
    note(qualification_type.requester_id, "qualification.granted", worker.worker_id, told)


@transaction.atomic
def write_grant(
    *, qualification_type: QualificationType, worker: Worker, value: int, notify: bool
) -> QualificationGrant:
    """The same, whatever the status of the type: who asked while it was active is not to suffer."""
    now = clock.now()
    granted, _ = QualificationGrant.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": Granted.GRANTED, "granted_at": now, "reason": ""},
    )
    if notify and not worker.closed_at:
        Message.objects.create(
            worker=worker,
            requester=qualification_type.requester,
            subject=f"You now hold the qualification “{qualification_type.name[:150]}”",
            body=f"{qualification_type.requester.name} gave you this qualification, value {value}.\n\n"
            f"{qualification_type.description}",
            sent_at=now,
        )
    return granted


@transaction.atomic
def revoke(*, qualification_type: QualificationType, worker: Worker, reason: str) -> None:
    """Take a qualification back; the worker reads the reason."""
    revoked = QualificationGrant.objects.filter(
        qualification_type=qualification_type, worker=worker, status=Granted.GRANTED
    ).update(status=Granted.REVOKED, reason=reason)
    if not revoked:
        raise grant_error(qualification_type, worker)
    note(qualification_type.requester_id, "qualification.revoked", worker.worker_id, qualification_type.name)
    if worker.closed_at:
        return
    Message.objects.create(
        worker=worker,
        requester=qualification_type.requester,
        subject=f"You no longer hold the qualification “{qualification_type.name[:150]}”",
        body=reason or "The requester gave no reason.",
        sent_at=clock.now(),
    )


def grant_error(qualification_type: QualificationType, worker: Worker) -> Refusal:
    """Why a worker's qualification cannot be read or taken back: never granted, or revoked."""
    if QualificationGrant.objects.filter(qualification_type=qualification_type, worker=worker).exists():
        return Refusal(
            "InvalidQualificationState",
            "This operation can be called with a status of: Granted",
        )
    return never_granted(qualification_type, worker.worker_id)


def never_granted(qualification_type: QualificationType, worker_id: str) -> Refusal:
    """Refusal for a qualification that nobody gave this worker."""
    return Refusal(
        "QualificationDoesNotExist",
        f"You requested a Qualification that does not exist: QualificationType "
        f"{qualification_type.qualification_type_id} for Worker {worker_id}.",
    )
