"""A simulated owner of a project: what is decided where a pilot without people waits for a person.

Simulated workers answer by what an import says to be true of its queries (`crowd.simulation`), and so does
their owner.
"""

from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.models import Answer, Query
from annotation.services import curation, review_decisions
from annotation.units import simulated_truth
from core.projects.models import Project
from crowd.models import Assignment, Stage
from crowd.services.review import MOST_AT_ONCE, approve_chosen, reject


def decide_ties(*, project: Project, actor: Any) -> None:
    """Accept or exclude every query whose editors were of two minds."""
    for query in Query.objects.filter(project=project, status=Query.Status.TIED).order_by("pk"):
        truth = simulated_truth(query.extra)
        if (truth.get("kind"), truth.get("answerable")) == ("informational", "yes"):
            curation.accept_query(query=query, actor=actor, reason="One passage can settle it.")
        else:
            curation.exclude_query(query=query, actor=actor, reason="No short passage settles it.")


def undecided_answers(stage: Stage) -> QuerySet[Answer]:
    """Answers that wait for a reviewer."""
    return Answer.objects.filter(stage=stage, state=Answer.State.UNDECIDED).select_related(
        "stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit"
    )


def flagged_answers(stage: Stage) -> QuerySet[Answer]:
    """Of these, those with flags, the most flags first."""
    with_flags = undecided_answers(stage).annotate(flags_in_all=Count("flags")).filter(flags_in_all__gt=0)
    return with_flags.order_by("-flags_in_all", "pk")


def review_worst(*, stage: Stage, actor: Any, action: str, reason: str) -> None:
    """Decide about the answer with the most flags: `reject` its work, `exclude` it, or ask for a `rewrite`.

    Nothing is decided where no answer has flags.
    """
    answer = flagged_answers(stage).first()
    if answer is None:
        return
    if action == "reject":
        reject(assignment=answer.assignment, actor=actor, reason=reason)
    else:
        services = {"exclude": review_decisions.exclude, "rewrite": review_decisions.ask_rewrite}
        services[action](answer=answer, actor=actor, seen=answer.state, reason=reason)


def approve_answers(*, stage: Stage, actor: Any, most_queries: int | None = None) -> None:
    """Approve the answers without flags query by query; of all queries, those with flags, too."""
    waiting = Exists(undecided_answers(stage).filter(query=OuterRef("pk")))
    for query in Query.objects.filter(waiting, project=stage.project).order_by("pk")[:most_queries]:
        review_decisions.approve_unflagged(stage=stage, query=query, actor=actor)
    if most_queries is None:
        for answer in undecided_answers(stage):
            review_decisions.approve(answer=answer, actor=actor, seen=answer.state)


def approve_work(*, stage: Stage, actor: Any) -> None:
    """Approve all work that waits for it, but that of answers which still wait for a reviewer."""
    undecided = Exists(undecided_answers(stage).filter(assignment=OuterRef("pk")))
    waiting = Assignment.objects.filter(~undecided, stage=stage, state=Assignment.State.SUBMITTED)
    works = list(waiting.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(works), MOST_AT_ONCE):
        approve_chosen(stage=stage, assignments=works[start : start + MOST_AT_ONCE], actor=actor)
