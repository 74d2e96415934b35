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
from metrics.metaeval.data import Floats, Raters, ScoredAnswers, chosen
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


def adem_table3(judged: ScoredAnswers) -> dict[str, Any]:
    """Table 3 (5.2, utterance level): Spearman and Pearson of each metric with people over all answers.

    p-values as in the paper, by a t-test that takes answers for independent. The paper's second pair of
    columns is a test set that its metric was not trained on; metrics that are given have no training set.
    """
    return {
        "level": "answer",
        "metrics": {name: _two(judged.human, values) for name, values in sorted(judged.metrics.items())},
        "note": "All answers; the paper's test set is there for the metric that it trains.",
    }


def adem_table4(judged: ScoredAnswers, scale: tuple[float, float]) -> dict[str, Any]:
    """Table 4 (5.2, system level) and Figure 4: Pearson between systems' mean scores, with p (N - 2 degrees).

    Means are over the answers that have both scores. `points` are the figure's: the human mean and the mean
    of the metric normalised to the human scores and the scale (`normalised`).
    """
    found = {}
    for name, values in sorted(judged.metrics.items()):
        there = ~(np.isnan(values) | np.isnan(judged.human))
        human = _means(np.where(there, judged.human, np.nan), judged)
        metric = _means(np.where(there, values, np.nan), judged)
        adjusted = _means(normalised(values, judged.human, scale), judged)
        found[name] = {
            "pearson": related(human, metric, "pearson", few=FEW_SYSTEMS).as_json(),
            "spearman": related(human, metric, "spearman", few=FEW_SYSTEMS).as_json(),
            "points": [
                {"system": system, "human": _number(human[k]), "metric": _number(adjusted[k])}
                for k, system in enumerate(judged.system_names)
            ],
        }
    return {"level": "system", "systems": len(judged.system_names), "metrics": found}


def adem_table5(
    judged: ScoredAnswers, *, seed: int, deals: int = RANDOM, replicates: int = 0
) -> dict[str, Any]:
    """Table 5 (5.2, generalisation to unseen models): one system left out at a time.

    The paper trains without a system's answers and tests on all answers and on the removed ones. Nothing is
    trained here, so `rest` is the correlation over the answers of all other systems and `removed` the one
    over the removed system's answers: a metric that owes its correlation to one system shows it. `average`
    is the mean over systems, `at_random` the mean over `deals` random removals of as large a share of the
    questions' answers as one system is (the paper's last row). With `replicates` figures of systems have
    intervals by the bootstrap over questions.
    """
    used = [k for k in range(len(judged.system_names)) if (judged.systems == k).any()]
    found: dict[str, Any] = {}
    reach: dict[tuple[int, bool], Mapping[Key, tuple[float, float]]] = {}
    for k, removed in product(used, (False, True)) if replicates else ():
        some = chosen(judged, (judged.systems == k) == removed)
        reach[k, removed] = intervals(some, replicates=replicates, seed=seed, wanted=_OVER_ANSWERS)
    for name, values in sorted(judged.metrics.items()):
        rows: list[dict[str, Any]] = []
        for k in used:
            out = judged.systems == k
            rows.append(
                {
                    "system": judged.system_names[k],
                    "rest": _two(judged.human[~out], values[~out], name, reach.get((k, False))),
                    "removed": _two(judged.human[out], values[out], name, reach.get((k, True))),
                }
            )
        found[name] = {
            "systems": rows,
            "average": {
                part: {which: _mean([row[part][which] for row in rows]) for which in _TABLE_STATISTICS}
                for part in ("rest", "removed")
            },
            "at_random": _at_random(judged.human, values, len(used), seed=seed, deals=deals),
        }
    return {
        "metrics": found,
        "note": "Metrics that are given are not trained; see docs for what that leaves.",
    }


