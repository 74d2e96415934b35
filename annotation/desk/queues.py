"""Decisions of this app that wait for a person: ties, disputes, answers to review."""

from collections.abc import Callable

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from annotation.models import Answer, AnswerFlag, Query
from annotation.selectors.adjudication import undecided_queries
from annotation.services.reviewed_work import DECIDING_OPERATIONS
from core.projects.models import Project
from crowd.desk.queues import Queue, SeparateQueues
from crowd.models import Assignment, MarketOperation


def _of_queries(state: str) -> tuple[Callable[[Project], int], Callable[[Project], str]]:
    def rows(project: Project) -> QuerySet[Query]:
        return undecided_queries(project, state)

    def first(project: Project) -> str:
        found = rows(project).values_list("pk", flat=True).first()
        return reverse("annotation:case", args=[project.slug, found]) if found else ""

    return lambda project: rows(project).count(), first


def _flagged(project: Project) -> QuerySet[Answer]:
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    return _answers(project).filter(Exists(flags))


def _unflagged(project: Project) -> QuerySet[Answer]:
    """Those on which it hangs whether their work is approved; of work that was decided none."""
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    decided = MarketOperation.objects.filter(assignment=OuterRef("assignment"), kind__in=DECIDING_OPERATIONS)
    return _answers(project).filter(
        ~Exists(flags),
        ~Exists(decided.exclude(state=MarketOperation.State.REFUSED)),
        stage__approve_at_once=False,
        assignment__state__in=(Assignment.State.STORED, Assignment.State.SUBMITTED),
    )


def _answers(project: Project) -> QuerySet[Answer]:
    """Undecided answers of work that was not rejected, and about which nobody decides as a whole."""
    return Answer.objects.filter(
        query__project=project,
        state=Answer.State.UNDECIDED,
        assignment__state__in=Assignment.GOOD,
        assignment__held=False,
    )


def _with_answers_to_decide() -> Exists:
    """Work that is decided by deciding about its answers."""
    return Exists(Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED))


def _of_answers(
    rows: Callable[[Project], QuerySet[Answer]], name: str
) -> tuple[Callable[[Project], int], Callable[[Project], str]]:
    def first(project: Project) -> str:
        found = rows(project).order_by("query", "pk").values_list("stage__slug", "query", "pk").first()
        if found is None:
            return ""
        stage, query, answer = found
        place = reverse("annotation:answers_of_query", args=[project.slug, stage, query])
        return f"{place}?queue={name}#answer-{answer}"

    return lambda project: rows(project).count(), first


SEPARATE = SeparateQueues(_with_answers_to_decide)

QUEUES = (
    Queue(
        "tied",
        "Ties in screening",
        "As many editors said yes as no. Read the query and decide whether it stays.",
        *_of_queries("tied"),
        position=10,
    ),
    Queue(
        "one-flag",
        "Excluded by one flag",
        "One editor flagged sensitive or adult content, and most found the query fit. Accept it after "
        "all, or leave it out.",
        *_of_queries("one-flag"),
        position=11,
    ),
    Queue(
        "doubt",
        "Decisions in doubt",
        "The work that a query was decided on no longer counts, and later stages have used the decision. "
        "Keep it, ask people again, or leave the query out.",
        *_of_queries("doubt"),
        position=5,
        pressing=True,
    ),
    Queue(
        "disputed",
        "Disputes in curation",
        "Editors chose different passages. Choose those that answer the query, or say that none do.",
        *_of_queries("disputed"),
        position=20,
    ),
    Queue(
        "flagged",
        "Answers with flags",
        "Something was noticed: copied, pasted, typed too fast. A flag asks for a look; it decides nothing.",
        *_of_answers(_flagged, "flagged"),
        position=30,
    ),
    Queue(
        "answers",
        "Answers to review",
        "Answers of stages that you approve by hand, without a flag. All of a query go with one button, "
        "and work whose answers are all decided is approved with them.",
        *_of_answers(_unflagged, "answers"),
        position=31,
    ),
)
