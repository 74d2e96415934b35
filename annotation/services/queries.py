"""What a researcher decides about queries by hand: out of the project and back, accepted or excluded."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import CuratedSet, Doubt, Query, QueryStep
from annotation.selectors.curation import later_work
from annotation.services.curation import is_settled_by_person, reopen_dispute
from annotation.services.steps import move, recheck
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.services.stages import refuse_read_only

Status = Query.Status
#: Queries that one request decides about.
MOST_AT_ONCE = 200
#: From where a query can be accepted by hand.
ACCEPTABLE = frozenset({Status.WAITING, Status.TIED, Status.EXCLUDED})


def can_be_accepted(query: Query) -> bool:
    """Whether it is one of those that a person can accept."""
    return query.status in ACCEPTABLE


def can_be_excluded(query: Query) -> bool:
    """Whether it is one of those that a person can exclude; also one that its votes alone exclude."""
    return query.status != Status.WITHDRAWN and not (query.status == Status.EXCLUDED and query.by_hand)


@transaction.atomic
def withdraw(*, query: Query, reason: str, actor: Any) -> None:
    """Take a query out: nobody is asked about it any more; what people did stays, and is paid.

    Raises CrowdError without a reason, where it is out already, or where somebody else has just moved it.
    """
    refuse_read_only(query.project)
    if query.status == Status.WITHDRAWN:
        raise CrowdError("This query is taken out already.")
    _move(query, Status.WITHDRAWN, reason, actor, "query.withdrawn")


@transaction.atomic
def put_back(*, query: Query, reason: str, actor: Any) -> None:
    """Put a query back to where it was before it was taken out. Raises CrowdError as `withdraw` does.

    What was decided about it on work that no longer counts is decided again.
    """
    refuse_read_only(query.project)
    if query.status != Status.WITHDRAWN:
        raise CrowdError("This query is not taken out.")
    before = (
        QueryStep.objects.filter(query=query, after=Status.WITHDRAWN)
        .order_by("-pk")
        .values_list("before", flat=True)
        .first()
    )
    _move(query, Status(before or Status.WAITING), reason, actor, "query.put_back")
    _decide_again(query, "it was put back")


def accept_by_hand(*, query: Query, reason: str, actor: Any) -> None:
    """Accept a query whatever its votes say; a set of passages that it has already is used again.

    Later votes do not change it. Raises CrowdError as `withdraw` does.
    """
    has_set = CuratedSet.objects.filter(query=query).exists()
    to = Status.CURATED if has_set else Status.ACCEPTED
    _by_hand(query, to, reason, actor, "query.accepted")


def exclude_by_hand(*, query: Query, reason: str, actor: Any) -> None:
    """Exclude a query whatever its votes say, or leave it excluded: later votes do not change it.

    Raises CrowdError as `withdraw` does.
    """
    _by_hand(query, Status.EXCLUDED, reason, actor, "query.excluded")


@transaction.atomic
def take_back(*, query: Query, reason: str, actor: Any) -> None:
    """Take a person's decision back: the query is where it was before.

    One that was accepted or excluded is decided about by its votes again, one whose passages were disputed is
    disputed again. Raises CrowdError also where later work was built on the decision.
    """
    refuse_read_only(query.project)
    if not query.by_hand:
        if is_settled_by_person(query):
            reopen_dispute(query=query, actor=actor, reason=reason)
            return
        raise CrowdError("Its votes decided about this query; there is no decision by hand to take back.")
    steps = QueryStep.objects.filter(query=query, actor__isnull=False).order_by("-pk")
    step = steps.filter(details__has_key="by_hand_before").first() or steps.filter(before=Status.TIED).first()
    if step is None:
        raise CrowdError("The history of this query does not say what it was before.")
    to = Status(step.before)
    accepted = query.status not in (Status.EXCLUDED, to)
    if accepted and (query.status != step.after or later_work("screening", [query.pk])):
        raise CrowdError("Later work is built on its acceptance. Exclude it instead, or take it out.")
    before = bool(step.details.get("by_hand_before"))
    _move(query, to, reason, actor, "query.taken_back", by_hand=before)
    query.by_hand = before
    if not before:
        _decide_again(query, "the decision by hand was taken back")


def _decide_again(query: Query, why: str) -> None:
    recheck(query, why)
    query.refresh_from_db(fields=["status", "status_reason"])


@transaction.atomic
def _by_hand(query: Query, to: Status, reason: str, actor: Any, action: str) -> None:
    refuse_read_only(query.project)
    possible = can_be_excluded if to == Status.EXCLUDED else can_be_accepted
    if not possible(query):
        raise CrowdError(f"This query is {query.get_status_display()}; that cannot be done with it.")
    details = {"by_hand_before": query.by_hand}
    _move(query, to, reason, actor, action, by_hand=True, details=details)
    query.by_hand = True
    Doubt.objects.filter(query=query, stage__kind="screening", outcome="").update(
        outcome=Doubt.Outcome.OUT if to == Status.EXCLUDED else Doubt.Outcome.KEPT,
        settled_at=timezone.now(),
        settled_by=actor,
    )


def can_be_taken_back(query: Query) -> bool:
    """Whether a person's decision about it is in force."""
    return query.by_hand or is_settled_by_person(query)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Queries that were decided about, and each that was not: its text and why."""

    done: tuple[int, ...]
    refused: tuple[tuple[str, str], ...]


#: What can be decided about many queries at once, by name.
DECISIONS: dict[str, Callable[..., None]] = {
    "accept": accept_by_hand,
    "exclude": exclude_by_hand,
    "take_back": take_back,
    "withdraw": withdraw,
    "put_back": put_back,
}


def decide_chosen(
    *, project: Project, queries: Collection[int], decision: str, reason: str, actor: Any
) -> Outcome:
    """Decide about these queries of the project, each in a transaction and with an event of its own.

    One that cannot be decided about is refused in words and stops no other. Raises CrowdError, and nothing
    happens, without a reason, where nothing or more than `MOST_AT_ONCE` is chosen, or for another decision.
    """
    if decision not in DECISIONS:
        raise CrowdError("Choose what to do with the queries.")
    if not reason.strip():
        raise CrowdError("Say why; the reason stays in the history of each query.")
    query_ids = set(queries)
    if not query_ids:
        raise CrowdError("Nothing is chosen. Tick the queries first.")
    if len(query_ids) > MOST_AT_ONCE:
        raise CrowdError(f"{len(query_ids)} are chosen; at most {MOST_AT_ONCE} are decided about at once.")
    return decide_each(project=project, queries=query_ids, decision=decision, reason=reason, actor=actor)


def decide_each(
    *, project: Project, queries: Collection[int], decision: str, reason: str, actor: Any
) -> Outcome:
    """The same for as many as are named."""
    if decision not in DECISIONS:
        raise CrowdError("Choose what to do with the queries.")
    done, refused = [], []
    for query in Query.objects.filter(project=project, pk__in=queries).order_by("pk"):
        query.project = project
        try:
            DECISIONS[decision](query=query, reason=reason, actor=actor)
        except CrowdError as error:
            refused.append((query.text, str(error)))
        else:
            done.append(query.pk)
    return Outcome(tuple(done), tuple(refused))


def _move(query: Query, to: Status, reason: str, actor: Any, action: str, **fields: Any) -> None:
    reason = reason.strip()
    if not reason:
        raise CrowdError("Say why; the reason stays in the query's history.")
    if not move(query=query, to=to, reason=reason, actor=actor, **fields):
        raise CrowdError("Another person has just moved this query. Look at it again.")
    record(
        project=query.project, action=action, subject=query.key, actor=actor, details={"why": reason[:300]}
    )
