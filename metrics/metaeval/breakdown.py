"""The same figures for each question type and for each system: where is a metric good, and where not?"""

from dataclasses import replace
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.metaeval.bootstrap import Wanted, intervals
from metrics.metaeval.correlation import Statistic, correlation
from metrics.metaeval.data import Floats, Rows, ScoredAnswers, chosen, rows_of
from metrics.metaeval.executor import generator
from metrics.metaeval.pairwise import pair_accuracy

BOTH: tuple[Statistic, ...] = ("pearson", "spearman")
_OF_TYPE: Wanted = (("pearson", "global"), ("spearman", "global"), ("pair_acc", "item"))
NO_HUMAN = "no answer of this system has a human score"


def types_of(judged: ScoredAnswers) -> list[str]:
    """The question types that are named, in alphabetical order."""
    return sorted({kind for kind in judged.types if kind})


def by_type(judged: ScoredAnswers, name: str, *, replicates: int, seed: int) -> dict[str, Any]:
    """For each question type: n answers, Pearson and Spearman over them, `pair_acc` in its questions.

    Intervals are bootstraps over the questions of the type.
    """
    found: dict[str, Any] = {}
    for kind in types_of(judged):
        own = chosen(judged, np.array(judged.types, dtype=object)[judged.questions] == kind)
        rows, scores = rows_of(own, [name]).of(name)
        reach = intervals(own, [name], replicates=replicates, seed=seed, wanted=_OF_TYPE)
        of_type: dict[str, Any] = {"n": len(rows)}
        for statistic in BOTH:
            figure = correlation(rows, scores, statistic, "global")
            of_type[statistic] = replace(figure, ci=reach.get((name, statistic, "global"))).as_json()
        of_pairs = pair_accuracy(rows, scores)
        of_type["pair_acc"] = of_pairs.within(reach.get((name, "pair_acc", "item"))).as_json()
        found[kind] = of_type
    return found


def types(judged: ScoredAnswers) -> list[dict[str, Any]]:
    """Each question type with its number of answers."""
    kinds = types_of(judged)
    if not kinds:
        return []
    of_answer = np.array(judged.types, dtype=object)[judged.questions]
    return [{"name": kind, "n": int((of_answer == kind).sum())} for kind in kinds]


def systems(
    judged: ScoredAnswers,
    corpus: dict[str, dict[str, float | None]],
    *,
    inferred: bool,
    replicates: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Each system: what people and metrics think of it, and each metric's correlations over its answers.

    The interval of the human mean is a percentile bootstrap over the system's questions with all their
    answers. Metric means are over all answers that have a score.
    """
    names = sorted(judged.metrics)
    rows = rows_of(judged, names)
    found = []
    for code, system in enumerate(judged.system_names):
        answers = judged.systems == code
        own = rows.only(np.array([name == system for name in rows.system_names], bool)[rows.systems])
        found.append(
            {
                "name": system,
                "inferred": inferred,
                "n": int(answers.sum()),
                "human": human_mean(own, replicates=replicates, seed=seed).as_json(),
                "metrics": {
                    name: {
                        "mean": _mean(judged.metrics[name][answers]),
                        "corpus": corpus.get(name, {}).get(system),
                        **_correlations(own, name),
                    }
                    for name in names
                },
            }
        )
    return found


def human_mean(rows: Rows, *, replicates: int, seed: int) -> Figure:
    """The mean human score of these answers, with its interval where there are two questions or more."""
    if not len(rows):
        return Figure(None, NO_HUMAN, n=0)
    questions = len(rows.question_names)
    sums = np.bincount(rows.questions, weights=rows.human, minlength=questions)
    sizes = np.bincount(rows.questions, minlength=questions).astype(np.float64)
    ci = None
    if questions > 1 and replicates > 1:
        rng = generator(seed, "human means")
        weights = rng.multinomial(questions, np.full(questions, 1 / questions), size=replicates)
        # Rounded: the last bit of a product may differ between machines.
        low, high = np.percentile(np.round((weights @ sums) / (weights @ sizes), 10), (2.5, 97.5))
        ci = (round(float(low), 10), round(float(high), 10))
    return Figure(float(rows.human.mean()), ci=ci, n=len(rows))


def _correlations(rows: Rows, name: str) -> dict[str, Any]:
    own, scores = rows.of(name)
    return {statistic: correlation(own, scores, statistic, "global").as_json() for statistic in BOTH}


def _mean(values: Floats) -> float | None:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else None
