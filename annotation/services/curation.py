"""Curation: keeping selections, making curated sets of them, deciding where editors disagreed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import CandidatePassage, CuratedPassage, CuratedSet, PassageSelection, Query, QueryStep
from annotation.rules import CurationDecision, CurationVerdict, Selection, decide_curation
from annotation.selectors.curation import (
    candidates_by_key,
    later_work,
    open_statuses,
    selections_that_count,
    undecided,
)
from annotation.services.steps import decided_in, lift_doubt, move, raise_doubt, reasons_by_query
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Assignment, Stage
from crowd.services.stages import refuse_read_only

#: Queries moved in one transaction.
_BATCH = 200
Status = Query.Status
_STATUS = {
    CurationVerdict.CURATED: Query.Status.CURATED,
    CurationVerdict.UNANSWERABLE: Query.Status.UNANSWERABLE,
    CurationVerdict.DISPUTED: Query.Status.DISPUTED,
}
_DECIDED = frozenset(_STATUS.values())


def keep_selection(*, assignment: Assignment, query: int, response: Mapping[str, Any]) -> PassageSelection:
    """Store one editor's choice among the candidates of a query."""
    return PassageSelection.objects.create(
        stage=assignment.stage, assignment=assignment, query_id=query, **response
    )


@dataclass(frozen=True, slots=True)
class NewSet:
    """A curated set to be made: candidates in the order in which they are shown."""

    query: int
    candidates: Sequence[int]
    rule: str


def make_sets(sets: Iterable[NewSet], *, stage: Stage | None, actor: Any = None) -> None:
    """Make curated sets, in the transaction that moves their queries to curated."""
    new_sets = list(sets)
    now = timezone.now()
    rows = CuratedSet.objects.bulk_create(
        CuratedSet(query_id=each.query, rule=each.rule, stage=stage, decided_by=actor, created_at=now)
        for each in new_sets
    )
    CuratedPassage.objects.bulk_create(
        CuratedPassage(curated_set=row, candidate_id=candidate, position=position)
        for row, each in zip(rows, new_sets, strict=True)
        for position, candidate in enumerate(each.candidates, 1)
    )


def decidable_queries(stage: Stage, *, screened: bool, merging: str) -> list[int]:
    """Queries without a curated set on which enough selections count."""
    return [
        query
        for query, selections in undecided(stage, screened=screened).items()
        if _decided(stage, merging, selections)
    ]


def settle_curation(stage: Stage, *, screened: bool, merging: str) -> dict[str, int]:
    """Decide about every query on which enough selections count; how many went where.

    Called twice, or by two processes at once, each query is moved once and gets one curated set. Selections
    are read while the query is held, so that none of them ceases to count unseen.
    """
    ready = decidable_queries(stage, screened=screened, merging=merging)
    moved: Counter[str] = Counter()
    for start in range(0, len(ready), _BATCH):
        moved.update(_settle_batch(stage, screened, merging, ready[start : start + _BATCH]))
    return dict(moved)


def _decided(stage: Stage, merging: str, selections: Sequence[Selection]) -> CurationDecision | None:
    """What these selections decide; None where more are wanted."""
    if len(selections) < stage.redundancy:
        return None
    decision = decide_curation(selections, needed=stage.redundancy, merging=merging)
    return None if decision.verdict == CurationVerdict.MORE else decision


@transaction.atomic
def _settle_batch(stage: Stage, screened: bool, merging: str, ready: Sequence[int]) -> list[str]:
    waiting = (
        Query.objects.select_for_update(of=("self",), no_key=True)
        .filter(pk__in=ready, status__in=open_statuses(screened=screened))
        .only("pk", "status", "status_reason")
        .order_by("pk")
    )
    queries = {query.pk: query for query in waiting}
    candidates = candidates_by_key(list(queries))
    verdicts: list[str] = []
    sets: list[NewSet] = []
    for pk, selections in selections_that_count(stage, list(queries)).items():
        decision = _decided(stage, merging, selections)
        if decision is None:
            continue
        move(
            query=queries[pk],
            to=_STATUS[decision.verdict],
            reason=decision.reason,
            stage=stage,
            details=_details(selections, decision),
        )
        verdicts.append(decision.verdict)
        if decision.verdict == CurationVerdict.CURATED:
            sets.append(_set_of(pk, candidates[pk], decision))
    make_sets(sets, stage=stage)
    return verdicts


def _details(selections: Sequence[Selection], decision: CurationDecision | None) -> dict[str, Any]:
    return {"selections": len(selections), "passages": sorted(decision.passages) if decision else []}


def _set_of(query: int, candidates: Mapping[str, int], decision: CurationDecision) -> NewSet:
    by_rank = [pk for key, pk in candidates.items() if key in decision.passages]
    return NewSet(query, by_rank, decision.rule)


