"""The papers' own protocols by name; see each function for paper and section."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from metrics.errors import MetricError
from metrics.meta import adem, learning_curve
from metrics.meta.lengthbias import HUMAN, length_bias
from metrics.meta.matching import rank_match
from metrics.meta.plan import Plan, ReportHeader
from metrics.meta.resample import resample_overall
from metrics.meta.scored_answers import ScoredAnswers

Result = dict[str, Any]
TABLE8 = "adem-table8"
#: Before a metric's name where its length bias stands beside that of people.
METRIC = "metric "


def _resample(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return resample_overall(judged, about.rules, seed=plan.seed)


def _table3(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem.table3(judged)


def _table4(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem.table4(judged, plan.scale)


def _table5(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem.table5(judged, seed=plan.seed)


def _table6(judged: ScoredAnswers, plan: Plan, about: ReportHeader) -> Result:
    return adem.table6(judged, plan.scale)


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
    return learning_curve.table14(judged, seed=plan.seed)


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
