"""Mitra et al. 2016, A Proposal for Evaluating Answer Distillation from Web Data (000).

The proposal has two tables and one picture. What it announces or asks for is here as well: correlation
with people, other importance functions, and how many references a query needs (section 5).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np

from distillery_learned.papers.report import (
    Paper,
    PaperData,
    PaperItem,
    PaperRow,
    PaperSettings,
    SourceScores,
    compared,
    not_made,
    number,
    score_source,
)
from evaluations.answer_table import Row, answers_of
from evaluations.errors import EvaluationError
from evaluations.table_evaluation import CURVE_STATISTICS, reference_curve
from metrics.catalogue import metric
from metrics.metaeval.bootstrap import intervals
from metrics.metaeval.correlation import Which, related
from metrics.scoring import score

PROFILE = "distillery-2016"
COLUMNS = {"bleu-4": "BLEU", "meteor": "METEOR", "pa-bleu-4": "pa-BLEU", "pa-meteor": "pa-METEOR"}
#: Candidates that stand in Table 2.
CANDIDATES = 5
#: Two digits are printed.
TOLERANCE = 0.005 + 1e-9
TABLE1: list[PaperRow] = [
    {"of": "references", "value": 20},
    {"of": "words of a reference, mean", "value": 21.15},
    {"of": "words of a reference, fewest", "value": 9},
    {"of": "words of a reference, most", "value": 37},
]
TABLE2: list[PaperRow] = [
    {"#": at, **dict(zip(COLUMNS.values(), values, strict=True))}
    for at, values in enumerate(
        (
            (0.50, 0.87, 0.17, 0.56),
            (0.63, 0.74, 0.02, 0.44),
            (0.36, 0.97, 0.04, 0.49),
            (0.85, 0.96, 0.01, 0.25),
            (1.00, 0.59, 0.03, 0.33),
        ),
        1,
    )
]
#: Digests of the candidates of Table 2 with the references of Table 1.
PRINTED_ANSWERS = (
    "97c9d720d09007a7",
    "d6911f01d2136b31",
    "8a1726f93cc309c0",
    "281d859c8d40f249",
    "b7838802d3f83419",
)
#: Why Table 2 cannot come out whole even from its own answers.
MISPRINTS = (
    "no reading of the paper gives its BLEU of candidates 1 and 2, and its METEOR is not that of equation 9: "
    ".74 and .97 are above the highest that a mapping of one word to one allows (.70 and .714)"
)
ITEMS = {
    "Figure 1": "A direct answer on a page of search results",
    "Table 1": "A query with its editorial answers",
    "Table 2": "Metrics on five candidate answers",
    "Section 4, other importance functions": "pa-BLEU and pa-METEOR with other choices of Imp",
    "Section 5, correlation": "Correlation of the metrics with people",
    "Section 5, references": "Correlation by the number of references of a query",
}
_STATISTICS: tuple[Which, ...] = ("pearson", "spearman")
#: Other importance functions, as options of the metrics' names.
OTHERS = ("imp=uniform", "imp=nearest", "imp=medoid", "self=no")


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """Both tables from the query with the most references; what the paper announces from judged answers."""
    table = _best_query(data)
    scored_sources = [
        score_source(data, source, settings, profile=PROFILE, metrics=tuple(COLUMNS))
        for source in data.sources
        if source.name in table.scored
    ]
    return [
        not_made("Figure 1", "it shows a page of a search engine, and no figure that could be calculated"),
        compared("Table 1", table.facts(), TABLE1, keys=("of",), because=data.why_other),
        compared(
            "Table 2",
            table.rows(dict(COLUMNS), places=2),
            TABLE2,
            keys=("#",),
            because=MISPRINTS if table.is_printed else data.why_other,
            tolerance=TOLERANCE,
        ),
        compared(
            "Section 4, other importance functions",
            table.rows(
                {
                    f"pa-{name}({each})": f"pa-{name.upper()}, {each}"
                    for name in ("bleu-4", "meteor")
                    for each in OTHERS
                }
            ),
            [],
            keys=("#",),
            because="the paper says that there are many choices and prints none but the sum",
        ),
        _correlations(scored_sources, settings, data),
        _by_references(data, scored_sources, settings),
    ]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """Answers to the query with the most references, and the names of the sources with human scores."""

    answers: list[Row]
    has: frozenset[str]
    scored: frozenset[str]

    @property
    def references(self) -> list[str]:
        """All texts that the answers are scored against, the same for each answer."""
        return self.answers[0].references

    @property
    def is_printed(self) -> bool:
        """Whether these are the answers of Table 2 itself."""
        return [_digest(row) for row in self.answers] == list(PRINTED_ANSWERS)

    def facts(self) -> list[PaperRow]:
        """Table 1 in figures."""
        word_counts = [len(text.split()) for text in self.references]
        return [
            {"of": "references", "value": len(word_counts)},
            {"of": "words of a reference, mean", "value": number(float(np.mean(word_counts)))},
            {"of": "words of a reference, fewest", "value": min(word_counts)},
            {"of": "words of a reference, most", "value": max(word_counts)},
        ]

    def rows(self, columns: Mapping[str, str], places: int | None = None) -> list[PaperRow]:
        """A row for each candidate with its values under metrics, by the names of columns."""
        metrics = [metric(name, PROFILE) for name in columns]
        values = score(answers_of(self.has - {"question"}, self.answers), metrics).values
        rows: list[PaperRow] = [{"#": at} for at, _row in enumerate(self.answers, 1)]
        for each, column in zip(metrics, columns.values(), strict=True):
            for row, value in zip(rows, values[each.name].tolist(), strict=True):
                row[column] = number(value, places)
        return rows


def _digest(row: Row) -> str:
    text = "\n".join([row.answer, *row.references])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _best_query(data: PaperData) -> QueryTable:
    """The first query with the most references of all sources; EvaluationError where none has any."""
    most, answers, has = 0, list[Row](), frozenset[str]()
    with_scores = set()
    for source in data.sources:
        with data.opened(source, scored=None) as table:
            sizes: Counter[str] = Counter()
            for row in table.rows():
                if not math.isnan(row.human):
                    with_scores.add(source.name)
                key = row.question_id or row.question
                sizes[key] = max(sizes[key], len(row.references))
            key, size = max(sizes.items(), key=lambda each: each[1], default=("", 0))
            if size > most:
                rows = (row for row in table.rows() if (row.question_id or row.question) == key)
                most, answers, has = size, list(islice(rows, CANDIDATES)), table.has
    if not most:
        raise EvaluationError(
            "No answer has a reference. Give a table with reference1, reference2 … or a release with answers "
            "of editors (docs/evaluate.md)."
        )
    return QueryTable(answers, has, frozenset(with_scores))


def _correlations(
    scored_sources: Sequence[SourceScores], settings: PaperSettings, data: PaperData
) -> PaperItem:
    name = "Section 5, correlation"
    if not scored_sources:
        return not_made(name, "no answer has a human score")
    rows: list[PaperRow] = []
    for each in scored_sources:
        reach = intervals(each.answers, replicates=settings.replicates, seed=settings.seed)
        for own, column in COLUMNS.items():
            row: PaperRow = {"data": each.source.name, "metric": column}
            for statistic in _STATISTICS:
                figure = related(each.answers.human, each.answers.metrics[own], statistic).figure
                row[statistic] = number(figure.value)
                ends = reach.get((own, statistic, "global"), (None, None))
                row[f"{statistic} low"], row[f"{statistic} high"] = ends
                row["answers"] = figure.n
            rows.append(row)
    return compared(
        name, rows, [], keys=("metric",), because="the paper announces the study and prints no figure of it"
    )


def _by_references(
    data: PaperData, scored_sources: Sequence[SourceScores], settings: PaperSettings
) -> PaperItem:
    """The curve of each source with several references, and what it says of the trade-off."""
    name = "Section 5, references"
    rows: list[PaperRow] = []
    reasons = [] if scored_sources else ["no answer has a human score"]
    for each in scored_sources:
        with data.opened(each.source) as table:
            curve = reference_curve(
                table, each.gathered, each.choice, seed=settings.seed, times=settings.samples
            )
        if curve.get("reason"):
            reasons.append(f"in {each.source.name} {curve['reason']}")
            continue
        for own, entry in curve["metrics"].items():
            for point in entry["points"]:
                row: PaperRow = {
                    "data": each.source.name,
                    "metric": COLUMNS[own],
                    "references": point["references"],
                }
                for statistic in CURVE_STATISTICS:
                    figure = point[statistic]
                    low, high = figure["middle"] or (None, None)
                    row |= {statistic: figure["value"], f"{statistic} low": low, f"{statistic} high": high}
                row |= {"enough": entry["plan"]["enough"], "best for as much work": entry["plan"].get("best")}
                rows.append(row)
    if not rows:
        return not_made(name, "; ".join(reasons))
    return compared(
        name, rows, [], keys=("metric",), because="the paper asks the question and prints no figure for it"
    )


PAPER = Paper(
    "000",
    "Mitra et al. (2016), A proposal for evaluating answer distillation from web data",
    needs=(
        "A release, or a table with question, answer, reference1, reference2 … and scores for correlations. "
        "Several may be given."
    ),
    items=ITEMS,
    sample=("papers/000-table2.csv", "papers/000.csv"),
    build=build_items,
    several=True,
)
