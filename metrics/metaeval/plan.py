"""What is asked of a meta-evaluation, and what is known of the data beside the scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrics.errors import MetricError
from metrics.metaeval.comparisons import METHODS, AnyStatistic, Method, check
from metrics.metaeval.correlation import STATISTICS, Statistic
from metrics.metaeval.data import GROUPINGS, Floats, Grouping

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


#: QA has few systems, so whole questions are swapped; Williams' test stands beside it as a quick look.
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
        for given, known, what in (
            (self.statistics, STATISTICS, "statistic"),
            (self.groupings, GROUPINGS, "grouping"),
        ):
            for name in given:
                if name not in known:
                    raise MetricError(f"There is no {what} {name!r}; there are {', '.join(known)}.")
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
    """What stands in the report and does not come from the scores.

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
