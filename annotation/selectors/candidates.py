"""Candidate passages as people see them."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import CandidatePassage


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate; `overlaps` has the ranks of those that share a part of its page with it."""

    key: str
    rank: int
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None
    overlaps: tuple[int, ...]


def shown_candidates(query_pks: Sequence[int]) -> dict[int, list[ShownCandidate]]:
    """Candidates of these queries by rank, without folded ones, in one question to the database."""
    rows: dict[int, list[CandidatePassage]] = {pk: [] for pk in query_pks}
    found = CandidatePassage.objects.filter(query_id__in=query_pks, folded_into=None)
    for row in found.order_by("query_id", "rank"):
        rows[row.query_id].append(row)
    return {pk: [_shown(row, beside) for row in beside] for pk, beside in rows.items()}


def _shown(row: CandidatePassage, beside: Sequence[CandidatePassage]) -> ShownCandidate:
    overlaps = tuple(other.rank for other in beside if other is not row and _overlap(row, other))
    return ShownCandidate(
        row.key, row.rank, row.text, row.title, row.url, row.page, row.start, row.end, overlaps
    )


def _overlap(one: CandidatePassage, other: CandidatePassage) -> bool:
    if not one.page or one.page != other.page:
        return False
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end
