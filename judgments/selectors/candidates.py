"""Which answers of systems people are to judge, and how many of them there are."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Query
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.models import Stage
from crowd.selectors.stage_sizes import is_large
from judgments.models import Candidate, FilterRun, Judgment, Score, System
from web.cache import cached, moment

#: Queries about which nobody is asked any more. Candidates of all others are judged, also of those that wait.
OUT = (Query.Status.WITHDRAWN, Query.Status.EXCLUDED)


def to_judge(project: Project) -> QuerySet[Candidate]:
    """Candidates that people judge, in the order of their keys.

    None that is set aside, and none of a query that screening excluded or a researcher took out. How far a
    query is in the pipeline does not matter otherwise: a project that only judges never screens its queries.
    """
    return (
        Candidate.objects.filter(system__project=project, aside="")
        .exclude(query__status__in=OUT)
        .order_by("pk")
    )


_COUNTS = ("answers", "to_judge", "query_out", "exact", "empty", "withdrawn")


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """A system with how many answers it has, how many are set aside and why, and how many were judged.

    `judged` counts candidates with a judgment or an imported score, `judgments` the judgments. `mean` is the
    mean over its candidates of their mean scores by the filter runs in force, or of the imported ones; None
    without either.
    """

    system: System
    answers: int
    to_judge: int
    query_out: int
    exact: int
    empty: int
    withdrawn: int
    judged: int
    judgments: int
    mean: float | None


def systems(project: Project, only: System | None = None) -> list[SystemCounts]:
    """All systems of a project by kind and name, or `only` this one.

    In a large project they are as they were some seconds ago, but for what people did to candidates.
    """
    stages = Stage.objects.filter(project=project, kind="judging").order_by("pk")
    if not any(is_large(stage) for stage in stages):
        return _systems(project, only)
    did = f"{last_event(project, 'candidate')}:{last_event(project, 'filter')}"
    every = cached(f"systems:{project.pk}:{did}", moment(), lambda: _systems(project, None), large=True)
    return [row for row in every if only is None or row.system.pk == only.pk]


def _systems(project: Project, only: System | None) -> list[SystemCounts]:
    """In four statements at most."""
    found = [only] if only else list(System.objects.filter(project=project).order_by("kind", "name"))
    aside = Candidate.UnjudgedReason
    out = Q(query__status__in=OUT)
    counts: dict[int, dict[str, int]] = {}
    imported: dict[int, tuple[int, float | None]] = {}
    rows = (
        Candidate.objects.filter(system__in=found)
        .order_by()
        .values_list("system")
        .annotate(
            answers=Count("pk"),
            to_judge=Count("pk", filter=Q(aside="") & ~out),
            query_out=Count("pk", filter=Q(aside="") & out),
            exact=Count("pk", filter=Q(aside=aside.EXACT)),
            empty=Count("pk", filter=Q(aside=aside.EMPTY)),
            withdrawn=Count("pk", filter=Q(aside=aside.WITHDRAWN)),
            imported=Count("imported_score"),
            imported_mean=Avg("imported_score__mean"),
        )
    )
    for system, *numbers, scored, mean in rows:
        counts[system], imported[system] = dict(zip(_COUNTS, numbers, strict=True)), (scored, mean)
    judged = {
        system: (candidates, judgments)
        for system, candidates, judgments in Judgment.objects.filter(candidate__system__in=found)
        .order_by()
        .values_list("candidate__system")
        .annotate(candidates=Count("candidate", distinct=True), judgments=Count("pk"))
    }
    means = dict(
        Score.objects.filter(run__in=FilterRun.objects.in_force(), candidate__system__in=found)
        .order_by()
        .values_list("candidate__system")
        .annotate(value=Avg("mean"))
    )
    return [
        _counted(
            system,
            counts.get(system.pk, {}),
            judged.get(system.pk, (0, 0)),
            imported.get(system.pk, (0, None)),
            means.get(system.pk),
        )
        for system in found
    ]


def _counted(
    system: System,
    row: Mapping[str, int],
    judged: tuple[int, int],
    imported: tuple[int, float | None],
    mean: float | None,
) -> SystemCounts:
    """A project has judgments or imported scores, never both: that of the second kind is read-only."""
    (candidates, judgments), (scored, imported_mean) = judged, imported
    return SystemCounts(
        system,
        **{name: row.get(name, 0) for name in _COUNTS},
        judged=candidates or scored,
        judgments=judgments,
        mean=imported_mean if mean is None else mean,
    )


def unjudged(rows: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """Those about which nobody has said anything yet."""
    return rows.filter(~Exists(Judgment.objects.filter(candidate=OuterRef("pk"))))
