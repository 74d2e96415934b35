"""Lowe et al. 2017, Towards an Automatic Turing Test: Learning to Evaluate Dialogue Responses (004, ADEM).

Contexts are questions, responses are answers, dialogue models are systems. ADEM's own rows need a trained
model (`--model`); what the training itself shows is in the report of `manage.py train-adem`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from distillery_learned.training import study
from evaluations.answer_table import AspectTable
from evaluations.choices import NO_MODELS, ModelOptions
from evaluations.errors import EvaluationError
from evaluations.model_shelf import models_for
from metrics.agreement.breakdown import aspect_ratings, worker_kappa
from metrics.agreement.data import Floats, Ratings, added, divided
from metrics.agreement.filters import duplicates
from metrics.agreement.kappa import pairwise_median
from metrics.agreement.scale import Scale
from metrics.figure import Figure
from metrics.metaeval.papers import adem_table3, adem_table4, adem_table5, adem_table6, adem_table14, protocol
from metrics.metaeval.plan import TABLE8, Plan, ReportHeader

PROFILE = "default"
OVERLAP = {
    "BLEU-1": "bleu-1", "BLEU-2": "bleu-2", "BLEU-3": "bleu-3", "BLEU-4": "bleu-4", "ROUGE": "rouge-l",
    "METEOR": "meteor",
}  # fmt: skip
ADEM = {"ADEM": "adem"}
#: Whose rows stand in long tables, as in the paper's pictures.
SHOWN = ("bleu-2", "rouge-l", "adem")
#: The printed kappas of Table 2.
KAPPAS = (("Overall", 0.63), ("Topicality", 0.57), ("Informativeness", 0.31), ("Background", 0.05))
TABLE1: list[PaperRow] = [
    {"of": of, "value": value}
    for of, value in (
        ("# Examples", 4104), ("# Contexts", 1026), ("# Training examples", 2872),
        ("# Validation examples", 616), ("# Test examples", 616), ("kappa, median", 0.63),
    )
]  # fmt: skip
#: Table 5: Spearman and Pearson over the whole test set, and over the removed model's responses.
TABLE5: list[PaperRow] = [
    {"metric": "ADEM", "removed": name, "Spearman, all": row[0], "Pearson, all": row[1],
     "Spearman, removed": row[2], "Pearson, removed": row[3]}
    for name, row in {
        "TF-IDF": (0.4097, 0.3975, 0.3931, 0.3645), "Dual Encoder": (0.4000, 0.3907, 0.4256, 0.4098),
        "HRED": (0.4128, 0.3961, 0.3998, 0.3956), "Human": (0.4052, 0.3910, 0.4472, 0.4230),
        "Average": (0.4069, 0.3938, 0.4164, 0.3982), "at random": (0.4077, 0.3932, None, None),
    }.items()
]  # fmt: skip
ITEMS = {
    "Figure 1": "A response that word overlap fails on",
    "Table 1": "The data set",
    "Table 2": "Median kappa of each question that judges were asked",
    "Figure 2": "The model",
    "Table 3": "Correlation with people over responses, p in brackets",
    "Figure 3": "Scores of metrics against those of people",
    "Figure 4": "Means of dialogue models by metrics and people",
    "Table 4": "Correlation over dialogue models",
    "Table 5": "One dialogue model left out",
    "Table 7": "Scores of ADEM for three contexts",
    "Table 6": "Good responses that overlap metrics miss",
    "Table 9": "Responses that ADEM finds and overlap metrics miss",
    "Table 8": "Scores by the difference in length",
    "Figure 5": "Scores of each response in the four questions of the preliminary study",
    "Figure 6": "The model of the pre-training",
    "Table 10": "Correlation on the data of Liu et al. (2016)",
    "Table 11": "Time of the evaluation",
    "Figure 7": "Correlation as ADEM trains",
    "Table 12": "Good responses that ADEM misses",
    "Table 13": "Bad responses that ADEM takes for good",
    "Table 14": "Correlation by the share of the training data",
}
_DRAWING = "it is a drawing or an example, and has no figure that could be calculated"
_TRAINED = (
    "it is about the training itself: manage.py train-adem trains with one system left out and on shares of "
    "the data, and its report has it"
)
_ONE_QUESTION = (
    "it has overall scores alone (a release whose judges were asked about aspects has more, and so has a "
    "table with columns such as aspect_topicality_1 beside rating1)"
)
#: Responses of which Figure 5 has points: the paper's has about as many.
_POINTS = 100
_EXAMPLES = "it shows single responses of the authors' Twitter data, whose ADEM scores are not published"


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """All tables and figures from one table of judged responses, with ADEM's rows where there is a model."""
    if len(data.sources) != 1:
        raise EvaluationError("Paper 004 takes one --data: a table of judged responses.")
    names = dict(OVERLAP)
    models = NO_MODELS
    if data.models.models:
        names |= ADEM
        models = models_for(list(names.values()), ModelOptions(list(data.models.models)), named=True)
    scores = score_source(
        data, data.sources[0], settings, profile=PROFILE, metrics=list(names.values()), models=models
    )
    called = {name: title for title, name in names.items()}
    because = f"{data.why_other} (4,104 responses of Twitter with unpublished ratings)"
    if data.models.models:
        because = f"{because}, and ADEM stands on other training data"
    aspects = _aspects(data)
    items = {
        **({} if aspects is None else {"Figure 5": _spread(aspects)}),
        "Table 1": _facts(scores, because),
        "Table 2": _kappas(scores, aspects, because),
        "Table 3": _answers(scores, called, because),
        "Figure 3": _scatter(scores, called, because),
        **_systems(scores, called, because),
        "Table 5": _left_out(scores, called, settings, because),
        "Table 6": _cascade(scores, called, because),
        "Table 8": _lengths(scores, called, settings, because),
        "Table 14": _curve(scores, called, settings, because),
    }
    why = {
        **dict.fromkeys(("Figure 1", "Figure 2", "Figure 6"), _DRAWING),
        **dict.fromkeys(("Table 7", "Table 9", "Table 12", "Table 13"), _EXAMPLES),
        "Figure 5": f"{_ONE_QUESTION}, and the figure needs four questions",
        "Table 10": "it is about another data set, whose responses and ratings do not come with it",
        "Table 11": "a time is that of a machine and differs with every run; docs/metrics.md has speeds",
        "Figure 7": _TRAINED,
    }
    return [items[name] if name in items else not_made(name, why[name]) for name in ITEMS]


