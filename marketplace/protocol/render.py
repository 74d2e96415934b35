"""Answers of the protocol: rows of the marketplace as its structures, and lists in pages.

Exact types matter, for clients check none: money is a string, counts are numbers, absent values are left out.
Times are whole epoch seconds.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet

from core.money import dollars
from marketplace import models
from marketplace.lifecycle.selectors import hit_status
from marketplace.protocol.calls import Call
from marketplace.protocol.errors import ProtocolError
from marketplace.protocol.lookup import is_system


def epoch(moment: datetime) -> int:
    """Whole seconds since 1970; the fraction is cut, so differences of seconds stay exact."""
    return int(moment.timestamp())


def present(structure: dict[str, Any]) -> dict[str, Any]:
    """The structure without its absent members: None and empty text."""
    return {name: value for name, value in structure.items() if value is not None and value != ""}


def hit(row: models.HIT, now: datetime) -> dict[str, Any]:
    """HIT structure; `row.hit_type` must be loaded."""
    kind = row.hit_type
    return present(
        {
            "HITId": row.hit_id,
            "HITTypeId": kind.type_id,
            "HITGroupId": kind.group_id,
            "HITLayoutId": row.layout_id,
            "CreationTime": epoch(row.created_at),
            "Title": kind.title,
            "Description": kind.description,
            "Question": row.question,
            "Keywords": kind.keywords,
            "HITStatus": hit_status(row, now),
            "MaxAssignments": row.max_assignments,
            "Reward": dollars(row.reward_cents),
            "AutoApprovalDelayInSeconds": kind.auto_approval_s,
            "Expiration": epoch(row.expires_at),
            "AssignmentDurationInSeconds": kind.duration_s,
            "RequesterAnnotation": row.annotation,
            "QualificationRequirements": kind.requirements,
            "HITReviewStatus": "NotReviewed",
            "NumberOfAssignmentsPending": row.pending,
            "NumberOfAssignmentsAvailable": row.open_places,
            "NumberOfAssignmentsCompleted": row.approved + row.rejected,
        }
    )


_STATUS = {
    models.Holding.State.SUBMITTED: "Submitted",
    models.Holding.State.APPROVED: "Approved",
    models.Holding.State.REJECTED: "Rejected",
}


def assignment(row: models.Holding, hit_id: str) -> dict[str, Any]:
    """Assignment structure of a submitted holding; `row.worker` must be loaded."""
    times = {
        "AutoApprovalTime": row.auto_approve_at,
        "AcceptTime": row.accepted_at,
        "SubmitTime": row.submitted_at,
        "ApprovalTime": row.approved_at,
        "RejectionTime": row.rejected_at,
        "Deadline": row.deadline,
    }
    return present(
        {
            "AssignmentId": row.assignment_id,
            "WorkerId": row.worker.worker_id,
            "HITId": hit_id,
            "AssignmentStatus": _STATUS[models.Holding.State(row.state)],
            **{name: epoch(moment) for name, moment in times.items() if moment},
            "Answer": row.answer,
            "RequesterFeedback": row.feedback,
        }
    )


def bonus(row: models.Bonus) -> dict[str, Any]:
    """BonusPayment structure; `row.worker` must be loaded."""
    return {
        "WorkerId": row.worker.worker_id,
        "BonusAmount": dollars(row.cents),
        "AssignmentId": row.assignment_id,
        "Reason": row.reason,
        "GrantTime": epoch(row.granted_at),
    }


def qualification_type(row: models.QualificationType, caller: models.Requester) -> dict[str, Any]:
    """QualificationType structure. Test and answer key are for the type's owner alone."""
    own = row.requester_id == caller.pk
    return present(
        {
            "QualificationTypeId": row.qualification_type_id,
            "CreationTime": epoch(row.created_at),
            "Name": row.name,
            "Description": row.description,
            "Keywords": row.keywords,
            "QualificationTypeStatus": row.wire_status,
            "Test": row.test if own else None,
            "TestDurationInSeconds": row.test_duration_s,
            "AnswerKey": row.answer_key if own else None,
            "RetryDelayInSeconds": row.retry_delay_s,
            "IsRequestable": not is_system(row),
            "AutoGranted": row.auto_granted,
            "AutoGrantedValue": row.auto_granted_value if row.auto_granted else None,
        }
    )


