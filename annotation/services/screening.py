"""Keeping votes, and moving queries on once they have enough of them."""

from collections import Counter
from collections.abc import Mapping

from django.db import transaction

from annotation.models import Query, ScreeningVote
from annotation.rules.screening import Decision, Verdict, decide
from annotation.selectors.screening import votes_on_waiting
from annotation.services.steps import move
from crowd.models import Assignment, Stage

#: Queries moved in one transaction.
_BATCH = 200
_STATUS = {
    Verdict.ACCEPTED: Query.Status.ACCEPTED,
    Verdict.EXCLUDED: Query.Status.EXCLUDED,
    Verdict.TIED: Query.Status.TIED,
}


def keep_vote(*, assignment: Assignment, query: int, response: Mapping[str, bool | str]) -> ScreeningVote:
    """Store one editor's form about a query."""
    return ScreeningVote.objects.create(
        stage=assignment.stage, assignment=assignment, query_id=query, **response
    )


def settle_screening(
    stage: Stage, *, tolerated_sensitive: int, tolerated_adult: int, ties_wait: bool
) -> dict[str, int]:
    """Move every waiting query that has enough good votes; how many went where.

    Called twice, or by two processes at once, each query is moved once: by whoever comes first.
    """
    decided = [
        (
            pk,
            len(votes),
            decide(
                votes,
                tolerated_sensitive=tolerated_sensitive,
                tolerated_adult=tolerated_adult,
                ties_wait=ties_wait,
            ),
        )
        for pk, votes in votes_on_waiting(stage)
        if len(votes) >= stage.redundancy
    ]
    moved: Counter[str] = Counter()
    for start in range(0, len(decided), _BATCH):
        with transaction.atomic():
            for pk, votes, decision in decided[start : start + _BATCH]:
                if _move(stage, pk, votes, decision):
                    moved[decision.verdict] += 1
    return dict(moved)


def _move(stage: Stage, pk: int, votes: int, decision: Decision) -> bool:
    return move(
        query=Query(pk=pk, status=Query.Status.WAITING),
        to=_STATUS[decision.verdict],
        reason=decision.reason,
        stage=stage,
        details={"votes": votes},
    )
