"""A decision that the marketplace refused, or that a person says never happened, can be made again."""

import pytest
from django.utils import timezone

from crowd.adapters.base import CallRefusal
from crowd.models import MarketOperation
from crowd.outbox import results
from crowd.services import review
from tests.crowd.world import answer, make_hit, make_stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def submitted():
    assignment = answer(make_hit(make_stage()), worker_id="A1")
    assignment.state, assignment.submitted_at = "submitted", timezone.now()
    assignment.save()
    return assignment


def test_work_whose_approval_was_refused_is_held_and_can_be_approved_again(submitted):
    first = review.approve(assignment=submitted, actor=None)
    results.apply(first, CallRefusal("NotArmed", "Nobody typed the amount."))
    submitted.refresh_from_db()
    assert submitted.held
    again = review.approve(assignment=submitted, actor=None)
    assert (again.pk == first.pk, again.state) == (False, "planned")


def test_asked_for_twice_at_once_a_decision_is_planned_once(submitted):
    results.apply(review.approve(assignment=submitted, actor=None), CallRefusal("NotDone", "It was lost."))
    from crowd.services.approvals import plan_decision

    operations = {plan_decision(submitted, MarketOperation.Kind.APPROVE, "").pk for _ in range(2)}
    assert len(operations) == 1
