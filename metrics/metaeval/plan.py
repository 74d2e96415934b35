"""What is asked of a meta-evaluation, what is known beside the scores, and how two metrics are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.correlation import STATISTICS, Statistic, correlation
from metrics.metaeval.data import GROUPINGS, Floats, Grouping, Indices, Mask, Rows
from metrics.metaeval.pairwise import (
    PAIR_STATISTICS,
    PairStatistic,
    accuracy_with_ties,
    calibrated,
    matched,
    pair_accuracy,
    pairwise_accuracy,
)

# What two metrics are compared by: statistics by their name, the answers that both scored, the result.

AnyStatistic = Statistic | PairStatistic | Literal["pa"]
#: The protocol that is made of the length bias that every report has; all others are worked out as parts.
TABLE8 = "adem-table8"
#: Before a metric's name where its length bias is beside that of people.
METRIC = "metric "


def figure_of(
    statistic: AnyStatistic, grouping: Grouping, rows: Rows, scores: Floats, gap: float = 2.0
) -> Figure:
    """The figure of (n,) scores, none of them missing, in one grouping."""
    check(statistic, grouping)
    if statistic == "pa":
        return pairwise_accuracy(rows, scores)
    if statistic == "pair_acc":
        return pair_accuracy(rows, scores).figure
    if statistic == "acc_eq":
        return accuracy_with_ties(rows, scores)
    if statistic == "acc_eq_cal":
        return calibrated(rows, scores).figure
    if statistic == "rank_match":
        return matched(rows, scores, gap).figure
    return correlation(rows, scores, statistic, grouping)


def correlation_named(statistic: AnyStatistic) -> Statistic | None:
    """The statistic if it is a correlation, else None."""
    return next((each for each in STATISTICS if each == statistic), None)


def check(statistic: str, grouping: str) -> None:
    """MetricError unless the statistic exists in this grouping."""
    if statistic in PAIR_STATISTICS and grouping != "item":
        raise MetricError(
            f"The statistic {statistic} compares answers to one question: its grouping is item."
        )
    if statistic == "pa" and grouping != "system":
        raise MetricError("The statistic pa compares systems: its grouping is system.")
    if statistic not in (*STATISTICS, *PAIR_STATISTICS, "pa"):
        names = ", ".join((*STATISTICS, *PAIR_STATISTICS, "pa"))
        raise MetricError(f"There is no statistic “{statistic}” to compare metrics by; known are: {names}.")


# Pairs of metrics that have scores for the same answers are tested together.
#
# Two metrics are compared over the answers that have both scores. Mostly no score is missing, and all pairs
# share one set of answers: a cohort.

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Cohort:
    """Answers, by their place in all rows, and the pairs of metrics that have scores for just these.

    scores[k] are those of names[k]; first and second say which two make up each pair. `pairs` are the places
    of the pairs in the list that was asked for.
    """

    rows: Rows
    places: Indices
    names: tuple[str, ...]
    scores: Floats
    pairs: Indices
    first: Indices
    second: Indices


@dataclass(frozen=True, slots=True, eq=False)
class PairCohorts:
    """Pairs dealt into cohorts, and what is said of each pair before any test: a, b, n and the figures."""

    cohorts: tuple[Cohort, ...]
    sizes: tuple[int, ...]
    figures: tuple[tuple[Figure, Figure], ...]

    def delta(self, place: int) -> float | None:
        """The difference between the two metrics of a pair; None where one is not defined."""
        first, second = self.figures[place]
        return None if first.value is None or second.value is None else first.value - second.value

    def why(self, place: int, pair: Pair) -> str:
        """Why a pair cannot be tested."""
        for name, figure in zip(pair, self.figures[place], strict=True):
            if figure.value is None:
                return f"{name}: {figure.reason}"
        return ""


def cohorts_of(
    rows: Rows, pairs: Sequence[Pair], statistic: AnyStatistic, grouping: Grouping, gap: float
) -> PairCohorts:
    """Deals pairs into cohorts; those for which a figure is not defined are in none."""
    finite = {name: np.isfinite(rows.column(name)) for name in {name for pair in pairs for name in pair}}
    masks: dict[bytes, Mask] = {}
    members: dict[bytes, list[int]] = {}
    for place, (a, b) in enumerate(pairs):
        mask = finite[a] & finite[b]
        key = np.packbits(mask).tobytes()
        masks.setdefault(key, mask)
        members.setdefault(key, []).append(place)
    sizes = [0] * len(pairs)
    figures = [(Figure(None), Figure(None))] * len(pairs)
    cohorts = []
    for key, places in members.items():
        own = rows.only(masks[key])
        names = sorted({name for place in places for name in pairs[place]})
        of = {name: figure_of(statistic, grouping, own, own.column(name), gap) for name in names}
        for place in places:
            sizes[place] = len(own)
            figures[place] = (of[pairs[place][0]], of[pairs[place][1]])
        good = [place for place in places if all(figure.value is not None for figure in figures[place])]
        if good:
            used = tuple(sorted({name for place in good for name in pairs[place]}))
            cohorts.append(
                Cohort(
                    own,
                    np.flatnonzero(masks[key]),
                    used,
                    np.stack([own.column(name) for name in used]),
                    np.array(good),
                    np.array([used.index(pairs[place][0]) for place in good]),
                    np.array([used.index(pairs[place][1]) for place in good]),
                )
            )
    return PairCohorts(tuple(cohorts), tuple(sizes), tuple(figures))


# What a test of "is metric A better than metric B?" says.

Method = Literal["perm_inputs", "perm_both", "perm_systems", "williams", "bootstrap"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Statistic of `a` - statistic of `b` over the n answers that have both scores, and its two-sided
    p-value.

    `null_sd` is the standard deviation of the difference under the hypothesis that there is none (its root
    mean square over the draws), from which a minimal detectable difference follows; for the bootstrap it is
    the standard error. `p` is None, with a reason, where one of the two statistics is not defined.
    """

    a: str
    b: str
    statistic: AnyStatistic
    grouping: Grouping
    method: Method
    delta: float | None
    p: float | None
    n: int
    null_sd: float | None = None
    p_holm: float | None = None
    reason: str = ""

    def corrected(self, p_holm: float | None) -> "MetricDifference":
        """The same with the p-value after Holm's correction."""
        return replace(self, p_holm=p_holm)

    def as_json(self) -> dict[str, Any]:
        """As JSON has it."""
        fields: dict[str, Any] = {
            "a": self.a,
            "b": self.b,
            "statistic": self.statistic,
            "grouping": self.grouping,
            "method": self.method,
            "delta": self.delta,
            "p": self.p,
            "p_holm": self.p_holm,
            "n": self.n,
        }
        if self.p is None:
            fields["reason"] = self.reason
        return fields