def adem_table6(
    judged: ScoredAnswers, scale: tuple[float, float], overlap: Sequence[str] = OVERLAP
) -> dict[str, Any]:
    """Table 6 (5.2, improvement over word-overlap metrics): a cascade of counts on normalised scores.

    Of the answers that have all scores: how many people find good (at least `high`); of these, on how many
    all overlap metrics fail (below `low`); of these, how many the metric finds good (above `high`). Then: how
    many good answers the metric fails on, and of these how many some overlap metric finds good. On the
    scale 1 to 5, `high` is 4 and `low` is 2 as in the paper; on another scale they lie as far inside. The
    signs are the table's (>= for people, < and > for metrics); the paper's text has "2 or lower". Null with
    a reason where none of the overlap metrics is there.
    """
    beside = [name for name in overlap if name in judged.metrics]
    if not beside:
        reason = f"the word-overlap metrics of the paper, {' and '.join(overlap)}, are not among the metrics"
        return {"metrics": None, "reason": reason}
    low, high = scale[0] + (scale[1] - scale[0]) / 4, scale[1] - (scale[1] - scale[0]) / 4
    adjusted = {
        name: normalised(values, judged.human, scale) for name, values in sorted(judged.metrics.items())
    }
    found: dict[str, Any] = {}
    for name, values in adjusted.items():
        if name in beside:
            continue
        rivals = np.stack([adjusted[rival] for rival in beside])
        there = ~(np.isnan(values) | np.isnan(judged.human) | np.isnan(rivals).any(axis=0))
        good = there & (judged.human >= high)
        missed = good & (rivals < low).all(axis=0)
        failed = good & (values < low)
        found[name] = {
            "answers": int(there.sum()),
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
        "metrics": found,
    }


def normalised(values: Floats, human: Floats, scale: tuple[float, float]) -> Floats:
    """Scores with the mean and variance of the human ones, clipped to the scale; raw 0 becomes its low end.

    5.2, "Improvement over word-overlap metrics". Mean and variance are over the answers that have both
    scores; nan where a score is missing, and everywhere if all are the same.
    """
    there = ~(np.isnan(values) | np.isnan(human))
    if there.sum() < 2 or values[there].min() == values[there].max():
        return np.full(len(values), np.nan)
    spread = values[there].std()
    if not spread > 0:
        return np.full(len(values), np.nan)
    centred = (values - values[there].mean()) / spread
    moved = np.clip(centred * human[there].std() + human[there].mean(), *scale)
    return np.where(values == 0, scale[0], moved)


def _two(
    human: Floats,
    values: Floats,
    name: str = "",
    reach: Mapping[Key, tuple[float, float]] | None = None,
) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for which in _TABLE_STATISTICS:
        said[which] = related(human, values, which).as_json()
        if reach is not None:
            ci = reach.get((name, which, "global")) if said[which]["value"] is not None else None
            said[which]["ci"] = list(ci) if ci else None
    return said


