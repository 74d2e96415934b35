"""What this app knows of people for the project's table of workers, and its part of a worker's page."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.projects.models import Project
from crowd.models import Stage, Worker
from crowd.selectors.people import WorkerFigures
from judgments.models import FilterRun
from judgments.selectors.judge import histogram, time_plot
from judgments.selectors.judges import judges

KIND = "judging"


def judged(stage: Stage) -> Mapping[int, WorkerFigures]:
    """Kappa, attention checks, what filters removed, and flags of everybody who judged in a stage."""
    return {
        row.worker: WorkerFigures(
            ratings=row.ratings,
            kappa=row.kappa,
            kappa_n=row.kappa_n,
            presented=row.presented,
            failed=row.failed,
            removed=row.removed,
            flags=row.flags,
        )
        for row in judges(stage)
    }


def stamp(stages: Sequence[Stage]) -> object:
    """The filter runs in force."""
    runs = FilterRun.objects.in_force().filter(stage__in=stages)
    return tuple(runs.order_by("pk").values_list("pk", flat=True))


def plots(project: Project, worker: Worker) -> Mapping[str, Any] | None:
    """Scores beside the crowd's and time against score, by judging stage; None where they judged nowhere."""
    stages = Stage.objects.filter(project=project, kind=KIND, assignments__worker=worker).distinct()
    found = [
        {"stage": stage, "plot": plot, "histogram": histogram(stage, worker)}
        for stage in stages.select_related("endpoint", "project").order_by("pk")
        if (plot := time_plot(stage, worker)) is not None
    ]
    return {"judged": found} if found else None
