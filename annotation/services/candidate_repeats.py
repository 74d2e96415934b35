"""Repetitions among candidates that an import brought."""

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction

from annotation.candidates import Region, choose
from annotation.models import CandidatePassage


@transaction.atomic
def fold_candidates(query_pks: Sequence[int]) -> int:
    """Fold repetitions among candidates that an import brought; how many. Chosen ones are never folded.

    For the import, before anybody sees them: what has been shown must not vanish. Again changes nothing.
    """
    by_query: dict[int, list[CandidatePassage]] = defaultdict(list)
    unfolded = CandidatePassage.objects.filter(query__in=query_pks, folded_into=None)
    for candidate in unfolded.order_by("query", "rank"):
        by_query[candidate.query_id].append(candidate)
    folded = []
    for candidates in by_query.values():
        choices = choose([_region(candidate) for candidate in candidates], len(candidates))
        for candidate, choice in zip(candidates, choices, strict=True):
            if choice.folded_into is not None:
                candidate.folded_into = candidates[choice.folded_into]
                candidate.fold_reason = choice.reason
                folded.append(candidate)
    CandidatePassage.objects.bulk_update(folded, ["folded_into", "fold_reason"], batch_size=200)
    return len(folded)


def _region(candidate: CandidatePassage) -> Region:
    return Region(
        candidate.key,
        candidate.text,
        candidate.page,
        candidate.start,
        candidate.end,
        candidate.rank,
        candidate.imported_selected,
    )
