"""Operations of the heritage: notifications of HIT types, results of review policies, and ids of MTurk.

Operations on workers are the marketplace's own, but where WorkerId names an id of MTurk that the caller
brought in and no worker has stated: what is asked then is kept for that id.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from marketplace.heritage import formerids, notifications
from marketplace.heritage.models import FormerIdRecord, PolicyAction, PolicyResult
from marketplace.lifecycle.notifications import timestamp
from marketplace.models import HIT
from marketplace.protocol import lookup, render, worker_operations
from marketplace.protocol.calls import OPERATIONS, Call, Operation, Result, operation
from marketplace.protocol.render import epoch, present
from marketplace.qualifications import grants

#: Imported for the operations on workers, which are answered here for ids of MTurk.
__all__ = ["worker_operations"]

# Notifications of what happens to HITs: asking for them, and trying them out.

#: What a test event is about: ids of nothing, as recorded from the real service.
_TEST_IDS = {"HITTypeId": "09876543210987654321", "HITId": "12345678901234567890"}
_TEST_ASSIGNMENT = "1234567890123456789012345678900987654321"


@operation("UpdateNotificationSettings", writes=True)
def update_notification_settings(call: Call) -> Result:
    """Give a HIT type a notification specification, or switch the present one on or off."""
    notifications.update_specification(
        hit_type=lookup.hit_type(call),
        specification=call.get("Notification"),
        active=call.get("Active"),
        now=call.now,
    )
    return {}


@operation("SendTestEventNotification", writes=True)
def send_test_event_notification(call: Call) -> Result:
    """Queue or publish one event as if it had happened, whatever events the specification names."""
    checked = notifications.check_specification(call.requester, call["Notification"], ping=True)
    event = {
        "EventType": call["TestEventType"],
        "EventTimestamp": timestamp(call.now),
        **_TEST_IDS,
    }
    if call["TestEventType"].startswith("Assignment"):
        event["AssignmentId"] = _TEST_ASSIGNMENT
    notifications.open_destination(call.requester, checked, call.now)
    notifications.put_event(call.requester, checked, event)
    return {}


_LEVELS = ("Assignment", "HIT")
#: A page goes through the figures and then through the actions; its token begins with where it stopped.
_RESULTS, _ACTIONS = "r", "a"
_PolicyRow = TypeVar("_PolicyRow", PolicyResult, PolicyAction)


@operation("ListReviewPolicyResultsForHIT", writes=False)
def list_review_policy_results_for_hit(call: Call) -> Result:
    """The policies of a HIT, and per level the figures and actions of their runs, the oldest first."""
    hit = lookup.hit(call)
    levels = call.get("PolicyLevels") or list(_LEVELS)
    results, actions, token = _policy_page(call, hit, levels)
    answer: Result = {"HITId": hit.hit_id}
    for level, policy in zip(_LEVELS, (hit.assignment_review_policy, hit.hit_review_policy), strict=True):
        if policy is None or level not in levels:
            continue
        report: dict[str, list[dict[str, Any]]] = {}
        if call.get("RetrieveResults", True):
            report["ReviewResults"] = _of_level(results, level, review_result)
        if call.get("RetrieveActions", True):
            report["ReviewActions"] = _of_level(actions, level, review_action)
        answer[f"{level}ReviewPolicy"] = policy
        answer[f"{level}ReviewReport"] = report
    if token is not None:
        answer["NextToken"] = token
    return answer


def _of_level(
    rows: Sequence[_PolicyRow], level: str, structure: Callable[[_PolicyRow], dict[str, Any]]
) -> list[dict[str, Any]]:
    return [structure(row) for row in rows if row.level == level]


def _policy_page(
    call: Call, hit: HIT, levels: list[str]
) -> tuple[list[PolicyResult], list[PolicyAction], str | None]:
    results: list[PolicyResult] = []
    actions: list[PolicyAction] = []
    left = call.get("MaxResults", render.DEFAULT_SIZE)
    token_text = call.get("NextToken", "")
    token: str | None = None
    with_actions = call.get("RetrieveActions", True)
    if call.get("RetrieveResults", True) and not (with_actions and token_text.startswith(_ACTIONS)):
        page_call = _page_call(call, _RESULTS, left, token_text)
        rows = PolicyResult.objects.filter(hit=hit, level__in=levels)
        results, next_token = render.load_page(page_call, rows, by="at")
        token = None if next_token is None else _RESULTS + next_token
        left -= len(results)
        token_text = ""
    if with_actions and left:
        page_call = _page_call(call, _ACTIONS, left, token_text)
        acted = PolicyAction.objects.filter(hit=hit, level__in=levels)
        actions, next_token = render.load_page(page_call, acted, by="at")
        token = token if next_token is None else _ACTIONS + next_token
    return results, actions, token


def _page_call(call: Call, part: str, size: int, token: str) -> Call:
    """The call as one about a part of the list, so that its tokens are good for this part only."""
    parameters = {**call.parameters, "MaxResults": size}
    parameters.pop("NextToken", None)
    if token:
        parameters["NextToken"] = token.removeprefix(part)
    return replace(call, operation=f"{call.operation}.{part}", parameters=parameters)


# How they are written down.


def kept_qualification(row: FormerIdRecord, qualification_type_id: str) -> dict[str, Any]:
    """Qualification structure of a grant that waits for an MTurk id."""
    return {
        "QualificationTypeId": qualification_type_id,
        "WorkerId": row.former_id,
        "GrantTime": epoch(row.created_at),
        "IntegerValue": row.value,
        "Status": "Granted",
    }


def review_result(row: PolicyResult) -> dict[str, Any]:
    """ReviewResultDetail structure."""
    return present(
        {
            "ActionId": row.action_id.hex.upper(),
            "SubjectId": row.subject_id,
            "SubjectType": row.subject_type,
            "QuestionId": row.question_id,
            "Key": row.key,
            "Value": row.value,
        }
    )


def review_action(row: PolicyAction) -> dict[str, Any]:
    """ReviewActionDetail structure."""
    return present(
        {
            "ActionId": row.action_id.hex.upper(),
            "ActionName": row.name,
            "TargetId": row.target_id,
            "TargetType": row.target_type,
            "Status": row.status,
            "CompleteTime": epoch(row.at),
            "Result": row.result,
            "ErrorCode": row.error_code,
        }
    )


# Workers named by an id of MTurk.


def kept_former_id(call: Call) -> str | None:
    """The MTurk id that WorkerId names, where the caller brought it in and no worker has stated it."""
    named: str = call["WorkerId"]
    return named if lookup.known_worker(call) is None and formerids.is_listed(call.requester, named) else None


def of_former_ids(
    name: str, *, unless: Callable[[Call], bool] = lambda _: False
) -> Callable[[Callable[[Call, str], Result]], Callable[[Call, str], Result]]:
    """Register what an operation does for a kept id; `unless` tells calls that are wrong for any worker."""

    def register(handler: Callable[[Call, str], Result]) -> Callable[[Call, str], Result]:
        plain = OPERATIONS[name]

        def answer(call: Call) -> Result:
            former_id = None if unless(call) else kept_former_id(call)
            return plain.handler(call) if former_id is None else handler(call, former_id)

        OPERATIONS[name] = Operation(answer, plain.writes)
        return handler

    return register


@of_former_ids("AssociateQualificationWithWorker")
def keep_grant(call: Call, former_id: str) -> Result:
    """Keep a grant for when the id is stated."""
    grants.check_active(kind := lookup.qualification_type(call))
    kind.requester = call.requester
    formerids.keep_grant(qualification_type=kind, former_id=former_id, value=call.get("IntegerValue", 1))
    return {}


@of_former_ids("DisassociateQualificationFromWorker", unless=lambda call: len(call.get("Reason", "")) > 1024)
def forget_grant(call: Call, former_id: str) -> Result:
    """Keep a grant no longer."""
    kind = lookup.qualification_type(call)
    if not formerids.forget_records(
        requester=call.requester, former_id=former_id, kind="grant", qualification_type=kind
    ):
        raise grants.never_granted(kind, former_id)
    return {}


@of_former_ids("GetQualificationScore")
def show_kept_grant(call: Call, former_id: str) -> Result:
    """The value that waits for the id."""
    kind = lookup.qualification_type(call)
    waiting = formerids.waiting_grant(kind, former_id)
    if waiting is None:
        raise grants.never_granted(kind, former_id)
    return {"Qualification": kept_qualification(waiting, kind.qualification_type_id)}


@of_former_ids("CreateWorkerBlock", unless=lambda call: not call["Reason"].strip())
def keep_block(call: Call, former_id: str) -> Result:
    """Keep a block for when the id is stated."""
    formerids.keep_block(requester=call.requester, former_id=former_id, reason=call["Reason"])
    return {}


@of_former_ids("DeleteWorkerBlock")
def forget_block(call: Call, former_id: str) -> Result:
    """Keep a block no longer."""
    formerids.forget_records(requester=call.requester, former_id=former_id, kind="block")
    return {}
