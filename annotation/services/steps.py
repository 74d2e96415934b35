"""A query's way from one status to the next, and decisions on the way that have to be taken again.

A decision on which later work was built is in doubt when the work under it no longer counts. The rule raises
a doubt and lifts it again; a person keeps the decision, asks people again, or leaves the query out. Each of
the three is taken once, with name and reason.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation import models
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.services.stages import refuse_read_only

# Queries about which something is to be decided again, and why.

#: Reasons named for one query; the others are counted.
_TOLD = 3


def reasons_by_query(rows: Iterable[tuple[int, int]], changed: Mapping[int, str]) -> dict[int, str]:
    """Why each query is decided again: from (query, assignment) of votes, and the reasons by assignment."""
    reasons: dict[int, list[str]] = defaultdict(list)
    for query, assignment in rows:
        reasons[query].append(changed[assignment])
    return {query: in_words(query_reasons) for query, query_reasons in sorted(reasons.items())}


def in_words(reasons: Sequence[str]) -> str:
    """Reasons that differ, a few of them named."""
    unlike = list(dict.fromkeys(reasons))
    more = f", and {len(unlike) - _TOLD} more" if len(unlike) > _TOLD else ""
    return ", ".join(unlike[:_TOLD]) + more


def decided_in(stage: Stage, statuses: Collection[str], queries: Collection[int]) -> QuerySet[models.Query]:
    """Those of the queries about which this stage's votes decided last, in their order; all are held.

    `came_from` is the status in which they waited for it. What a person decided or took out since is not
    among them.
    """
    # Held first, looked at afterwards: whoever is just deciding about one of them has then done so.
    locked = models.Query.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=queries)
    list(locked.order_by("pk").values_list("pk"))
    steps = (
        models.QueryStep.objects.filter(query=OuterRef("pk"), stage__kind=stage.kind, after__in=statuses)
        .exclude(before=F("after"))
        .exclude(before=models.Query.Status.WITHDRAWN)
        .order_by("-pk")
    )
    return (
        models.Query.objects.filter(pk__in=queries)
        .exclude(status=models.Query.Status.WITHDRAWN)
        .annotate(
            decided_by=Subquery(steps.values("stage")[:1]),
            decider=Subquery(steps.values("actor")[:1]),
            came_from=Subquery(steps.exclude(before__in=statuses).values("before")[:1]),
        )
        .filter(decided_by=stage.pk, decider=None)
        .order_by("pk")
    )


def recheck(query: models.Query, why: str) -> None:
    """Decide again about a query that a person has just put back among those that votes decide about."""
    for model in (models.ScreeningVote, models.PassageSelection):
        by_stage: dict[int, int] = dict(
            model.objects.filter(query=query).order_by("pk").values_list("stage", "assignment")
        )
        for stage in Stage.objects.filter(pk__in=by_stage).select_related("project").order_by("pk"):
            kind_of(stage).reconsider(stage, {by_stage[stage.pk]: why})


@transaction.atomic
def move(
    *,
    query: models.Query,
    to: models.Query.Status,
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
    moved = models.Query.objects.filter(pk=query.pk, status=query.status).update(
        status=to, status_reason=reason, **marks
    )
    if not moved:
        return False
    models.QueryStep.objects.create(
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


Status, Outcome = models.Query.Status, models.Doubt.Outcome


def raise_doubt(query: models.Query, stage: Stage, *, why: str, says: str) -> None:
    """Put a decision before a person; where its doubt is open already, it says what is so now."""
    texts = {"why": why[:300], "says": says[:300]}
    models.Doubt.objects.update_or_create(
        query=query,
        stage=stage,
        outcome="",
        defaults=texts,
        create_defaults={**texts, "raised_at": timezone.now()},
    )


def lift_doubt(query: models.Query, stage: Stage) -> None:
    """The work that counts bears the decision again."""
    _open(query, stage).update(outcome=Outcome.LIFTED, settled_at=timezone.now())


@transaction.atomic
def keep_decision(*, doubt: models.Doubt, actor: Any, reason: str) -> None:
    """The decision stays, and is a person's from now on: no later work changes it."""
    query = _settled(doubt, Outcome.KEPT, actor, reason)
    latest = models.QueryStep.objects.filter(query=query).select_related("stage").order_by("-pk").first()
    screened = doubt.stage.kind == "screening"
    if not screened:
        models.CuratedSet.objects.filter(query=query).update(decided_by=actor)
    _moved(
        move(
            query=query,
            to=Status(query.status),
            reason=f"Stays as it is: {reason}",
            stage=latest.stage if latest else None,
            actor=actor,
            by_hand=True if screened else None,
            details={"by_hand_before": query.by_hand} if screened else None,
        )
    )


@transaction.atomic
def ask_again(*, doubt: models.Doubt, actor: Any, reason: str) -> None:
    """The query goes back to where people decide about it. Later work stays, and is paid.

    Passages that are chosen again make a new set: answers to the old one are excluded, with the reason.
    """
    query = _settled(doubt, Outcome.AGAIN, actor, reason)
    if doubt.stage.kind == "screening":
        to = Status.WAITING
    else:
        to = Status.ACCEPTED
        models.CuratedSet.objects.filter(query=query).delete()
        _exclude_answers(query, actor, f"The passages are chosen again: {reason}"[:300])
    _moved(
        move(
            query=query, to=to, reason=f"Asked again: {reason}", stage=doubt.stage, actor=actor, by_hand=False
        )
    )


@transaction.atomic
def leave_out(*, doubt: models.Doubt, actor: Any, reason: str) -> None:
    """Exclude a query whose screening is in doubt, or take out one whose passages are."""
    query = _settled(doubt, Outcome.OUT, actor, reason)
    screened = doubt.stage.kind == "screening"
    _moved(
        move(
            query=query,
            to=Status.EXCLUDED if screened else Status.WITHDRAWN,
            reason=reason,
            actor=actor,
            by_hand=True if screened else None,
            details={"by_hand_before": query.by_hand} if screened else None,
        )
    )


def _open(query: models.Query, stage: Stage) -> Any:
    return models.Doubt.objects.filter(query=query, stage=stage, outcome="")


def _settled(doubt: models.Doubt, outcome: models.Doubt.Outcome, actor: Any, reason: str) -> models.Query:
    """End the doubt, once; the query, held."""
    query = models.Query.objects.select_for_update(of=("self",), no_key=True).get(pk=doubt.query_id)
    refuse_read_only(query.project)
    if not reason.strip():
        raise CrowdError("Say why; the reason stays in the query's history.")
    ended = models.Doubt.objects.filter(pk=doubt.pk, outcome="").update(
        outcome=outcome, settled_at=timezone.now(), settled_by=actor
    )
    if not ended:
        raise CrowdError("This was settled in the meantime. Look at the query again.")
    record(
        project=query.project,
        action="query.doubt_settled",
        subject=query.key,
        actor=actor,
        details={"outcome": str(outcome), "why": reason[:300]},
    )
    return query


def _moved(done: bool) -> None:
    if not done:
        raise CrowdError("Another person has just moved this query. Look at it again.")


def _exclude_answers(query: models.Query, actor: Any, reason: str) -> None:
    counted = models.Answer.objects.filter(query=query, state__in=models.Answer.COUNTED)
    rows = list(counted.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    models.Answer.objects.filter(pk__in=rows).update(state=models.Answer.State.EXCLUDED)
    now = timezone.now()
    models.AnswerReview.objects.bulk_create(
        models.AnswerReview(
            answer_id=pk, actor=actor, action=models.AnswerReview.Action.EXCLUDE, reason=reason, at=now
        )
        for pk in rows
    )
