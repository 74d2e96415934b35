"""Figures of stages and projects: exact and of now where there is little work, cached where there is much.

Whether a stage or a project is large is asked here; who wants a figure names it and says how it is counted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from django.db.models import Count, Max, Model, QuerySet

from core.jobs.figures import FigureKind
from core.projects.models import Project
from crowd.models import Assignment, Stage
from web.cache import counted, counted_or_none, moment

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


def _nothing() -> str:
    return ""


def stage_figures(
    stages: Stage | Iterable[Stage],
    kind: FigureKind[T],
    arguments: Mapping[str, Any],
    *,
    now: Callable[[], T] | None = None,
    stamp: Callable[[], object] = moment,
    state: Callable[[], object] = _nothing,
    dated: bool = False,
) -> T:
    """The figure: of now for a small stage, by `now`; of a large one as a job counted it, under its `stamp`.

    `state` says what a person did that they shall see at once; stamp and state are asked for large stages
    only. A figure is `dated` where the page says itself how old it is. Several stages are large where one of
    them is.
    """
    if not _any_is_large(stages):
        return now() if now else kind.count(**arguments)
    return counted(kind, arguments, stamp=stamp(), state=state(), dated=dated)


def stage_figures_or_none(
    stage: Stage,
    kind: FigureKind[T],
    arguments: Mapping[str, Any],
    *,
    stamp: Callable[[], object],
    state: Callable[[], object] = _nothing,
) -> T | None:
    """The same, but of a large stage no page waits: None while it counts; NotMadeError where that failed."""
    if not is_large(stage):
        return kind.count(**arguments)
    return counted_or_none(kind, arguments, stamp=stamp(), state=state())


def stage_rows(
    stage: Stage,
    kind: FigureKind[list[M]],
    rows: Callable[[], QuerySet[M]],
    *,
    narrow: Callable[[QuerySet[M]], QuerySet[M]],
    fits: Callable[[M], bool],
    state: Callable[[], object] = _nothing,
) -> QuerySet[M] | list[M]:
    """Rows that the database narrows; of a large stage all of them as counted, and those that fit."""
    if not is_large(stage):
        return narrow(rows())
    every = counted(kind, {"stage": stage.pk}, stamp=moment(), state=state(), now=lambda: list(rows()))
    return [row for row in every if fits(row)]


def _any_is_large(stages: Stage | Iterable[Stage]) -> bool:
    return is_large(stages) if isinstance(stages, Stage) else any(is_large(stage) for stage in stages)


def project_figures(
    project: Project,
    kind: FigureKind[T],
    arguments: Mapping[str, Any],
    *,
    now: Callable[[], T] | None = None,
    state: Callable[[], object] = _nothing,
) -> T:
    """The same of all stages of a project together."""
    if not any_large(project):
        return now() if now else kind.count(**arguments)
    return counted(kind, arguments, stamp=moment(), state=state())


def counted_of_stage(
    stage: Stage,
    kind: FigureKind[T],
    *,
    stamp: object,
    state: object = "",
    now: Callable[[], T] | None = None,
) -> T:
    """The figure of a stage, kept also of a small one, whose first figures a page waits for."""
    arguments = {"stage": stage.pk}
    return counted(kind, arguments, stamp=stamp, state=state, large=partial(is_large, stage), now=now)


def work_stamps(stages: Sequence[Stage]) -> dict[int, tuple[object, ...]]:
    """For each stage what its work is at this moment, in one question: new work or a decision changes it."""
    rows = (
        Assignment.objects.filter(stage__in=stages)
        .order_by("stage", "state")
        .values_list("stage", "state")
        .annotate(n=Count("pk"), last=Max("pk"))
    )
    stamps: dict[int, list[object]] = {stage.pk: [] for stage in stages}
    for stage, state, n, last in rows:
        stamps[stage].append((state, n, last))
    return {stage: tuple(parts) for stage, parts in stamps.items()}
