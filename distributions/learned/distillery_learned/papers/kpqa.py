"""Lee et al. 2021, KPQA: A Metric for Generative Question Answering Using Keyphrase Weights (002).

Each data set stands for one of the paper's: `MS-MARCO=answers.csv` puts it beside the column of that name.
Learned metrics need models: several of one kind are trainings with other seeds, whose mean and
standard deviation stand in the rows (the paper repeats training five times, C.1).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from distillery_learned.metrics.word_weights import weigher
from distillery_learned.papers.report import (
    PRINTED,
    Paper,
    PaperData,
    PaperItem,
    PaperModels,
    PaperRow,
    PaperSettings,
    PaperSource,
    SourceScores,
    compared,
    not_made,
    number,
    score_source,
)
from evaluations.answer_table import AnswerTable, answers_of
from evaluations.choices import NO_MODELS, ModelOptions
from evaluations.model_shelf import cache, models_for
from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.filters import respond
from metrics.agreement.recipes import KPQA_2021
from metrics.agreement.scale import Scale
from metrics.catalogue import lacking_program, metric
from metrics.metaeval.breakdown import MOST, largest_differences
from metrics.metaeval.correlation import related
from metrics.metaeval.data import Floats, ScoredAnswers
from metrics.metaeval.pairwise import rank_match
from metrics.model_folders import choice
from metrics.scoring import score

PROFILE = "kpqa-2021"
NGRAMS = {"bleu-1": "BLEU-1", "bleu-4": "BLEU-4", "rouge-l": "ROUGE-L", "meteor": "METEOR", "cider": "CIDEr"}
LEARNED = {"bleu-1-kpqa-repo": "BLEU-1-KPQA", "rouge-l-kpqa-repo": "ROUGE-L-KPQA"}
BERT, BERT_KPQA = "BERTScore", "BERTScore-KPQA"
#: Metrics in the order of Table 3, and those of the other tables.
METRICS = (*NGRAMS.values(), BERT, *LEARNED.values(), BERT_KPQA)
_FEWER = ("BLEU-1", "ROUGE-L", BERT, *LEARNED.values(), BERT_KPQA)
_BETWEEN = re.compile(r"[.!?][\"')\]]?\s+\S")
_TABLE3 = {
    "MS-MARCO": "349 329 193 244 309 301 423 413 275 278 463 456 675 634 698 642 673 655",
    "AVSD": "580 562 499 532 585 566 578 617 567 600 658 650 719 695 712 702 729 712",
    "NarrativeQA": "634 643 258 570 707 708 735 755 648 710 785 767 716 699 774 750 782 770",
    "SemEval": "359 452 -35 439 566 580 543 645 429 595 630 602 362 462 742 687 741 676",
}
_TABLE9 = {
    ("MS-MARCO", "UniLM"): "369 337 173 224 317 289 431 408 261 256 469 445 729 678 732 667 696 659",
    ("MS-MARCO", "MHPGM"): "331 312 227 260 305 307 425 422 292 289 466 472 612 573 667 624 659 655",
    ("AVSD", "MTN"): "497 516 441 492 510 528 521 596 509 559 592 615 687 681 681 682 712 703",
    ("AVSD", "AMF"): "655 580 579 553 648 575 633 608 627 602 701 645 736 673 731 700 738 695",
}


def _printed(metrics: Iterable[str], figures: str, **keys: str) -> list[PaperRow]:
    values = [int(each) / 1000 for each in figures.split()]
    return [
        {**keys, "metric": name, "r": r, "rho": rho}
        for name, r, rho in zip(metrics, values[::2], values[1::2], strict=True)
    ]


TABLE1: list[PaperRow] = [
    {"data": "MS-MARCO", "answer length": 16.6, "samples": 183_000},
    {"data": "AVSD", "answer length": 9.4, "samples": 118_000},
    {"data": "NarrativeQA", "answer length": 4.7, "samples": 47_000},
    {"data": "SemEval", "answer length": 2.5, "samples": 14_000},
]
TABLE2: list[PaperRow] = [
    {"data": "MS-MARCO", "alpha after z": 0.817, "annotators": 7.08},
    {"data": "AVSD", "alpha after z": 0.725, "annotators": 6.88},
]
TABLE3 = [row for name, figures in _TABLE3.items() for row in _printed(METRICS, figures, data=name)]
TABLE4 = [
    row
    for variant, figures in (
        ("KPQA", "675 634 698 642 673 655"),
        ("KPQA without MS-MARCO", "573 529 598 564 602 595"),
        ("KP (without question)", "629 589 671 640 657 649"),
    )
    for row in _printed((*LEARNED.values(), BERT_KPQA), figures, data="MS-MARCO", variant=variant)
]
TABLE6 = _printed(_FEWER, "363 364 584 607 712 728 529 540 642 648 774 786", data="MS-MARCO")
TABLE7: list[PaperRow] = [
    {"data": name, "metric": metric, "percent": percent}
    for name, figures in (
        ("MS-MARCO", (63.44, 61.29, 67.74, 74.19, 76.34, 76.34)),
        ("AVSD", (72.02, 70.98, 78.24, 81.35, 77.20, 81.35)),
    )
    for metric, percent in zip(_FEWER, figures, strict=True)
]
TABLE8: list[PaperRow] = [
    {"data": data, "system": system, "BLEU-1": bleu, "ROUGE-L": rouge}
    for data, system, bleu, rouge in (
        ("MS-MARCO", "UniLM", 60.2, 63.1),
        ("MS-MARCO", "MHPGM", 43.7, 53.9),
        ("AVSD", "MTN", 67.3, 52.6),
        ("AVSD", "AMF", 62.6, 48.7),
    )
]
TABLE9 = [
    row
    for (data, system), figures in _TABLE9.items()
    for row in _printed(METRICS, figures, data=data, system=system)
]
TABLE10: list[PaperRow] = [
    {"data": "SQuAD", "F1": 55.81},
    {"data": "MS-MARCO Q&A", "F1": 59.26},
]
ERRORS: list[PaperRow] = [
    {"data": "MS-MARCO", "type": "NUMERIC", "answers": 51},
    {"data": "MS-MARCO", "type": "DESCRIPTION", "answers": 31},
]
ITEMS = {
    "Figure 1": "An example from MS-MARCO",
    "Figure 2": "Overall flow of the metric",
    "Figure 3": "Architecture and an output example of KPQA",
    "Table 1": "Statistics of the data sets",
    "Table 2": "Agreement of annotators after the z filter",
    "Table 3": "Correlation of metrics with human correctness",
    "Table 4": "Ablations: domain and question",
    "Figure 4": "Pearson by type of question",
    "Figure 5": "An example of answers of several sentences",
    "Table 5": "Weights of words in an example",
    "Table 6": "Correlation on answers of several sentences",
    "Section 5.4, errors": "Answers with the largest difference in rank",
    "Table 7": "Percentage of matches in ranking two models' answers",
    "Figure 6": "Instruction to workers",
    "Table 8": "Performance of the systems that wrote the answers",
    "Table 9": "Correlation by system",
    "Table 10": "F1 of the keyphrase predictor",
    "Appendix C.1, five trainings": "Spread over repeated trainings",
    "Section 3.1, coreference": "Supporting sentences with coreferences resolved",
}


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """A source with the scores of metrics; `columns[metric]` has a column for each training of its model.

    `by_system` has the same, but for CIDEr, whose frequencies of words are those of each system's own file.
    """

    scores: SourceScores
    columns: dict[str, list[Floats]] = field(default_factory=dict)
    by_system: dict[str, list[Floats]] = field(default_factory=dict)
    ablations: dict[str, dict[str, list[Floats]]] = field(default_factory=dict)
    several: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def name(self) -> str:
        """Of the source."""
        return self.scores.source.name

    @property
    def answers(self) -> ScoredAnswers:
        """Human scores, systems, questions, raters."""
        return self.scores.answers


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """Every table and figure of the paper on the data sets."""
    sets = [_data_set(data, source, settings) for source in data.sources]
    because = _because(data, sets)
    models = data.models
    return [
        not_made("Figure 1", "it is an example of the paper's data, which have no licence"),
        not_made("Figure 2", "it shows steps of a program, and no figure that could be calculated"),
        not_made("Figure 3", "it shows a network, and no figure that could be calculated"),
        _beside(
            "Table 1", _lengths(sets), TABLE1, ("data",),
            f"{because}; the paper counts whole data sets, and here the judged answers are counted",
            tolerance=0.05 + 1e-9,
        ),
        _agreement(sets, because),
        _beside(
            "Table 3", [row for each in sets for row in _correlations(each)], TABLE3, ("data", "metric"),
            because, note=_own_meteor(data),
        ),
        _ablations(sets, models, because),
        _types(sets),
        not_made("Figure 5", "it is an example of the paper's data, which have no licence"),
        _weights(data, sets),
        _sentences(sets, because),
        _errors(sets, because),
        _ranking(sets, because),
        not_made("Figure 6", "it is the page that workers see; docs/judging.md has the study file of it"),
        _beside(
            "Table 8", _systems(sets), TABLE8, ("data", "system"),
            f"{because}; the paper measures its systems on whole test sets, and here the judged answers are "
            "measured",
            tolerance=0.05,
        ),
        _by_system(sets, because, _own_meteor(data)),
        _f1(models, because),
        _spread(sets, models),
        not_made(
            "Section 3.1, coreference",
            "coreference is left out of our training: an answer is the sentence that holds the answer span; "
            "SpanBERT's resolution of supporting sentences is not among our parts",
        ),
    ]  # fmt: skip


def _beside(
    name: str,
    rows: Sequence[PaperRow],
    printed: Sequence[PaperRow],
    keys: Sequence[str],
    because: str,
    *,
    note: str = "",
    tolerance: float = PRINTED,
) -> PaperItem:
    """Rows beside the printed ones; what of these is not here is said to lack a data set, system or model.

    A `note` is said in any case.
    """
    lacking = []
    for key, noun in (("data", "data set is"), ("system", "system is")):
        present = {row.get(key) for row in rows}
        if gone := [
            str(each) for each in dict.fromkeys(row.get(key) for row in printed) if each not in present
        ]:
            lacking.append(f"no {noun} called {', '.join(gone)}")
    metrics = {row.get("metric") for row in printed} - {row.get("metric") for row in rows}
    if metrics & {*LEARNED.values(), BERT_KPQA}:
        lacking.append("no KPQA model is given (--model)")
    if metrics & {BERT, BERT_KPQA}:
        lacking.append("no encoder of BERTScore is given (--encoder)")
    return compared(
        name,
        rows,
        printed,
        keys=keys,
        because="; ".join(each for each in (because, note) if each),
        lacking="; ".join(each for each in (*lacking, note) if each),
        tolerance=tolerance,
    )


def _data_set(data: PaperData, source: PaperSource, settings: PaperSettings) -> DataSet:
    meteor = "meteor" if _own_meteor(data) else "meteor-1.5"
    names = {**{name: name for name in NGRAMS}, "meteor": meteor}
    scores = score_source(data, source, settings, profile=PROFILE, metrics=list(names.values()))
    columns = {label: [scores.answers.metrics[names[name]]] for name, label in NGRAMS.items()}
    models = data.models
    if models.encoder:
        columns[BERT] = [_learned(data, source, settings, "", (("bertscore", BERT),))[BERT]]
    columns |= _trainings(data, source, settings, models.models)
    ablations = {
        variant: _trainings(data, source, settings, folders)
        for variant, folders in (
            ("KPQA without MS-MARCO", models.without_marco),
            ("KP (without question)", models.without_question),
        )
    }
    with data.opened(source) as table:
        several = np.array([any(_BETWEEN.search(text) for text in row.references) for row in table.rows()])
        by_system = {**columns, "CIDEr": [_cider_by_system(table, scores.answers)]}
    return DataSet(scores, columns, by_system, ablations, several)


def _own_meteor(data: PaperData) -> str:
    """Why METEOR is our own and not the paper's 1.5; empty where it is 1.5. Samples never need Java."""
    is_ours = data.sample or lacking_program("meteor-1.5")
    return "METEOR 1.5 needs Java, so METEOR here is our own" if is_ours else ""


