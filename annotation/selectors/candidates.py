"""Candidate passages as editors see them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.candidates import Region, overlaps
from annotation.models import CandidatePassage

#: key, rank, text, title, url, page, start, end, below
Row = tuple[str, int, str, str, str, str, int | None, int | None, bool]


@dataclass(frozen=True)
class ShownCandidate:
    """A candidate that is shown, and the ranks of those that it overlaps with.

    Ranks are those of the search: where a repetition was folded, a number is left out. `below`: it was drawn
    from below the cut, so that recall can be estimated.
    """

    key: str
    rank: int
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None
    below: bool
    overlaps: tuple[int, ...]


def shown_candidates(query_pks: Sequence[int]) -> dict[int, list[ShownCandidate]]:
    """Candidates of each query without the folded ones, best first; in one query. No entry without any."""
    rows = (
        CandidatePassage.objects.filter(query__in=query_pks, folded_into=None)
        .order_by("query", "rank")
        .values_list(
            "query", "key", "rank", "text", "title", "url", "page", "start", "end", "retrieval__below"
        )
    )
    by_query: dict[int, list[Row]] = defaultdict(list)
    for query, key, rank, text, title, url, page, start, end, below in rows:
        by_query[query].append((key, rank, text, title, url, page, start, end, below is not None))
    return {query: _shown(fields) for query, fields in by_query.items()}


def first(shown: Sequence[ShownCandidate], k: int) -> list[ShownCandidate]:
    """The k best, and those that were drawn from below the cut."""
    best = [each for each in shown if not each.below][:k]
    return [*best, *(each for each in shown if each.below)]


def _shown(rows: Sequence[Row]) -> list[ShownCandidate]:
    regions = [Region(key, text, page, start, end) for key, _, text, _, _, page, start, end, _ in rows]
    return [
        ShownCandidate(*row, overlaps=tuple(rows[place][1] for place in places))
        for row, places in zip(rows, overlaps(regions), strict=True)
    ]
