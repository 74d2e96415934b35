"""The papers' own protocols by name; see each function for paper and section."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.bootstrap import Key, Wanted, intervals
from metrics.metaeval.breakdown import HUMAN, length_bias
from metrics.metaeval.correlation import (
    FEW,
    LEAST,
    Statistic,
    Which,
    column_correlation,
    over_subsets,
    related,
    within,
)
from metrics.metaeval.data import Floats, Raters, ScoredAnswers, select_answers
from metrics.metaeval.executor import generator
from metrics.metaeval.pairwise import rank_match
from metrics.metaeval.plan import METRIC, TABLE8, CorpusRule, Plan, ReportHeader

# The tables of Lowe et al. 2017, "Towards an Automatic Turing Test" (ADEM), for any metrics and systems.
#
# Section 5.2 and appendix D. A response is an answer here, a dialogue model a system, a context a question.
# The paper trains its metric; metrics that are given cannot be trained, so what is left of each table is
# said in its function. Table 8 and Table 14 have functions of their own.

#: The word-overlap metrics of Table 6, where they are among the metrics.
OVERLAP = ("bleu-2", "rouge-l")
RANDOM = 100
_TABLE_STATISTICS: tuple[Which, ...] = ("spearman", "pearson")
_OVER_ANSWERS: Wanted = (("spearman", "global"), ("pearson", "global"))
FEW_SYSTEMS = "fewer than three systems have both scores"


def adem_table3(answers: ScoredAnswers) -> dict[str, Any]:
    """Table 3 (5.2, utterance level): Spearman and Pearson of each metric with people over all answers.

    p-values as in the paper, by a t-test that takes answers for independent. The paper's second pair of
    columns is a test set that its metric was not trained on; metrics that are given have no training set.
    """
    return {
        "level": "answer",
        "metrics": {name: _two(answers.human, values) for name, values in sorted(answers.metrics.items())},
        "note": "All answers; the paper's test set is there for the metric that it trains.",
    }


def adem_table4(answers: ScoredAnswers, scale: tuple[float, float]) -> dict[str, Any]:
    """Table 4 (5.2, system level) and Figure 4: Pearson between systems' mean scores, with p (N - 2 degrees).

    Means are over the answers that have both scores. `points` are the figure's: the human mean and the mean
    of the metric normalised to the human scores and the scale (`normalised`).
    """
    metrics = {}
    for name, values in sorted(answers.metrics.items()):
        complete = ~(np.isnan(values) | np.isnan(answers.human))
        human = _means(np.where(complete, answers.human, np.nan), answers)
        metric = _means(np.where(complete, values, np.nan), answers)
        adjusted = _means(normalised(values, answers.human, scale), answers)
        metrics[name] = {
            "pearson": related(human, metric, "pearson", few=FEW_SYSTEMS).as_json(),
            "spearman": related(human, metric, "spearman", few=FEW_SYSTEMS).as_json(),
            "points": [
                {"system": system, "human": _number(human[k]), "metric": _number(adjusted[k])}
                for k, system in enumerate(answers.system_names)
            ],
        }
    return {"level": "system", "systems": len(answers.system_names), "metrics": metrics}


def adem_table5(
    answers: ScoredAnswers, *, seed: int, deals: int = RANDOM, replicates: int = 0
) -> dict[str, Any]:
    """Table 5 (5.2, generalisation to unseen models): one system left out at a time.

    The paper trains without a system's answers and tests on all answers and on the removed ones. Nothing is
    trained here, so `rest` is the correlation over the answers of all other systems and `removed` the one
    over the removed system's answers: a metric that owes its correlation to one system shows it. `average`
    is the mean over systems, `at_random` the mean over `deals` random removals of as large a share of the
    questions' answers as one system is (the paper's last row). With `replicates` figures of systems have
    intervals by the bootstrap over questions.
    """
    used = [k for k in range(len(answers.system_names)) if (answers.systems == k).any()]
    metrics: dict[str, Any] = {}
    reach: dict[tuple[int, bool], Mapping[Key, tuple[float, float]]] = {}
    for k, removed in product(used, (False, True)) if replicates else ():
        selected = select_answers(answers, (answers.systems == k) == removed)
        reach[k, removed] = intervals(selected, replicates=replicates, seed=seed, statistics=_OVER_ANSWERS)
    for name, values in sorted(answers.metrics.items()):
        rows: list[dict[str, Any]] = []
        for k in used:
            out = answers.systems == k
            rows.append(
                {
                    "system": answers.system_names[k],
                    "rest": _two(answers.human[~out], values[~out], name, reach.get((k, False))),
                    "removed": _two(answers.human[out], values[out], name, reach.get((k, True))),
                }
            )
        metrics[name] = {
            "systems": rows,
            "average": {
                part: {which: _mean([row[part][which] for row in rows]) for which in _TABLE_STATISTICS}
                for part in ("rest", "removed")
            },
            "at_random": _at_random(answers.human, values, len(used), seed=seed, deals=deals),
        }
    return {
        "metrics": metrics,
        "note": "Metrics that are given are not trained; see docs for what that leaves.",
    }


def adem_table6(
    answers: ScoredAnswers, scale: tuple[float, float], overlap: Sequence[str] = OVERLAP
) -> dict[str, Any]:
    """Table 6 (5.2, improvement over word-overlap metrics): a cascade of counts on normalised scores.

    Of the answers that have all scores: how many people find good (at least `high`); of these, on how many
    all overlap metrics fail (below `low`); of these, how many the metric finds good (above `high`). Then: how
    many good answers the metric fails on, and of these how many some overlap metric finds good. On the
    scale 1 to 5, `high` is 4 and `low` is 2 as in the paper; on another scale they lie as far inside. The
    signs are the table's (>= for people, < and > for metrics); the paper's text has "2 or lower". Null with
    a reason where none of the overlap metrics is there.
    """
    beside = [name for name in overlap if name in answers.metrics]
    if not beside:
        reason = f"the word-overlap metrics of the paper, {' and '.join(overlap)}, are not among the metrics"
        return {"metrics": None, "reason": reason}
    low, high = scale[0] + (scale[1] - scale[0]) / 4, scale[1] - (scale[1] - scale[0]) / 4
    adjusted = {
        name: normalised(values, answers.human, scale) for name, values in sorted(answers.metrics.items())
    }
    metrics: dict[str, Any] = {}
    for name, values in adjusted.items():
        if name in beside:
            continue
        rivals = np.stack([adjusted[rival] for rival in beside])
        complete = ~(np.isnan(values) | np.isnan(answers.human) | np.isnan(rivals).any(axis=0))
        good = complete & (answers.human >= high)
        missed = good & (rivals < low).all(axis=0)
        failed = good & (values < low)
        metrics[name] = {
            "answers": int(complete.sum()),
            "good": int(good.sum()),
            "overlap_fails": int(missed.sum()),
            "metric_finds": int((missed & (values > high)).sum()),
            "metric_fails": int(failed.sum()),
            "overlap_finds": int((failed & (rivals > high).any(axis=0)).sum()),
        }
    return {
        "overlap": beside,
        "missing": sorted(set(overlap) - set(beside)),
        "low": low,
        "high": high,
        "metrics": metrics,
    }


def normalised(values: Floats, human: Floats, scale: tuple[float, float]) -> Floats:
    """Scores with the mean and variance of the human ones, clipped to the scale; raw 0 becomes its low end.

    5.2, "Improvement over word-overlap metrics". Mean and variance are over the answers that have both
    scores; nan where a score is missing, and everywhere if all are the same.
    """
    complete = ~(np.isnan(values) | np.isnan(human))
    if complete.sum() < 2 or values[complete].min() == values[complete].max():
        return np.full(len(values), np.nan)
    spread = values[complete].std()
    if not spread > 0:
        return np.full(len(values), np.nan)
    centred = (values - values[complete].mean()) / spread
    moved = np.clip(centred * human[complete].std() + human[complete].mean(), *scale)
    return np.where(values == 0, scale[0], moved)


def _two(
    human: Floats,
    values: Floats,
    name: str = "",
    reach: Mapping[Key, tuple[float, float]] | None = None,
) -> dict[str, Any]:
    statistics: dict[str, Any] = {}
    for which in _TABLE_STATISTICS:
        statistics[which] = related(human, values, which).as_json()
        if reach is not None:
            ci = reach.get((name, which, "global")) if statistics[which]["value"] is not None else None
            statistics[which]["ci"] = list(ci) if ci else None
    return statistics


def _means(values: Floats, answers: ScoredAnswers) -> Floats:
    defined = ~np.isnan(values)
    size = len(answers.system_names)
    counts = np.bincount(answers.systems[defined], minlength=size)
    sums = np.bincount(answers.systems[defined], weights=values[defined], minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [figure["value"] for figure in figures if figure["value"] is not None]
    if not values:
        return {"value": None, "reason": "nothing that the mean is over has this figure", "n": 0}
    return {"value": math.fsum(values) / len(values), "n": len(values)}


def _at_random(human: Floats, values: Floats, systems: int, *, seed: int, deals: int) -> dict[str, Any]:
    complete = np.flatnonzero(~(np.isnan(human) | np.isnan(values)))
    if systems < 2 or len(complete) < 4:
        none = {"value": None, "reason": FEW if systems > 1 else "there is one system", "n": 0}
        return {"share": None, "spearman": none, "pearson": none}
    is_kept = np.zeros((deals, len(human)), dtype=np.bool_)
    for deal in range(deals):
        picked = generator(seed, "adem table 5", deal).permutation(complete)[len(complete) // systems :]
        is_kept[deal, picked] = True
    section: dict[str, Any] = {"share": 1 / systems}
    for which in _TABLE_STATISTICS:
        values_of = over_subsets(human, values, is_kept, which)
        section[which] = _mean([{"value": value} for value in values_of[~np.isnan(values_of)].tolist()])
    return section


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


# How much data does a correlation need? A learning curve in the manner of Lowe et al. 2017, Table 14.
#
# The paper trains its metric on 5 to 100 % of the data and tests it on all. A metric that is given learns
# nothing, so the question here is the collector's: what would the correlation have been with fewer
# questions, or with fewer ratings per answer, and how far from chance is it then.

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
TIMES = 100
NOTHING = "too few answers, or a single value"
_CURVE_STATISTICS: tuple[Which, ...] = ("pearson", "spearman")
_MIDDLE = (2.5, 97.5)


def adem_table14(
    answers: ScoredAnswers, *, seed: int, times: int = TIMES, shares: Sequence[float] = SHARES
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
        "questions": by_questions(answers, seed=seed, times=times, shares=shares),
        "ratings": by_ratings(answers, seed=seed, times=times)
        or {"value": None, "reason": answers.no_ratings},
    }


def by_questions(
    scored_answers: ScoredAnswers, *, seed: int, times: int = TIMES, shares: Sequence[float] = SHARES
) -> dict[str, list[dict[str, Any]]]:
    """For each metric a point for each share of the questions that have a human score."""
    rated_questions = np.unique(scored_answers.questions[~np.isnan(scored_answers.human)])
    points_by_metric: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(scored_answers.metrics)}
    for share in shares:
        size = max(1, round(share * len(rated_questions))) if len(rated_questions) else 0
        sampled_questions = np.zeros(
            (1 if size == len(rated_questions) else times, len(scored_answers.question_names)), dtype=np.bool_
        )
        for sample, of_sample in enumerate(sampled_questions):
            rng = generator(seed, f"learning curve {share}", sample)
            of_sample[rng.permutation(rated_questions)[:size]] = True
        answers = sampled_questions[:, scored_answers.questions]
        for name, points in points_by_metric.items():
            values = {
                which: over_subsets(scored_answers.human, scored_answers.metrics[name], answers, which)
                for which in _CURVE_STATISTICS
            }
            points.append({"share": share, "questions": size, **_summary(values)})
    return points_by_metric


def by_ratings(answers: ScoredAnswers, *, seed: int, times: int = TIMES) -> dict[str, Any] | None:
    """For each metric a point for each number of ratings per answer; None without single ratings."""
    raters = answers.raters
    if raters is None or not len(raters.scores):
        return None
    counts = np.bincount(raters.answers, minlength=len(answers))
    most = int(np.median(counts[counts > 0]))
    rows = np.flatnonzero(counts >= most)
    points_by_metric: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(answers.metrics)}
    for k in range(1, most + 1):
        human = np.stack(
            [
                _some_ratings(raters, len(answers), k, generator(seed, f"ratings {k}", sample))[rows]
                for sample in range(times if k < most or (counts > most).any() else 1)
            ]
        )
        for name, points in points_by_metric.items():
            values = {
                which: _of_samples(human, answers.metrics[name][rows], which) for which in _CURVE_STATISTICS
            }
            points.append({"ratings": k, "answers": len(rows), **_summary(values)})
    return points_by_metric


def _of_samples(human: Floats, metric: Floats, statistic: Statistic) -> Floats:
    """The correlation of a metric with each of several human scores (samples, n) of the same answers."""
    defined = ~np.isnan(metric)
    if defined.sum() < LEAST:
        return np.full(len(human), np.nan)
    return within(statistic, metric[defined], human[:, defined], np.zeros(1, dtype=np.int64))[:, 0]


def _some_ratings(raters: Raters, n: int, k: int, rng: np.random.Generator) -> Floats:
    """The mean of k ratings of each answer, drawn without replacement; of all, where there are no more."""
    order = np.lexsort((rng.random(len(raters.scores)), raters.answers))
    answers = raters.answers[order]
    counts = np.bincount(answers, minlength=n)
    place = np.arange(len(order)) - (np.cumsum(counts) - counts)[answers]
    picked = order[place < k]
    sums = np.bincount(raters.answers[picked], weights=raters.scores[picked], minlength=n)
    sizes = np.bincount(raters.answers[picked], minlength=n)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def _summary(values: Mapping[Which, Floats]) -> dict[str, Any]:
    statistics: dict[str, Any] = {}
    for name, sample_values in values.items():
        defined = sample_values[~np.isnan(sample_values)]
        if not len(defined):
            statistics[name] = {"value": None, "middle": None, "reason": NOTHING, "n": 0}
            continue
        low, high = np.percentile(defined, _MIDDLE)
        statistics[name] = {
            "value": math.fsum(defined) / len(defined),
            "middle": [float(low), float(high)] if len(defined) > 1 else None,
            "n": len(defined),
        }
    return statistics


# Overall scores by resampling: Yang et al. 2018 (adaptations of ROUGE and BLEU), 4.2 and Table 3.
#
# 30 questions are sampled 100 times, the same ones for every system. A system's answers to them get one
# overall score from the metric and one from people (their mean), and Pearson's r is taken over all 100 x
# systems pairs. It is much higher than over single answers, because means over 30 questions are steady and
# the same systems come back in each sample: the pairs are not independent, and no p-value belongs to it.

QUESTIONS = 30
ALL = "overall"
NOTE = (
    "The same systems come back in each sample: no p-value belongs to these figures. Where the rule is mean, "
    "the metric has no corpus score of its own, or the sums behind it were not at hand."
)


def resample_overall(
    answers: ScoredAnswers,
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
    kinds = {ALL: np.ones(len(answers.question_names), dtype=np.bool_)}
    for kind in sorted({kind for kind in answers.types if kind}):
        kinds[kind] = np.array([named == kind for named in answers.types])
    answered = np.zeros(len(answers.question_names), dtype=np.bool_)
    answered[answers.questions[~np.isnan(answers.human)]] = True
    samples = {
        kind: _samples(
            np.flatnonzero(of_kind & answered),
            len(answers.question_names),
            kind,
            seed=seed,
            times=times,
            questions=questions,
        )
        for kind, of_kind in kinds.items()
    }
    metrics: dict[str, Any] = {}
    for name, values in sorted(answers.metrics.items()):
        rule = rules.get(name)
        metrics[name] = {
            "rule": "corpus" if rule is not None else "mean",
            **{
                kind: _overall(answers, values, rule, sampled_questions, questions).as_json()
                for kind, sampled_questions in samples.items()
            },
        }
    return {"times": times, "questions": questions, "metrics": metrics, "note": NOTE}


def _samples(
    among: npt.NDArray[np.intp], size: int, kind: str, *, seed: int, times: int, questions: int
) -> Floats | None:
    """For each sample a row that has 1 at the questions in it; None where there are too few."""
    if len(among) < questions:
        return None
    sampled_questions = np.zeros((times, size))
    for sample in range(times):
        rng = generator(seed, f"resample overall {kind}", sample)
        sampled_questions[sample, rng.choice(among, questions, replace=False)] = 1.0
    return sampled_questions


def _overall(
    answers: ScoredAnswers,
    values: Floats,
    rule: CorpusRule | None,
    sampled_questions: Floats | None,
    questions: int,
) -> Figure:
    if sampled_questions is None:
        return Figure(None, f"there are fewer than {questions} questions with human scores", n=0)
    complete = ~(np.isnan(answers.human) | np.isnan(values))
    human, metric = [], []
    for system in range(len(answers.system_names)):
        rows = np.flatnonzero(complete & (answers.systems == system))
        weights = sampled_questions[:, answers.questions[rows]]
        n = weights.sum(axis=1)
        with np.errstate(invalid="ignore"):
            human.append(weights @ answers.human[rows] / n)
            means = weights @ values[rows] / n
        metric.append(means if rule is None else _by_rule(rule, weights @ rule.sums[rows], n))
    x, y = np.concatenate(human), np.concatenate(metric)
    pairs = ~(np.isnan(x) | np.isnan(y))
    value = column_correlation(x[pairs], y[pairs])
    n_pairs = int(pairs.sum())
    if math.isnan(value):
        return Figure(None, "all overall scores are the same", n=n_pairs)
    return Figure(value, n=n_pairs)


def _by_rule(rule: CorpusRule, sums: Floats, n: Floats) -> Floats:
    scores = [rule.rule(of_sample) if count else None for of_sample, count in zip(sums, n, strict=True)]
    return np.array([math.nan if score is None else score for score in scores])


# Koehn's paired bootstrap (2004) of an adapted metric against the plain one: Yang et al. 2018, 4.2.
#
# "Samples are bootstrapped 100 times and in each time the PCCs are recomputed and compared." A sample is an
# answer there; answers to one question are no independent ones, so questions are drawn beside them.

#: Share of samples from which the adapted metric counts as better (Koehn 2004, section 4).
SURE = 0.95
_ADAPTED = "adapted-"
PAIRED_NOTE = (
    "better is the share of samples in which the adapted metric has the higher Pearson's r; from .95 on "
    "Koehn (2004) calls it better. p is (1 + samples in which it has not) / (1 + samples), one-sided. The "
    "paper draws answers; by questions all answers to a question are drawn together."
)
NO_PAIR = "no adapted metric stands beside the plain one, such as adapted-bleu-4 beside bleu-4"


def yang_bootstrap(answers: ScoredAnswers, *, seed: int, times: int = TIMES) -> dict[str, Any]:
    """The six tests of 4.2, for each adapted metric that is beside the plain one: by type and overall."""
    pairs = {
        name: plain
        for name in sorted(answers.metrics)
        if name.startswith(_ADAPTED)
        and (plain := name.removeprefix(_ADAPTED).partition("(")[0]) in answers.metrics
    }
    if not pairs:
        return {"metrics": None, "reason": NO_PAIR}
    of_answer = np.array(answers.types or [""] * len(answers.question_names), dtype=object)[answers.questions]
    kinds = (ALL, *sorted({kind for kind in answers.types if kind}))
    metrics: dict[str, Any] = {}
    for name, plain in pairs.items():
        columns = (answers.human, answers.metrics[name], answers.metrics[plain])
        complete = ~np.isnan(np.stack(columns)).any(axis=0)
        tests = {}
        for kind in kinds:
            rows = np.flatnonzero(complete if kind == ALL else complete & (of_answer == kind))
            own = [column[rows] for column in columns]
            tests[kind] = _koehn(own, answers.questions[rows], kind, seed=seed, times=times)
        metrics[name] = {"against": plain, "tests": tests}
    return {"times": times, "metrics": metrics, "note": PAIRED_NOTE}


def _koehn(
    columns: Sequence[Floats], questions: npt.NDArray[np.int32], kind: str, *, seed: int, times: int
) -> dict[str, Any]:
    human, adapted, plain = columns
    n = len(human)
    r = [column_correlation(human, values) for values in (adapted, plain)]
    if n < LEAST or any(map(math.isnan, r)):
        return {"value": None, "reason": NOTHING, "n": n}
    groups = np.unique(questions, return_inverse=True)[1]
    test: dict[str, Any] = {"n": n, "adapted": r[0], "plain": r[1]}
    for unit, codes in (("answers", np.arange(n)), ("questions", groups)):
        size = int(codes.max()) + 1
        rng = generator(seed, f"koehn {unit} {kind}")
        weights = rng.multinomial(size, np.full(size, 1 / size), size=times)[:, codes].astype(np.float64)
        apart = np.round(
            weighted_pearson(weights, human, adapted) - weighted_pearson(weights, human, plain), 10
        )
        better = int((apart > 0).sum())
        test[unit] = {
            "better": better / times,
            "p": (1 + times - better) / (1 + times),
            "significant": better >= SURE * times,
        }
    return test


def weighted_pearson(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Pearson's r in each sample (samples, n) of how often each pair was drawn; nan without variation."""
    total = weights.sum(axis=1)
    x, y = x - x.mean(), y - y.mean()
    sums = [weights @ column / total for column in (x, y, x * x, y * y, x * y)]
    across, up = sums[2] - sums[0] ** 2, sums[3] - sums[1] ** 2
    spread = np.sqrt(np.maximum(across, 0) * np.maximum(up, 0))
    flat = (across <= 1e-12 * (x @ x + 1e-300) / len(x)) | (up <= 1e-12 * (y @ y + 1e-300) / len(y))
    return np.where(flat, np.nan, (sums[4] - sums[0] * sums[1]) / np.where(flat, 1.0, spread))


