"""Which answers a judging stage asks about, and how many judgments that count each has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Sum

from crowd.models import Assignment, Stage
from judgments.drawing import rank
from judgments.kinds.judging_config import JudgingConfig
from judgments.models import Candidate, FilterRun, Judgment, Verdict
from judgments.selectors.candidates import to_judge


@dataclass(frozen=True, slots=True)
class Sums:
    """Judgments of one candidate that count: how many, the sum of scores and of their squares."""

    n: int = 0
    total: int = 0
    squares: int = 0


def candidates_to_judge(stage: Stage, config: JudgingConfig) -> QuerySet[Candidate]:
    """Answers that are judged: of the stage's systems, not set aside, to queries that were not taken out."""
    found = to_judge(stage.project)
    return found.filter(system__name__in=config.systems) if config.systems else found


def counted_judgments(stage: Stage) -> QuerySet[Judgment]:
    """Judgments that count: work that was not rejected, and not removed by the filter run in force."""
    found = Judgment.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD)
    run = FilterRun.objects.filter(stage=stage, state=FilterRun.State.IN_FORCE).values_list("pk", flat=True)
    in_force = run.first()
    if in_force is None:
        return found
    removed = Verdict.objects.filter(run=in_force, judgment=OuterRef("pk"), removes=True)
    return found.exclude(Exists(removed))


def sums_by_candidate(stage: Stage) -> dict[int, Sums]:
    """What has been judged, by candidate, in one statement; candidates without any are left out."""
    rows: QuerySet[Any, Any] = counted_judgments(stage).order_by().values_list("candidate")
    sums = rows.annotate(n=Count("pk"), total=Sum("score"), squares=Sum(F("score") * F("score")))
    return {candidate: Sums(n, total, squares) for candidate, n, total, squares in sums}


def shared_queries(stage: Stage, config: JudgingConfig) -> list[int]:
    """Queries all of whose answers everybody judges, drawn by the seed; at least one other is left."""
    if not config.shared_queries:
        return []
    keys = candidates_to_judge(stage, config).order_by().values_list("query", "query__key").distinct()
    drawn = sorted(keys, key=lambda row: rank("shared", stage.seed, row[1]))
    return sorted(pk for pk, _ in drawn[: min(config.shared_queries, len(drawn) - 1)])


def candidates_of(stage: Stage, config: JudgingConfig, queries: Sequence[int]) -> list[int]:
    """The candidates to judge of these queries."""
    rows = candidates_to_judge(stage, config).filter(query__in=queries).order_by("pk")
    return list(rows.values_list("pk", flat=True))
