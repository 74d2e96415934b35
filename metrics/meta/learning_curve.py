"""How much data does a correlation need? A learning curve in the manner of Lowe et al. 2017, Table 14.

The paper trains its metric on 5 to 100 % of the data and tests it on all. A metric that is given learns
nothing, so the question here is the collector's: what would the correlation have been with fewer questions,
or with fewer ratings per answer, and how far from chance is it then.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metrics.meta.chance import generator
from metrics.meta.columns import LEAST
from metrics.meta.kernels import Statistic, within
from metrics.meta.scored_answers import Floats, Raters, ScoredAnswers
from metrics.meta.subsets import Which, over_subsets

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
TIMES = 100
NOTHING = "too few answers, or a single value"
BOTH: tuple[Which, ...] = ("pearson", "spearman")
_MIDDLE = (2.5, 97.5)


def table14(
    judged: ScoredAnswers, *, seed: int, times: int = TIMES, shares: Sequence[float] = SHARES
) -> dict[str, Any]:
    """Pearson and Spearman of each metric at the paper's shares of the questions, and by ratings per answer.

    `questions`: for each share, `times` seeded samples of that many questions with all their answers, the
    same ones for all metrics: the mean of the correlations and the middle 95 % of them. `ratings`: all
    answers that have the most ratings (or as many as the middle answer has, where that differs), their human
    score the mean of k of them drawn at random, k = 1, 2, ... Null with a reason without single ratings.
    """
    return {
        "times": times,
        "note": "The metrics are given and not trained: fewer answers, not less training.",
        "questions": by_questions(judged, seed=seed, times=times, shares=shares),
        "ratings": by_ratings(judged, seed=seed, times=times) or {"value": None, "reason": judged.no_ratings},
    }


def by_questions(
    judged: ScoredAnswers, *, seed: int, times: int = TIMES, shares: Sequence[float] = SHARES
) -> dict[str, list[dict[str, Any]]]:
    """For each metric a point for each share of the questions that have a human score."""
    asked = np.unique(judged.questions[~np.isnan(judged.human)])
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(judged.metrics)}
    for share in shares:
        size = max(1, round(share * len(asked))) if len(asked) else 0
        taken = np.zeros((1 if size == len(asked) else times, len(judged.question_names)), dtype=np.bool_)
        for sample, of_sample in enumerate(taken):
            rng = generator(seed, f"learning curve {share}", sample)
            of_sample[rng.permutation(asked)[:size]] = True
        answers = taken[:, judged.questions]
        for name, points in found.items():
            values = {
                which: over_subsets(judged.human, judged.metrics[name], answers, which) for which in BOTH
            }
            points.append({"share": share, "questions": size, **_summary(values)})
    return found


def by_ratings(judged: ScoredAnswers, *, seed: int, times: int = TIMES) -> dict[str, Any] | None:
    """For each metric a point for each number of ratings per answer; None without single ratings."""
    raters = judged.raters
    if raters is None or not len(raters.scores):
        return None
    counts = np.bincount(raters.answers, minlength=len(judged))
    most = int(np.median(counts[counts > 0]))
    rows = np.flatnonzero(counts >= most)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(judged.metrics)}
    for k in range(1, most + 1):
        human = np.stack(
            [
                _some_ratings(raters, len(judged), k, generator(seed, f"ratings {k}", sample))[rows]
                for sample in range(times if k < most or (counts > most).any() else 1)
            ]
        )
        for name, points in found.items():
            values = {which: _of_samples(human, judged.metrics[name][rows], which) for which in BOTH}
            points.append({"ratings": k, "answers": len(rows), **_summary(values)})
    return found


def _of_samples(human: Floats, metric: Floats, statistic: Statistic) -> Floats:
    """The correlation of a metric with each of several human scores (samples, n) of the same answers."""
    there = ~np.isnan(metric)
    if there.sum() < LEAST:
        return np.full(len(human), np.nan)
    return within(statistic, metric[there], human[:, there], np.zeros(1, dtype=np.int64))[:, 0]


def _some_ratings(raters: Raters, n: int, k: int, rng: np.random.Generator) -> Floats:
    """The mean of k ratings of each answer, drawn without replacement; of all, where there are no more."""
    order = np.lexsort((rng.random(len(raters.scores)), raters.answers))
    answers = raters.answers[order]
    counts = np.bincount(answers, minlength=n)
    place = np.arange(len(order)) - (np.cumsum(counts) - counts)[answers]
    taken = order[place < k]
    sums = np.bincount(raters.answers[taken], weights=raters.scores[taken], minlength=n)
    sizes = np.bincount(raters.answers[taken], minlength=n)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def _summary(values: Mapping[Which, Floats]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, found in values.items():
        there = found[~np.isnan(found)]
        if not len(there):
            said[name] = {"value": None, "middle": None, "reason": NOTHING, "n": 0}
            continue
        low, high = np.percentile(there, _MIDDLE)
        said[name] = {
            "value": math.fsum(there) / len(there),
            "middle": [float(low), float(high)] if len(there) > 1 else None,
            "n": len(there),
        }
    return said
