"""The report of an evaluation as types: what `report.json` holds, how older ones are read, what leads in it.

`metrics.metaeval.report.evaluate` works a report out as plain JSON and knows nothing of these types;
`build_report` checks that at the one border, and pages, JSON, CSV and LaTeX read attributes from there on.
Keys are written in the order of the fields, and only those that were set, so a report is read and written
again byte for byte.

To add a part:

1. `metrics/metaeval/report.py` puts its plain result under a key of its own.
2. A class here says what is in it, or in `protocols` where it is a paper's own: a `ReportPart` whose fields
   stand in the order of the keys. A figure that may be missing is a `Figure` (null with a reason); a key that
   is not always written has a default.
3. `Report` gets a field of the part's name, in the place where its key is written, with None or an empty
   value as default: reports that are stored already do not have it.
4. `python -m tests.contracts.write` brings `docs/report.schema.json` and the snapshots up to date.

A change that older programs would misread (a key that means something else, or is gone) is a new `VERSION`
and a step in `UPGRADES`. A new part is neither.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from unicodedata import category

from pydantic import (
    Field,
    JsonValue,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidatorFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from core.files.reading import reading_lines
from evaluations.errors import EvaluationError
from evaluations.report.protocols import (
    NO_FIGURE,
    NOT_CALCULATED,
    Figure,
    LengthBias,
    Number,
    Protocols,
    ReportPart,
    SampledFigure,
)

#: The version of the report's form, under `report` in its JSON.
VERSION: Final = 1
#: What is less likely under chance than this counts as a difference, after Holm.
LEVEL = 0.05

# What is known of the data and of the way the report was made.


class Counts(ReportPart):
    """How much was evaluated."""

    answers: int = 0
    questions: int = 0
    systems: int = 0
    scored: int = 0
    ratings: int = 0


class Simulation(ReportPart):
    """What programs did in place of people: a sentence, and rows by table."""

    what: str
    rows: dict[str, dict[str, JsonValue]] = {}


class ReadRows(ReportPart):
    """What became of the rows of a file: read = used + merged + repeats + refused."""

    read: int
    used: int
    merged: int
    repeats: int
    refused: int


class ReadAs(ReportPart):
    """What a file was read as (`core.files.reading`)."""

    encoding: str | None
    separator: str | None
    sheet: str | None
    header_row: int | None
    columns: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    rows: ReadRows | None


class ModelReference(ReportPart):
    """A model or encoder that learned metrics scored with."""

    kind: str = ""
    name: str = ""
    digest: str = ""
    signature: str = ""
    card: dict[str, JsonValue] = {}
    layer: int | None = None
    idf: bool | None = None


class Alpha(ReportPart):
    """Krippendorff's alpha of the human scores, before and after noisy workers were removed."""

    before: Number | None = None
    after: Number | None = None
    reason: str = ""


class QuestionType(ReportPart):
    """A type of question, and how many answers there are to questions of it."""

    name: str
    n: int


# What the report says of a metric or a floor.


class HumanScores(ReportPart):
    """The human scores by themselves."""

    n: int = 0
    mean: Number | None = None
    sd: Number | None = None
    length_bias: LengthBias | None = None


class MostCommonScore(ReportPart):
    """The score that most answers get, and their share."""

    value: Number | None = None
    share: Number | None = None
    reason: str = ""


class Correlations(ReportPart):
    """A correlation with people, answers put together in each of four ways."""

    overall: Figure | None = Field(default=None, alias="global")
    item: Figure | None = None
    by_system: Figure | None = None
    system: Figure | None = None

    def of(self, grouping: str) -> Figure:
        """The figure under the name that the JSON has for the grouping."""
        figures = {
            "global": self.overall,
            "item": self.item,
            "by_system": self.by_system,
            "system": self.system,
        }
        return figures.get(grouping) or NO_FIGURE


class PairAccuracy(Figure):
    """The share of pairs in the right order, and how many the metric left tied."""

    metric_ties: int | None = None


