"""Figures of stages and projects: exact and of now where there is little work, cached where there is much.

Whether a stage or a project is large is asked here; who wants a figure names it and says how it is counted.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from django.db.models import Count, Max, Model, QuerySet

from core.projects.models import Project
from crowd.models import Assignment, Stage
from web.cache import cached, cached_or_none, moment

T = TypeVar("T")
M = TypeVar("M", bound=Model)
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
    stages: Stage | Iterable[Stage],
    key: str | Callable[[], str],
    count: Callable[[], T],
    *,
    stamp: Callable[[], object] = moment,
    aside: Callable[[], T] | None = None,
    dated: bool = False,
) -> T:
    """What `count` gives: of now for a small stage; for a large one from the cache, under its `stamp`.

    The key says what the figures are of, and what a person did that they shall see at once; as a function it
    is asked for large stages only. What is cached is made by `aside` where that is more than a page asks for,
    and is `dated` where the page says itself how old it is. Several stages are large where one of them is.
    """
    return _figures(_any_is_large(stages), key, count, stamp, aside=aside, dated=dated)


def stage_figures_or_none(
    stage: Stage, key: Callable[[], str], count: Callable[[], T], *, stamp: Callable[[], object]
) -> T | None:
    """The same, but of a large stage no page waits: None while it counts; NotMadeError where that failed."""
    return cached_or_none(key(), stamp(), count) if is_large(stage) else count()


def stage_rows(
    stage: Stage,
    key: str | Callable[[], str],
    rows: Callable[[], QuerySet[M]],
    *,
    narrow: Callable[[QuerySet[M]], QuerySet[M]],
    fits: Callable[[M], bool],
) -> QuerySet[M] | list[M]:
    """Rows that the database narrows; of a large stage all of them from the cache, and those that fit."""
    if not is_large(stage):
        return narrow(rows())
    name = key if isinstance(key, str) else key()
    every: list[M] = cached(name, moment(), lambda: list(rows()), large=True)
    return [row for row in every if fits(row)]


def _any_is_large(stages: Stage | Iterable[Stage]) -> bool:
    return is_large(stages) if isinstance(stages, Stage) else any(is_large(stage) for stage in stages)


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
    large: bool,
    key: str | Callable[[], str],
    count: Callable[[], T],
    stamp: Callable[[], object],
    *,
    aside: Callable[[], T] | None = None,
    dated: bool = False,
) -> T:
    if not large:
        return count()
    name = key if isinstance(key, str) else key()
    return cached(name, stamp(), aside or count, large=True, dated=dated)


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
