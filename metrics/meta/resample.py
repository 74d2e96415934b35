"""Overall scores by resampling: Yang et al. 2018 (adaptations of ROUGE and BLEU), 4.2 and Table 3.

30 questions are sampled 100 times, the same ones for every system. A system's answers to them get one
overall score from the metric and one from people (their mean), and Pearson's r is taken over all
100 x systems pairs. It is much higher than over single answers, because means over 30 questions are steady
and the same systems come back in each sample: the pairs are not independent, and no p-value belongs to it.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.figure import Figure
from metrics.meta.chance import generator
from metrics.meta.columns import correlation
from metrics.meta.plan import CorpusRule
from metrics.meta.scored_answers import Floats, ScoredAnswers

TIMES = 100
QUESTIONS = 30
ALL = "overall"
NOTE = (
    "The same systems come back in each sample: no p-value belongs to these figures. Where the rule is mean, "
    "the metric has no corpus score of its own, or the sums behind it were not at hand."
)


def resample_overall(
    judged: ScoredAnswers,
    rules: Mapping[str, CorpusRule],
    *,
    seed: int,
    times: int = TIMES,
    questions: int = QUESTIONS,
) -> dict[str, Any]:
    """Table 3 of the paper: by metric, by question type and overall, Pearson's r of overall scores.

    The overall score of a metric is its corpus score, with the numerators, denominators and lengths of the
    sampled answers summed (3.1), where `rules` have its sums (parallel to the rows); elsewhere the mean of
    the answers' scores, as the paper has it for ROUGE-L (3.2). `rule` says which. Only answers that have a
    human and a metric score are counted. Questions are drawn without replacement from those of the type;
    with fewer than `questions` of them there is no figure.
    """
    kinds = {ALL: np.ones(len(judged.question_names), dtype=np.bool_)}
    for kind in sorted({kind for kind in judged.types if kind}):
        kinds[kind] = np.array([named == kind for named in judged.types])
    answered = np.zeros(len(judged.question_names), dtype=np.bool_)
    answered[judged.questions[~np.isnan(judged.human)]] = True
    samples = {
        kind: _samples(
            np.flatnonzero(of_kind & answered),
            len(judged.question_names),
            kind,
            seed=seed,
            times=times,
            questions=questions,
        )
        for kind, of_kind in kinds.items()
    }
    found: dict[str, Any] = {}
    for name, values in sorted(judged.metrics.items()):
        rule = rules.get(name)
        found[name] = {
            "rule": "corpus" if rule is not None else "mean",
            **{
                kind: _overall(judged, values, rule, taken, questions).as_json()
                for kind, taken in samples.items()
            },
        }
    return {"times": times, "questions": questions, "metrics": found, "note": NOTE}


def _samples(
    among: npt.NDArray[np.intp], size: int, kind: str, *, seed: int, times: int, questions: int
) -> Floats | None:
    """For each sample a row that has 1 at the questions in it; None where there are too few."""
    if len(among) < questions:
        return None
    taken = np.zeros((times, size))
    for sample in range(times):
        rng = generator(seed, f"resample overall {kind}", sample)
        taken[sample, rng.choice(among, questions, replace=False)] = 1.0
    return taken


def _overall(
    judged: ScoredAnswers, values: Floats, rule: CorpusRule | None, taken: Floats | None, questions: int
) -> Figure:
    if taken is None:
        return Figure(None, f"there are fewer than {questions} questions with human scores", n=0)
    there = ~(np.isnan(judged.human) | np.isnan(values))
    human, metric = [], []
    for system in range(len(judged.system_names)):
        rows = np.flatnonzero(there & (judged.systems == system))
        weights = taken[:, judged.questions[rows]]
        n = weights.sum(axis=1)
        with np.errstate(invalid="ignore"):
            human.append(weights @ judged.human[rows] / n)
            means = weights @ values[rows] / n
        metric.append(means if rule is None else _by_rule(rule, weights @ rule.sums[rows], n))
    x, y = np.concatenate(human), np.concatenate(metric)
    pairs = ~(np.isnan(x) | np.isnan(y))
    value = correlation(x[pairs], y[pairs])
    n_pairs = int(pairs.sum())
    if math.isnan(value):
        return Figure(None, "all overall scores are the same", n=n_pairs)
    return Figure(value, n=n_pairs)


def _by_rule(rule: CorpusRule, sums: Floats, n: Floats) -> Floats:
    scores = [rule.rule(of_sample) if count else None for of_sample, count in zip(sums, n, strict=True)]
    return np.array([math.nan if score is None else score for score in scores])
