"""A researcher decides where editors were of two minds. Each decision is taken once, with name and reason."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotation.models import CandidatePassage, Query, QueryStep
from annotation.services.curation import NewSet, make_sets
from annotation.services.steps import move
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Stage

Status = Query.Status


class AdjudicationError(CrowdError):
    """A decision that cannot be taken, in words."""


def accept(*, query: Query, actor: Any, reason: str = "") -> None:
    """Accept a tied query."""
    _decide(query, Status.TIED, Status.ACCEPTED, actor, reason or "Accepted by a researcher")


def exclude(*, query: Query, actor: Any, reason: str) -> None:
    """Exclude a tied query; the reason is needed."""
    _decide(query, Status.TIED, Status.EXCLUDED, actor, _needed(reason))


def declare_unanswerable(*, query: Query, actor: Any, reason: str) -> None:
    """Say that a disputed query cannot be answered from its passages; the reason is needed."""
    _decide(query, Status.DISPUTED, Status.UNANSWERABLE, actor, _needed(reason))


@transaction.atomic
def curate(*, query: Query, actor: Any, candidates: Sequence[int], reason: str = "") -> None:
    """Choose the passages of a disputed query, by the primary keys of its candidates."""
    own = CandidatePassage.objects.filter(query=query, pk__in=candidates, folded_into=None)
    chosen = list(own.order_by("rank").values_list("pk", "key"))
    if not chosen:
        raise AdjudicationError("Choose at least one of the passages of this query.")
    if len(chosen) != len(set(candidates)):
        raise AdjudicationError("One of the passages is not, or not any more, among those of this query.")
    stage = _decide(
        query,
        Status.DISPUTED,
        Status.CURATED,
        actor,
        reason or "Passages chosen by a researcher",
        passages=[key for _, key in chosen],
    )
    make_sets([NewSet(query.pk, [pk for pk, _ in chosen], "person")], stage=stage, actor=actor)


@transaction.atomic
def _decide(
    query: Query, before: Status, after: Status, actor: Any, reason: str, **details: Any
) -> Stage | None:
    """Move the query on and log it; the stage in which its editors disagreed."""
    if query.status != before:
        raise AdjudicationError(
            f"This query is {query.get_status_display()}; there is nothing to decide here."
        )
    asked = (
        QueryStep.objects.filter(query=query, after=before).select_related("stage").order_by("-pk").first()
    )
    stage = asked.stage if asked else None
    by_hand = True if before == Status.TIED else None
    if not move(
        query=query, to=after, reason=reason, stage=stage, actor=actor, details=details, by_hand=by_hand
    ):
        raise AdjudicationError("Another person decided about this query a moment ago.")
    record(
        project=query.project,
        action="query.adjudicated",
        subject=query.key,
        actor=actor,
        details={"became": str(after), "why": reason},
    )
    return stage


def _needed(reason: str) -> str:
    if not reason.strip():
        raise AdjudicationError("Give a reason; it stays with the query.")
    return reason
