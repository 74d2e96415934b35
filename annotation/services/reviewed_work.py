"""Work whose answers a person has all decided about needs no second decision: it is approved.

Excluding an answer is no rejection, so work is paid whatever was decided about its answers. Work that a
person rejects is rejected by itself, or together with the exclusion of an answer.
"""

from collections.abc import Collection
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Answer, AnswerReview
from crowd.models import Assignment, MarketOperation, Stage
from crowd.services.review import approve

Kind = MarketOperation.Kind
#: Operations that decide about work.
DECIDING_OPERATIONS = (Kind.APPROVE, Kind.REJECT, Kind.UNREJECT)


def reviewed_work(stage: Stage) -> QuerySet[Assignment]:
    """Submitted work of the stage that waits for a person who has decided about all its answers.

    Work about which the marketplace was asked before is not among it: what it refused a person decides again.
    """
    undecided = Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED)
    reviewed = AnswerReview.objects.filter(answer__assignment=OuterRef("pk"))
    asked = MarketOperation.objects.filter(assignment=OuterRef("pk"), kind__in=DECIDING_OPERATIONS)
    return Assignment.objects.filter(
        Q(held=True) | Q(stage__approve_at_once=False),
        Exists(reviewed),
        ~Exists(undecided),
        ~Exists(asked),
        stage=stage,
        state=Assignment.State.SUBMITTED,
    )


def approve_reviewed_work(stage: Stage, assignments: Collection[int] | None = None) -> int:
    """Plan to approve such work, in the name of who decided last; of these assignments, or all.

    Called again, it plans nothing more. How many were approved.
    """
    rows = reviewed_work(stage)
    if assignments is not None:
        rows = rows.filter(pk__in=assignments)
    held = rows.select_for_update(of=("self",), no_key=True).select_related("worker", "hit").order_by("pk")
    works = list(held)
    actors = _reviewers([work.pk for work in works])
    for work in works:
        work.stage = stage
        approve(assignment=work, actor=actors[work.pk], note="")
    return len(works)


def _reviewers(assignments: Collection[int]) -> dict[int, Any]:
    """Who decided last about an answer, by assignment."""
    reviews = AnswerReview.objects.filter(answer__assignment__in=assignments).order_by("pk")
    last = dict(reviews.values_list("answer__assignment", "actor"))
    users = get_user_model().objects.in_bulk(set(last.values()))
    return {assignment: users[actor] for assignment, actor in last.items()}
