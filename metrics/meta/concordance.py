"""Kendall's tau under swaps, for all answers or by system.

Let f be the number of concordant less discordant pairs of a mixture of A and B, A where s = 1 and B where s =
-1. The difference of the two mixtures, f(s) - f(-s), is a sum over units:

    Σ_q s_q · ½ Σ_(i in q) Σ_j sgn(h_i - h_j)
                · [sgn(a_i - a_j) - sgn(b_i - b_j) + sgn(a_i - b_j) - sgn(b_i - a_j)],

as all terms in s_q · s_r cancel. So 9,999 draws are a matrix product here too. Each of the four terms is
divided by the tau-b denominator of its metrics (mixed ones by the geometric mean), which counts ties as they
are before the swap: exact when metrics have no ties, close when they have few. A system for which one of the
two has no tau is left out.
"""

from dataclasses import dataclass

import numpy as np

from metrics.meta.cohorts import Cohort
from metrics.meta.kernels import pair_counts
from metrics.meta.rows import Grouping, Indices, grouped
from metrics.meta.score_swaps import standardised
from metrics.meta.scored_answers import Floats
from metrics.meta.signs import sign_sums


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """Columns are, for each pair, what a unit adds to the difference; a swapped unit takes it away."""

    columns: Floats

    def deltas(self, swapped: Floats) -> Floats:
        """The differences."""
        found: Floats = self.columns.sum(axis=0) - 2 * swapped
        return found


def concordance_of(cohort: Cohort, units: Indices, size: int, grouping: Grouping) -> Concordance:
    """Kendall's tau-b; `units` is the unit of each answer."""
    order, starts = grouped(cohort.rows, grouping)
    human, scores = cohort.rows.human[order], standardised(cohort.scores)[:, order]
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    counts = pair_counts(human, scores, starts)
    untied = counts.concordant + counts.discordant
    root = np.sqrt(np.sqrt((untied + counts.tied_metric) * (untied + counts.tied_human).astype(np.float64)))
    # A pair is seen from both of its answers, and a swap turns the difference: ½ · ½ of both signs.
    scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    alone = [_sums(human, own, own, starts) * scale[k][group] ** 2 for k, own in enumerate(scores)]
    columns = np.zeros((size, len(cohort.first)))
    for pair, (a, b) in enumerate(zip(cohort.first, cohort.second, strict=True)):
        mixed = _sums(human, scores[a], scores[b], starts) - _sums(human, scores[b], scores[a], starts)
        mixed *= (scale[a] * scale[b])[group]
        both = (scale[a] > 0) & (scale[b] > 0)
        weights = np.where(both[group], alone[a] - alone[b] + mixed, 0.0) / (2 * both.sum())
        columns[:, pair] = np.bincount(units[order], weights=weights, minlength=size)
    return Concordance(columns)


def _sums(human: Floats, own: Floats, others: Floats, starts: Indices) -> Floats:
    """Sums of signs within groups."""
    groups = zip(
        np.split(human, starts[1:]), np.split(own, starts[1:]), np.split(others, starts[1:]), strict=True
    )
    return np.concatenate([sign_sums(*group) for group in groups])
