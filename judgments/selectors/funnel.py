"""How many queries have all their answers of systems scored."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, OuterRef, Q

from annotation.models import Query
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.models import Stage
from crowd.selectors.stage_sizes import project_figures
from judgments.judging_config import judging_config
from judgments.models import Candidate, FilterRun, Judgment, Score
from judgments.selectors.candidates import to_judge
from judgments.selectors.ratings import good
from web.cache import cached

KIND = "judging"


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries that have answers of systems to judge: all of them, and those with every answer scored.

    Answers of systems that no judging stage asks about do not count.
    """

    queries: int
    judged: int


def judged(project: Project) -> JudgedQueries | None:
    """Counts of a project; None where no system has answers. Kept until answers, judgments or filters change.

    An answer is scored when its score was imported or the filters in force left it one; in a stage without
    filters, when it has as many judgments as the stage asks for (the least number, where it asks until it is
    sure).
    """

    def key() -> str:
        return f"judged-in:{project.pk}:{last_event(project, 'candidate')}:{last_event(project, 'filter')}"

    return project_figures(project, key, lambda: _judged(project))


def _judged(project: Project) -> JudgedQueries | None:
    candidates = Candidate.objects.filter(system__project=project).aggregate(
        last=Max("pk"), judged=Count("pk", filter=Q(aside=""))
    )
    if not candidates["last"]:
        return None
    out = Query.objects.filter(project=project).aggregate(
        n=Count("pk", filter=Q(status__in=(Query.Status.WITHDRAWN, Query.Status.EXCLUDED)))
    )
    stages = list(Stage.objects.filter(project=project, kind=KIND).order_by("pk"))
    runs = dict(FilterRun.objects.in_force().filter(stage__in=stages).values_list("stage", "pk"))
    last = Judgment.objects.filter(stage__in=stages).aggregate(last=Max("pk"))["last"]
    asked = tuple((stage.pk, judging_config(stage).systems) for stage in stages)
    stamp = (tuple(candidates.values()), out["n"], tuple(runs.items()), last, asked)
    return cached(f"judged-queries:{project.pk}", stamp, lambda: _counted(project, stages, runs))


def _counted(project: Project, stages: list[Stage], runs: dict[int, int]) -> JudgedQueries:
    """Count queries, and those of which an answer lacks a score.

    What is missing is asked for by EXISTS, which PostgreSQL joins at any size: by NOT IN it looks through all
    scores for each answer as soon as their keys outgrow its `work_mem`.
    """
    rows = to_judge(project).order_by()
    asked = [judging_config(stage).systems for stage in stages]
    if asked and all(asked):
        rows = rows.filter(system__name__in={name for names in asked for name in names})
    every = rows.aggregate(n=Count("query", distinct=True))["n"]
    scores = Score.objects.filter(run__in=list(runs.values()), mean__isnull=False, candidate=OuterRef("pk"))
    unscored = rows.filter(~Exists(scores), imported_score=None)
    unfiltered = [stage for stage in stages if stage.pk not in runs]
    if not unfiltered:
        return JudgedQueries(every, every - unscored.aggregate(n=Count("query", distinct=True))["n"])
    enough = {pk for stage in unfiltered for pk in _asked_enough(stage)}
    lacking = {query for pk, query in unscored.values_list("pk", "query").iterator() if pk not in enough}
    return JudgedQueries(every, every - len(lacking))


def _asked_enough(stage: Stage) -> Iterator[int]:
    """Candidates with as many good judgments as a stage without filters asks for."""
    config = judging_config(stage)
    enough = stage.redundancy if config.redundancy_mode == "fixed" else config.least_judgments
    rows = good(Judgment.objects.filter(stage=stage), stage).order_by().values("candidate")
    found = rows.annotate(n=Count("pk")).filter(n__gte=enough)
    return found.values_list("candidate", flat=True).iterator()
