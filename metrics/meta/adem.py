"""The tables of Lowe et al. 2017, "Towards an Automatic Turing Test" (ADEM), for any metrics and systems.

Section 5.2 and appendix D. A response is an answer here, a dialogue model a system, a context a question.
The paper trains its metric; metrics that are given cannot be trained, so what is left of each table is said
in its function. Table 8 is in `lengthbias`, Table 14 in `learning`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metrics.meta.chance import generator
from metrics.meta.columns import FEW, related
from metrics.meta.scored_answers import Floats, ScoredAnswers
from metrics.meta.subsets import Which, over_subsets

#: The word-overlap metrics of Table 6, where they are among the metrics.
OVERLAP = ("bleu-2", "rouge-l")
RANDOM = 100
BOTH: tuple[Which, ...] = ("spearman", "pearson")
FEW_SYSTEMS = "fewer than three systems have both scores"


def table3(judged: ScoredAnswers) -> dict[str, Any]:
    """Table 3 (5.2, utterance level): Spearman and Pearson of each metric with people over all answers.

    p-values as in the paper, by a t-test that takes answers for independent. The paper's second pair of
    columns is a test set that its metric was not trained on; metrics that are given have no training set.
    """
    return {
        "level": "answer",
        "metrics": {name: _two(judged.human, values) for name, values in sorted(judged.metrics.items())},
        "note": "All answers; the paper's test set is there for the metric that it trains.",
    }


def table4(judged: ScoredAnswers, scale: tuple[float, float]) -> dict[str, Any]:
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


def table5(judged: ScoredAnswers, *, seed: int, deals: int = RANDOM) -> dict[str, Any]:
    """Table 5 (5.2, generalisation to unseen models): one system left out at a time.

    The paper trains without a system's answers and tests on all answers and on the removed ones. Nothing is
    trained here, so `rest` is the correlation over the answers of all other systems and `removed` the one
    over the removed system's answers: a metric that owes its correlation to one system shows it. `average`
    is the mean over systems, `at_random` the mean over `deals` random removals of as large a share of the
    questions' answers as one system is (the paper's last row).
    """
    used = [k for k in range(len(judged.system_names)) if (judged.systems == k).any()]
    found: dict[str, Any] = {}
    for name, values in sorted(judged.metrics.items()):
        rows: list[dict[str, Any]] = []
        for k in used:
            out = judged.systems == k
            rows.append(
                {
                    "system": judged.system_names[k],
                    "rest": _two(judged.human[~out], values[~out]),
                    "removed": _two(judged.human[out], values[out]),
                }
            )
        found[name] = {
            "systems": rows,
            "average": {
                part: {which: _mean([row[part][which] for row in rows]) for which in BOTH}
                for part in ("rest", "removed")
            },
            "at_random": _at_random(judged.human, values, len(used), seed=seed, deals=deals),
        }
    return {
        "metrics": found,
        "note": "Metrics that are given are not trained; see docs for what that leaves.",
    }


def table6(
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


def _two(human: Floats, values: Floats) -> dict[str, Any]:
    return {which: related(human, values, which).as_json() for which in BOTH}


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
    for which in BOTH:
        values_of = over_subsets(human, values, kept, which)
        said[which] = _mean([{"value": value} for value in values_of[~np.isnan(values_of)].tolist()])
    return said


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