VERSION = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """One kind of test of "is A better than B?", made for every pair of metrics."""

    statistic: AnyStatistic
    grouping: Grouping
    method: Method

    def __post_init__(self) -> None:
        check(self.statistic, self.grouping)
        if self.grouping not in GROUPINGS:
            raise MetricError(f"There is no grouping {self.grouping!r}; there are {', '.join(GROUPINGS)}.")
        if self.method not in METHODS:
            raise MetricError(f"There is no test {self.method!r}; there are {', '.join(METHODS)}.")
        if self.method == "williams" and (self.statistic, self.grouping) != ("pearson", "global"):
            raise MetricError("Williams' test is one of Pearson's r over all answers.")


#: QA has few systems, so whole questions are swapped; Williams' test is beside it as a quick look.
COMPARISONS = (
    Comparison("pearson", "global", "perm_inputs"),
    Comparison("pearson", "global", "williams"),
    Comparison("spearman", "global", "perm_inputs"),
    Comparison("pearson", "item", "perm_inputs"),
    Comparison("pair_acc", "item", "perm_inputs"),
)
#: Koehn's test, which Yang et al. (2018) used; it asks whether A is ahead in nearly all samples of questions.
PAIRED_BOOTSTRAP = (
    Comparison("pearson", "global", "bootstrap"),
    Comparison("spearman", "global", "bootstrap"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to evaluate metrics; the same plan and the same scores give the same report.

    `replicates` of the bootstrap behind each interval, `draws` of each permutation test, `seed` of all
    chance, `scale` the ends of the human scale, `gap` in human scores from which `rank_match` counts a pair
    (half of the scale if None, which is the 2 of KPQA's Table 7 on its scale of 1 to 5), `protocols` the
    names of the papers' own protocols that are wanted too, `comparisons` the tests of metrics against each
    other, significant at `level` after correction and planned with `power`. MetricError where a value makes
    no sense.
    """

    statistics: tuple[Statistic, ...] = STATISTICS
    groupings: tuple[Grouping, ...] = GROUPINGS
    comparisons: tuple[Comparison, ...] = COMPARISONS
    replicates: int = 1000
    draws: int = 9999
    seed: int = 0
    gap: float | None = None
    protocols: tuple[str, ...] = ()
    scale: tuple[float, float] = (1.0, 5.0)
    level: float = 0.05
    power: float = 0.8
    version: int = VERSION

    def __post_init__(self) -> None:
        for names, allowed, what in (
            (self.statistics, STATISTICS, "statistic"),
            (self.groupings, GROUPINGS, "grouping"),
        ):
            for name in names:
                if name not in allowed:
                    raise MetricError(f"There is no {what} {name!r}; there are {', '.join(allowed)}.")
        if self.replicates < 0 or self.draws < 1:
            raise MetricError("A plan needs 0 or more replicates and at least 1 draw.")
        if not self.replicates and any(each.method == "bootstrap" for each in self.comparisons):
            raise MetricError("A bootstrap test needs replicates.")
        if not self.scale[0] < self.scale[1]:
            raise MetricError("The scale goes from its low end to its high end, such as 1 to 5.")
        if not self.clear > 0:
            raise MetricError("The gap between two human scores must be above 0.")

    @property
    def clear(self) -> float:
        """The difference between two human scores from which they are clearly apart."""
        return (self.scale[1] - self.scale[0]) / 2 if self.gap is None else self.gap


@dataclass(frozen=True, slots=True, eq=False)
class CorpusRule:
    """How a metric scores many answers together: `sums` of each answer (n, p), parallel to the rows of the
    scores, add up, and `rule` turns a sum (p) into the corpus score, None where there is none."""

    sums: Floats
    rule: Callable[[Floats], float | None]


@dataclass(frozen=True, slots=True, eq=False)
class ReportHeader:
    """What is in the report and does not come from the scores.

    `titles` of metrics in words; `corpus` their score of each system as a whole; `undefined` how many values
    of a metric are missing, by reason; `rules` for protocols that need the corpus score of samples;
    `inferred` says that systems were taken from the order of rows. `models` are those that learned metrics
    scored with. `simulated` says what programs did in place of people, None where they did nothing. `alpha`
    is Krippendorff's before and after noisy workers were removed, and `no_alpha` says
    why there is none.
    """

    title: str = ""
    source: str = ""
    distillery: str = ""
    profile: str = "default"
    models: Sequence[Mapping[str, Any]] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    corpus: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    undefined: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    rules: Mapping[str, CorpusRule] = field(default_factory=dict)
    inferred: bool = False
    alpha: tuple[float | None, float | None] | None = None
    no_alpha: str = "the scores came without a record of how they were filtered"
    warnings: Sequence[str] = ()
    simulated: Mapping[str, Any] | None = None
