"""What the owner of a campaign decides where the pipeline waits for a person, each time with a reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.models import Answer, AnswerFlag, Query
from annotation.services import curation, review_decisions
from annotation.units import simulated_truth
from core.projects.models import Project
from crowd.models import Assignment, Endpoint, Stage
from crowd.services import review
from crowd.services.review import MOST_AT_ONCE, approve_chosen
from crowd.simulation.accounts import Account
from distillery.demo.people import People
from distillery.demo.screen import Screen

# Where the campaigns of the demonstration run.


@dataclass(frozen=True)
class Scene:
    """The people, the marketplace, the crowd, the address, the folder of files, the terminal."""

    people: People
    endpoint: Endpoint
    workers: Iterator[Account]
    site: str
    folder: Path
    screen: Screen

    def crowd(self, size: int) -> list[Account]:
        """So many people who have worked on nothing here."""
        return list(islice(self.workers, size))


def decide_ties(project: Project, *, owner: User) -> tuple[int, int]:
    """Read every query whose editors were of two minds; how many came in, and how many stay out."""
    came_in = stay_out = 0
    for query in Query.objects.filter(project=project, status=Query.Status.TIED).order_by("pk"):
        truth = simulated_truth(query.extra)
        if truth.get("kind") == "informational" and truth.get("answerable") == "yes":
            curation.accept_query(query=query, actor=owner, reason="One passage can settle it.")
            came_in += 1
        else:
            curation.exclude_query(query=query, actor=owner, reason="No short passage settles it.")
            stay_out += 1
    return came_in, stay_out


def turn_down_two(distillation: Stage, *, owner: User) -> int:
    """Reject the answer with the most flags and exclude the next; others are asked in their place."""
    flagged = (
        _undecided(distillation)
        .filter(Exists(AnswerFlag.objects.filter(answer=OuterRef("pk"))))
        .annotate(flags_in_all=Count("flags"))
        .order_by("-flags_in_all", "pk")
    )
    worst = list(flagged[:2])
    if worst:
        review.reject(
            assignment=worst[0].assignment, actor=owner, reason="This is a passage pasted as it stands."
        )
    for answer in worst[1:]:
        review_decisions.exclude(
            answer=answer, actor=owner, seen=answer.state, reason="This is not about the question."
        )
    return len(worst)


def ask_one_again(distillation: Stage, *, owner: User) -> bool:
    """Ask the author of a flagged answer to write it in words of their own.

    False where there is no second one with flags, which is left for whoever tries the review.
    """
    flagged = Exists(AnswerFlag.objects.filter(answer=OuterRef("pk")))
    found = list(_undecided(distillation).filter(flagged).order_by("pk")[:2])
    if len(found) < 2:
        return False
    again = found[0]
    review_decisions.ask_rewrite(
        answer=again, actor=owner, seen=again.state, reason="Please use words of your own."
    )
    return True


def approve_answers(distillation: Stage, *, owner: User, queries: int | None = None) -> None:
    """Approve the answers without flags query by query; without a limit, those with flags, too."""
    unread = Answer.objects.filter(stage=distillation, query=OuterRef("pk"), state=Answer.State.UNDECIDED)
    mine = Query.objects.filter(Exists(unread), project=distillation.project_id)
    for query in mine.order_by("pk")[:queries]:
        review_decisions.approve_unflagged(stage=distillation, query=query, actor=owner)
    if queries is None:
        for answer in _undecided(distillation):
            review_decisions.approve(answer=answer, actor=owner, seen=answer.state)


def pay(stage: Stage, *, owner: User) -> None:
    """Approve all work that waits for it, but that of answers which still wait for a reviewer."""
    waiting = Assignment.objects.filter(stage=stage, state=Assignment.State.SUBMITTED)
    unread = Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED)
    rows = list(waiting.exclude(Exists(unread)).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(rows), MOST_AT_ONCE):
        approve_chosen(stage=stage, chosen=rows[start : start + MOST_AT_ONCE], actor=owner)


def _undecided(distillation: Stage) -> QuerySet[Answer]:
    return Answer.objects.filter(stage=distillation, state=Answer.State.UNDECIDED).select_related(
        "stage__project", "worker", "query", "assignment__stage__endpoint", "assignment__hit"
    )
