"""Which stages have so much work that counting it takes a while, and what their work is at a moment."""

from collections.abc import Sequence

from django.db.models import Count, Max

from core.projects.models import Project
from crowd.models import Assignment, Stage

#: Assignments from which a stage is large.
LARGE = 2_000


def is_large(stage: Stage) -> bool:
    """Whether a stage has so much work that counting it takes longer than anybody likes to wait."""
    return Assignment.objects.filter(stage=stage).order_by()[LARGE : LARGE + 1].exists()


def any_large(project: Project) -> bool:
    """Whether a project has so much work in all its stages together."""
    work = Assignment.objects.filter(stage__project=project)
    return work.order_by()[LARGE : LARGE + 1].exists()


def work_stamps(stages: Sequence[Stage]) -> dict[int, tuple[object, ...]]:
    """For each stage what its work is at this moment, in one question: new work or a decision changes it."""
    rows = (
        Assignment.objects.filter(stage__in=stages)
        .order_by("stage", "state")
        .values_list("stage", "state")
        .annotate(n=Count("pk"), last=Max("pk"))
    )
    found: dict[int, list[object]] = {stage.pk: [] for stage in stages}
    for stage, state, n, last in rows:
        found[stage].append((state, n, last))
    return {stage: tuple(parts) for stage, parts in found.items()}