def _means(values: Floats, judged: ScoredAnswers) -> Floats:
    there = ~np.isnan(values)
    size = len(judged.system_names)
    counts = np.bincount(judged.systems[there], minlength=size)
    sums = np.bincount(judged.systems[there], weights=values[there], minlength=size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [figure["value"] for figure in figures if figure["value"] is not None]
    if not values:
        return {"value": None, "reason": "nothing that the mean is over has this figure", "n": 0}
    return {"value": math.fsum(values) / len(values), "n": len(values)}


def _at_random(human: Floats, values: Floats, systems: int, *, seed: int, deals: int) -> dict[str, Any]:
    there = np.flatnonzero(~(np.isnan(human) | np.isnan(values)))
    if systems < 2 or len(there) < 4:
        none = {"value": None, "reason": FEW if systems > 1 else "there is one system", "n": 0}
        return {"share": None, "spearman": none, "pearson": none}
    kept = np.zeros((deals, len(human)), dtype=np.bool_)
    for deal in range(deals):
        chosen = generator(seed, "adem table 5", deal).permutation(there)[len(there) // systems :]
        kept[deal, chosen] = True
    said: dict[str, Any] = {"share": 1 / systems}
    for which in _TABLE_STATISTICS:
        values_of = over_subsets(human, values, kept, which)
        said[which] = _mean([{"value": value} for value in values_of[~np.isnan(values_of)].tolist()])
    return said


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
                which: over_subsets(judged.human, judged.metrics[name], answers, which)
                for which in _CURVE_STATISTICS
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
            values = {
                which: _of_samples(human, judged.metrics[name][rows], which) for which in _CURVE_STATISTICS
            }
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


def yang_bootstrap(judged: ScoredAnswers, *, seed: int, times: int = TIMES) -> dict[str, Any]:
    """The six tests of 4.2, for each adapted metric that is beside the plain one: by type and overall."""
    pairs = {
        name: plain
        for name in sorted(judged.metrics)
        if name.startswith(_ADAPTED)
        and (plain := name.removeprefix(_ADAPTED).partition("(")[0]) in judged.metrics
    }
    if not pairs:
        return {"metrics": None, "reason": NO_PAIR}
    of_answer = np.array(judged.types or [""] * len(judged.question_names), dtype=object)[judged.questions]
    kinds = (ALL, *sorted({kind for kind in judged.types if kind}))
    found: dict[str, Any] = {}
    for name, plain in pairs.items():
        columns = (judged.human, judged.metrics[name], judged.metrics[plain])
        there = ~np.isnan(np.stack(columns)).any(axis=0)
        tests = {}
        for kind in kinds:
            some = np.flatnonzero(there if kind == ALL else there & (of_answer == kind))
            own = [column[some] for column in columns]
            tests[kind] = _koehn(own, judged.questions[some], kind, seed=seed, times=times)
        found[name] = {"against": plain, "tests": tests}
    return {"times": times, "metrics": found, "note": PAIRED_NOTE}


def _koehn(
    columns: Sequence[Floats], questions: npt.NDArray[np.int32], kind: str, *, seed: int, times: int
) -> dict[str, Any]:
    human, adapted, plain = columns
    n = len(human)
    r = [column_correlation(human, values) for values in (adapted, plain)]
    if n < LEAST or any(map(math.isnan, r)):
        return {"value": None, "reason": NOTHING, "n": n}
    groups = np.unique(questions, return_inverse=True)[1]
    said: dict[str, Any] = {"n": n, "adapted": r[0], "plain": r[1]}
    for unit, codes in (("answers", np.arange(n)), ("questions", groups)):
        size = int(codes.max()) + 1
        rng = generator(seed, f"koehn {unit} {kind}")
        weights = rng.multinomial(size, np.full(size, 1 / size), size=times)[:, codes].astype(np.float64)
        apart = np.round(
            weighted_pearson(weights, human, adapted) - weighted_pearson(weights, human, plain), 10
        )
        better = int((apart > 0).sum())
        said[unit] = {
            "better": better / times,
            "p": (1 + times - better) / (1 + times),
            "significant": better >= SURE * times,
        }
    return said


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


def _resample(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return resample_overall(judged, about.rules, seed=plan.seed)


def _yang_bootstrap(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return yang_bootstrap(judged, seed=plan.seed)


def _table3(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table3(judged)


def _table4(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table4(judged, plan.scale)


def _table5(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table5(judged, seed=plan.seed, replicates=plan.replicates)


def _table6(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table6(judged, plan.scale)


def _table8(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    columns = {HUMAN: judged.human, **{METRIC + name: values for name, values in judged.metrics.items()}}
    return table8(length_bias(judged, columns, draws=plan.draws, seed=plan.seed), judged.metrics)


def table8(bias: Mapping[str, Result], names: Iterable[str]) -> Result:
    """ADEM's Table 8 (Lowe et al. 2017, 5.2) from the length bias of people and metrics: a row for each.

    Mean score of the answers whose length is at most 6 words from their references', and of the others; p by
    Welch's t-test and by permutation. Scores are raw, as in the paper.
    """
    return {HUMAN: bias[HUMAN], "metrics": {name: bias[METRIC + name] for name in sorted(names)}}


def _table14(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem_table14(judged, seed=plan.seed)


def table7(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    """KPQA (Lee et al. 2021), 5.4 "Rank-Pair" and Table 7: percentage of pairs that match people.

    Pairs of answers to the same question whose human scores differ by at least 2 (half of the scale, or the
    plan's gap); the paper says "greater than 2" and counts at least 2. A tie of the metric is no match.
    """
    found = {}
    for name in sorted(judged.metrics):
        result = rank_match(judged, name, plan.clear)
        value = result.figure.value
        found[name] = {**result.as_json(), "percent": None if value is None else 100 * value}
        del found[name]["ci"]
    return {"gap": plan.clear, "metrics": found}


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


def known(names: tuple[str, ...]) -> None:
    """MetricError for a protocol that there is not."""
    for name in names:
        if name not in PROTOCOLS:
            raise MetricError(f"There is no protocol {name!r}; there are {', '.join(PROTOCOLS)}.")


def protocol(name: str, judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    """The result of the protocol of that name; human scores must exist."""
    if np.isnan(judged.human).all():
        return {"value": None, "reason": "no answer has a human score"}
    return PROTOCOLS[name](judged, plan, about)
