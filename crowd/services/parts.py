"""HITs that were split for the fee tier: nobody may answer the same units in two of them.

The HITs of all bundles are numbered by part. Whoever works in one part of a stage is put into the groups
"elsewhere" of the other parts, whose members do not see that part's HITs; until the marketplace knows, our
task page refuses.
"""

from crowd.models import Group, Hit, Stage, Worker
from crowd.services.groups import ensure_group, not_in, put_into


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


def keep_to_part(stage: Stage, worker: Worker, hit: Hit) -> int:
    """Plan that a worker who took a split HIT no longer sees other parts; the number of groups."""
    if hit.part is None:
        return 0
    names = {_name(stage, part): part for part in range(hit.part_count)}
    others = [
        group for group in Group.objects.filter(stage=stage, name__in=names) if names[group.name] != hit.part
    ]
    for group in others:
        put_into(group, worker)
    return len(others)
