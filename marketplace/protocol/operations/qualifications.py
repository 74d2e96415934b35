"""Custom qualifications: types and grants."""

from marketplace.errors import Refusal, invalid_value
from marketplace.models import QualificationGrant
from marketplace.protocol import lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.services import qualifications

_FIELDS = {
    "Description": "description",
    "QualificationTypeStatus": "status",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
    "RetryDelayInSeconds": "retry_delay_s",
}


@operation("CreateQualificationType", writes=True)
def create_qualification_type(call: Call) -> Result:
    """A qualification of the caller's own; the name is unique among theirs."""
    _check(call)
    row = qualifications.create_qualification_type(
        requester=call.requester,
        name=call["Name"],
        description=call["Description"],
        keywords=call.get("Keywords", ""),
        status=call["QualificationTypeStatus"],
        auto_granted=call.get("AutoGranted", False),
        auto_granted_value=call.get("AutoGrantedValue", 1),
        retry_delay_s=call.get("RetryDelayInSeconds"),
        now=call.now,
    )
    return {"QualificationType": render.qualification_type(row)}


@operation("UpdateQualificationType", writes=True)
def update_qualification_type(call: Call) -> Result:
    """Change what may change; name and keywords may not."""
    _check(call)
    row = qualifications.update_qualification_type(
        qualification_type=lookup.qualification_type(call),
        changes={field: call[name] for name, field in _FIELDS.items() if name in call.parameters},
    )
    return {"QualificationType": render.qualification_type(row)}


def _check(call: Call) -> None:
    for name in ("Test", "AnswerKey", "TestDurationInSeconds"):
        if name in call.parameters:
            raise Refusal(
                "NotSupported",
                f"Qualification tests ({name}) are not supported by this marketplace yet; nothing changed.",
            )
    for name, most in (("Name", 200), ("Description", 2000), ("Keywords", 1000)):
        value = call.get(name)
        if value is not None and (len(value) > most or (name != "Keywords" and not value.strip())):
            raise invalid_value(name, f"it must have between 1 and {most} characters.")
    if call.get("RetryDelayInSeconds", 0) < 0:
        raise invalid_value("RetryDelayInSeconds", "it cannot be negative.")
    if "AutoGrantedValue" in call.parameters and not call.get("AutoGranted", True):
        raise invalid_value("AutoGrantedValue", "it goes with AutoGranted only.")


@operation("GetQualificationType", writes=False)
def get_qualification_type(call: Call) -> Result:
    """One of the caller's qualification types."""
    return {"QualificationType": render.qualification_type(lookup.qualification_type(call))}


@operation("DeleteQualificationType", writes=True)
def delete_qualification_type(call: Call) -> Result:
    """Delete a type that no remaining HIT asks for."""
    qualifications.delete_qualification_type(qualification_type=lookup.qualification_type(call), now=call.now)
    return {}


@operation("AssociateQualificationWithWorker", writes=True)
def associate_qualification_with_worker(call: Call) -> Result:
    """Grant a qualification, or change its value."""
    qualifications.grant(
        qualification_type=lookup.qualification_type(call),
        worker=lookup.worker(call),
        value=call.get("IntegerValue", 1),
        notify=call.get("SendNotification", True),
    )
    return {}


@operation("DisassociateQualificationFromWorker", writes=True)
def disassociate_qualification_from_worker(call: Call) -> Result:
    """Take a qualification back."""
    reason = call.get("Reason", "")
    if len(reason) > 1024:
        raise invalid_value("Reason", "it has at most 1024 characters.")
    qualifications.revoke(
        qualification_type=lookup.qualification_type(call), worker=lookup.worker(call), reason=reason
    )
    return {}


@operation("GetQualificationScore", writes=False)
def get_qualification_score(call: Call) -> Result:
    """The value a worker holds."""
    kind, worker = lookup.qualification_type(call), lookup.worker(call)
    row = (
        QualificationGrant.objects.select_related("worker")
        .filter(qualification_type=kind, worker=worker, status=QualificationGrant.Status.GRANTED)
        .first()
    )
    if row is None:
        raise qualifications.grant_error(kind, worker)
    return {"Qualification": render.qualification(row, kind.qualification_type_id)}


@operation("ListWorkersWithQualificationType", writes=False)
def list_workers_with_qualification_type(call: Call) -> Result:
    """Who holds (by default) or held a qualification, oldest grant first."""
    kind = lookup.qualification_type(call)
    rows = QualificationGrant.objects.select_related("worker").filter(
        qualification_type=kind, status=call.get("Status", QualificationGrant.Status.GRANTED)
    )
    found, token = pages.page(call, rows, by="granted_at")
    return pages.result(
        "Qualifications", [render.qualification(row, kind.qualification_type_id) for row in found], token
    )
