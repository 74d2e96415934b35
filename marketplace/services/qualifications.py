"""Custom qualifications: types, and who holds which value."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from marketplace import clock, ids
from marketplace.errors import Refusal
from marketplace.models import (
    HIT,
    Message,
    QualificationGrant,
    QualificationType,
    Requester,
    Worker,
)

Status = QualificationType.Status
Granted = QualificationGrant.Status


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
) -> QualificationType:
    """A new type; its name is unique among the requester's and cannot change."""
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
            )
    except IntegrityError as error:
        raise Refusal(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name.",
        ) from error


def update_qualification_type(
    *, qualification_type: QualificationType, changes: dict[str, Any]
) -> QualificationType:
    """Change what may change: description, status, automatic granting, retry delay."""
    for name, value in changes.items():
        setattr(qualification_type, name, value)
    qualification_type.save(update_fields=list(changes))
    return qualification_type


def delete_qualification_type(*, qualification_type: QualificationType, now: datetime) -> None:
    """Delete a type that no HIT on offer still asks for."""
    wanted = qualification_type.qualification_type_id
    open_types = (
        HIT.objects.filter(requester=qualification_type.requester_id, disposed_at=None)
        .values_list("hit_type__requirements", flat=True)
        .distinct()
    )
    for requirements in open_types.iterator():
        if any(item["QualificationTypeId"] == wanted for item in requirements):
            raise Refusal(
                "InvalidQualificationTypeState",
                "HITs that ask for this QualificationType still exist; delete them first. "
                "This operation can be called with a status of: Active,Inactive",
            )
    qualification_type.deleted_at = now
    qualification_type.save(update_fields=["deleted_at"])


@transaction.atomic
def grant(
    *, qualification_type: QualificationType, worker: Worker, value: int, notify: bool
) -> QualificationGrant:
    """Give a worker the qualification with this value, or change the value."""
    if qualification_type.status != Status.ACTIVE:
        raise Refusal(
            "InvalidQualificationTypeState", "This operation can be called with a status of: Active"
        )
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
    return Refusal(
        "QualificationDoesNotExist",
        f"You requested a Qualification that does not exist: QualificationType "
        f"{qualification_type.qualification_type_id} for Worker {worker.worker_id}.",
    )


def request_auto_granted(*, worker: Worker, qualification_type: QualificationType) -> QualificationGrant:
    """Grant a worker's request of a qualification that is given to everybody who asks."""
    if not qualification_type.auto_granted or qualification_type.deleted_at:
        raise Refusal("PermissionDeniedException", "This qualification is not given on request.")
    held = QualificationGrant.objects.filter(qualification_type=qualification_type, worker=worker).first()
    if held:
        if held.status == Granted.REVOKED:
            raise Refusal(
                "QualificationTypeDoesNotAllowRetake", "This qualification was taken back by the requester."
            )
        return held
    return grant(
        qualification_type=qualification_type,
        worker=worker,
        value=qualification_type.auto_granted_value,
        notify=False,
    )
