"""Groups of workers at a marketplace (qualifications), and stages that are kept apart by them.

A group is made when something needs it, and is a row before it exists at the marketplace. Rules and grants
name it by "@<row>"; the call that needs its id waits until it is there.

A stage names in `apart_from` the stages of its project whose workers it does not take. Our task page
refuses them; besides, they are put into the group "kept out" at the marketplace, whose members do not even
see the stage's HITs. What bars from single units only (`scopes` and `marks` of a kind) is refused on our
page alone: a group for each query would be thousands.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from core.projects.models import Project
from crowd.adapters.base import Rule
from crowd.errors import CrowdError, WorkRefusedError
from crowd.models import Assignment, Endpoint, Group, Hit, MarketOperation, Stage, Worker
from crowd.outbox.calls import plan
from crowd.services.unproven import confirmed
from crowd.sources import has_source, stage_at


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


# HITs that were split for the fee tier: nobody may answer the same units in two of them.
#
# The HITs of all bundles are numbered by part. Whoever works in one part of a stage is put into the groups
# "elsewhere" of the other parts, whose members do not see that part's HITs; until the marketplace knows, our
# task page refuses.


def _name(stage: Stage, part: int) -> str:
    return f"{stage.project.slug}/{stage.slug}: works elsewhere than part {part + 1} (#{stage.pk})"


def group_of_part(stage: Stage, part: int) -> Group:
    """The group of workers who must not see a part."""
    return ensure_group(
        endpoint=stage.endpoint,
        name=_name(stage, part),
        description="Workers who already do another part of this work; each answer is another person's.",
        stage=stage,
    )


def rules_for_part(stage: Stage, part: int) -> list[dict[str, object]]:
    """What the listing of a split HIT asks of workers."""
    return [not_in(group_of_part(stage, part))]


def keep_to_part(stage: Stage, worker: Worker, hit: Hit) -> None:
    """Plan that a worker who took a split HIT no longer sees other parts."""
    if hit.part is None:
        return
    names = {_name(stage, part): part for part in range(hit.part_count)}
    others = [
        group
        for group in Group.objects.filter(stage=stage, name__in=names, endpoint=worker.endpoint_id)
        if names[group.name] != hit.part
    ]
    for group in others:
        put_into(group, worker)


# Stages whose work is a test: who passes it is put into a group that other stages can ask for.
#
# A stage asks for it by the rule {kind = "passed", op = "Exists", values = ["the test's short name"]}. What
# the marketplace is told is the group; those who are not in it do not even see the HITs.

#: The kind of the rule.
PASSED = "passed"


def passed_group(stage: Stage) -> Group:
    """The group of those who passed a stage."""
    return ensure_group(
        endpoint=stage.endpoint,
        name=f"{stage.project.slug}/{stage.slug}: passed (#{stage.pk})",
        description="Workers who passed a test of this project and may do the work that asks for it.",
        stage=stage,
    )


# Links that grant something: who joins by one is put into a group, by a name that stages can ask for.
#
# A stage on study links asks for it by {kind = "group", op = "Exists", values = ["the name"]}, or keeps its
# members out by DoesNotExist; our own door keeps such rules.


def joined_group(endpoint: Endpoint, project: Project, name: str) -> Group:
    """The group of those who joined by links of a project that grant this name."""
    return ensure_group(
        endpoint=endpoint,
        name=joined_name(project, name),
        description="People who joined by a study link that grants this.",
    )


def joined_name(project: Project, name: str) -> str:
    """What the group of a granted name is called."""
    return f"{project.slug}: joined as {name} (#{project.pk})"[:200]


def let_pass(stage: Stage, workers: Iterable[Worker]) -> int:
    """Put workers into the group of a stage, each once; how many are new to it."""
    by_endpoint: dict[int, list[Worker]] = {}
    for worker in workers:
        by_endpoint.setdefault(worker.endpoint_id, []).append(worker)
    count = 0
    for endpoint, those in by_endpoint.items():
        group = passed_group(stage_at(stage, endpoint))
        granted_ids = _granted(group)
        new = [worker for worker in those if worker.external_id not in granted_ids]
        for worker in new:
            put_into(group, worker)
        count += len(new)
    return count


def _granted(group: Group) -> set[str]:
    granted = MarketOperation.objects.filter(
        kind=MarketOperation.Kind.GRANT, target=f"group:{group.pk}"
    ).values_list("purpose", flat=True)
    return {purpose.removeprefix("grant ") for purpose in granted}


def with_groups(stage: Stage) -> list[dict[str, Any]]:
    """The stage's rules as a marketplace understands them; CrowdError for a test that is not there."""
    return [_with_group(stage, rule) if rule["kind"] == PASSED else rule for rule in stage.eligibility]


