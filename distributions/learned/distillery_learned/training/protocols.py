"""The tables of Lowe et al. 2017 for a metric that is trained: what can only be said by training it again.

Section 5.2 and appendix D. `metrics.metaeval.papers` has the tables for metrics that are given. Here a
metric is a `Fit`: it is trained on some rows, stopped by others, and then scores any. Parts are by
context, so no context of a test is one of its training.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from distillery_learned.metrics.adem_examples import ADEM
from distillery_learned.training.sources import Parts
from metrics.errors import MetricError
from metrics.metaeval.bootstrap import COVERAGE, DEFINED, Wanted, draw_block, intervals, prepare
from metrics.metaeval.correlation import Statistic, p_of_correlation, related
from metrics.metaeval.data import Codes, Floats, ScoredAnswers, select_answers
from metrics.metaeval.executor import generator
from metrics.metaeval.papers import OVERLAP, normalised
from metrics.metaeval.significance import compared

Indices = npt.NDArray[np.intp]
Result = dict[str, Any]

BOTH: tuple[Statistic, ...] = ("pearson", "spearman")
_WANTED: Wanted = tuple((each, "global") for each in BOTH)
#: Shares of the training contexts of Table 14, the whole first as there.
SHARES = (1.0, 0.75, 0.5, 0.25, 0.1, 0.05)
#: How often a random part of the training is taken, where the paper takes one.
TIMES = 5
#: Deviations below it are rounding.
_SAME = 1e-12
ONE_SYSTEM = "there is one system: none can be left out"
NO_TEST = "it has no answer in the test set"


class FittedMetric(Protocol):
    """A trained metric."""

    def scores(self, rows: Indices, which: str) -> Floats:
        """The scores of some rows, in their order, by one form of it."""
        ...


#: Training rows and validation rows to a trained metric; MetricError where they are too few.
Fit = Callable[[Indices, Indices], FittedMetric]


def of_rows(answers: ScoredAnswers, rows: Indices) -> ScoredAnswers:
    """The answers of some rows."""
    keep = np.zeros(len(answers), dtype=np.bool_)
    keep[rows] = True
    return select_answers(answers, keep)


def agreement(answers: ScoredAnswers, name: str, *, replicates: int, seed: int) -> Result:
    """Pearson and Spearman of a metric with people: value, 95 % interval by context, n, p of a t-test."""
    reach = intervals(answers, [name], replicates=replicates, seed=seed, statistics=_WANTED)
    statistics: Result = {}
    for which in BOTH:
        figure = related(answers.human, answers.metrics[name], which).as_json()
        ends = reach.get((name, which, "global"))
        statistics[which] = {**figure, "ci": list(ends) if ends else None}
    return statistics


def two(human: Floats, scores: Floats) -> Result:
    """Pearson and Spearman of two columns, each with n and the p of a t-test."""
    return {which: related(human, scores, which).as_json() for which in BOTH}


def table3(
    answers: ScoredAnswers, parts: Parts, trained: Sequence[str], *, replicates: int, seed: int
) -> Result:
    """Table 3: each metric's correlations over all answers and over the test set.

    Metrics of `trained` have the validation set in place of all answers, most of which they have seen.
    """
    by_part = {"full": answers, "test": of_rows(answers, parts.test)}
    own = {"validation": of_rows(answers, parts.validation), "test": by_part["test"]}
    return {
        "metrics": {
            name: {
                "trained": name in trained,
                **{
                    part: agreement(of, name, replicates=replicates, seed=seed)
                    for part, of in (own if name in trained else by_part).items()
                },
            }
            for name in answers.metrics
        }
    }


def table5(answers: ScoredAnswers, parts: Parts, fit: Fit, *, seed: int, times: int = TIMES) -> Result:
    """Table 5: for each system a metric that has seen no answer of it.

    It is tested on all answers of the test set, and on the system's own there. A system is left out of
    training and validation alike. `average` is the mean over systems. `at_random` has seen all systems but
    less of each: as large a share of the training as one system of several is removed at random, `times`
    times (once in the paper), and the correlations are the mean.
    """
    seen = np.concatenate([parts.train, parts.validation])
    used = sorted(set(answers.systems[seen].tolist()) | set(answers.systems[parts.test].tolist()))
    if len(used) < 2:
        return {"value": None, "reason": ONE_SYSTEM}
    systems = []
    for k in used:
        training, validation = (rows[answers.systems[rows] != k] for rows in (parts.train, parts.validation))
        scores = _scores(fit, training, validation, parts.test)
        own = answers.systems[parts.test] == k
        systems.append(
            {
                "system": answers.system_names[k],
                "trained_on": len(training),
                "full": _of(answers, parts.test, scores),
                "removed": _of(answers, parts.test[own], scores if isinstance(scores, str) else scores[own]),
            }
        )
    rest = len(parts.train) - round(len(parts.train) / len(used))
    deals = []
    for time in range(times):
        order = generator(seed, "adem table 5", time).permutation(len(parts.train))
        rest_rows = np.sort(parts.train[order[:rest]])
        deals.append(_of(answers, parts.test, _scores(fit, rest_rows, parts.validation, parts.test)))
    return {
        "systems": systems,
        "average": {
            part: {which: _mean([each[part][which] for each in systems], p=part == "full") for which in BOTH}
            for part in ("full", "removed")
        },
        "at_random": {
            "share": 1 / len(used),
            "trained_on": rest,
            "times": times,
            **{which: _mean([each[which] for each in deals]) for which in BOTH},
        },
    }


def table14(
    answers: ScoredAnswers,
    contexts: Codes,
    parts: Parts,
    fit: Fit,
    *,
    seed: int,
    shares: Sequence[float] = SHARES,
    times: int = TIMES,
) -> Result:
    """Table 14: trained on a share of the training contexts, tested on the whole test set.

    Contexts are taken at random, in each of `times` samples (one in the paper) the smaller share from the
    larger. The correlation is the mean over samples, `low` and `high` their ends, p that of the mean.
    """
    own = contexts[parts.train]
    names = np.unique(own)
    orders = [generator(seed, "adem table 14", time).permutation(names) for time in range(times)]
    points: list[Result] = []
    for share in shares:
        size = max(1, round(share * len(names)))
        samples = [np.isin(own, order[:size]) for order in (orders[:1] if size == len(names) else orders)]
        figures: list[Result] = []
        for sample in samples:
            scores = _scores(fit, parts.train[sample], parts.validation, parts.test)
            figures.append(_of(answers, parts.test, scores))
        point: Result = {
            "share": share,
            "contexts": size,
            "answers": float(np.mean([sample.sum() for sample in samples])),
            "samples": len(samples),
        }
        for which in BOTH:
            point[which] = _spread([each[which] for each in figures])
        points.append(point)
    return {"times": times, "points": points}


def cascade(
    answers: ScoredAnswers, name: str, scale: tuple[float, float], overlap: Sequence[str] = OVERLAP
) -> dict[str, Indices]:
    """The answers behind Table 6 and the examples of Tables 9, 12 and 13, by what is to be seen in them.

    `finds`: people and the metric find them good, all overlap metrics bad; `misses`: people and an overlap
    metric find them good, the metric bad; `mistakes`: people and an overlap metric find them bad, the metric
    good. Scores are normalised as in Table 6, and so are the bounds.
    """
    beside = [each for each in overlap if each in answers.metrics]
    if not beside:
        return {}
    low, high = scale[0] + (scale[1] - scale[0]) / 4, scale[1] - (scale[1] - scale[0]) / 4
    values = normalised(answers.metrics[name], answers.human, scale)
    rivals = np.stack([normalised(answers.metrics[each], answers.human, scale) for each in beside])
    defined = ~(np.isnan(values) | np.isnan(answers.human) | np.isnan(rivals).any(axis=0))
    good, bad = defined & (answers.human >= high), defined & (answers.human <= low)
    return {
        "finds": np.flatnonzero(good & (rivals < low).all(axis=0) & (values > high)),
        "misses": np.flatnonzero(good & (rivals > high).any(axis=0) & (values < low)),
        "mistakes": np.flatnonzero(bad & (rivals < low).any(axis=0) & (values > high)),
    }


def out_of_fold(
    size: int, folds: Sequence[Parts], fits: Sequence[Fit], which: Sequence[str]
) -> dict[str, Floats]:
    """The score of every row by the model that has not seen its context; `fits` are parallel to the folds."""
    columns = {name: np.full(size, np.nan) for name in which}
    for fold, fit in zip(folds, fits, strict=True):
        model = fit(fold.train, fold.validation)
        for name, column in columns.items():
            column[fold.test] = model.scores(fold.test, name)
    return columns


def standardised(scores: Floats, fold: Indices) -> Floats:
    """Scores (n) with mean 0 and deviation 1 within each fold, so that no model's level passes for agreement.

    Scores of different models have different levels and spreads; put together as they are, these differences
    would lower or raise a correlation over all of them. Equal scores of a fold become 0.
    """
    standard_scores = np.full(len(scores), np.nan)
    for at in np.unique(fold):
        rows = np.flatnonzero((fold == at) & ~np.isnan(scores))
        if len(rows):
            apart = scores[rows] - scores[rows].mean()
            spread = apart.std()
            standard_scores[rows] = apart / spread if spread > _SAME else 0.0
    return standard_scores


def best(answers: ScoredAnswers, names: Sequence[str], statistic: Statistic = "pearson") -> str:
    """The metric of these that agrees most with people; empty where none has a correlation."""
    values = {name: related(answers.human, answers.metrics[name], statistic).figure.value for name in names}
    defined = {name: value for name, value in values.items() if value is not None}
    return max(defined, key=lambda name: defined[name]) if defined else ""


def difference(
    answers: ScoredAnswers, a: str, b: str, statistic: Statistic, *, replicates: int, draws: int, seed: int
) -> Result:
    """Correlation of a less that of b over the answers that have both scores.

    p by swapping whole contexts (`perm_inputs`), the 95 % interval by drawing contexts, both metrics in the
    same samples.
    """
    complete = np.isfinite(answers.human) & np.isfinite(answers.metrics[a]) & np.isfinite(answers.metrics[b])
    own = select_answers(answers, complete)
    test = compared(own, [(a, b)], statistic, "global", "perm_inputs", draws=draws, seed=seed)[0]
    ready = prepare(own, [a, b], replicates=replicates, seed=seed, statistics=[(statistic, "global")])
    ends = None
    if replicates and len(ready.keys) == 2:
        values = np.concatenate([draw_block(ready, block) for block in ready.blocks], axis=1)[:, :replicates]
        of = {key[0]: line for key, line in zip(ready.keys, values, strict=True)}
        apart = of[a] - of[b]
        defined = np.round(apart[~np.isnan(apart)], 10)
        if len(defined) and len(defined) >= DEFINED * replicates:
            ends = np.quantile(defined, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]).tolist()
    test_json = test.as_json()
    return {
        "a": a,
        "b": b,
        "statistic": statistic,
        "value": test_json["delta"],
        "ci": ends,
        "n": test.n,
        "p": test.p,
        **({} if test.p is not None else {"reason": test.reason}),
    }


def _scores(fit: Fit, training: Indices, validation: Indices, test: Indices) -> Floats | str:
    """The scores of the test rows, or why there are none."""
    try:
        return fit(training, validation).scores(test, ADEM)
    except MetricError as error:
        return str(error).rstrip(".")


def _of(answers: ScoredAnswers, rows: Indices, scores: Floats | str) -> Result:
    if isinstance(scores, str):
        return {which: {"value": None, "reason": scores, "n": 0, "p": None} for which in BOTH}
    if not len(rows):
        return {which: {"value": None, "reason": NO_TEST, "n": 0, "p": None} for which in BOTH}
    return two(answers.human[rows], scores)


def _mean(figures: Sequence[Mapping[str, Any]], *, p: bool = True) -> Result:
    defined = [each for each in figures if each["value"] is not None]
    if not defined:
        return {"value": None, "reason": figures[0]["reason"] if figures else NO_TEST, "n": 0, "p": None}
    mean = math.fsum(each["value"] for each in defined) / len(defined)
    return {"value": mean, "n": len(defined), "p": _p(mean, defined) if p else None}


def _spread(figures: Sequence[Mapping[str, Any]]) -> Result:
    mean = _mean(figures)
    values = [each["value"] for each in figures if each["value"] is not None]
    if len(values) > 1:
        mean |= {"low": min(values), "high": max(values)}
    return mean


def _p(mean: float, figures: Sequence[Mapping[str, Any]]) -> float | None:
    """Of the mean of correlations over the same answers."""
    size = min(each["n"] for each in figures)
    return p_of_correlation(mean, size) if size > 2 else None
