"""One metric's entry in the report: how well it agrees with people, in every way that the report has."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.meta.bootstrap import Interval, Key, Wanted, intervals
from metrics.meta.breakdown import by_type
from metrics.meta.correlations import NO_SCORES, correlation
from metrics.meta.itemwise import PAIR_STATISTICS, PairStatistic
from metrics.meta.kernels import STATISTICS
from metrics.meta.matching import matched
from metrics.meta.pairs import accuracy_with_ties, pair_accuracy
from metrics.meta.plan import Plan, ReportHeader
from metrics.meta.rows import Rows, rows_of
from metrics.meta.scored_answers import Floats, ScoredAnswers
from metrics.meta.softpairs import pairwise_accuracy, soft_accuracy
from metrics.meta.ties import calibrated

#: Groupings under which a floor may be excused from the figures that compare answers to the same question.
PAIRS = "pairs"
NO_REASON = "no reason was given"
_OF_SYSTEMS = ("pa", "spa")


def entry(
    judged: ScoredAnswers,
    name: str,
    plan: Plan,
    about: ReportHeader,
    without: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The figures of the metric `name` of `judged`.

    `without` names groupings (and `pairs`) whose figures mean nothing for this metric, with the reason.
    """
    rows, scores = rows_of(judged, [name]).of(name)
    reach = _intervals(judged, name, plan)
    said: dict[str, Any] = {
        "title": about.titles.get(name, name),
        "signature": judged.signatures.get(name, ""),
        "n": len(rows),
        "undefined": undefined(judged, name, about),
        "corpus": corpus(judged, name, about),
        "most_common": most_common(scores),
    }
    for statistic in plan.statistics:
        said[statistic] = {
            grouping: replace(
                correlation(rows, scores, statistic, grouping), ci=reach.get((name, statistic, grouping))
            ).as_json()
            for grouping in plan.groupings
        }
    for statistic_of_pairs in PAIR_STATISTICS:
        reach_of_pairs = reach.get((name, statistic_of_pairs, "item"))
        said[statistic_of_pairs] = _of_pairs(statistic_of_pairs, rows, scores, plan, reach_of_pairs)
    of_systems = pairwise_accuracy(rows, scores)
    said["pa"] = replace(of_systems, ci=reach.get((name, "pa", "system"))).as_json()
    said["spa"] = soft_accuracy(rows, scores, seed=plan.seed).as_json()
    said["by_type"] = by_type(judged, name, replicates=plan.replicates, seed=plan.seed)
    return _excused(said, without or {})


def _excused(said: dict[str, Any], without: Mapping[str, str]) -> dict[str, Any]:
    """The entry without the figures that mean nothing."""
    for grouping, reason in without.items():
        none = Figure(None, reason).as_json()
        for statistic in STATISTICS:
            if grouping in said.get(statistic, {}):
                said[statistic][grouping] = none
        if grouping == PAIRS:
            said.update(dict.fromkeys(PAIR_STATISTICS, none))
            for of_type in said["by_type"].values():
                of_type["pair_acc"] = none
        if grouping == "system":
            said.update(dict.fromkeys(_OF_SYSTEMS, none))
    return said


def _of_pairs(
    statistic: PairStatistic, rows: Rows, scores: Floats, plan: Plan, ci: Interval | None
) -> dict[str, Any]:
    match statistic:
        case "pair_acc":
            return pair_accuracy(rows, scores).within(ci).as_json()
        case "acc_eq":
            return replace(accuracy_with_ties(rows, scores), ci=ci).as_json()
        case "acc_eq_cal":
            return calibrated(rows, scores, seed=plan.seed).within(ci).as_json()
        case "rank_match":
            return matched(rows, scores, plan.clear).within(ci).as_json()


def _intervals(judged: ScoredAnswers, name: str, plan: Plan) -> Mapping[Key, Interval]:
    """Of all figures of a metric, from the same samples as those of every other metric."""
    wanted: Wanted = (
        *((statistic, grouping) for statistic in plan.statistics for grouping in plan.groupings),
        *((statistic, "item") for statistic in PAIR_STATISTICS),
        ("pa", "system"),
    )
    return intervals(
        judged, [name], replicates=plan.replicates, seed=plan.seed, wanted=wanted, gap=plan.clear
    )


def undefined(judged: ScoredAnswers, name: str, about: ReportHeader) -> dict[str, int]:
    """How many answers have no score, by reason."""
    missing = int((~np.isfinite(judged.metrics[name])).sum())
    reasons = {reason: count for reason, count in sorted(about.undefined.get(name, {}).items()) if count}
    rest = missing - sum(reasons.values())
    return {**reasons, NO_REASON: rest} if rest > 0 else reasons


def most_common(scores: Floats) -> dict[str, Any]:
    """The score that most answers get (the lowest of several), and their share."""
    if not len(scores):
        return {"value": None, "share": None, "reason": NO_SCORES}
    values, counts = np.unique(scores, return_counts=True)
    place = int(counts.argmax())
    return {"value": float(values[place]), "share": float(counts[place] / len(scores))}


def corpus(judged: ScoredAnswers, name: str, about: ReportHeader) -> dict[str, float | None]:
    """The metric's score of each system as a whole; null where it has none but the mean."""
    known = about.corpus.get(name, {})
    return {system: known.get(system) for system in judged.system_names}
