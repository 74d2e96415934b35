"""Which answers a judging stage asks about, and how many judgments that count each has."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from core.projects.models import Project
from crowd.counted_work import counting, not_counting
from crowd.models import Assignment, Stage
from judgments.draws import rank
from judgments.kinds.judging_config import JudgingConfig
from judgments.models import Candidate, FilterRun, Judgment, System, Verdict
from judgments.selectors.candidates import OUT, to_judge
from web.cache import NotMadeError, cached_or_none, is_large_table

#: How long the sizes of systems in a form may be old where counting them takes long.
_COUNTS_GOOD_S = 600


@dataclass(frozen=True, slots=True)
class Sums:
    """Judgments of one candidate that count: how many, the sum of scores and of their squares, in units."""

    n: int = 0
    total: int = 0
    squares: int = 0


def candidates_to_judge(stage: Stage, config: JudgingConfig) -> QuerySet[Candidate]:
    """Answers that are judged: of the stage's systems, not set aside, to queries that were not taken out."""
    found = to_judge(stage.project)
    return found.filter(system__name__in=config.systems) if config.systems else found


def system_choices(project: Project) -> dict[str, str]:
    """Names of a project's systems with words for a form: how many answers of each there are to judge."""
    names = list(
        System.objects.filter(project=project).order_by("kind", "name").values_list("name", flat=True)
    )
    if is_large_table(Candidate):
        # Counting takes seconds: the form does not wait for it, and says the names alone until it is done.
        try:
            counts = cached_or_none(
                f"system-choices:{project.pk}", int(time.time() / _COUNTS_GOOD_S), lambda: _sizes(project)
            )
        except NotMadeError:
            counts = None
    else:
        counts = _sizes(project)
    words = {
        name: f"{name}: {wanted:,} of {n:,} answers to judge" for name, (n, wanted) in (counts or {}).items()
    }
    return {name: words.get(name, name) for name in names}


def _sizes(project: Project) -> dict[str, tuple[int, int]]:
    """Answers of each system, and how many of them are to be judged."""
    wanted = Q(candidates__aside="") & ~Q(candidates__query__status__in=OUT)
    counted = System.objects.filter(project=project).annotate(
        n=Count("candidates"), wanted=Count("candidates", filter=wanted)
    )
    return {name: (n, wanted) for name, n, wanted in counted.values_list("name", "n", "wanted")}


def not_asked_about(stage: Stage, config: JudgingConfig) -> dict[str, int]:
    """How many answers of systems a stage does not ask about, by the reason in words."""
    every = Candidate.objects.filter(system__project=stage.project_id)
    mine = every.filter(system__name__in=config.systems) if config.systems else every
    out, aside = Q(query__status__in=OUT), Candidate.UnjudgedReason
    counts = mine.aggregate(
        exact=Count("pk", filter=Q(aside=aside.EXACT) & ~out),
        empty=Count("pk", filter=Q(aside=aside.EMPTY) & ~out),
        withdrawn=Count("pk", filter=Q(aside=aside.WITHDRAWN) & ~out),
        query=Count("pk", filter=out),
    )
    found = {
        "the same as a reference": counts["exact"],
        "the system gave no answer": counts["empty"],
        "taken out by a researcher": counts["withdrawn"],
        "their query was excluded or taken out": counts["query"],
    }
    if config.systems:
        found["of systems that are not chosen"] = every.exclude(system__name__in=config.systems).count()
    return {words: count for words, count in found.items() if count}


def counted_judgments(stage: Stage) -> QuerySet[Judgment]:
    """Judgments that count: of work that counts, and not removed by the filter run in force."""
    found = Judgment.objects.filter(counting("assignment"), stage=stage)
    run = FilterRun.objects.in_force().filter(stage=stage).values_list("pk", flat=True).first()
    if run is None:
        return found
    removed = Verdict.objects.filter(run=run, judgment=OuterRef("pk"), removes=True)
    return found.exclude(Exists(removed))


def sums_by_candidate(stage: Stage) -> dict[int, Sums]:
    """What has been judged, by candidate, in one statement; candidates without any are left out."""
    rows: QuerySet[Any, Any] = counted_judgments(stage).order_by().values_list("candidate")
    sums = rows.annotate(n=Count("pk"), total=Sum("score"), squares=Sum(F("score") * F("score")))
    return {candidate: Sums(n, total, squares) for candidate, n, total, squares in sums}


def waiting_by_candidate(stage: Stage) -> dict[int, int]:
    """Judgments whose work waits for a person, by candidate: they have their place, and do not count yet."""
    waiting = Assignment.objects.filter(not_counting(), stage=stage, state__in=Assignment.GOOD)
    if not waiting.exists():
        return {}
    rows = Judgment.objects.filter(stage=stage, assignment__in=waiting.values("pk")).order_by()
    return dict(rows.values_list("candidate").annotate(n=Count("pk")))


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
