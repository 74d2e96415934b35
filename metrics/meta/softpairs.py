"""Pairs of systems: does a metric order systems as people do, and with the same confidence?

`pa(judged, metric) -> Figure`: the share of pairs of systems whose mean scores the metric orders as people do
(Kocmi et al. 2021, pairwise accuracy). Pairs that people tie are left out; a tie of the metric is a miss.

`spa(judged, metrics, draws, seed) -> {metric: Figure}`: soft pairwise accuracy (Thompson et al. 2024). For
each pair of systems a paired permutation test on their common questions gives the one-sided p that the first
is better, once by people and once by the metric; spa is 1 - the mean difference of the two. The same draws
serve both. Draws as large as what was observed count half, so that it does not matter which system is the
first. Answers count that have both scores; several answers of a system to a question count with their mean.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from metrics.figure import Figure
from metrics.meta.correlations import NO_SCORES, ONE_SYSTEM, SAME_HUMAN_MEANS
from metrics.meta.draws import BLOCK, blocks, swaps
from metrics.meta.rows import Mask, Rows, rows_of, system_means
from metrics.meta.scored_answers import Floats, ScoredAnswers

NOTHING_SHARED = "not defined: no two systems answered the same question"
#: Sums this close are the same, whatever the order of their terms did to the last digits.
CLOSE = 1e-9


def pa(judged: ScoredAnswers, metric: str) -> Figure:
    """Pairwise accuracy over systems; `n` counts pairs that people do not tie."""
    rows, scores = rows_of(judged, [metric]).of(metric)
    return pairwise_accuracy(rows, scores)


def pairwise_accuracy(rows: Rows, scores: Floats) -> Figure:
    """`pa` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    human = system_means(rows, rows.human)
    if len(human) < 2:
        return Figure(None, ONE_SYSTEM, n=0)
    right, pairs = system_pairs(human, system_means(rows, scores)[None])
    if not pairs[0]:
        return Figure(None, SAME_HUMAN_MEANS, n=0)
    return Figure(float(right[0] / pairs[0]), n=int(pairs[0]))


def system_pairs(human: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """For (…, systems) means: pairs that both order the same way, and pairs that people order."""
    first, second = np.triu_indices(metric.shape[-1], 1)
    people = np.sign(human[..., first] - human[..., second])
    same = people * np.sign(metric[..., first] - metric[..., second]) > 0
    ordered = np.broadcast_to(people != 0, same.shape)
    return same.sum(axis=-1).astype(np.float64), ordered.sum(axis=-1).astype(np.float64)


def spa(
    judged: ScoredAnswers, metrics: Sequence[str] | None = None, *, draws: int = 1000, seed: int = 0
) -> Mapping[str, Figure]:
    """Soft pairwise accuracy of some metrics (all, if None); `n` counts pairs of systems."""
    rows = rows_of(judged, metrics)
    return {metric: soft_accuracy(*rows.of(metric), draws=draws, seed=seed) for metric in rows.names}


def soft_accuracy(rows: Rows, scores: Floats, *, draws: int = 1000, seed: int = 0) -> Figure:
    """`spa` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    systems = len(rows.system_names)
    if systems < 2:
        return Figure(None, ONE_SYSTEM, n=0)
    human, metric = _paired(rows, rows.human), _paired(rows, scores)
    shared = (human != 0).any(axis=0) | (metric != 0).any(axis=0) | _common(rows)
    if not shared.any():
        return Figure(None, NOTHING_SHARED, n=0)
    apart = np.concatenate([human[:, shared], metric[:, shared]], axis=1)
    scale = np.abs(apart).sum(axis=0)
    apart = apart / np.where(scale > 0, scale, 1.0)
    observed = apart.sum(axis=0)
    above = np.zeros(apart.shape[1])
    for block in blocks(draws):
        total = np.zeros((BLOCK, apart.shape[1]))
        for part, swapped in swaps(seed, "soft pairs", block, len(apart)):
            total += swapped @ apart[part]
        null = (observed - 2 * total)[: min(BLOCK, draws - block * BLOCK)]
        above += (null > observed + CLOSE).sum(axis=0) + 0.5 * (np.abs(null - observed) <= CLOSE).sum(axis=0)
    p = above / draws
    pairs = int(shared.sum())
    return Figure(float(1 - np.abs(p[:pairs] - p[pairs:]).mean()), n=pairs)


def _cells(rows: Rows, values: Floats) -> Floats:
    """(questions, systems) mean values, nan where a system did not answer."""
    shape = (len(rows.question_names), len(rows.system_names))
    cell = rows.questions * shape[1] + rows.systems
    n = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, weights=values, minlength=shape[0] * shape[1])
    found: Floats = np.where(n > 0, sums / np.maximum(n, 1), np.nan).reshape(shape)
    return found


def _paired(rows: Rows, values: Floats) -> Floats:
    """(questions, pairs of systems) differences, 0 where one of the two did not answer."""
    cells = _cells(rows, values)
    first, second = np.triu_indices(cells.shape[1], 1)
    return np.nan_to_num(cells[:, first] - cells[:, second])


def _common(rows: Rows) -> Mask:
    """Which pairs of systems answered a common question."""
    there = ~np.isnan(_cells(rows, rows.human))
    first, second = np.triu_indices(there.shape[1], 1)
    return np.asarray((there[:, first] & there[:, second]).any(axis=0))
