"""Stages kept apart: who works in one of them gets nothing of another.

A stage names in `apart_from` the stages of its project whose workers it does not take. Our task page refuses
them; besides, they are put into the group "kept out" at the marketplace, whose members do not even see the
stage's HITs. What bars from single units only (`scopes` and `marks` of a kind) is refused on our page alone:
a group for each query would be thousands.
"""

from collections.abc import Sequence

from crowd.errors import WorkRefusedError
from crowd.models import Assignment, Group, Stage, Worker
from crowd.services.groups import ensure_group, not_in, put_into
from crowd.services.unproven import confirmed
from crowd.sources import has_source

_GIVEN_UP = (Assignment.State.WORKING, Assignment.State.ENDED, Assignment.State.QUARANTINED)


def _name(stage: Stage) -> str:
    return f"{stage.project.slug}/{stage.slug}: kept out (#{stage.pk})"


def rules_apart(stage: Stage) -> list[dict[str, object]]:
    """What the listings of a stage that is kept apart ask of workers; its group has everybody it should."""
    if not stage.apart_from:
        return []
    group = ensure_group(
        endpoint=stage.endpoint,
        name=_name(stage),
        description="Workers who did other work of this project; nobody may do both.",
        stage=stage,
    )
    for worker in _workers_apart(stage):
        put_into(group, worker)
    return [not_in(group)]


def _workers_apart(stage: Stage) -> list[Worker]:
    """Workers of the other stages who are not in the group's grants yet."""
    granted = stage.operations.filter(kind="grant", endpoint=stage.endpoint_id)
    known = {purpose.removeprefix("grant ") for purpose in granted.values_list("purpose", flat=True)}
    workers = Worker.objects.filter(
        endpoint=stage.endpoint_id,
        assignments__in=Assignment.objects.filter(
            stage__project=stage.project_id, stage__slug__in=stage.apart_from
        ).exclude(state__in=_GIVEN_UP),
    ).distinct()
    return [worker for worker in workers.order_by("pk") if worker.external_id not in known]


def keep_out(assignment: Assignment) -> None:
    """An answer came in: its worker no longer sees the stages that are kept apart from this one."""
    stage = assignment.stage
    endpoint = assignment.endpoint
    others = Stage.objects.filter(has_source(endpoint), project=stage.project_id).exclude(apart_from=[])
    for other in others.select_related("project", "endpoint"):
        if stage.slug in other.apart_from:
            for group in Group.objects.filter(stage=other, name=_name(other), endpoint=endpoint):
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
        .exclude(state__in=_GIVEN_UP[1:])
        .select_related("stage")
        .first()
    )
    if earlier is not None:
        raise WorkRefusedError(
            f"You worked on “{earlier.stage.task_title}”, and one person may not do both. "
            "Please return this HIT, so that another worker can do it; returning costs you nothing."
        )
