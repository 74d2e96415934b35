"""Keeping votes, and moving queries on once they have enough of them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from annotation.models import CuratedSet, Query, ScreeningVote
from annotation.rules.screening import Decision, Verdict, Vote, decide
from annotation.selectors.adjudication import later_work
from annotation.selectors.queries import votes_that_count, with_enough_votes
from annotation.services.doubts import lift_doubt, raise_doubt
from annotation.services.steps import decided_in, move, reasons_by_query
from crowd.models import Assignment, Stage

#: Queries moved in one transaction.
_BATCH = 200
Status = Query.Status
_STATUS = {
    Verdict.ACCEPTED: Query.Status.ACCEPTED,
    Verdict.EXCLUDED: Query.Status.EXCLUDED,
    Verdict.TIED: Query.Status.TIED,
}
#: Statuses that votes lead to, and with a set that is there already the last.
_DECIDED = frozenset(_STATUS.values())


def keep_vote(*, assignment: Assignment, query: int, response: Mapping[str, bool | str]) -> ScreeningVote:
    """Store one editor's form about a query."""
    return ScreeningVote.objects.create(
        stage=assignment.stage, assignment=assignment, query_id=query, **response
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """The stage's options about how votes decide."""

    tolerated_sensitive: int
    tolerated_adult: int
    ties_wait: bool

    def decide(self, votes: Sequence[Vote]) -> Decision:
        """What these votes decide."""
        return decide(
            votes,
            tolerated_sensitive=self.tolerated_sensitive,
            tolerated_adult=self.tolerated_adult,
            ties_wait=self.ties_wait,
        )


def settle_screening(stage: Stage, rules: Rules) -> dict[str, int]:
    """Move every waiting query on which enough votes count; how many went where.

    Called twice, or by two processes at once, each query is moved once: by whoever comes first. The votes are
    read while the query is held, so that none of them ceases to count unseen.
    """
    ready = with_enough_votes(stage)
    moved: Counter[str] = Counter()
    for start in range(0, len(ready), _BATCH):
        moved.update(_settle_batch(stage, rules, ready[start : start + _BATCH]))
    return dict(moved)


@transaction.atomic
def _settle_batch(stage: Stage, rules: Rules, ready: Sequence[int]) -> list[str]:
    waiting = (
        Query.objects.select_for_update(of=("self",), no_key=True)
        .filter(pk__in=ready, status=Status.WAITING)
        .only("pk", "status", "status_reason")
        .order_by("pk")
    )
    held = {query.pk: query for query in waiting}
    has_set = _with_set(held)
    verdicts: list[str] = []
    for pk, votes in votes_that_count(stage, list(held)).items():
        if len(votes) < stage.redundancy:
            continue
        decision = rules.decide(votes)
        to = _onward(_STATUS[decision.verdict], pk in has_set)
        move(query=held[pk], to=to, reason=decision.reason, stage=stage, details={"votes": len(votes)})
        verdicts.append(decision.verdict)
    return verdicts


@transaction.atomic
def reconsider_screening(stage: Stage, rules: Rules, changed: Mapping[int, str]) -> None:
    """Decide again about queries whose votes began or ceased to count: why, by assignment.

    With too few votes left a query waits again, and more people are asked. Where later work was built on its
    acceptance, a person has to say what holds. What a person decided stays.
    """
    votes = ScreeningVote.objects.filter(stage=stage, assignment__in=changed).order_by("pk")
    why = reasons_by_query(votes.values_list("query", "assignment"), changed)
    rows = decided_in(stage, [*_DECIDED, Status.CURATED], list(why))
    rows = rows.filter(by_hand=False).exclude(status=Status.WAITING)
    queries = list(rows.only("pk", "status", "status_reason"))
    pks = [query.pk for query in queries]
    later, counted, has_set = later_work("screening", pks), votes_that_count(stage, pks), _with_set(pks)
    for query in queries:
        to, said = _now(stage, rules, counted[query.pk])
        reason = f"{said}; decided again, for {why[query.pk]}"
        details = {"votes": len(counted[query.pk])}
        step = partial(move, query=query, reason=reason, stage=stage, details=details)
        in_force = query.status if query.status in _DECIDED else Status.ACCEPTED
        if to == in_force:
            lift_doubt(query, stage)
            if query.status == to and not query.status_reason.startswith(said):
                step(to=to)
        elif in_force == Status.ACCEPTED and later.get(query.pk):
            raise_doubt(query, stage, why=why[query.pk], says=said)
        else:
            lift_doubt(query, stage)
            step(to=_onward(to, query.pk in has_set))


def _with_set(queries: Collection[int]) -> set[int]:
    """Those whose passages were chosen before."""
    return set(CuratedSet.objects.filter(query__in=queries).values_list("query", flat=True))


def _onward(to: Query.Status, has_set: bool) -> Query.Status:
    """An accepted query whose passages were chosen before needs no choice any more."""
    return Status.CURATED if to == Status.ACCEPTED and has_set else to


def _now(stage: Stage, rules: Rules, votes: Sequence[Vote]) -> tuple[Query.Status, str]:
    """What the votes that count say: the status, and why."""
    if len(votes) < stage.redundancy:
        return Status.WAITING, f"{len(votes)} of {stage.redundancy} votes count"
    decision = rules.decide(votes)
    return _STATUS[decision.verdict], decision.reason
