"""Checks 44-47: bonuses, funds and fees."""

from decimal import Decimal

import pytest

from tests.conformance.protocol import (
    NOBODY,
    balance,
    create_hit,
    hit_properties,
    invalid,
    refused,
    refused_request,
)

NO_FUNDS = "This Requester has insufficient funds in their account to complete this transaction."


def bonus(assignment_id, worker, **changes):
    return {
        "AssignmentId": assignment_id,
        "WorkerId": worker.worker_id,
        "BonusAmount": "0.50",
        "Reason": "Thank you for the careful reading.",
        **changes,
    }


def test_44_a_bonus_needs_submitted_work(client, worker):
    with refused_request("AssignmentDoesNotExist", f"Assignment {NOBODY} does not exist."):
        client.send_bonus(**bonus(NOBODY, worker))
    taken = worker.accept(create_hit(client)["HITId"])
    with refused_request("AssignmentDoesNotExist", f"Assignment {taken['assignment_id']} does not exist."):
        client.send_bonus(**bonus(taken["assignment_id"], worker))


def test_44_a_bonus_is_whole_cents_and_has_a_reason(client, worker):
    assignment_id = worker.do(create_hit(client)["HITId"])["assignment_id"]
    for amount in ("0.9752", "-1.00", "$1", "1.00\n"):
        with invalid("at 'bonusAmount' failed to satisfy constraint: Member must satisfy regular expression"):
            client.send_bonus(**bonus(assignment_id, worker, BonusAmount=amount))
    for nothing in ({"Reason": ""}, {"BonusAmount": "0.00"}):
        with refused("RequestError", "ValidationException", "ParameterValidationError"):
            client.send_bonus(**bonus(assignment_id, worker, **nothing))


@pytest.mark.paid
def test_44_a_bonus_is_listed_by_hit_and_by_assignment(new_requester, worker):
    client = new_requester("10.00", "mturk-2026").client
    hit = create_hit(client, Reward="0.00")
    assignment_id = worker.do(hit["HITId"])["assignment_id"]
    before = Decimal(balance(client)[0])
    client.send_bonus(**bonus(assignment_id, worker))
    assert before - Decimal(balance(client)[0]) == Decimal("0.60")
    [by_hit] = client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    [by_assignment] = client.list_bonus_payments(AssignmentId=assignment_id)["BonusPayments"]
    for named in ({}, {"HITId": hit["HITId"], "AssignmentId": assignment_id}):
        with refused("RequestError"):
            client.list_bonus_payments(**named)
    assert by_hit == by_assignment
    assert by_hit.pop("GrantTime")
    assert by_hit == {
        "WorkerId": worker.worker_id,
        "BonusAmount": "0.50",
        "AssignmentId": assignment_id,
        "Reason": "Thank you for the careful reading.",
    }


@pytest.mark.paid
def test_44_a_token_pays_once_and_no_token_pays_twice(client, worker):
    assignment_id = worker.do(create_hit(client)["HITId"])["assignment_id"]
    call = bonus(assignment_id, worker, UniqueRequestToken=f"bonus-{assignment_id}")
    client.send_bonus(**call)
    with refused_request(
        "DuplicateRequest", f'The idempotency token "bonus-{assignment_id}" has already been processed.'
    ):
        client.send_bonus(**call)
    assert client.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 1
    client.send_bonus(**bonus(assignment_id, worker))
    client.send_bonus(**bonus(assignment_id, worker))
    assert client.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 3


@pytest.mark.paid
def test_44_a_bonus_goes_to_who_did_the_work_and_can_follow_approval_and_rejection(client, workers):
    hit = create_hit(client, MaxAssignments=2)
    first, second = (worker.do(hit["HITId"])["assignment_id"] for worker in workers[:2])
    for worker_id in (workers[1].worker_id, "A1NOBODY12345"):
        with refused("RequestError", "ParameterValidationError"):
            client.send_bonus(**bonus(first, workers[0], WorkerId=worker_id))
    assert client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"] == []
    client.approve_assignment(AssignmentId=first)
    client.reject_assignment(AssignmentId=second, RequesterFeedback="This is empty.")
    client.send_bonus(**bonus(first, workers[0]))
    client.send_bonus(**bonus(second, workers[1]))
    payments = client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    assert sorted(payment["WorkerId"] for payment in payments) == sorted(
        worker.worker_id for worker in workers[:2]
    )


def test_46_a_hit_beyond_the_funds_is_refused(new_requester):
    client = new_requester("1.00", "mturk-2026").client
    with refused_request("InsufficientFunds", NO_FUNDS):
        create_hit(client, MaxAssignments=10)
    assert client.list_hits()["HITs"] == []
    assert balance(client) == ("1.00", "0.00")
    create_hit(client, MaxAssignments=8)
    assert balance(client) == ("0.04", "0.96")


@pytest.mark.paid
def test_46_a_bonus_beyond_the_funds_is_refused(new_requester, worker):
    client = new_requester("1.00", "mturk-2026").client
    assignment_id = worker.do(create_hit(client)["HITId"])["assignment_id"]
    assert balance(client) == ("0.88", "0.12")
    call = bonus(assignment_id, worker, BonusAmount="0.74", UniqueRequestToken=f"t-{assignment_id}")
    with refused_request("InsufficientFunds", NO_FUNDS):
        client.send_bonus(**call)
    assert client.list_bonus_payments(AssignmentId=assignment_id)["BonusPayments"] == []
    assert balance(client) == ("0.88", "0.12")
    client.send_bonus(**{**call, "BonusAmount": "0.73"})
    assert balance(client) == ("0.00", "0.12")


def test_46_an_extension_beyond_the_funds_is_refused(new_requester):
    client = new_requester("0.50").client
    hit = create_hit(client, MaxAssignments=4)
    with refused_request("InsufficientFunds", NO_FUNDS):
        client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=2)
    assert client.get_hit(HITId=hit["HITId"])["HIT"]["MaxAssignments"] == 4
    assert balance(client) == ("0.10", "0.40")


def test_47_fees_are_those_of_the_table(new_requester):
    """Fee per assignment of a HIT with nine, and with ten assignments."""
    client = new_requester("100.00", "mturk-2026").client
    for reward, small, large in (
        ("0.01", "0.01", "0.01"),
        ("0.05", "0.01", "0.02"),
        ("0.08", "0.02", "0.03"),
        ("0.52", "0.10", "0.21"),
        ("1.00", "0.20", "0.40"),
    ):
        for places, fee in ((1, small), (9, small), (10, large)):
            before = Decimal(balance(client)[1])
            client.create_hit(**hit_properties(Reward=reward, MaxAssignments=places))
            held = Decimal(balance(client)[1]) - before
            assert held == places * (Decimal(reward) + Decimal(fee)), (reward, places)


@pytest.mark.paid
def test_47_a_bonus_costs_a_fifth_and_at_least_a_cent(new_requester, worker):
    client = new_requester("10.00", "mturk-2026").client
    assignment_id = worker.do(create_hit(client)["HITId"])["assignment_id"]
    for amount, fee in (("0.01", "0.01"), ("0.07", "0.01"), ("0.08", "0.02"), ("1.00", "0.20")):
        before = Decimal(balance(client)[0])
        client.send_bonus(**bonus(assignment_id, worker, BonusAmount=amount))
        assert before - Decimal(balance(client)[0]) == Decimal(amount) + Decimal(fee)
