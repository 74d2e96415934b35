"""Keeping selections, and making curated sets of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import CuratedPassage, CuratedSet, PassageSelection, Query
from annotation.rules.curation import Decision, Verdict, decide
from annotation.selectors.curation import Chosen, candidates_by_key, undecided
from annotation.services.steps import move
from crowd.models import Assignment, Stage

#: Queries moved in one transaction.
_BATCH = 200
_STATUS = {
    Verdict.CURATED: Query.Status.CURATED,
    Verdict.UNANSWERABLE: Query.Status.UNANSWERABLE,
    Verdict.DISPUTED: Query.Status.DISPUTED,
}


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
    wanted = list(sets)
    now = timezone.now()
    made = CuratedSet.objects.bulk_create(
        CuratedSet(query_id=each.query, rule=each.rule, stage=stage, decided_by=actor, created_at=now)
        for each in wanted
    )
    CuratedPassage.objects.bulk_create(
        CuratedPassage(curated_set=row, candidate_id=candidate, position=position)
        for row, each in zip(made, wanted, strict=True)
        for position, candidate in enumerate(each.candidates, 1)
    )


def settle_curation(stage: Stage, *, screened: bool, merging: str) -> dict[str, int]:
    """Decide about every query with enough good selections; how many went where.

    Called twice, or by two processes at once, each query is moved once and gets one curated set.
    """
    decided = [
        (chosen, decision)
        for chosen in undecided(stage, screened=screened)
        if len(chosen.selections) >= stage.redundancy
        and (decision := decide(chosen.selections, wanted=stage.redundancy, merging=merging)).verdict
        != Verdict.MORE
    ]
    moved: Counter[str] = Counter()
    for start in range(0, len(decided), _BATCH):
        moved.update(_move_batch(stage, decided[start : start + _BATCH]))
    return dict(moved)


@transaction.atomic
def _move_batch(stage: Stage, batch: Sequence[tuple[Chosen, Decision]]) -> list[str]:
    known = candidates_by_key([chosen.query for chosen, _ in batch])
    verdicts: list[str] = []
    sets: list[NewSet] = []
    for chosen, decision in batch:
        moved = move(
            query=Query(pk=chosen.query, status=chosen.status),
            to=_STATUS[decision.verdict],
            reason=decision.reason,
            stage=stage,
            details={"selections": len(chosen.selections), "passages": sorted(decision.passages)},
        )
        if not moved:
            continue
        verdicts.append(decision.verdict)
        if decision.verdict == Verdict.CURATED:
            by_rank = [pk for key, pk in known[chosen.query].items() if key in decision.passages]
            sets.append(NewSet(chosen.query, by_rank, decision.rule))
    make_sets(sets, stage=stage)
    return verdicts