@transaction.atomic
def reconsider_curation(stage: Stage, merging: str, changed: Mapping[int, str]) -> None:
    """Decide again about queries whose selections began or ceased to count: why, by assignment.

    The set of a query is made again, or the query waits for passages again. Where answers were written from
    the set, or are asked for, a person has to say what holds. What a person decided stays.
    """
    mine = PassageSelection.objects.filter(stage=stage, assignment__in=changed).order_by("pk")
    why = reasons_by_query(mine.values_list("query", "assignment"), changed)
    rows = decided_in(stage, _DECIDED, list(why)).filter(status__in=[*_DECIDED, Status.ANSWERED])
    decided_here = Q(curated_set=None) | Q(curated_set__stage=stage, curated_set__decided_by=None)
    queries = list(rows.filter(decided_here).only("pk", "status", "status_reason"))
    pks = [query.pk for query in queries]
    later, candidates = later_work("curation", pks), candidates_by_key(pks)
    counted, sets = selections_that_count(stage, pks), _keys_of_sets(pks)
    for query in queries:
        selections = counted[query.pk]
        decision = _decided(stage, merging, selections)
        to = _STATUS[decision.verdict] if decision else Status(query.came_from)  # type: ignore[attr-defined]
        finding = decision.reason if decision else f"{len(selections)} of {stage.redundancy} selections count"
        passages = decision.passages if decision else frozenset()
        in_force = query.status if query.status in _DECIDED else Status.CURATED
        if to == in_force and passages == sets.get(query.pk, frozenset()):
            lift_doubt(query, stage)
        elif in_force == Status.CURATED and later.get(query.pk):
            raise_doubt(query, stage, why=why[query.pk], says=finding)
        else:
            lift_doubt(query, stage)
            CuratedSet.objects.filter(query=query).delete()
            reason = f"{finding}; decided again, for {why[query.pk]}"
            move(query=query, to=to, reason=reason, stage=stage, details=_details(selections, decision))
            if decision and decision.verdict == CurationVerdict.CURATED:
                make_sets([_set_of(query.pk, candidates[query.pk], decision)], stage=stage)


def _keys_of_sets(queries: Sequence[int]) -> dict[int, frozenset[str]]:
    """The keys of the passages of curated sets, by query."""
    rows = CuratedPassage.objects.filter(curated_set__query__in=queries)
    keys_by_query: dict[int, set[str]] = {}
    for query, key in rows.values_list("curated_set__query", "candidate__key"):
        keys_by_query.setdefault(query, set()).add(key)
    return {query: frozenset(keys) for query, keys in keys_by_query.items()}


# A researcher decides where editors were of two minds. Each decision is taken once, with name and reason.


class AdjudicationError(CrowdError):
    """A decision that cannot be taken, in words."""


def accept_query(*, query: Query, actor: Any, reason: str = "") -> None:
    """Accept a tied query."""
    _decide(query, Status.TIED, Status.ACCEPTED, actor, reason or "Accepted by a researcher")


def exclude_query(*, query: Query, actor: Any, reason: str) -> None:
    """Exclude a tied query; the reason is needed."""
    _decide(query, Status.TIED, Status.EXCLUDED, actor, _needed(reason))


def declare_unanswerable(*, query: Query, actor: Any, reason: str) -> None:
    """Say that a disputed query cannot be answered from its passages; the reason is needed."""
    _decide(query, Status.DISPUTED, Status.UNANSWERABLE, actor, _needed(reason))


@transaction.atomic
def curate_query(*, query: Query, actor: Any, candidates: Sequence[int], reason: str = "") -> None:
    """Choose the passages of a disputed query, by the primary keys of its candidates."""
    own = CandidatePassage.objects.filter(query=query, pk__in=candidates, folded_into=None)
    passages = list(own.order_by("rank").values_list("pk", "key"))
    if not passages:
        raise AdjudicationError("Choose at least one of the passages of this query.")
    if len(passages) != len(set(candidates)):
        raise AdjudicationError("One of the passages is not, or not any more, among those of this query.")
    stage = _decide(
        query,
        Status.DISPUTED,
        Status.CURATED,
        actor,
        reason or "Passages chosen by a researcher",
        passages=[key for _, key in passages],
    )
    make_sets([NewSet(query.pk, [pk for pk, _ in passages], "person")], stage=stage, actor=actor)


@transaction.atomic
def _decide(
    query: Query, before: Status, after: Status, actor: Any, reason: str, **details: Any
) -> Stage | None:
    """Move the query on and log it; the stage in which its editors disagreed."""
    refuse_read_only(query.project)
    if query.status != before:
        raise AdjudicationError(
            f"This query is {query.get_status_display()}; there is nothing to decide here."
        )
    last_selection = (
        QueryStep.objects.filter(query=query, after=before).select_related("stage").order_by("-pk").first()
    )
    stage = last_selection.stage if last_selection else None
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


def is_settled_by_person(query: Query) -> bool:
    """Whether a person decided what its editors disputed, and nothing else has moved it since."""
    return _settling_step(query) is not None


def _settling_step(query: Query) -> QueryStep | None:
    if query.status not in (Status.CURATED, Status.UNANSWERABLE):
        return None
    last = QueryStep.objects.filter(query=query).select_related("stage").order_by("-pk").first()
    is_ours = last is not None and last.actor_id is not None and last.before == Status.DISPUTED
    return last if is_ours and last and last.after == query.status else None


@transaction.atomic
def reopen_dispute(*, query: Query, actor: Any, reason: str) -> None:
    """Take back what a person decided about a disputed query: it is disputed again, its curated set is gone.

    Raises AdjudicationError where a person did not decide, or answers were written or are asked for.
    """
    refuse_read_only(query.project)
    step = _settling_step(query)
    if step is None:
        raise AdjudicationError("No decision of a person about this query can be taken back.")
    if built := later_work("curation", [query.pk]).get(query.pk):
        raise AdjudicationError(f"Later work is built on this decision: {built}. Take the query out instead.")
    reason = _needed(reason)
    CuratedSet.objects.filter(query=query).delete()
    if not move(query=query, to=Status.DISPUTED, reason=reason, stage=step.stage, actor=actor):
        raise AdjudicationError("Another person decided about this query a moment ago.")
    record(
        project=query.project,
        action="query.taken_back",
        subject=query.key,
        actor=actor,
        details={"why": reason[:300]},
    )


def _needed(reason: str) -> str:
    if not reason.strip():
        raise AdjudicationError("Give a reason; it stays with the query.")
    return reason