def _with_group(stage: Stage, rule: dict[str, Any]) -> dict[str, Any]:
    slug = rule["values"][0]
    test = (
        Stage.objects.filter(has_source(stage.endpoint_id), project=stage.project_id, slug=slug)
        .select_related("project", "endpoint")
        .first()
    )
    if test is None:
        raise CrowdError(
            f"Workers must have passed the stage {slug!r}, and this project has none of that name at "
            f"{stage.endpoint.label}."
        )
    return only(passed_group(stage_at(test, stage.endpoint)))


# Stages kept apart

_VOID = (Assignment.State.ENDED, Assignment.State.QUARANTINED)
#: A marketplace is told of people once they have answered; our own page also refuses who is at work.
_UNANSWERED = (Assignment.State.WORKING, *_VOID)


def _kept_out_name(stage: Stage) -> str:
    return f"{stage.project.slug}/{stage.slug}: kept out (#{stage.pk})"


def rules_apart(stage: Stage) -> list[dict[str, object]]:
    """What the listings of a stage that is kept apart ask of workers; its group has everybody it should."""
    if not stage.apart_from:
        return []
    group = ensure_group(
        endpoint=stage.endpoint,
        name=_kept_out_name(stage),
        description="Workers who did other work of this project; nobody may do both.",
        stage=stage,
    )
    for worker in _workers_apart(stage, group):
        put_into(group, worker)
    return [not_in(group)]


def _workers_apart(stage: Stage, group: Group) -> list[Worker]:
    """Workers of the other stages who are not in the group's grants yet."""
    granted_ids = _granted(group)
    workers = Worker.objects.filter(
        endpoint=stage.endpoint_id,
        assignments__in=Assignment.objects.filter(
            stage__project=stage.project_id, stage__slug__in=stage.apart_from
        ).exclude(state__in=_UNANSWERED),
    ).distinct()
    return [worker for worker in workers.order_by("pk") if worker.external_id not in granted_ids]


def keep_out(assignment: Assignment) -> None:
    """An answer came in: its worker no longer sees the stages that are kept apart from this one."""
    stage = assignment.stage
    endpoint = assignment.endpoint
    others = Stage.objects.filter(has_source(endpoint), project=stage.project_id).exclude(apart_from=[])
    for other in others.select_related("project", "endpoint"):
        if stage.slug in other.apart_from:
            for group in Group.objects.filter(stage=other, name=_kept_out_name(other), endpoint=endpoint):
                group.endpoint, group.stage = endpoint, other
                put_into(group, assignment.worker)


def refuse_apart(stage: Stage, people: Sequence[int]) -> None:
    """Refuse a person, by all workers that they may be, who worked in a stage kept apart from this one.

    Raises WorkRefusedError, in words.
    """
    if not stage.apart_from:
        return
    earlier = (
        Assignment.objects.filter(
            confirmed(), worker__in=people, stage__project=stage.project_id, stage__slug__in=stage.apart_from
        )
        .exclude(state__in=_VOID)
        .select_related("stage")
        .first()
    )
    if earlier is not None:
        raise WorkRefusedError(
            f"You worked on “{earlier.stage.task_title}”, and one person may not do both. "
            "Please return this HIT, so that another worker can do it; returning costs you nothing."
        )