def _cider_by_system(table: AnswerTable, scored_answers: ScoredAnswers) -> Floats:
    """CIDEr of each answer among the answers of its system alone, as Table 9 has it."""
    rows = list(table.rows())
    cider = metric("cider", PROFILE)
    column = np.full(len(rows), np.nan)
    for code in np.unique(scored_answers.systems):
        own = np.flatnonzero(scored_answers.systems == code)
        answers = answers_of(frozenset(), [rows[at] for at in own])
        column[own] = score(answers, [cider]).values[cider.name]
    return column


def _trainings(
    data: PaperData, source: PaperSource, settings: PaperSettings, folders: Sequence[str]
) -> dict[str, list[Floats]]:
    """KPQA metrics by each of several models."""
    learned = [*LEARNED.items(), *([("bertscore-kpqa", BERT_KPQA)] if data.models.encoder else [])]
    columns: dict[str, list[Floats]] = {}
    for folder in folders:
        for label, values in _learned(data, source, settings, folder, learned).items():
            columns.setdefault(label, []).append(values)
    return columns


def _learned(
    data: PaperData,
    source: PaperSource,
    settings: PaperSettings,
    folder: str,
    metric_titles: Iterable[tuple[str, str]],
) -> dict[str, Floats]:
    """Scores of learned metrics by one model and the encoder, by the paper's names."""
    names = dict(metric_titles)
    models = data.models
    encoder = any(name.startswith("bertscore") for name in names)
    model_options = ModelOptions(
        [folder] if folder else [],
        models.encoder if encoder else "",
        models.layer if encoder else None,
        models.idf and encoder,
        models.download and encoder,
    )
    used = models_for(list(names), model_options, named=True) if folder or encoder else NO_MODELS
    scores = score_source(data, source, settings, profile=PROFILE, metrics=list(names), models=used)
    return {label: scores.answers.metrics[name] for name, label in names.items()}


