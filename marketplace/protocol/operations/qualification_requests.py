"""Workers' requests for qualifications: those that wait for the requester, and what becomes of them."""

from marketplace.errors import invalid_value
from marketplace.models import QualificationRequest
from marketplace.protocol import lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.services import qualification_requests


@operation("ListQualificationRequests", writes=False)
def list_qualification_requests(call: Call) -> Result:
    """Requests that wait for the caller's decision, of one type or of all, the oldest first."""
    rows = QualificationRequest.objects.select_related("qualification_type", "worker").filter(
        state=QualificationRequest.State.PENDING
    )
    if "QualificationTypeId" in call.parameters:
        rows = rows.filter(qualification_type=lookup.qualification_type(call))
    else:
        rows = rows.filter(qualification_type__requester=call.requester)
    found, token = pages.page(call, rows, by="submitted_at")
    return pages.result("QualificationRequests", [render.qualification_request(row) for row in found], token)


@operation("AcceptQualificationRequest", writes=True)
def accept_qualification_request(call: Call) -> Result:
    """Grant what was asked for, with a value."""
    qualification_requests.accept(
        request=lookup.qualification_request(call), value=call.get("IntegerValue", 1)
    )
    return {}


@operation("RejectQualificationRequest", writes=True)
def reject_qualification_request(call: Call) -> Result:
    """Refuse it; the worker reads the reason."""
    reason = call.get("Reason", "")
    if len(reason) > 1024:
        raise invalid_value("Reason", "it has at most 1024 characters.")
    qualification_requests.reject(request=lookup.qualification_request(call), reason=reason)
    return {}
