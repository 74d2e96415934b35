"""Which queries and answers are accepted, and why each of the others is not (`releases.groups`)."""

from collections.abc import Collection
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When

from annotation.models import Answer, AnswerFlag, HeldOutWorker, Query
from annotation.selectors.answers import GIVEN
from core.projects.models import Project
from crowd.counted_work import counting
from crowd.models import Assignment, Stage
from judgments.models import Candidate
from judgments.selectors.candidates import OUT
from people.models import Guest

_State, _Status = Answer.State, Query.Status
_UNDECIDED_QUERIES = (_Status.TIED, _Status.DISPUTED)


def inside(include: Collection[str]) -> list[str]:
    """Values of `why` that are in a release: accepted, and the groups that were brought in."""
    return ["", *include]


def answers_with_why(rows: QuerySet[Answer]) -> QuerySet[Any]:
    """Answers with `why`: the group to which each belongs for itself, empty where it is accepted."""
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    held = Q(assignment__held=True) & ~Q(assignment__state=Assignment.State.APPROVED)
    on_hold = held | (Q(state=_State.APPROVED) & ~counting("assignment"))
    withdrew = Guest.objects.filter(
        project=OuterRef("query__project"),
        worker_id=OuterRef("worker__external_id"),
        withdrawn_at__isnull=False,
    )
    why = Case(
        When(Exists(withdrew), then=Value("withdrawn")),
        When(state=_State.EXCLUDED, then=Value("excluded")),
        When(state=_State.REPLACED, then=Value("replaced")),
        When(~Q(assignment__state__in=Assignment.GOOD), then=Value("work_not_accepted")),
        When(on_hold, then=Value("held")),
        When(state=_State.REWRITE, then=Value("rewrite")),
        When(state=_State.APPROVED, then=Value("")),
        When(Exists(flags), then=Value("flagged")),
        default=Value("undecided"),
    )
    return rows.annotate(why=why)


def answers_of(project: Project, using: str) -> QuerySet[Any]:
    """All answers that people wrote, each with `why`."""
    return answers_with_why(Answer.objects.using(using).filter(query__project=project))


def taken_answers(project: Project, using: str, include: Collection[str]) -> QuerySet[Any]:
    """Answers that go in for themselves, also those of queries that do not."""
    return answers_of(project, using).filter(why__in=inside(include))


def queries_of(project: Project, using: str, include: Collection[str]) -> QuerySet[Any]:
    """All queries, each with `why`: the group to which it belongs, empty where it goes in anyway.

    A reference is an answer that goes in and is not held out, or one that came with the query. A query has to
    have one only in a project that asks people for answers: one that only judges has none to miss.
    """
    aside = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    written = answers_with_why(Answer.objects.filter(query=OuterRef("pk")))
    has_reference = Exists(written.filter(~Exists(aside), why__in=inside(include))) | ~Q(references=[])
    collected = Exists(Answer.objects.filter(GIVEN, query=OuterRef("pk"))) | Exists(
        Candidate.objects.filter(query=OuterRef("pk"))
    )
    why = Case(
        When(status__in=OUT, then=Value("taken_out")),
        When(~collected, then=Value("nothing_collected")),
        When(status__in=_UNDECIDED_QUERIES, then=Value("disputed")),
        When(has_reference, then=Value("")),
        default=Value("unanswered" if _asks_for_answers(project, using) else ""),
    )
    return Query.objects.using(using).filter(project=project).annotate(why=why)


def released(project: Project, using: str, include: Collection[str]) -> QuerySet[Any]:
    """Queries that go in."""
    return queries_of(project, using, include).filter(why__in=inside(include))


def _asks_for_answers(project: Project, using: str) -> bool:
    stages = Stage.objects.using(using).filter(project=project, kind="distillation")
    written = Answer.objects.using(using).filter(query__project=project).exclude(stage__kind="continuation")
    return stages.exists() or written.exists()