def _because(data: PaperData, sets: Sequence[DataSet]) -> str:
    """Why figures differ, as far as it lies in the data; the paper's authors published some of theirs."""
    of_paper = [each.name for each in sets if each.name in _TABLE3]
    return data.why_other if data.sample or not of_paper else "answers and scores may not be the paper's"


def _row(human: Floats, columns: Sequence[Floats]) -> PaperRow:
    """r and rho: the mean over trainings, with the standard deviation where there are several."""
    row: PaperRow = {}
    for name, statistic in (("r", "pearson"), ("rho", "spearman")):
        figures = [related(human, values, statistic).figure for values in columns]  # type: ignore[arg-type]
        defined = [figure.value for figure in figures if figure.value is not None]
        row[name] = number(float(np.mean(defined))) if defined else None
        row["answers"] = figures[0].n
        if len(columns) > 1:
            row[f"{name} sd"] = number(float(np.std(defined, ddof=1))) if len(defined) > 1 else None
            row["trainings"] = len(defined)
    return row


def _correlations(each: DataSet, rows: npt.NDArray[np.bool_] | None = None) -> list[PaperRow]:
    keep = np.ones(len(each.answers), np.bool_) if rows is None else rows
    return [
        {
            "data": each.name,
            "metric": name,
            **_row(each.answers.human[keep], [values[keep] for values in each.columns[name]]),
        }
        for name in METRICS
        if name in each.columns
    ]


