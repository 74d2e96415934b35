"""A query's way from one status to the next, and decisions on the way that have to be taken again."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.models import PassageSelection, Query, QueryStep, ScreeningVote
from crowd.kinds import kind_of
from crowd.models import Stage

# Queries about which something is to be decided again, and why.

#: Reasons named for one query; the others are counted.
_TOLD = 3


def reasons_by_query(rows: Iterable[tuple[int, int]], changed: Mapping[int, str]) -> dict[int, str]:
    """Why each query is decided again: from (query, assignment) of votes, and the reasons by assignment."""
    reasons: dict[int, list[str]] = defaultdict(list)
    for query, assignment in rows:
        reasons[query].append(changed[assignment])
    return {query: in_words(given) for query, given in sorted(reasons.items())}


def in_words(reasons: Sequence[str]) -> str:
    """Reasons that differ, a few of them named."""
    unlike = list(dict.fromkeys(reasons))
    more = f", and {len(unlike) - _TOLD} more" if len(unlike) > _TOLD else ""
    return ", ".join(unlike[:_TOLD]) + more


def decided_in(stage: Stage, statuses: Collection[str], queries: Collection[int]) -> QuerySet[Query]:
    """Those of the queries about which this stage's votes decided last, in their order; all are held.

    `came_from` is the status in which they waited for it. What a person decided or took out since is not
    among them.
    """
    # Held first, looked at afterwards: whoever is just deciding about one of them has then done so.
    locked = Query.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=queries)
    list(locked.order_by("pk").values_list("pk"))
    steps = (
        QueryStep.objects.filter(query=OuterRef("pk"), stage__kind=stage.kind, after__in=statuses)
        .exclude(before=F("after"))
        .exclude(before=Query.Status.WITHDRAWN)
        .order_by("-pk")
    )
    return (
        Query.objects.filter(pk__in=queries)
        .exclude(status=Query.Status.WITHDRAWN)
        .annotate(
            decided_by=Subquery(steps.values("stage")[:1]),
            decider=Subquery(steps.values("actor")[:1]),
            came_from=Subquery(steps.exclude(before__in=statuses).values("before")[:1]),
        )
        .filter(decided_by=stage.pk, decider=None)
        .order_by("pk")
    )


def recheck(query: Query, why: str) -> None:
    """Decide again about a query that a person has just put back among those that votes decide about."""
    for model in (ScreeningVote, PassageSelection):
        by_stage: dict[int, int] = dict(
            model.objects.filter(query=query).order_by("pk").values_list("stage", "assignment")
        )
        for stage in Stage.objects.filter(pk__in=by_stage).select_related("project").order_by("pk"):
            kind_of(stage).reconsider(stage, {by_stage[stage.pk]: why})


@transaction.atomic
def move(
    *,
    query: Query,
    to: Query.Status,
    reason: str,
    stage: Stage | None = None,
    actor: Any = None,
    details: dict[str, Any] | None = None,
    by_hand: bool | None = None,
) -> bool:
    """Move a query on from the status that `query` was read with.

    False, and nothing changes, when somebody else has moved it in the meantime. `actor` None: a rule did it.
    `by_hand` says whether votes move it from now on; None leaves that as it is.
    """
    reason = reason[:300]
    marks = {} if by_hand is None else {"by_hand": by_hand}
    moved = Query.objects.filter(pk=query.pk, status=query.status).update(
        status=to, status_reason=reason, **marks
    )
    if not moved:
        return False
    QueryStep.objects.create(
        query=query,
        at=timezone.now(),
        stage=stage,
        actor=actor,
        before=query.status,
        after=to,
        reason=reason,
        details=details or {},
    )
    query.status, query.status_reason = to, reason
    return True
