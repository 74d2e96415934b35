"""Pairs of metrics that have scores for the same answers are tested together.

Two metrics are compared over the answers that have both scores. Mostly no score is missing, and all pairs
share one set of answers: a cohort.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.figure import Figure
from metrics.meta.rows import Grouping, Indices, Mask, Rows
from metrics.meta.scored_answers import Floats
from metrics.meta.statistics import AnyStatistic, figure_of

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Cohort:
    """Answers, by their place in all rows, and the pairs of metrics that have scores for just these.

    scores[k] are those of names[k]; first and second say which two make up each pair. `pairs` are the places
    of the pairs in the list that was asked for.
    """

    rows: Rows
    places: Indices
    names: tuple[str, ...]
    scores: Floats
    pairs: Indices
    first: Indices
    second: Indices


@dataclass(frozen=True, slots=True, eq=False)
class PairCohorts:
    """Pairs dealt into cohorts, and what is said of each pair before any test: a, b, n and the figures."""

    cohorts: tuple[Cohort, ...]
    sizes: tuple[int, ...]
    figures: tuple[tuple[Figure, Figure], ...]

    def delta(self, place: int) -> float | None:
        """The difference between the two metrics of a pair; None where one is not defined."""
        first, second = self.figures[place]
        return None if first.value is None or second.value is None else first.value - second.value

    def why(self, place: int, pair: Pair) -> str:
        """Why a pair cannot be tested."""
        for name, figure in zip(pair, self.figures[place], strict=True):
            if figure.value is None:
                return f"{name}: {figure.reason}"
        return ""


def cohorts_of(
    rows: Rows, pairs: Sequence[Pair], statistic: AnyStatistic, grouping: Grouping, gap: float
) -> PairCohorts:
    """Deals pairs into cohorts; those for which a figure is not defined are in none."""
    there = {name: np.isfinite(rows.column(name)) for name in {name for pair in pairs for name in pair}}
    masks: dict[bytes, Mask] = {}
    members: dict[bytes, list[int]] = {}
    for place, (a, b) in enumerate(pairs):
        mask = there[a] & there[b]
        key = np.packbits(mask).tobytes()
        masks.setdefault(key, mask)
        members.setdefault(key, []).append(place)
    sizes = [0] * len(pairs)
    figures = [(Figure(None), Figure(None))] * len(pairs)
    found = []
    for key, places in members.items():
        own = rows.only(masks[key])
        names = sorted({name for place in places for name in pairs[place]})
        of = {name: figure_of(statistic, grouping, own, own.column(name), gap) for name in names}
        for place in places:
            sizes[place] = len(own)
            figures[place] = (of[pairs[place][0]], of[pairs[place][1]])
        good = [place for place in places if all(figure.value is not None for figure in figures[place])]
        if good:
            used = tuple(sorted({name for place in good for name in pairs[place]}))
            found.append(
                Cohort(
                    own,
                    np.flatnonzero(masks[key]),
                    used,
                    np.stack([own.column(name) for name in used]),
                    np.array(good),
                    np.array([used.index(pairs[place][0]) for place in good]),
                    np.array([used.index(pairs[place][1]) for place in good]),
                )
            )
    return PairCohorts(tuple(found), tuple(sizes), tuple(figures))