def _lengths(sets: Sequence[DataSet]) -> list[PaperRow]:
    rows: list[PaperRow] = []
    for each in sets:
        lengths = each.scores.metric_scores.reference_lengths
        defined = lengths[~np.isnan(lengths)]
        rows.append(
            {
                "data": each.name,
                "answer length": number(float(defined.mean()), 1) if len(defined) else None,
                "samples": len(lengths),
            }
        )
    return rows


def _agreement(sets: Sequence[DataSet], because: str) -> PaperItem:
    rows: list[PaperRow] = []
    reasons = []
    for each in sets:
        ratings = _ratings(each)
        if isinstance(ratings, str):
            reasons.append(f"in {each.name} {ratings}")
            continue
        kept_ratings = ratings.only(~respond(ratings, KPQA_2021).mask)
        rows.append(
            {
                "data": each.name,
                "alpha before": number(alpha_of(ratings).value),
                "alpha after z": number(alpha_of(kept_ratings).value),
                "annotators": number(len(kept_ratings) / max(1, len(np.unique(kept_ratings.items)))),
            }
        )
    if not rows:
        return not_made("Table 2", "; ".join(reasons), TABLE2)
    why = f"{because}; the paper's single ratings are not published"
    return _beside("Table 2", rows, TABLE2, ("data",), why, tolerance=0.005)


def _ratings(each: DataSet) -> Ratings | str:
    """Single ratings of a source, or why there are none that the filter takes."""
    raters, (low, high) = each.answers.raters, each.scores.gathered.scale
    if raters is None:
        return each.answers.no_ratings
    if not all(float(value).is_integer() for value in (low, high)) or (raters.scores % 1 != 0).any():
        return "ratings are not whole numbers"
    try:
        scale = Scale.of(int(low), max(int(high), int(low) + 1))
    except ValueError as error:
        return f"the filter takes none of them: {error}"
    return ratings_of(
        list(
            zip(
                map(str, raters.answers.tolist()),
                map(str, raters.workers.tolist()),
                map(int, raters.scores.tolist()),
                strict=True,
            )
        ),
        scale,
    )