class CalibratedAccuracy(Figure):
    """Accuracy with ties under the best epsilon, and with one that was chosen on the other half."""

    epsilon: Number | None = None
    held_out: Number | None = None
    held_out_reason: str = ""


class RankMatch(Figure):
    """The share of pairs far apart that match people."""

    gap: Number | None = None
    pairs: int | None = None
    match: int | None = None
    metric_ties: int | None = None


class TypeFigures(ReportPart):
    """A metric's agreement with people within one type of question."""

    n: int | None = None
    pearson: Figure | None = None
    spearman: Figure | None = None
    pair_acc: PairAccuracy | None = None


class MetricEntry(ReportPart):
    """How well a metric, or a floor, agrees with people."""

    title: str = ""
    signature: str = ""
    n: int | None = None
    undefined: dict[str, int] = {}
    corpus: dict[str, Number | None] = {}
    most_common: MostCommonScore = Field(default_factory=MostCommonScore)
    pearson: Correlations | None = None
    spearman: Correlations | None = None
    kendall: Correlations | None = None
    pair_acc: PairAccuracy | None = None
    acc_eq: Figure | None = None
    acc_eq_cal: CalibratedAccuracy | None = None
    rank_match: RankMatch | None = None
    pa: Figure | None = None
    spa: Figure | None = None
    by_type: dict[str, TypeFigures] = {}
    length_bias: LengthBias | None = None
    _keys: tuple[str, ...] = PrivateAttr(())

    def correlations(self, statistic: str) -> Correlations | None:
        """The correlations of one statistic, where the report has it."""
        return {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}.get(statistic)

    def figure(self, statistic: str, grouping: str = "") -> Figure:
        """Any figure by its name in the JSON; one that the report lacks says so."""
        correlations = self.correlations(statistic)
        if correlations is not None:
            return correlations.of(grouping)
        pairs: dict[str, Figure | None] = {
            "pair_acc": self.pair_acc,
            "acc_eq": self.acc_eq,
            "acc_eq_cal": self.acc_eq_cal,
            "rank_match": self.rank_match,
            "pa": self.pa,
            "spa": self.spa,
        }
        return pairs.get(statistic) or NO_FIGURE

    # Statistics stand in the order in which they were asked for (`--statistics kendall,pearson`).

    @model_validator(mode="wrap")
    @classmethod
    def _remember_keys(cls, fields: Any, handler: ValidatorFunctionWrapHandler) -> "MetricEntry":
        entry: MetricEntry = handler(fields)
        if isinstance(fields, Mapping):
            entry._keys = tuple(fields)
        return entry

    @model_serializer(mode="wrap")
    def _in_order(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {key: fields[key] for key in (*self._keys, *fields) if key in fields}


class SystemScores(ReportPart):
    """What a metric says of one system's answers."""

    mean: Number | None = None
    corpus: Number | None = None
    pearson: Figure | None = None
    spearman: Figure | None = None


class SystemEntry(ReportPart):
    """A system: what people and metrics think of its answers."""

    name: str = ""
    inferred: bool = False
    n: int | None = None
    human: Figure = NO_FIGURE
    metrics: dict[str, SystemScores] = {}


class MetricTest(ReportPart):
    """Is metric `a` better than `b`? `delta` is the difference of their figures; `mdd` could just be seen."""

    a: str
    b: str
    statistic: str = ""
    grouping: str = ""
    method: str = ""
    delta: Number | None = None
    p: Number | None = None
    p_holm: Number | None = None
    n: int | None = None
    reason: str = ""
    mdd: Number | None = None
    mdd_reason: str = ""

    @property
    def counts(self) -> Number | None:
        """The probability that decides: after Holm where that was done."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def better(self) -> str:
        """The one that agrees significantly better, or nothing."""
        if self.counts is None or self.counts >= LEVEL or not self.delta:
            return ""
        return self.a if self.delta > 0 else self.b


# How well people agree with people.


class RaterFigure(Figure):
    """A rater against the mean of the others, over so many raters."""

    raters: int | None = None


class HalvesFigure(Figure):
    """Two halves of the ratings against each other, stepped up from `half`."""

    half: Number | None = None


class CeilingFigures(ReportPart):
    """One way to say how well people agree with people, by statistic."""

    pearson: Figure | None = None
    spearman: Figure | None = None
    kendall: Figure | None = None

    def figure(self, statistic: str) -> Figure:
        """The figure of a statistic over all answers."""
        figures = {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}
        return figures.get(statistic) or NO_FIGURE


class LeaveOneOut(CeilingFigures):
    """Each rater against the mean of the others."""

    pearson: RaterFigure | None = None
    spearman: RaterFigure | None = None
    kendall: RaterFigure | None = None


class SplitHalf(CeilingFigures):
    """Random halves of the ratings against each other."""

    pearson: HalvesFigure | None = None
    spearman: HalvesFigure | None = None
    kendall: HalvesFigure | None = None
    highest: Figure | None = None
    splits: int | None = None
    ratings_per_answer: Number | None = None


class Ceiling(ReportPart):
    """How well people agree with people: no metric can be asked for much more."""

    leave_one_out: LeaveOneOut = Field(default_factory=LeaveOneOut)
    split_half: SplitHalf = Field(default_factory=SplitHalf)


# What is made on request from the texts of the answers.


class ReferencePoint(ReportPart):
    """The correlations of a metric with so many references of each question."""

    references: int
    pearson: SampledFigure = Field(default_factory=SampledFigure)
    spearman: SampledFigure = Field(default_factory=SampledFigure)


class ReferenceTrade(ReportPart):
    """For the same number of references in all: questions with so many each, and the correlation expected."""

    references: int
    questions: int
    expected: Number
    ci: tuple[Number, Number] | None = None


class ReferencePlan(ReportPart):
    """What a curve means for another data set: a model of it (`metrics.metaeval.ceiling`)."""

    limit: Number | None = None
    reliability: Number | None = None
    error: Number | None = None
    enough: int | None = None
    best: int | None = None
    trade: tuple[ReferenceTrade, ...] = ()
    reason: str = ""


class ReferenceMetric(ReportPart):
    """The curve of a metric."""

    points: tuple[ReferencePoint, ...] = ()
    plan: ReferencePlan = Field(default_factory=ReferencePlan)


class ReferenceCurve(ReportPart):
    """Correlation by the number of references; null with a reason where no reference can be left out."""

    value: None = None
    times: int | None = None
    most: int | None = None
    answers: int | None = None
    questions: int | None = None
    left_out: int | None = None
    metrics: dict[str, ReferenceMetric] = {}
    reason: str = ""


class DifferentAnswer(ReportPart):
    """An answer with its ranks for people and for a metric; `row` counts the rows of the table from 1."""

    row: int
    id: str = ""
    question: str = ""
    system: str = ""
    type: str = ""
    answer: str = ""
    references: tuple[str, ...] = ()
    human: Number
    metric: Number
    human_rank: Number
    metric_rank: Number
    difference: Number


class MetricDifferences(ReportPart):
    """The answers whose rank differs most, the largest difference first, and how many of each type."""

    answers: tuple[DifferentAnswer, ...] = ()
    types: dict[str, int] = {}


class Differences(ReportPart):
    """Where metrics and people differ most (KPQA, 5.4)."""

    most: int
    metrics: dict[str, MetricDifferences] = {}


class Report(ReportPart):
    """The report of an evaluation: which metrics agree with people, and how sure that is."""

    report: Literal[1] = VERSION
    title: str = ""
    source: str = ""
    simulated: Simulation | None = None
    distillery: str = ""
    versions: dict[str, str] = {}
    profile: str = ""
    models: tuple[ModelReference, ...] = ()
    seed: int | None = None
    replicates: int | None = None
    draws: int | None = None
    scale: tuple[Number, Number] | None = None
    gap: Number | None = None
    signature: str = ""
    n: Counts = Field(default_factory=Counts)
    human: HumanScores = Field(default_factory=HumanScores)
    metrics: dict[str, MetricEntry] = {}
    tests: tuple[MetricTest, ...] = ()
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    ceiling: Ceiling = Field(default_factory=Ceiling)
    floors: dict[str, MetricEntry] = {}
    systems: tuple[SystemEntry, ...] = ()
    types: tuple[QuestionType, ...] = ()
    alpha: Alpha = Field(default_factory=Alpha)
    protocols: Protocols = Field(default_factory=Protocols)
    warnings: tuple[str, ...] = ()
    reference_curve: ReferenceCurve | None = None
    differences: Differences | None = None
    read_as: ReadAs | None = None

    @property
    def reading(self) -> list[str]:
        """What a file was read as, in sentences."""
        return reading_lines(self.read_as.model_dump(mode="json")) if self.read_as else []

    def as_json(self) -> dict[str, Any]:
        """What `report.json` holds."""
        return self.model_dump(mode="json", exclude_unset=True)


#: By the version of a stored report: the step that makes one of the next version of it.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def build_report(result: Mapping[str, Any]) -> Report:
    """The report of what a meta-evaluation worked out; pydantic's ValidationError where the two disagree."""
    return Report.model_validate(result)


def read_report(stored: Mapping[str, Any]) -> Report:
    """A report from the database or a file, of this version of its form or an older one.

    Parts that were added later are empty, and parts that a later program added are left out. EvaluationError
    for a version that this program does not know.
    """
    report = dict(stored)
    version = report.get("report", VERSION)
    while version in UPGRADES:
        report = UPGRADES[version](report)
        version = report["report"]
    if version != VERSION:
        raise EvaluationError(
            f"The report has version {version}; this version of Distillery reads reports up to {VERSION}."
        )
    return Report.model_validate(report, extra="ignore")


#: Correlations, and how answers are put together for them, in the order in which people read them.
STATISTICS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
GROUPINGS = {"global": "global", "item": "by question", "by_system": "by system", "system": "system means"}
_OTHERS = {"pair_acc": "pairs right", "acc_eq": "acc-eq", "acc_eq_cal": "acc-eq, calibrated"}
#: Controls, halves of characters, what is no character; and what turns the direction of writing round.
_HIDDEN = ("Cc", "Cs", "Cn")
_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_NO_MEAN = "the metric has no score for any answer of this system"


@dataclass(frozen=True, slots=True)
class Lead:
    """The figure that metrics are ordered by; `grouping` is empty where there is none."""

    statistic: str
    grouping: str

    @property
    def title(self) -> str:
        """As it is in a sentence."""
        return name_statistic(self.statistic, self.grouping)


def name_statistic(statistic: str, grouping: str) -> str:
    """A figure's name in words: `Pearson, global`."""
    label = STATISTICS.get(statistic) or _OTHERS.get(statistic) or statistic.replace("_", " ")
    return ", ".join(filter(None, (label, GROUPINGS.get(grouping, grouping))))


def title(report: Report, name: str) -> str:
    """What people call a metric or a sentinel."""
    entry = report.metrics.get(name) or report.floors.get(name)
    return visible((entry.title if entry else "") or name)


def visible(text: str) -> str:
    """The text with a mark in place of each character that cannot be shown or turns the writing round."""
    return "".join("\ufffd" if _is_hidden(each) else each for each in text)


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and (category(character) in _HIDDEN or character in _TURNS)


def clean_texts(report: Report) -> Report:
    """The same report, of which every text and name is visible."""
    return read_report(cleaned(report.as_json()))


def cleaned(node: Any) -> Any:
    """The same JSON, of which every text and name is visible."""
    if isinstance(node, str):
        return visible(node)
    if isinstance(node, Mapping):
        return {visible(str(name)): cleaned(each) for name, each in node.items()}
    return [cleaned(each) for each in node] if isinstance(node, list) else node


def lead(report: Report) -> Lead:
    """The first figure in reading order that any metric has; Pearson, global where none has one."""
    every = report.metrics.values()
    for statistic in STATISTICS:
        for grouping in GROUPINGS:
            if any(each.figure(statistic, grouping).value is not None for each in every):
                return Lead(statistic, grouping)
    for statistic in ("pair_acc", "acc_eq"):
        if any(each.figure(statistic).value is not None for each in every):
            return Lead(statistic, "")
    return Lead("pearson", "global")


def of_lead(entry: MetricEntry, by: Lead) -> Figure:
    """A metric's figure that metrics are ordered by."""
    return entry.figure(by.statistic, by.grouping)


def best_first(entries: Mapping[str, MetricEntry], by: Lead) -> list[str]:
    """Names, the one that agrees most with people first, those without a figure last."""

    def place(name: str) -> tuple[bool, float, str]:
        lead_value = of_lead(entries[name], by).value
        return lead_value is None, -(lead_value or 0.0), name

    return sorted(entries, key=place)


def mean(system: SystemEntry, metric: str) -> Figure:
    """A metric's mean over a system's answers."""
    return _score(system, metric, "mean", _NO_MEAN)


def corpus(system: SystemEntry, metric: str) -> Figure:
    """A metric's score of a system as a whole."""
    return _score(system, metric, "corpus", NOT_CALCULATED)


def _score(system: SystemEntry, metric: str, of: Literal["mean", "corpus"], reason: str) -> Figure:
    scores = system.metrics.get(metric)
    number = None if scores is None else scores.mean if of == "mean" else scores.corpus
    return Figure(value=number) if number is not None else Figure(reason=reason)


def scale(report: Report) -> tuple[float, float] | None:
    """The ends of the scale that people used."""
    return report.scale if report.scale and report.scale[0] < report.scale[1] else None


def ceilings(report: Report) -> list[tuple[str, Figure]]:
    """How far people agree with one another, in the terms of the lead: what it is called, and the figure."""
    statistic = lead(report).statistic
    return [
        ("leave one rater out", report.ceiling.leave_one_out.figure(statistic)),
        ("split half", report.ceiling.split_half.figure(statistic)),
    ]


#: Figures of a metric: what the report calls them, and how people do.
GROUPING_WORDS = {
    "global": "over all answers",
    "item": "within questions",
    "by_system": "within systems",
    "system": "of system means",
}
PAIRS = {
    "pair_acc": "Pairs in the right order",
    "acc_eq": "Pairs with ties",
    "acc_eq_cal": "Pairs with ties, calibrated",
    "rank_match": "Pairs far apart",
    "pa": "System pairs",
    "spa": "Soft system pairs",
}
#: Every figure that can be compared, by its key in addresses.
FIGURES = {
    **{
        f"{statistic}.{grouping}": f"{words}, {how}"
        for statistic, words in STATISTICS.items()
        for grouping, how in GROUPING_WORDS.items()
    },
    **PAIRS,
}


def figure(entry: MetricEntry | None, key: str) -> Figure:
    """A figure of a metric by its key, such as `pearson.global` or `pair_acc`."""
    if entry is None:
        return Figure(reason="it is not in the report")
    statistic, _, grouping = key.partition(".")
    return entry.figure(statistic, grouping)


def best_of(report: Report) -> tuple[str, float | None]:
    """The metric with the highest global Pearson correlation, the first by name among equal ones."""
    candidates = [
        (value, name)
        for name, entry in report.metrics.items()
        if (value := entry.figure("pearson", "global").value) is not None
    ]
    if not candidates:
        return "", None
    value, name = min(candidates, key=lambda each: (-each[0], each[1]))
    return name[:100], value
