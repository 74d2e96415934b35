"""Finding what a call names. What belongs to another requester does not exist for the caller."""

from datetime import UTC, datetime, timedelta

from core.extensions import parts_of
from marketplace.errors import ParameterRefusal, Refusal
from marketplace.lifecycle.expiry import settle
from marketplace.models import HIT, HITType, Holding, QualificationRequest, QualificationType, Worker
from marketplace.parts import WorkerNames
from marketplace.protocol.calls import OPERATIONS, Call
from marketplace.qualifications.eligibility import SYSTEM_QUALIFICATIONS

# The qualifications that the marketplace itself computes, as rows for lists; no table has them.

#: Before every custom type, so that lists by time begin with these.
_SINCE = datetime(2005, 11, 2, tzinfo=UTC)


def system_types() -> list[QualificationType]:
    """All of them, each with a primary key below those of every table."""
    return [
        QualificationType(
            pk=number - len(SYSTEM_QUALIFICATIONS),
            qualification_type_id=type_id,
            name=name,
            description=f"{name}, as the marketplace itself knows it. Use it in QualificationRequirements.",
            status=QualificationType.Status.ACTIVE,
            created_at=_SINCE,
        )
        for number, (type_id, name) in enumerate(SYSTEM_QUALIFICATIONS.items())
    ]


def is_system(row: QualificationType) -> bool:
    """Whether nobody made this type, and nobody can ask for it."""
    return row.requester_id is None


#: How long GetHIT still shows a deleted HIT as Disposed.
SHOWN_AFTER_DISPOSAL = timedelta(days=7)


def settle_for_writing(call: Call) -> None:
    """Apply what is due to the HIT that a writing call is about, before the call's transaction begins.

    Each change is a transaction of its own: approvals of several workers within one could meet those of
    another call in a ring of locks. What was due stays done where the call itself is refused.
    A HIT type that it names is read before, too: no other call waits for that.
    """
    if "HITTypeId" in call.parameters:
        call.hit_type = _hit_type_of(call)
    mine = HIT.objects.filter(requester=call.requester).defer("question")
    if "HITId" in call.parameters:
        hits = mine.filter(hit_id=call["HITId"])
    elif "AssignmentId" in call.parameters:
        hits = mine.filter(places__assignment_id=call["AssignmentId"])
    else:
        return
    settle(hits=list(hits), now=call.now)


def _settle_for_reading(call: Call, row: HIT) -> None:
    if not OPERATIONS[call.operation].writes:
        settle(hits=[row], now=call.now)


def hit(call: Call) -> HIT:
    """The caller's HIT named by HITId, with everything applied that was due."""
    hits = HIT.objects.select_related("hit_type", "requester")
    try:
        row = hits.get(hit_id=call["HITId"], requester=call.requester)
    except HIT.DoesNotExist:
        raise _no_hit(call) from None
    _settle_for_reading(call, row)
    if row.disposed_at and row.disposed_at < call.now - SHOWN_AFTER_DISPOSAL:
        raise _no_hit(call)
    return row


def _no_hit(call: Call) -> Refusal:
    return Refusal("HITDoesNotExist", f"Hit {call['HITId']} does not exist.")


def hit_type(call: Call) -> HITType:
    """The caller's HIT type named by HITTypeId."""
    row = call.hit_type or _hit_type_of(call)
    if row is None:
        raise Refusal("HITTypeDoesNotExist", f"HITType {call['HITTypeId']} does not exist.")
    row.requester = call.requester
    return row


def _hit_type_of(call: Call) -> HITType | None:
    try:
        return HITType.objects.get(type_id=call["HITTypeId"], requester=call.requester)
    except HITType.DoesNotExist:
        return None


def assignment(call: Call) -> Holding:
    """The answered or still open holding of the place that AssignmentId names, the answered one first."""
    holdings = Holding.objects.select_related("hit__hit_type", "worker").filter(state__in=Holding.OCCUPYING)
    mine = holdings.filter(assignment_id=call["AssignmentId"], hit__requester=call.requester)
    row = mine.order_by("pk").first()
    if row is None:
        raise no_assignment(call)
    _settle_for_reading(call, row.hit)
    return row


def no_assignment(call: Call) -> Refusal:
    """Refusal for an AssignmentId that nobody submitted, or that is not the caller's."""
    return Refusal("AssignmentDoesNotExist", f"Assignment {call['AssignmentId']} does not exist.")


def known_worker(call: Call) -> Worker | None:
    """The worker named by WorkerId, or by another id that is known to be theirs."""
    named = call["WorkerId"]
    row = Worker.objects.filter(worker_id=named).first()
    others = (names.find([named]).get(named) for names in parts_of(WorkerNames))
    return row or next((worker for worker in others if worker is not None), None)


def worker(call: Call) -> Worker:
    """The worker named by WorkerId."""
    row = known_worker(call)
    if row is None:
        raise ParameterRefusal("WorkerId", call["WorkerId"])
    return row


def qualification_type(call: Call) -> QualificationType:
    """The caller's qualification type named by QualificationTypeId."""
    mine = QualificationType.objects.filter(requester=call.requester)
    return _qualification_type(call, mine.filter(qualification_type_id=call["QualificationTypeId"]).first())


def any_qualification_type(call: Call) -> QualificationType:
    """The qualification type named by QualificationTypeId, whoever made it: HITs can ask for all of them."""
    named = call["QualificationTypeId"]
    for row in system_types():
        if row.qualification_type_id == named:
            return row
    return _qualification_type(call, QualificationType.objects.filter(qualification_type_id=named).first())


def _qualification_type(call: Call, row: QualificationType | None) -> QualificationType:
    if row is None:
        raise Refusal(
            "QualificationTypeDoesNotExist",
            f"QualificationType {call['QualificationTypeId']} does not exist.",
        )
    if row.deleted_at:
        raise Refusal(
            "InvalidQualificationTypeState",
            "This operation can be called with a status of: Active,Inactive",
        )
    return row


def qualification_request(call: Call) -> QualificationRequest:
    """The submitted request for a qualification of the caller's that QualificationRequestId names.

    Tests that are still being taken are nobody's business but the worker's.
    """
    row = (
        QualificationRequest.objects.select_related("qualification_type__requester", "worker")
        .filter(
            request_id=call["QualificationRequestId"],
            qualification_type__requester=call.requester,
            submitted_at__isnull=False,
        )
        .first()
    )
    if row is None:
        raise Refusal(
            "QualificationRequestDoesNotExist",
            f"QualificationRequest {call['QualificationRequestId'][:64]} does not exist.",
        )
    return row