def _ablations(sets: Sequence[DataSet], models: PaperModels, because: str) -> PaperItem:
    lacking = [
        f"no model trained without {omission} is given (--model-without-{option})"
        for folders, omission, option in (
            (models.without_marco, "MS-MARCO", "marco"),
            (models.without_question, "questions", "question"),
        )
        if not folders
    ]
    rows: list[PaperRow] = []
    for each in sets:
        for variant, columns in (("KPQA", each.columns), *each.ablations.items()):
            for name in (*LEARNED.values(), BERT_KPQA):
                if name in columns:
                    row: PaperRow = {"data": each.name, "variant": variant, "metric": name}
                    rows.append({**row, **_row(each.answers.human, columns[name])})
    if not rows:
        return not_made("Table 4", "; ".join(["no KPQA model is given (--model)", *lacking]), TABLE4)
    why = "; ".join([because, *lacking])
    return compared("Table 4", rows, TABLE4, keys=("data", "variant", "metric"), because=why)


def _types(sets: Sequence[DataSet]) -> PaperItem:
    rows: list[PaperRow] = []
    for each in sets:
        names = np.array(each.answers.types or [""] * len(each.answers.question_names), dtype=object)
        of_answer = names[each.answers.questions]
        for kind in sorted({kind for kind in each.answers.types if kind}):
            of_kind: list[PaperRow] = _correlations(each, of_answer == kind)
            rows += [{**row, "type": kind} for row in of_kind]
    if not rows:
        return not_made("Figure 4", "no table has a type of each question (a column type)")
    return compared(
        "Figure 4", rows, [], keys=("data", "metric", "type"), because="the paper draws bars without figures"
    )


def _weights(data: PaperData, sets: Sequence[DataSet]) -> PaperItem:
    """Table 5: the weight of each word of the answer and reference that the metric gets most right."""
    if not data.models.models:
        return not_made("Table 5", "no KPQA model is given (--model), and the paper's example has no licence")
    model_options = ModelOptions([data.models.models[0]])
    folder = models_for(list(LEARNED), model_options, named=True).folders[0]
    by = weigher(choice(folder.path)[1], str(cache()))
    with data.opened(sets[0].scores.source) as table:
        row = next(each for each in table.rows() if each.references)
    rows: list[PaperRow] = []
    for what, text in (("reference", row.references[0]), ("answer", row.answer)):
        weighed = by.weigh([(row.question, text)])[0]
        for at, ((begin, end), weight) in enumerate(
            zip(weighed.spans, weighed.weights.tolist(), strict=True), 1
        ):
            rows.append({"text": what, "place": at, "word": text[begin:end], "KPW": number(weight)})
    return compared(
        "Table 5",
        rows,
        [],
        keys=("text",),
        because="the paper prints shades of colour, and the data are others",
    )


def _sentences(sets: Sequence[DataSet], because: str) -> PaperItem:
    rows: list[PaperRow] = []
    for each in sets:
        if each.several.sum() >= _LEAST:
            rows += [row for row in _correlations(each, each.several) if row["metric"] in _FEWER]
    if not rows:
        reason = f"fewer than {_LEAST} answers have a reference of several sentences"
        return not_made("Table 6", reason, TABLE6)
    why = f"{because}; a full stop and a space between words make several sentences here"
    return _beside("Table 6", rows, TABLE6, ("data", "metric"), why)


#: Answers that a correlation needs to be shown.
_LEAST = 10


