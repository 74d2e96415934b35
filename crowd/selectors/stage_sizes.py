"""Figures of stages and projects: exact and of now where there is little work, cached where there is much.

Whether a stage or a project is large is asked here; who wants a figure names it and says how it is counted.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db.models import Count, Max

from core.projects.models import Project
from crowd.models import Assignment, Stage
from web.cache import cached, moment

T = TypeVar("T")
#: Assignments from which a stage is large.
LARGE = 2_000


def is_large(stage: Stage) -> bool:
    """Whether a stage has so much work that counting it takes longer than anybody likes to wait."""
    return Assignment.objects.filter(stage=stage).order_by()[LARGE : LARGE + 1].exists()


def any_large(project: Project) -> bool:
    """Whether a project has so much work in all its stages together."""
    work = Assignment.objects.filter(stage__project=project)
    return work.order_by()[LARGE : LARGE + 1].exists()


def stage_figures(
    stage: Stage,
    key: str | Callable[[], str],
    count: Callable[[], T],
    *,
    stamp: Callable[[], object] = moment,
) -> T:
    """What `count` gives: of now for a small stage; for a large one from the cache, under its `stamp`.

    The key says what the figures are of, and what a person did that they shall see at once; as a function it
    is asked for large stages only.
    """
    return _figures(is_large(stage), key, count, stamp)


def project_figures(
    project: Project,
    key: str | Callable[[], str],
    count: Callable[[], T],
    *,
    stamp: Callable[[], object] = moment,
) -> T:
    """The same of all stages of a project together."""
    return _figures(any_large(project), key, count, stamp)


def _figures(
    large: bool, key: str | Callable[[], str], count: Callable[[], T], stamp: Callable[[], object]
) -> T:
    if not large:
        return count()
    return cached(key if isinstance(key, str) else key(), stamp(), count, large=True)


def cached_of_stage(stage: Stage, key: str, stamp: object, count: Callable[[], T]) -> T:
    """What `count` gives, cached also for a small stage, whose first figures a page waits for."""
    return cached(key, stamp, count, large=lambda: is_large(stage))


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