def median_kappa(scores: SourceScores) -> float | None:
    """The median over workers of their median weighted kappa with every other one (five shared answers).

    None without it: no single ratings, ratings that are no whole numbers, or more of these than a scale has.
    """
    raters = scores.answers.raters
    if raters is None or not (raters.scores == np.round(raters.scores)).all():
        return None
    low, high = (int(end) for end in (raters.scores.min(), raters.scores.max()))
    try:
        scale = Scale.of(low, max(high, low + 1))
    except ValueError:
        return None
    size = int(raters.workers.max()) + 1
    ratings = Ratings(
        raters.answers.astype(np.int32),
        raters.workers.astype(np.int32),
        raters.scores.astype(np.int16),
        [str(at) for at in range(len(scores.answers))],
        [str(at) for at in range(size)],
        scale,
    )
    kappas = pairwise_median(ratings).kappa
    defined = kappas[~np.isnan(kappas)]
    return float(np.median(defined)) if len(defined) else None


def _facts(scores: SourceScores, because: str) -> PaperItem:
    rows: list[PaperRow] = [
        {"of": "# Examples", "value": len(scores.answers)},
        {"of": "# Contexts", "value": len(np.unique(scores.answers.questions))},
        {"of": "kappa, median", "value": median_kappa(scores)},
    ]
    lacking = "nothing is trained here, so the data are not divided"
    return compared("Table 1", rows, TABLE1, keys=("of",), because=because, lacking=lacking)


