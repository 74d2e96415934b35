"""Decisions on submitted work, planned for the marketplace: by policy or for a person, each once."""

from typing import Any

from crowd.budget import Cost
from crowd.models import Assignment, MarketOperation
from crowd.outbox.calls import NOTHING, plan

State = Assignment.State


def approve_by_policy(assignment: Assignment) -> MarketOperation | None:
    """Plan the approval of good-faith work, unless a person should look first."""
    stage = assignment.stage
    if not stage.approve_at_once or assignment.held:
        return None
    if stage.hold_failed_checks and assignment.failed_checks:
        Assignment.objects.filter(pk=assignment.pk).update(
            held=True, note="Attention checks failed; a person decides."
        )
        return None
    return plan_decision(assignment, MarketOperation.Kind.APPROVE, "")


def plan_decision(
    assignment: Assignment,
    kind: MarketOperation.Kind,
    note: str,
    *,
    purpose: str = "",
    cost: Cost = NOTHING,
    actor: Any = None,
) -> MarketOperation:
    """Plan approve, reject or unreject of an assignment; each once, and once more after each refusal.

    Raises SpendingRightError where the actor may not spend what an unreject costs.
    """
    target = f"assignment:{assignment.pk}"
    refused = MarketOperation.objects.filter(
        kind=kind, target=target, state=MarketOperation.State.REFUSED
    ).count()
    return plan(
        kind=kind,
        endpoint=assignment.endpoint,
        stage=assignment.stage,
        assignment=assignment,
        target=target,
        purpose=purpose or (f"{kind} {refused + 1}" if refused else kind),
        payload={"ref": assignment.external_id, "note": note},
        cost=cost,
        actor=actor,
    )
