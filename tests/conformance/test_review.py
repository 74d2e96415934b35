"""Checks 33-38: approving, rejecting, changing one's mind, and approval by the clock."""

from datetime import timedelta

import pytest
from botocore.exceptions import ParamValidationError

from tests.conformance.protocol import (
    assignments,
    balance,
    create_hit,
    get_assignment,
    get_hit,
    places,
    refused,
    refused_request,
)

MUST_BE_SUBMITTED = "This operation can be called with a status of: Submitted"
DAY = 24 * 3600


@pytest.mark.paid
def test_33_approving_pays_the_reward_and_its_fee(new_requester, worker):
    client = new_requester("10.00", "mturk-2026").client
    hit = create_hit(client, Reward="1.00")
    assert balance(client) == ("8.80", "1.20")
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    assert balance(client) == ("8.80", "1.20")
    client.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Well done")
    assignment = get_assignment(client, assignment_id)
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["ApprovalTime"] >= assignment["SubmitTime"]
    assert assignment["RequesterFeedback"] == "Well done"
    assert places(get_hit(client, hit)) == (0, 0, 1)
    assert balance(client) == ("8.80", "0.00")


@pytest.mark.paid
def test_34_approving_again_is_refused_and_pays_nothing(new_requester, worker):
    client = new_requester("10.00").client
    assignment_id = worker.do(create_hit(client, Reward="1.00")["HITId"])["assignment_id"]
    client.approve_assignment(AssignmentId=assignment_id)
    for override in ({}, {"OverrideRejection": True}):
        with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
            client.approve_assignment(AssignmentId=assignment_id, **override)
    with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
        client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="too late")
    assert balance(client) == ("9.00", "0.00")


def test_35_rejecting_needs_a_reason(requester, worker):
    assignment_id = worker.do(create_hit(requester.client)["HITId"])["assignment_id"]
    with pytest.raises(ParamValidationError):
        requester.client.reject_assignment(AssignmentId=assignment_id)
    answer = requester.call("RejectAssignment", {"AssignmentId": assignment_id})
    assert (answer.status, answer.json()["__type"]) == (400, "ValidationException")


def test_35_rejecting_releases_the_money_and_does_not_reopen_the_place(new_requester, workers):
    client = new_requester("10.00", "mturk-2026").client
    hit = create_hit(client, Reward="1.00")
    assignment_id = workers[0].do(hit["HITId"])["assignment_id"]
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="This is empty.")
    assignment = get_assignment(client, assignment_id)
    assert assignment["AssignmentStatus"] == "Rejected"
    assert assignment["RejectionTime"] >= assignment["SubmitTime"]
    assert assignment["RequesterFeedback"] == "This is empty."
    assert balance(client) == ("10.00", "0.00")
    found = get_hit(client, hit)
    assert places(found) == (0, 0, 1)
    assert found["HITStatus"] == "Reviewable"
    assert workers[1].next(hit["HITGroupId"]) is None
    with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
        client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="again")


def test_35_feedback_has_limits_and_may_be_empty(client, worker):
    """The service asks only that the member is not null, and psiTurk sends an empty string."""
    assignment_id = worker.do(create_hit(client)["HITId"])["assignment_id"]
    for feedback in ("f" * 1025, "bell \a", "escape \x1b[0m"):
        with refused("RequestError", "ValidationException"):
            client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=feedback)
    assert get_assignment(client, assignment_id)["AssignmentStatus"] == "Submitted"
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="")
    assert get_assignment(client, assignment_id)["AssignmentStatus"] == "Rejected"


@pytest.mark.paid
def test_36_a_rejection_is_reversed_only_on_purpose(new_requester, worker):
    client = new_requester("10.00", "mturk-2026").client
    assignment_id = worker.do(create_hit(client, Reward="1.00")["HITId"])["assignment_id"]
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="A mistake of ours.")
    for override in ({}, {"OverrideRejection": False}):
        with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
            client.approve_assignment(AssignmentId=assignment_id, **override)
    assert balance(client) == ("10.00", "0.00")
    client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
    assert get_assignment(client, assignment_id)["AssignmentStatus"] == "Approved"
    assert balance(client) == ("8.80", "0.00")


def test_36_a_rejection_is_final_after_thirty_days_and_when_the_hit_is_deleted(client, worker, advance):
    """The days are counted from submission."""
    late, deleted = create_hit(client), create_hit(client)
    rejected = []
    for hit in (late, deleted):
        rejected.append(worker.do(hit["HITId"])["assignment_id"])
        client.reject_assignment(AssignmentId=rejected[-1], RequesterFeedback="This is empty.")
    client.delete_hit(HITId=deleted["HITId"])
    with refused("RequestError"):
        client.approve_assignment(AssignmentId=rejected[1], OverrideRejection=True)
    advance(31 * DAY)
    with refused_request("InvalidAssignmentState"):
        client.approve_assignment(AssignmentId=rejected[0], OverrideRejection=True)
    assert get_assignment(client, rejected[0])["AssignmentStatus"] == "Rejected"


@pytest.mark.paid
def test_37_work_is_approved_by_the_clock(new_requester, worker, advance):
    client = new_requester("10.00", "mturk-2026").client
    hit = create_hit(client, Reward="1.00", AutoApprovalDelayInSeconds=DAY)
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    advance(DAY - 30)
    assert get_assignment(client, assignment_id)["AssignmentStatus"] == "Submitted"
    assert balance(client) == ("8.80", "1.20")
    advance(31)
    assert balance(client) == ("8.80", "0.00")
    assert places(get_hit(client, hit)) == (0, 0, 1)
    [assignment] = assignments(client, hit, "Approved")
    assert assignment == get_assignment(client, assignment_id)
    assert assignment["ApprovalTime"] == assignment["AutoApprovalTime"]
    assert assignment["ApprovalTime"] - assignment["SubmitTime"] == timedelta(days=1)
    for decide in (
        lambda: client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="too late"),
        lambda: client.approve_assignment(AssignmentId=assignment_id),
    ):
        with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
            decide()
    assert assignments(client, hit, "Submitted", "Rejected") == []


@pytest.mark.paid
def test_37_an_overdue_approval_comes_before_a_late_rejection(new_requester, worker, advance):
    client = new_requester("10.00").client
    hit = create_hit(client, Reward="1.00", AutoApprovalDelayInSeconds=3600)
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    advance(3601)
    with refused_request("InvalidAssignmentState", MUST_BE_SUBMITTED):
        client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="too late")
    assert get_assignment(client, assignment_id)["AssignmentStatus"] == "Approved"
    assert balance(client) == ("9.00", "0.00")


@pytest.mark.paid
def test_38_a_delay_of_zero_approves_at_submission(new_requester, worker):
    client = new_requester("10.00", "mturk-2026").client
    hit = create_hit(client, Reward="1.00", AutoApprovalDelayInSeconds=0)
    assignment = get_assignment(client, worker.do(hit["HITId"])["assignment_id"])
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["ApprovalTime"] == assignment["SubmitTime"]
    assert balance(client) == ("8.80", "0.00")


def test_38_work_not_yet_visible_has_the_status_null(client, worker, chaos):
    """The seven minutes once seen on the real service, by chaos switch."""
    hit = create_hit(client)
    chaos(visibility_delay_s=600)
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    with refused_request("InvalidAssignmentState", "This operation can be called with a status of: null"):
        client.approve_assignment(AssignmentId=assignment_id)
    assert assignments(client, hit) == []
