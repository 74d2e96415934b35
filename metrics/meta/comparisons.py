"""All pairs of metrics tested by one method, with Holm's correction over them.

`compared(judged, pairs, statistic, grouping, method, draws=9999, seed=0) -> list[Compared]`.
"""

from collections.abc import Sequence

from metrics.errors import MetricError
from metrics.meta.bootstrap import paired
from metrics.meta.cohorts import Pair
from metrics.meta.holm import corrected
from metrics.meta.metric_difference import METHODS, Method, MetricDifference
from metrics.meta.part_runner import PartRunner, in_process
from metrics.meta.permutation import PERMUTATIONS, compare
from metrics.meta.rows import Grouping
from metrics.meta.scored_answers import ScoredAnswers
from metrics.meta.statistics import AnyStatistic
from metrics.meta.williams import williams


def compared(
    judged: ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: Grouping = "global",
    method: Method = "perm_inputs",
    *,
    draws: int = 9999,
    seed: int = 0,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The tests of one family, in the order of the pairs, each with `p_holm`. MetricError in words."""
    if method == "williams":
        if (statistic, grouping) != ("pearson", "global"):
            raise MetricError("Williams' test is one of Pearson's r over all answers: pearson, global.")
        return corrected(williams(judged, pairs))
    if method == "bootstrap":
        tests = paired(judged, pairs, statistic, grouping, draws=draws, seed=seed, gap=gap, spread=spread)
        return corrected(tests)
    if method not in PERMUTATIONS:
        raise MetricError(f"There is no test “{method}”; known are: {', '.join(METHODS)}.")
    tests = compare(
        judged, pairs, statistic, grouping, method, draws=draws, seed=seed, gap=gap, spread=spread
    )
    return corrected(tests)
