"""The base types of an evaluation's report, and the parts that the papers' own protocols fill
(metrics.metaeval.papers).

Without human scores `value` is null with a reason.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

# What the parts of an evaluation's report are made of: figures with their intervals and reasons.

NOT_CALCULATED = "it was not calculated"
#: A whole number is written as one, as `6` and not as `6.0`.
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]


class ReportPart(BaseModel):
    """A part of the report: never changed, and without keys that it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        # Classes are put together with the first report that is read: no start of a process waits for it.
        defer_build=True,
    )


class Figure(ReportPart):
    """A number with its 95 % interval and what it rests on, or null and why there is none."""

    value: Number | None = None
    ci: tuple[Number, Number] | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED

    @property
    def low(self) -> Number | None:
        """The lower end of the interval."""
        return self.ci[0] if self.ci else None

    @property
    def high(self) -> Number | None:
        """The upper end of the interval."""
        return self.ci[1] if self.ci else None


#: What a report that lacks a figure has in its place.
NO_FIGURE = Figure()


class TestedFigure(ReportPart):
    """A correlation with the p-value of its t-test; its interval, where it has one, is written last."""

    value: Number | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED
    p: Number | None = None
    ci: tuple[Number, Number] | None = None

    @property
    def figure(self) -> Figure:
        """The same as a figure."""
        return Figure(value=self.value, ci=self.ci, n=self.n, reason=self.reason)


class MeanFigure(ReportPart):
    """The mean of figures, and of how many."""

    value: Number | None = None
    reason: str = NOT_CALCULATED
    n: int | None = None


class SampledFigure(ReportPart):
    """The mean over samples, and the middle 95 % of them."""

    value: Number | None = None
    middle: tuple[Number, Number] | None = None
    reason: str = NOT_CALCULATED
    n: int | None = None


class GroupMean(ReportPart):
    """Answers on one side of a cut, and the mean of their scores."""

    n: int = 0
    mean: Number | None = None


class LengthBias(ReportPart):
    """How scores go with the distance between the length of an answer and that of its references."""

    cut: Number | None = None
    near: GroupMean = Field(default_factory=GroupMean)
    far: GroupMean = Field(default_factory=GroupMean)
    value: Number | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED
    welch_p: Number | None = None
    permutation_p: Number | None = None
    draws: int | None = None
    length: TestedFigure | None = None
    distance: TestedFigure | None = None


class BothStatistics(ReportPart):
    """Spearman and Pearson of the same scores."""

    spearman: TestedFigure | None = None
    pearson: TestedFigure | None = None

    def figure(self, statistic: Literal["spearman", "pearson"]) -> Figure:
        """The figure of a statistic; one that the report lacks says so."""
        correlation = self.spearman if statistic == "spearman" else self.pearson
        return correlation.figure if correlation else NO_FIGURE


class AnswerCorrelations(ReportPart):
    """ADEM, Table 3: metrics and people, answer by answer."""

    value: None = None
    level: str = ""
    metrics: dict[str, BothStatistics] = {}
    note: str = ""
    reason: str = ""


class SystemPoint(ReportPart):
    """A system's mean by people, and by a metric on the scale of people."""

    system: str
    human: Number | None
    metric: Number | None


class SystemCorrelation(ReportPart):
    """A metric and people over the means of systems."""

    pearson: TestedFigure | None = None
    spearman: TestedFigure | None = None
    points: tuple[SystemPoint, ...] = ()


class SystemCorrelations(ReportPart):
    """ADEM, Table 4: metrics and people, system by system."""

    value: None = None
    level: str = ""
    systems: int | None = None
    metrics: dict[str, SystemCorrelation] = {}
    reason: str = ""


class SystemRemoval(ReportPart):
    """Correlations without a system's answers, and over them alone."""

    system: str
    rest: BothStatistics
    removed: BothStatistics


class MeanStatistics(ReportPart):
    """Means of Spearman and of Pearson."""

    share: Number | None = None
    spearman: MeanFigure | None = None
    pearson: MeanFigure | None = None


class RemovalMeans(ReportPart):
    """Means over the systems that were removed in turn."""

    rest: MeanStatistics = Field(default_factory=MeanStatistics)
    removed: MeanStatistics = Field(default_factory=MeanStatistics)


class MetricRemovals(ReportPart):
    """What one metric's correlations owe to single systems."""

    systems: tuple[SystemRemoval, ...] = ()
    average: RemovalMeans = Field(default_factory=RemovalMeans)
    at_random: MeanStatistics = Field(default_factory=MeanStatistics)


class SystemRemovals(ReportPart):
    """ADEM, Table 5: one system left out at a time."""

    value: None = None
    metrics: dict[str, MetricRemovals] = {}
    note: str = ""
    reason: str = ""