def _lacking(called: Mapping[str, str]) -> str:
    """Why ADEM's own rows are not here; empty where they are."""
    return "" if "adem" in called else "no ADEM model is given (--model)"


@dataclass(frozen=True, slots=True, eq=False)
class Aspects:
    """Ratings with what they say of each aspect (nan: nothing), and their overall scores."""

    ratings: Ratings
    overall: Floats
    aspects: dict[str, Floats]


def _aspects(data: PaperData) -> Aspects | None:
    """The aspects that judges were asked about, of which a worker's first rating of a response counts; None
    where there are none."""
    with data.opened(data.sources[0]) as table:
        rows = list(table.aspect_ratings()) if isinstance(table, AspectTable) else []
    names = sorted({name for *_, by_name in rows for name in by_name})
    if not names:
        return None
    items = {name: at for at, name in enumerate(dict.fromkeys(row[0] for row in rows))}
    workers = {name: at for at, name in enumerate(dict.fromkeys(row[1] for row in rows))}
    ratings = Ratings(
        np.array([items[row[0]] for row in rows], dtype=np.int32),
        np.array([workers[row[1]] for row in rows], dtype=np.int32),
        np.ones(len(rows), dtype=np.int16),
        list(items),
        list(workers),
    )
    first = ~duplicates(ratings)
    return Aspects(
        ratings.only(first),
        np.array([row[2] for row in rows])[first],
        {name: np.array([row[3].get(name, np.nan) for row in rows])[first] for name in names},
    )


def _kappas(scores: SourceScores, aspects: Aspects | None, because: str) -> PaperItem:
    printed: list[PaperRow] = [{"measurement": name, "kappa": kappa} for name, kappa in KAPPAS]
    kappa = median_kappa(scores)
    if kappa is None and aspects is None:
        why = "no two people have rated the same five answers in whole numbers, or single ratings are missing"
        return not_made("Table 2", why, printed)
    rows: list[PaperRow] = [{"measurement": "Overall", "kappa": kappa}]
    why = f"{because}; {_ONE_QUESTION}"
    if aspects is not None:
        why = f"{because}; r is Pearson's with the overall score, .72 of topicality in the paper's section 2"
        for name, values in aspects.aspects.items():
            try:
                figure = worker_kappa(aspect_ratings(aspects.ratings, values))
            except ValueError as error:
                figure = Figure(None, n=0)
                why = f"{why}; {name} has no kappa: {error}"
            rated = ~np.isnan(values)
            one, other = values[rated], aspects.overall[rated]
            r = float(np.corrcoef(one, other)[0, 1]) if len(one) and np.ptp(one) and np.ptp(other) else None
            rows.append({"measurement": name.capitalize(), "kappa": figure.value, "r": r})
    return compared("Table 2", rows, printed, keys=("measurement",), because=why)


def _spread(aspects: Aspects) -> PaperItem:
    """Where the scores of each response lie in each question, less the mean of who gave them in it."""
    ratings = aspects.ratings
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    busiest = np.argsort(-n, kind="stable")[:_POINTS]
    rows: list[PaperRow] = []
    for name, values in (("overall", aspects.overall), *aspects.aspects.items()):
        rated = ~np.isnan(values)
        items, workers, own_values = ratings.items[rated], ratings.workers[rated], values[rated]
        means = divided(
            added(workers, own_values, ratings.n_workers), np.bincount(workers, minlength=ratings.n_workers)
        )
        own = own_values - means[workers]
        count = np.bincount(items, minlength=ratings.n_items)
        mean = divided(added(items, own, ratings.n_items), count)
        around = added(items, np.square(own - mean[items]), ratings.n_items)
        sd = np.sqrt(divided(around, count - 1))
        several = count > 1
        within = float(np.sqrt(around[several].sum() / (count[several] - 1).sum())) if several.any() else None
        called = name.capitalize()
        rows.append({"measurement": called, "response": "within all", "sd": within, "n": len(own_values)})
        rows += [
            {"measurement": called, "response": ratings.item_names[at], "mean": number(mean[at]),
             "sd": number(sd[at]) if several[at] else None, "n": int(count[at])}
            for at in busiest.tolist()
        ]  # fmt: skip
    why = (
        "the paper prints a picture of points; here are the mean and standard deviation of each response, "
        f"of the {len(busiest)} with most ratings"
    )
    return compared("Figure 5", rows, [], keys=("measurement",), because=why)


