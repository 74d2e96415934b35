"""How alike and how long the answers of a query are: what agreement is for free text.

The overlap of two answers is the Jaccard index of their words (pairs of neighbouring characters in scripts
without spaces): shared ÷ all, 0 to 1. A query's overlap is the mean over pairs of answers, a stage's the mean
over its queries with two answers or more.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, quantiles

from annotation.flags.tokens import shingles
from annotation.models import Answer, Query
from annotation.selectors.answers import COUNTED
from crowd.models import Stage
from crowd.selectors.stage_sizes import stage_figures

#: A stage's figures are taken from so many of its queries at most, drawn by its seed.
SAMPLED = 200


def overlap(texts: Sequence[str]) -> float | None:
    """Mean Jaccard index over all pairs; None for fewer than two texts."""
    sets = [shingles(text) for text in texts]
    found = [_jaccard(a, b) for a, b in combinations(sets, 2)]
    return fmean(found) if found else None


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    everything = len(a) + len(b) - shared
    return shared / everything if everything else 1.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """Characters of answers: how many answers, and the spread."""

    count: int
    least: int
    lower: float
    middle: float
    upper: float
    most: int


def lengths(values: Sequence[int]) -> Lengths | None:
    """Least, quartiles and most; None for none."""
    if not values:
        return None
    lower, _, upper = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Lengths(len(values), min(values), lower, median(values), upper, max(values))


def texts_of(stage: Stage, queries: Sequence[int]) -> Mapping[int, list[str]]:
    """Texts of the answers that count, by query.

    Read at once: PostgreSQL plans a cursor for its first rows, and would go through all answers by their key.
    """
    found: dict[int, list[str]] = defaultdict(list)
    rows = Answer.objects.filter(COUNTED, stage=stage, query__in=queries).order_by("pk")
    for query, text in rows.values_list("query", "text"):
        found[query].append(text)
    return found


@dataclass(frozen=True, slots=True)
class QuerySpread:
    """One query's answers in figures."""

    query: int
    text: str
    answers: int
    middle: float
    overlap: float | None


@dataclass(frozen=True, slots=True)
class StageSpread:
    """A stage's answers in figures; `of` its queries with answers, `sampled` were looked at."""

    sampled: int
    of: int
    lengths: Lengths | None
    overlap: float | None
    least_alike: list[QuerySpread]
    most_alike: list[QuerySpread]


def stage_spread(stage: Stage, *, shown: int = 10) -> StageSpread:
    """Lengths and overlap over a stage, and the queries at both ends; of a large one some seconds old."""
    return stage_figures(stage, f"spread:{stage.pk}:{shown}", lambda: _spread(stage, shown))


def _spread(stage: Stage, shown: int) -> StageSpread:
    everything = list(
        Answer.objects.filter(COUNTED, stage=stage)
        .order_by("query")
        .values_list("query", flat=True)
        .distinct()
    )
    queries = everything
    if len(everything) > SAMPLED:
        queries = random.Random(f"spread:{stage.seed}").sample(everything, SAMPLED)
    texts = texts_of(stage, queries)
    names = dict(Query.objects.filter(pk__in=queries).values_list("pk", "text"))
    rows = [
        QuerySpread(query, names[query], len(some), median(map(len, some)), overlap(some))
        for query, some in texts.items()
    ]
    compared = sorted(
        (row for row in rows if row.overlap is not None), key=lambda row: (row.overlap or 0.0, row.query)
    )
    half = min(shown, len(compared) // 2)
    return StageSpread(
        sampled=len(queries),
        of=len(everything),
        lengths=lengths([len(text) for some in texts.values() for text in some]),
        overlap=fmean(row.overlap for row in compared if row.overlap is not None) if compared else None,
        least_alike=compared[:half],
        most_alike=compared[::-1][:half],
    )