class CascadeCounts(ReportPart):
    """Good answers that overlap metrics miss, and how many of them this metric finds."""

    answers: int
    good: int
    overlap_fails: int
    metric_finds: int
    metric_fails: int
    overlap_finds: int


class Cascade(ReportPart):
    """ADEM, Table 6."""

    value: None = None
    overlap: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    low: Number | None = None
    high: Number | None = None
    metrics: dict[str, CascadeCounts] | None = None
    reason: str = ""


class LengthTable(ReportPart):
    """ADEM, Table 8: length bias of people and metrics."""

    value: None = None
    human: LengthBias | None = None
    metrics: dict[str, LengthBias] = {}
    reason: str = ""


class CurvePoint(ReportPart):
    """Correlations with less data: a share of the questions, or so many ratings per answer."""

    share: Number | None = None
    questions: int | None = None
    ratings: int | None = None
    answers: int | None = None
    pearson: SampledFigure | None = None
    spearman: SampledFigure | None = None


class MissingPart(ReportPart):
    """Why a protocol lacks a part."""

    value: None = None
    reason: str


class LearningCurve(ReportPart):
    """ADEM, Table 14."""

    value: None = None
    times: int | None = None
    note: str = ""
    questions: dict[str, tuple[CurvePoint, ...]] = {}
    ratings: MissingPart | dict[str, tuple[CurvePoint, ...]] = {}
    reason: str = ""


class PairMatch(ReportPart):
    """Pairs of a metric that match people, as KPQA counts them."""

    value: Number | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED
    gap: Number | None = None
    pairs: int | None = None
    match: int | None = None
    metric_ties: int | None = None
    percent: Number | None = None


class PairMatches(ReportPart):
    """KPQA, Table 7."""

    value: None = None
    gap: Number | None = None
    metrics: dict[str, PairMatch] = {}
    reason: str = ""


class ResampledScores(ReportPart):
    """Yang et al. 2018, Table 3. By metric: `rule`, and a figure for each type of question and overall."""

    value: None = None
    times: int | None = None
    questions: int | None = None
    metrics: dict[str, dict[str, Figure | Literal["corpus", "mean"]]] = {}
    note: str = ""
    reason: str = ""


class PairedShare(ReportPart):
    """The share of samples in which an adapted metric is better than the plain one, and p of that."""

    better: Number
    p: Number
    significant: bool


class PairedTest(ReportPart):
    """An adapted and a plain metric over some answers; drawn are answers, or questions with all of theirs."""

    value: None = None
    reason: str = ""
    n: int = 0
    adapted: Number | None = None
    plain: Number | None = None
    answers: PairedShare | None = None
    questions: PairedShare | None = None


class PairedTests(ReportPart):
    """The tests of an adapted metric against the plain one, by type of question and overall."""

    against: str
    tests: dict[str, PairedTest] = {}


class PairedBootstrap(ReportPart):
    """Yang et al. 2018, 4.2: Koehn's paired bootstrap."""

    value: None = None
    times: int | None = None
    metrics: dict[str, PairedTests] | None = None
    reason: str = ""
    note: str = ""


class SweptPoint(ReportPart):
    """A correlation at one weight of a bonus."""

    x: Number
    value: Number | None = None
    ci: tuple[Number, Number] | None = None
    n: int | None = None
    reason: str = NOT_CALCULATED

    @property
    def figure(self) -> Figure:
        """The same as a figure."""
        return Figure(value=self.value, ci=self.ci, n=self.n, reason=self.reason)


class SweptWeight(ReportPart):
    """Yang et al. 2018, Figures 1 and 2: by metric, the weights left alone, and a curve for each type."""

    weight: str
    statistic: str = "pearson"
    fixed: dict[str, dict[str, Number]] = {}
    curves: dict[str, dict[str, tuple[SweptPoint, ...]]] = {}
    note: str = ""


class Protocols(ReportPart):
    """The protocols that were asked for."""

    adem_table14: LearningCurve | None = Field(default=None, alias="adem-table14")
    adem_table3: AnswerCorrelations | None = Field(default=None, alias="adem-table3")
    adem_table4: SystemCorrelations | None = Field(default=None, alias="adem-table4")
    adem_table5: SystemRemovals | None = Field(default=None, alias="adem-table5")
    adem_table6: Cascade | None = Field(default=None, alias="adem-table6")
    kpqa_table7: PairMatches | None = Field(default=None, alias="kpqa-table7")
    resample_overall: ResampledScores | None = None
    yang_bootstrap: PairedBootstrap | None = Field(default=None, alias="yang-bootstrap")
    adem_table8: LengthTable | None = Field(default=None, alias="adem-table8")
    sweep_alpha: SweptWeight | None = Field(default=None, alias="sweep-alpha")
    sweep_beta: SweptWeight | None = Field(default=None, alias="sweep-beta")