def _answers(scores: SourceScores, called: Mapping[str, str], because: str) -> PaperItem:
    rows: list[PaperRow] = []
    for name, figures in adem_table3(scores.answers)["metrics"].items():
        row: PaperRow = {"metric": called[name]}
        for which in ("spearman", "pearson"):
            row[which.capitalize()] = number(figures[which]["value"])
            row[f"p, {which.capitalize()}"] = number(figures[which]["p"])
        rows.append(row)
    printed: list[PaperRow] = []
    for name, title in called.items():
        parts = study.TABLE3.get(name, {})
        if part := parts.get("full") or parts.get("test"):
            printed.append({"metric": title, "Spearman": part[0], "Pearson": part[1]})
    return compared("Table 3", rows, printed, keys=("metric",), because=because)


def _scatter(scores: SourceScores, called: Mapping[str, str], because: str) -> PaperItem:
    """Mean and spread of each drawn metric at each score of people, to the nearest whole one."""
    answers = scores.answers
    rows: list[PaperRow] = []
    for name in SHOWN:
        values = answers.metrics.get(name)
        if values is None:
            continue
        defined = ~(np.isnan(values) | np.isnan(answers.human))
        nearest = np.round(answers.human)
        for score in np.unique(nearest[defined]):
            mine = values[defined & (nearest == score)]
            rows.append(
                {"metric": called[name], "human": float(score), "mean": float(mine.mean()),
                 "sd": float(mine.std()), "n": len(mine)}
            )  # fmt: skip
    if not rows:
        return not_made("Figure 3", "no answer has both a human score and one of a metric")
    return compared("Figure 3", rows, [], keys=("metric",), because="the paper prints a picture of points")


def _systems(scores: SourceScores, called: Mapping[str, str], because: str) -> dict[str, PaperItem]:
    metrics = adem_table4(scores.answers, scores.gathered.scale)["metrics"]
    printed: list[PaperRow] = [
        {"metric": title, "Pearson": study.TABLE4[name]}
        for name, title in called.items()
        if name in study.TABLE4
    ]
    rows: list[PaperRow] = [
        {
            "metric": called[name],
            "Pearson": number(each["pearson"]["value"]),
            "p": number(each["pearson"]["p"]),
        }
        for name, each in metrics.items()
    ]
    points: list[PaperRow] = [
        {
            "metric": called[name],
            "system": point["system"],
            "human": point["human"],
            "normalised": point["metric"],
        }
        for name, each in metrics.items()
        for point in each["points"]
    ]
    if all(row["Pearson"] is None for row in rows):
        table = not_made("Table 4", "it has fewer than three systems with scores", printed)
    else:
        table = compared("Table 4", rows, printed, keys=("metric",), because=because)
    picture = "the paper prints a picture of points"
    return {"Figure 4": compared("Figure 4", points, [], keys=("metric",), because=picture), "Table 4": table}


def _left_out(
    scores: SourceScores, called: Mapping[str, str], settings: PaperSettings, because: str
) -> PaperItem:
    if len(scores.answers.system_names) < 2:
        return not_made("Table 5", "it has one system, so there is none to leave out", TABLE5)
    figures = adem_table5(scores.answers, seed=settings.seed, replicates=settings.replicates)["metrics"]
    rows: list[PaperRow] = []
    for name, of in ((name, figures[name]) for name in SHOWN if name in figures):
        for system in of["systems"]:
            rows.append({"metric": called[name], "removed": system["system"], **_halves(system)})
        rows.append({"metric": called[name], "removed": "Average", **_halves(of["average"])})
        random = of["at_random"]
        rows.append(
            {"metric": called[name], "removed": "at random", "Spearman, all": random["spearman"]["value"],
             "Pearson, all": random["pearson"]["value"]}
        )  # fmt: skip
    why = (
        f"{because}; a metric that is given is not trained without a system, so all means the other systems' "
        "answers (manage.py train-adem trains anew)"
    )
    return compared(
        "Table 5", rows, TABLE5, keys=("metric", "removed"), because=why, lacking=_lacking(called)
    )


