"""Groups of workers at a marketplace (qualifications), made when something needs them.

A group is a row before it exists at the marketplace. Rules and grants name it by "@<row>"; the call that
needs its id waits until it is there.
"""

from django.utils import timezone

from crowd.adapters.base import Rule
from crowd.models import Endpoint, Group, MarketOperation, Stage, Worker
from crowd.outbox.planning import plan


def ensure_group(*, endpoint: Endpoint, name: str, description: str, stage: Stage | None = None) -> Group:
    """The group of this name, its creation planned if it is new."""
    group, _ = Group.objects.get_or_create(
        endpoint=endpoint,
        name=name[:200],
        defaults={"stage": stage, "created_at": timezone.now()},
    )
    if not group.external_id:
        plan(
            kind=MarketOperation.Kind.GROUP,
            endpoint=endpoint,
            stage=stage,
            target=f"group:{group.pk}",
            purpose="make",
            payload={"group_pk": group.pk, "name": group.name, "description": description},
        )
    return group


def put_into(group: Group, worker: Worker, *, value: int = 1) -> MarketOperation:
    """Plan to put a worker into a group; once."""
    return plan(
        kind=MarketOperation.Kind.GRANT,
        endpoint=group.endpoint,
        stage=group.stage,
        target=f"group:{group.pk}",
        purpose=f"grant {worker.external_id}",
        payload={"group": reference(group), "worker": worker.external_id, "value": value},
    )


def reference(group: Group) -> str:
    """How payloads name a group whose id may not be known yet."""
    return f"@{group.pk}"


def not_in(group: Group) -> dict[str, object]:
    """Rule for a listing: members of the group do not even see it."""
    return rule_payload(Rule("group", "DoesNotExist", (reference(group),), "discover"))


def only(group: Group) -> dict[str, object]:
    """Rule for a listing: for members of the group alone."""
    return rule_payload(Rule("group", "Exists", (reference(group),), "discover"))


def rule_payload(rule: Rule) -> dict[str, object]:
    """A rule as JSON."""
    return {"kind": rule.kind, "op": rule.op, "values": list(rule.values), "hide": rule.hide}