def _errors(sets: Sequence[DataSet], because: str) -> PaperItem:
    """How many of the 100 largest differences in rank belong to each type of question, by the last metric."""
    rows: list[PaperRow] = []
    for each in sets:
        name = next(label for label in reversed(METRICS) if label in each.columns)
        answers = replace(each.answers, metrics={name: each.columns[name][0]})
        differences = largest_differences(answers, name)
        types = each.answers.types or [""] * len(each.answers.question_names)
        counts = Counter(types[each.answers.questions[one.row]] or "(no type)" for one in differences)
        rows += [
            {"data": each.name, "metric": name, "type": kind, "answers": count}
            for kind, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
    why = f"{because}; manage.py evaluate --differences lists the {MOST} answers themselves"
    return _beside("Section 5.4, errors", rows, ERRORS, ("data", "type"), why)


def _ranking(sets: Sequence[DataSet], because: str) -> PaperItem:
    rows: list[PaperRow] = []
    for each in sets:
        low, high = each.scores.gathered.scale
        for name in _FEWER:
            if name not in each.columns:
                continue
            figures = [
                rank_match(replace(each.answers, metrics={name: values}), name, (high - low) / 2).figure
                for values in each.columns[name]
            ]
            percents = [100 * figure.value for figure in figures if figure.value is not None]
            if percents:
                row: PaperRow = {
                    "data": each.name,
                    "metric": name,
                    "percent": number(float(np.mean(percents))),
                }
                rows.append({**row, "pairs": figures[0].n})
    if not rows:
        reason = "no two answers to a question are clearly apart for people"
        return not_made("Table 7", reason, TABLE7)
    why = (
        f"{because}; the paper's 93 pairs of MS-MARCO are those at least 2 apart (it says more than 2, which "
        "are 89), and no rule for ties gives its percentages from the answers that its authors published"
    )
    return _beside("Table 7", rows, TABLE7, ("data", "metric"), why, tolerance=0.005 + 1e-9)


def _systems(sets: Sequence[DataSet]) -> list[PaperRow]:
    rows: list[PaperRow] = []
    for each in sets:
        answers = each.answers
        for code, system in enumerate(answers.system_names):
            of_system = answers.systems == code
            bleu = each.scores.metric_scores.systems.get("bleu-1", {}).get(system)
            rouge = each.columns["ROUGE-L"][0][of_system]
            rows.append(
                {
                    "data": each.name,
                    "system": system,
                    "BLEU-1": number(100 * bleu, 1) if bleu is not None else None,
                    "ROUGE-L": number(100 * float(np.nanmean(rouge)), 1) if len(rouge) else None,
                }
            )
    return rows


def _by_system(sets: Sequence[DataSet], because: str, note: str) -> PaperItem:
    rows: list[PaperRow] = []
    for each in sets:
        for code, system in enumerate(each.answers.system_names):
            of_system = each.answers.systems == code
            if of_system.sum() > 2:
                correlated: list[PaperRow] = _correlations(replace(each, columns=each.by_system), of_system)
                rows += [{**row, "system": system} for row in correlated]
    if not rows:
        return not_made("Table 9", "no system has three answers", TABLE9)
    return _beside("Table 9", rows, TABLE9, ("data", "system", "metric"), because, note=note)


def _f1(models: PaperModels, because: str) -> PaperItem:
    if not models.models:
        return not_made("Table 10", "no KPQA model is given (--model)", TABLE10)
    rows: list[PaperRow] = []
    for name in models.models:
        folder = models_for(list(LEARNED), ModelOptions([name]), named=True).folders[0]
        best = folder.card.get("best")
        figures = best.get("dev") if isinstance(best, dict) else None
        if not isinstance(figures, dict):
            continue
        for source, of_source in {**(figures.get("sources") or {}), "all": figures}.items():
            f1 = of_source["f1"] if isinstance(of_source, dict) else of_source
            if f1 is not None:
                rows.append({"model": folder.name, "data": source, "F1": number(100 * f1, 2)})
    if not rows:
        return not_made("Table 10", "the card of the model has no figures of a development set", TABLE10)
    return compared("Table 10", rows, TABLE10, keys=("data",), because=because, tolerance=0.005 + 1e-9)


def _spread(sets: Sequence[DataSet], models: PaperModels) -> PaperItem:
    name = "Appendix C.1, five trainings"
    if len(models.models) < 2:
        count = "one model is" if models.models else "no model is"
        return not_made(
            name, f"{count} given, and a spread needs several (train-kpqa --seeds 5, then --model for each)"
        )
    rows = [row for each in sets for row in _correlations(each) if "trainings" in row]
    return compared(
        name,
        rows,
        [],
        keys=("data", "metric"),
        because="the paper says that it trains five times and prints no spread",
    )


PAPER = Paper(
    "002",
    "Lee et al. (2021), KPQA: a metric for generative question answering using keyphrase weights",
    needs=(
        "A table with question, answer, reference1 and scores (or ratings), system and type of question "
        "for each data set; called MS-MARCO, AVSD, NarrativeQA or SemEval it stands beside the paper's. KPQA "
        "rows need --model (several are trainings), BERTScore --encoder, Table 4 --model-without-marco and "
        "--model-without-question."
    ),
    items=ITEMS,
    sample=("answers.csv",),
    made_up=True,
    build=build_items,
    several=True,
)
