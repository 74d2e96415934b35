"""Decisions and receipts: each booked once, whoever brings the news."""

import random

import pytest
from django.utils import timezone

from crowd import budget
from crowd.budget import Cost, MovementPurpose
from crowd.counted_work import counting, not_counting, why_not
from crowd.models import Assignment, Claim, Stage
from crowd.services import decisions, responses
from crowd.services.arrivals import arrive
from examples.poll.models import Vote
from tests.crowd.world import answer, make_hit, make_stage, make_worker, new_submission_id

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def assignment():
    stage = make_stage(items=["tea"])
    budget.reserve(stage, Cost(10, 2), MovementPurpose("publish"), at=timezone.now())
    return answer(make_hit(stage), worker_id=make_worker(stage.endpoint).external_id)


def money(assignment):
    assignment.stage.refresh_from_db()
    return assignment.stage.reserved_cents, assignment.stage.spent_cents


def test_a_decision_is_booked_once(assignment):
    assert decisions.book_rejection(assignment, at=timezone.now()) is True
    assert decisions.book_rejection(assignment, at=timezone.now()) is False
    assert money(assignment) == (0, 0)
    assert decisions.book_approval(assignment, at=timezone.now()) is True, "its money is set aside anew"
    assert decisions.book_approval(assignment, at=timezone.now()) is False
    assert money(assignment) == (0, 12)
    assert decisions.book_rejection(assignment, at=timezone.now()) is False
    assert money(assignment) == (0, 12)


def test_approval_of_work_whose_money_is_reserved_is_booked_once(assignment):
    assert [decisions.book_approval(assignment, at=timezone.now()) for _ in range(2)] == [True, False]
    assert money(assignment) == (0, 12)


def test_what_counts_is_the_same_of_a_row_and_as_a_condition(assignment):
    rows = Assignment.objects.filter(pk=assignment.pk).select_related("stage")
    usual = {"held": False, "failed_checks": 0, "withdrawn": False}
    by_hand, strict = {"approve_at_once": False}, {"hold_failed_checks": True}
    for terms, work, reason in (
        ({}, {"state": "stored"}, ""),
        ({}, {"state": "submitted"}, ""),
        ({}, {"state": "submitted", "held": True}, "held"),
        ({}, {"state": "submitted", "failed_checks": 1}, ""),
        ({}, {"state": "approved", "withdrawn": True}, "withdrawn"),
        ({}, {"state": "rejected"}, "rejected"),
        (by_hand, {"state": "submitted"}, "waits for approval"),
        (by_hand, {"state": "approved"}, ""),
        (strict, {"state": "submitted"}, ""),
        (strict, {"state": "submitted", "failed_checks": 1}, "held"),
        (strict, {"state": "approved", "failed_checks": 1}, ""),
    ):
        Stage.objects.filter(pk=assignment.stage_id).update(
            **{"approve_at_once": True, "hold_failed_checks": False, **terms}
        )
        rows.update(**{**usual, **work})
        assert why_not(rows.get()) == reason, (terms, work)
        conditions = [rows.filter(condition).exists() for condition in (counting(), not_counting())]
        assert conditions == [not reason, bool(reason)], (terms, work)


def test_only_work_in_progress_can_be_given_up(assignment):
    assert decisions.end_assignment(assignment) is False
    assert Claim.objects.filter(assignment=assignment).exists()


def test_an_answer_is_stored_once_however_often_it_is_sent(assignment):
    again = {"item:0": {"choice": "no"}}
    assert responses.store_response(assignment, again, at=timezone.now()) is False
    assert Vote.objects.get().choice == "yes"


def test_an_answer_for_quarantined_work_is_not_stored():
    stage = make_stage(items=["tea"])
    arrived = arrive(hit=make_hit(stage), external_id=new_submission_id(), worker_id="AW").assignment
    Assignment.objects.update(state=State.QUARANTINED)
    assert responses.store_response(arrived, {"item:0": {"choice": "yes"}}, at=timezone.now()) is False
    assert not Vote.objects.exists()


def test_a_receipt_carries_a_copy_that_only_its_own_assignment_can_read(assignment):
    fields = responses.receipt_fields(assignment)
    assert responses.read_copy(fields, assignment) == assignment.response
    other = answer(make_hit(assignment.stage), worker_id="AOTHER")
    assert responses.read_copy(fields, other) is None
    for copy in ("", "nonsense", "a.b:c"):
        assert responses.read_copy({"copy": copy}, assignment) is None
    chance = random.Random(1)
    assignment.response = {"item:0": {"choice": "".join(chance.choices("abcdefghijklmnop", k=300_000))}}
    assert set(responses.receipt_fields(assignment)) == {"receipt", "sha256"}, "too long for a copy"


def test_the_digest_is_the_same_whatever_the_order_of_the_fields(assignment):
    assert (
        responses.canonical({"b": 1, "a": "é"})
        == responses.canonical({"a": "é", "b": 1})
        == '{"a":"é","b":1}'
    )
