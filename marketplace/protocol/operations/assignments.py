"""Submitted work: reading, approving, rejecting; and paying bonuses for it."""

from django.db.models import Q

from core.money import cents, dollars
from marketplace import uploads
from marketplace.errors import ParameterRefusal, Refusal, invalid_value
from marketplace.models import Bonus, Holding
from marketplace.protocol import idempotency, lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.services import review
from marketplace.services.review import wrong_assignment_state
from marketplace.sweep import settle

_STATE = {
    "Submitted": Holding.State.SUBMITTED,
    "Approved": Holding.State.APPROVED,
    "Rejected": Holding.State.REJECTED,
}


@operation("GetFileUploadURL", writes=False)
def get_file_upload_url(call: Call) -> Result:
    """An address at which the file that answers a question is for a minute."""
    row = lookup.assignment(call)
    if row.state not in Holding.ANSWERED:
        raise Refusal(
            "InvalidAssignmentState",
            "This operation can be called with a status of: Reviewable,Approved,Rejected",
        )
    if row.hit.disposed_at:
        raise Refusal("HITDoesNotExist", "The HIT is disposed of, and its files with it.")
    file = uploads.files_of(row).get(call["QuestionIdentifier"])
    if file is None:
        raise ParameterRefusal("QuestionIdentifier", call["QuestionIdentifier"][:128])
    return {"FileUploadURL": uploads.lent_address(file, call.base_url)}


@operation("ListAssignmentsForHIT", writes=False)
def list_assignments_for_hit(call: Call) -> Result:
    """Submitted work of a HIT in the order of submission."""
    hit = lookup.hit(call)
    states = [_STATE[status] for status in call.get("AssignmentStatuses", ())] or list(Holding.ANSWERED)
    rows = Holding.objects.select_related("worker").filter(
        Q(visible_at=None) | Q(visible_at__lte=call.now), hit=hit, state__in=states
    )
    found, token = pages.page(call, rows, by="submitted_at")
    return pages.result("Assignments", [render.assignment(row, hit.hit_id) for row in found], token)


@operation("GetAssignment", writes=False)
def get_assignment(call: Call) -> Result:
    """One submitted assignment with its HIT."""
    row = lookup.assignment(call)
    row = Holding.objects.select_related("hit__hit_type", "worker").get(pk=row.pk)
    if row.state not in Holding.ANSWERED or (row.visible_at and row.visible_at > call.now):
        raise wrong_assignment_state("Reviewable,Approved,Rejected")
    return {
        "Assignment": render.assignment(row, row.hit.hit_id),
        "HIT": render.hit(row.hit, call.now),
    }


@operation("ApproveAssignment", writes=True)
def approve_assignment(call: Call) -> Result:
    """Approve and pay; with OverrideRejection also what was rejected."""
    feedback = call.get("RequesterFeedback")
    _check_feedback(feedback)
    review.approve(
        holding=lookup.assignment(call),
        feedback=feedback,
        override=call.get("OverrideRejection", False),
        now=call.now,
    )
    return {}


@operation("RejectAssignment", writes=True)
def reject_assignment(call: Call) -> Result:
    """Reject; nothing is paid. The reason must be given and may be empty: that is what old scripts send."""
    feedback = call["RequesterFeedback"]
    _check_feedback(feedback)
    review.reject(holding=lookup.assignment(call), feedback=feedback, now=call.now)
    return {}


def _check_feedback(feedback: str | None) -> None:
    if feedback and not review.is_feedback(feedback):
        raise invalid_value("RequesterFeedback", "it has at most 1024 characters and no control characters.")


@operation("SendBonus", writes=True)
def send_bonus(call: Call) -> Result:
    """Pay the worker who submitted an assignment something on top."""
    amount = cents(call["BonusAmount"])
    if not 1 <= amount <= 10_000_00:
        raise invalid_value("BonusAmount", "it must be between 0.01 and 10000.00.")
    if not call["Reason"].strip():
        raise invalid_value("Reason", "a bonus needs a reason that the worker can read.")
    idempotency.claim(call, duplicate=idempotency.already_processed)
    row = lookup.assignment(call)
    if row.state not in Holding.ANSWERED:
        raise lookup.no_assignment(call)
    known = lookup.known_worker(call)
    worker_id = known.worker_id if known else call["WorkerId"]
    review.send_bonus(holding=row, worker_id=worker_id, cents=amount, reason=call["Reason"], now=call.now)
    return {}


@operation("ListBonusPayments", writes=False)
def list_bonus_payments(call: Call) -> Result:
    """Bonuses of a HIT or of an assignment, oldest first."""
    rows = Bonus.objects.select_related("worker").filter(requester=call.requester)
    if ("HITId" in call.parameters) == ("AssignmentId" in call.parameters):
        raise invalid_value("HITId", "give exactly one of HITId and AssignmentId.")
    if "HITId" in call.parameters:
        rows = rows.filter(hit=lookup.hit(call))
    else:
        lookup.assignment(call)
        rows = rows.filter(assignment_id=call["AssignmentId"])
    found, token = pages.page(call, rows, by="granted_at")
    return pages.result("BonusPayments", [render.bonus(row) for row in found], token)


@operation("GetAccountBalance", writes=False)
def get_account_balance(call: Call) -> Result:
    """What can be spent, and what is on hold for open and undecided work."""
    settle(requester=call.requester, now=call.now)
    call.requester.refresh_from_db(fields=["available_cents", "held_cents"])
    return {
        "AvailableBalance": dollars(call.requester.available_cents),
        "OnHoldBalance": dollars(call.requester.held_cents),
    }
