"""The win-lose match of KPQA's Table 7 (002, section 5.4 "Rank-Pair"): clear cases only.

`rank_match(judged, metric, gap=2.0) -> RankMatch`.

Pairs of answers to the same question whose human scores differ by at least `gap` on their scale; the share of
them that the metric orders as people do. Pairs are joined by question, never by row. The paper says "greater
than 2" and counts what is at least 2 (93 pairs on MS-MARCO). Human means are sums of thirds and fifths, so a
gap that is short by rounding counts. Metric scores closer than 1e-8 are a tie, and a tie is no match.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.meta.rows import Indices, Mask, Rows, grouped, rows_of
from metrics.meta.scored_answers import Floats, ScoredAnswers
from metrics.meta.ties import index_pairs

TIE = 1e-8
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RankMatch:
    """The share of pairs that match (n of the figure: pairs), and the numbers behind it."""

    figure: Figure
    gap: float
    pairs: int
    match: int
    metric_ties: int

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure, `gap`, `pairs`, `match`, `metric_ties`."""
        return {
            **self.figure.as_json(),
            "gap": self.gap,
            "pairs": self.pairs,
            "match": self.match,
            "metric_ties": self.metric_ties,
        }

    def within(self, ci: tuple[float, float] | None) -> "RankMatch":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


def rank_match(judged: ScoredAnswers, metric: str, gap: float = 2.0) -> RankMatch:
    """How often the metric agrees where people see a clear difference."""
    rows, scores = rows_of(judged, [metric]).of(metric)
    return matched(rows, scores, gap)


def matched(rows: Rows, scores: Floats, gap: float = 2.0) -> RankMatch:
    """`rank_match` of (n,) scores, none of them missing."""
    found = matches(rows, scores, gap)
    pairs, match, ties = len(found.question), int(found.match.sum()), int(found.tie.sum())
    reason = f"not defined: no two answers to a question are {gap:g} apart for people"
    value = Figure(match / pairs, n=pairs) if pairs else Figure(None, reason, n=0)
    return RankMatch(value, gap, pairs, match, ties)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The clear pairs: their question, whether the metric ties them, whether it orders them as people do."""

    question: Indices
    tie: Mask
    match: Mask


def matches(rows: Rows, scores: Floats, gap: float = 2.0) -> Matches:
    """The pairs of answers to a question that are at least `gap` apart for people."""
    starts = grouped(rows, "item")[1]
    sizes = np.diff(np.append(starts, len(rows)))
    found: list[tuple[Indices, Mask, Mask]] = []
    for first, second, _ in index_pairs(starts, sizes):
        people = rows.human[first] - rows.human[second]
        clear = np.abs(people) >= gap - ROUNDING
        metric = (scores[first] - scores[second])[clear]
        tie = np.abs(metric) < TIE
        match = ~tie & (np.sign(metric) == np.sign(people[clear]))
        found.append((rows.questions[first[clear]], tie, match))
    if not found:
        none = np.zeros(0, dtype=bool)
        return Matches(np.zeros(0, np.int64), none, none)
    questions, ties, matched = zip(*found, strict=True)
    return Matches(np.concatenate(questions), np.concatenate(ties), np.concatenate(matched))
