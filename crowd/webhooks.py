"""What the crowd tells to webhooks of projects: stages, answers that arrive, and how far stages are."""

from collections.abc import Collection, Iterator
from datetime import datetime

from django.db.models import Count, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from core.origin import Owner
from core.webhooks.events import EventType, Step, StepWatch, emit, page_address
from crowd.models import Assignment, Hit, Stage

_PROJECT = Owner.Kind.PROJECT
_STAGE = "desk:stage"
EVENT_TYPES = (
    EventType(
        "stage.opened",
        "A stage was opened",
        _PROJECT,
        ("stage.opened", "stage.reopened"),
        subject="stage",
        page=_STAGE,
    ),
    EventType(
        "stage.paused", "A stage was paused", _PROJECT, ("stage.paused",), subject="stage", page=_STAGE
    ),
    EventType(
        "stage.closed", "A stage was closed", _PROJECT, ("stage.closed",), subject="stage", page=_STAGE
    ),
    EventType("stage.progress", "Another tenth of a stage is answered", _PROJECT),
    EventType("answer.arrived", "An answer arrived", _PROJECT),
)
#: Parts of a stage that are told of.
_STEPS = 10


def tell_arrival(assignment: Assignment, at: datetime) -> None:
    """Write messages about work that was just stored, in its transaction. The worker is not named."""
    stage = assignment.stage

    def data() -> dict[str, object]:
        return {"project": stage.project.slug, "stage": stage.slug, "assignment": assignment.pk}

    emit(Owner(_PROJECT, stage.project_id), "answer.arrived", data, at=at)


def progress_steps(projects: Collection[int], now: datetime) -> Iterator[Step]:
    """Open stages of these projects and how many tenths of their places are answered."""
    counted = (
        Assignment.objects.filter(state__in=Assignment.GOOD, stage=OuterRef("pk")).order_by().values("stage")
    )
    offered = Hit.objects.filter(stage=OuterRef("pk")).order_by().values("stage")
    rows = (
        Stage.objects.filter(project__in=projects, status__in=(Stage.Status.OPEN, Stage.Status.PAUSED))
        .select_related("project")
        .annotate(
            answered=Coalesce(Subquery(counted.annotate(n=Count("pk")).values("n")), 0),
            places=Coalesce(Subquery(offered.annotate(n=Sum("places")).values("n")), 0),
        )
        .order_by("pk")
    )
    for stage in rows:
        tenths = min(_STEPS, stage.answered * _STEPS // stage.places) if stage.places else 0
        if tenths:
            yield Step(
                stage.project_id,
                f"stage.progress:{stage.pk}",
                tenths,
                {
                    "project": stage.project.slug,
                    "stage": stage.slug,
                    "percent": tenths * (100 // _STEPS),
                    "answered": stage.answered,
                    "places": stage.places,
                    "address": page_address(reverse(_STAGE, args=[stage.project.slug, stage.slug])),
                },
            )


WATCH = StepWatch("stage.progress", _PROJECT, progress_steps)