Result = dict[str, Any]


def _resample(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return resample_overall(answers, about.rules, seed=plan.seed)


def _yang_bootstrap(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return yang_bootstrap(answers, seed=plan.seed)


def _table3(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table3(answers)


def _table4(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table4(answers, plan.scale)


def _table5(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table5(answers, seed=plan.seed, replicates=plan.replicates)


def _table6(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table6(answers, plan.scale)


def _table8(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    columns = {HUMAN: answers.human, **{METRIC + name: values for name, values in answers.metrics.items()}}
    return table8(length_bias(answers, columns, draws=plan.draws, seed=plan.seed), answers.metrics)


def table8(bias: Mapping[str, Result], names: Iterable[str]) -> Result:
    """ADEM's Table 8 (Lowe et al. 2017, 5.2) from the length bias of people and metrics: a row for each.

    Mean score of the answers whose length is at most 6 words from their references', and of the others; p by
    Welch's t-test and by permutation. Scores are raw, as in the paper.
    """
    return {HUMAN: bias[HUMAN], "metrics": {name: bias[METRIC + name] for name in sorted(names)}}


def _table14(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table14(answers, seed=plan.seed)


def table7(answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    """KPQA (Lee et al. 2021), 5.4 "Rank-Pair" and Table 7: percentage of pairs that match people.

    Pairs of answers to the same question whose human scores differ by at least 2 (half of the scale, or the
    plan's gap); the paper says "greater than 2" and counts at least 2. A tie of the metric is no match.
    """
    metrics = {}
    for name in sorted(answers.metrics):
        result = rank_match(answers, name, plan.clear)
        value = result.figure.value
        metrics[name] = {**result.as_json(), "percent": None if value is None else 100 * value}
        del metrics[name]["ci"]
    return {"gap": plan.clear, "metrics": metrics}


#: What runs under each name.
PROTOCOLS: dict[str, Callable[[ScoredAnswers, Plan, ReportHeader], Result]] = {
    "resample_overall": _resample,
    "yang-bootstrap": _yang_bootstrap,
    "adem-table3": _table3,
    "adem-table4": _table4,
    "adem-table5": _table5,
    "adem-table6": _table6,
    TABLE8: _table8,
    "adem-table14": _table14,
    "kpqa-table7": table7,
}


def refuse_unknown_protocols(names: tuple[str, ...]) -> None:
    """MetricError for a protocol that there is not."""
    for name in names:
        if name not in PROTOCOLS:
            raise MetricError(f"There is no protocol {name!r}; there are {', '.join(PROTOCOLS)}.")


def protocol(name: str, answers: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    """The result of the protocol of that name; human scores must exist."""
    if np.isnan(answers.human).all():
        return {"value": None, "reason": "no answer has a human score"}
    return PROTOCOLS[name](answers, plan, about)