def qualification_request(row: models.QualificationRequest) -> dict[str, Any]:
    """QualificationRequest structure of a submitted request; worker and type must be loaded."""
    return present(
        {
            "QualificationRequestId": row.request_id,
            "QualificationTypeId": row.qualification_type.qualification_type_id,
            "WorkerId": row.worker.worker_id,
            "Test": row.test,
            "Answer": row.answer,
            "SubmitTime": epoch(row.submitted_at) if row.submitted_at else None,
        }
    )


def qualification(row: models.QualificationGrant, qualification_type_id: str) -> dict[str, Any]:
    """Qualification structure; `row.worker` must be loaded."""
    return {
        "QualificationTypeId": qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "GrantTime": epoch(row.granted_at),
        "IntegerValue": row.value,
        "Status": row.status,
    }


def worker_block(row: models.Block) -> dict[str, Any]:
    """WorkerBlock structure; `row.worker` must be loaded."""
    return {"WorkerId": row.worker.worker_id, "Reason": row.reason}


# Lists in pages, with the real service's habit: a NextToken on every page that is not empty.
#
# A token is signed and bound to operation, requester and filters; it names the last row shown, so every page
# costs the same however far one has read (keyset, no offset).

#: Rows of a page where MaxResults says nothing.
DEFAULT_SIZE = 10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PREFIX = "p1:"
Row = TypeVar("Row", bound=Model)


def load_page(
    call: Call, *parts: QuerySet[Row], by: str, newest_first: bool = False, before: Sequence[Row] = ()
) -> tuple[list[Row], str | None]:
    """One page of rows, ordered by the time field `by` and the primary key, and the token of the next.

    The rows of several parts, which share none, come as one list: each part can have an index of its own
    where a query for all would walk through everything. `before` are rows that stand in no table and come
    before the others, in this order of theirs.

    Raises ProtocolError for a token that is not ours or belongs to another list.
    """
    salt = _salt(call)
    token = call.get("NextToken")
    if token is not None:
        moment, pk = _position(token, salt)
        before = [row for row in before if (getattr(row, by), row.pk) > (moment, pk)]
        after, inclusive = ("lt", "lte") if newest_first else ("gt", "gte")
        # The first condition alone lets the index begin at the position; the second drops what was shown.
        parts = tuple(
            part.filter(**{f"{by}__{inclusive}": moment}).filter(
                Q(**{f"{by}__{after}": moment}) | Q(**{f"pk__{after}": pk})
            )
            for part in parts
        )
    order = (f"-{by}", "-pk") if newest_first else (by, "pk")
    size = call.get("MaxResults", DEFAULT_SIZE)
    left = max(0, size - len(before))
    stored = [row for part in parts for row in part.order_by(*order)[:left]]
    if len(parts) > 1:
        stored.sort(key=lambda row: (getattr(row, by), row.pk), reverse=newest_first)
    page_rows = [*before, *stored[:left]][:size]
    if not page_rows:
        return [], None
    last = page_rows[-1]
    position = [(getattr(last, by) - _EPOCH) // timedelta(microseconds=1), last.pk]
    return page_rows, _PREFIX + signing.dumps(position, salt=salt)


def render_page(name: str, items: list[dict[str, Any]], token: str | None) -> dict[str, Any]:
    """The answer of a list operation; NextToken is left out after the last page."""
    answer: dict[str, Any] = {"NumResults": len(items), name: items}
    if token is not None:
        answer["NextToken"] = token
    return answer


def _salt(call: Call) -> str:
    filters = {
        name: value for name, value in call.parameters.items() if name not in ("NextToken", "MaxResults")
    }
    return f"{call.operation}:{call.requester.pk}:{json.dumps(filters, sort_keys=True)}"


def _position(token: str, salt: str) -> tuple[datetime, int]:
    try:
        microseconds, pk = signing.loads(token.removeprefix(_PREFIX), salt=salt)
    except signing.BadSignature as error:
        raise ProtocolError(
            "ValidationException",
            "1 validation error detected: Value at 'nextToken' failed to satisfy constraint: "
            "Member must be a token that this list returned, with the same parameters",
        ) from error
    return _EPOCH + timedelta(microseconds=microseconds), pk