def _halves(of: Mapping[str, Any]) -> PaperRow:
    row: PaperRow = {}
    for part, label in (("rest", "all"), ("removed", "removed")):
        for which in ("spearman", "pearson"):
            figure = of[part][which]
            row[f"{which.capitalize()}, {label}"] = number(figure["value"])
            if ci := figure.get("ci"):
                row[f"{which.capitalize()}, {label}, 95 %"] = f"{ci[0]:.3f} to {ci[1]:.3f}"
    return row


def _cascade(scores: SourceScores, called: Mapping[str, str], because: str) -> PaperItem:
    printed: list[PaperRow] = [{"metric": "ADEM", **study.TABLE6}]
    metrics = adem_table6(scores.answers, scores.gathered.scale)["metrics"] or {}
    rows: list[PaperRow] = [{"metric": called[name], **counts} for name, counts in metrics.items()]
    return compared("Table 6", rows, printed, keys=("metric",), because=because, lacking=_lacking(called))


def _lengths(
    scores: SourceScores, called: Mapping[str, str], settings: PaperSettings, because: str
) -> PaperItem:
    plan = Plan(seed=settings.seed, draws=max(1, settings.draws), scale=scores.gathered.scale)
    figures = protocol(TABLE8, scores.answers, plan, ReportHeader())
    printed: list[PaperRow] = [
        {"of": title, "near": study.TABLE8[name][0], "far": study.TABLE8[name][1]}
        for title, name in (("Human", "human"), *((title, name) for name, title in called.items()))
        if name in study.TABLE8
    ]
    entries = {
        "Human": figures.get("human", {}),
        **{called[name]: of for name, of in figures["metrics"].items()},
    }
    rows: list[PaperRow] = [
        {
            "of": title,
            **{part: number((of.get(part) or {}).get("mean")) for part in ("near", "far")},
            "p (Welch)": number(of.get("welch_p")), "p (permutation)": number(of.get("permutation_p")),
        }
        for title, of in entries.items()
    ]  # fmt: skip
    far = (
        "no response differs so much in length from its reference"
        if not any(row["far"] for row in rows)
        else ""
    )
    return compared("Table 8", rows, printed, keys=("of",), because=because, lacking=far)


def _curve(
    scores: SourceScores, called: Mapping[str, str], settings: PaperSettings, because: str
) -> PaperItem:
    questions = adem_table14(scores.answers, seed=settings.seed)["questions"]
    rows: list[PaperRow] = [
        {"metric": called[name], "share": point["share"], "Spearman": point["spearman"]["value"],
         "Pearson": point["pearson"]["value"], "questions": point["questions"]}
        for name in SHOWN
        for point in questions.get(name, ())
    ]  # fmt: skip
    printed: list[PaperRow] = [
        {"metric": "ADEM", "share": share, "Spearman": two[0], "Pearson": two[1]}
        for share, two in study.TABLE14.items()
    ]
    why = f"{because}; here fewer questions are looked at, and the paper trains on fewer (as train-adem does)"
    return compared(
        "Table 14", rows, printed, keys=("metric", "share"), because=why, lacking=_lacking(called)
    )


PAPER = Paper(
    "004",
    "Lowe et al. (2017), Towards an Automatic Turing Test: Learning to Evaluate Dialogue Responses",
    needs="A table or release of judged responses: question (the context), answer, reference1, system, and "
    "single ratings (rating1 …), with what raters said of aspects (aspect_topicality_1 …) for Table 2 and "
    "Figure 5; an ADEM model (--model) for its rows.",
    items=ITEMS,
    sample=("papers/004.csv",),
    build=build_items,
)
