"""Yang et al. 2018, Adaptations of ROUGE and BLEU to Better Evaluate Machine Reading Comprehension (003).

Two annotators, single answers (Table 2) and overall scores of 30 questions (Table 3), and the weights of the
two bonuses (Figures 1 and 2). Settings are the paper's: alpha 2, beta 1, gamma 1.2, BLEU-4 without smoothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from evaluations.errors import EvaluationError
from metrics.answers.adapted_scores import Bonus, hits_of, subsequences_of
from metrics.answers.overlap import f_measure
from metrics.metaeval.breakdown import ALL, Sweep, curves, is_monotonic
from metrics.metaeval.correlation import LEAST, column_correlation
from metrics.metaeval.data import Floats
from metrics.metaeval.papers import resample_overall, yang_bootstrap
from metrics.metaeval.plan import CorpusRule
from metrics.texts import Answers, Chunk
from metrics.tokens import tokeniser_named

PROFILE = "dureader-2018"
#: The paper's names of the metrics, and how the catalogue calls them.
METRICS = {
    "Adapted ROUGE-L": "adapted-rouge-l(alpha=2,beta=1)",
    "ROUGE-L": "rouge-l",
    "Adapted BLEU-4": "adapted-bleu-4(alpha=2,beta=1)",
    "BLEU-4": "bleu-4",
}
#: The sweeps of Figures 1 and 2, with the weight that stays.
FIGURES = {
    "Figure 1": (Sweep("alpha", tuple(map(float, range(11)))), "beta", 1.0, "Yes-No"),
    "Figure 2": (Sweep("beta", tuple(map(float, range(11)))), "alpha", 2.0, "Entity"),
}
#: How data may call the paper's types of questions.
TYPES = {
    "yes-no": "Yes-No", "yes_no": "Yes-No", "yesno": "Yes-No", "yes/no": "Yes-No",
    "entity": "Entity", "description": "Description", ALL: "Overall",
}  # fmt: skip
_KINDS = ("Yes-No", "Entity", "Overall")
TABLE1: list[PaperRow] = [
    {"of": kind, "PCC": r}
    for kind, r in (("Yes-No", 0.878), ("Entity", 0.906), ("Description", 0.870), ("Overall", 0.891))
]
_TABLE2 = ((0.540, 0.620, 0.570), (0.493, 0.491, 0.504), (0.478, 0.469, 0.481), (0.459, 0.397, 0.450))
_TABLE3 = ((0.702, 0.884, 0.792), (0.664, 0.839, 0.760), (0.536, 0.686, 0.646), (0.571, 0.668, 0.681))
EXAMPLES: list[PaperRow] = [
    {"example": name, "figure": figure, "value": value}
    for name, figure, value in (
        ("1", "vanilla P2", 0.67), ("1", "adapted P2", 0.78),
        ("2", "vanilla P2", 0.31), ("2", "adapted P2", 0.39),
        ("3", "adapted P", 0.92), ("3", "adapted R", 0.67), ("3", "vanilla ROUGE-L", 0.59),
        ("3", "adapted ROUGE-L", 0.78),
        ("4", "adapted P", 0.52), ("4", "adapted R", 0.61), ("4", "vanilla ROUGE-L", 0.45),
        ("4", "adapted ROUGE-L", 0.56),
    )
]  # fmt: skip
_SKIPPING = Answers(
    ["Skipping rope is an aerobic exercise."],
    [
        [
            "Skipping rope is a kind of aerobic exercise with low intensity.",
            "Skipping rope can be regarded as an aerobic exercise only when skipping for a long time.",
        ]
    ],
    labels=["Yes"],
    reference_labels=[["Yes", "Depends"]],
)
_QIN = Answers(
    ["Qin unified China in 221 BC after the war against other kingdoms which lasted ten years."],
    [["Qin unified China in ten years, from 230 BC to 221 BC."]],
    entities=[["ten years", "230 BC", "221 BC"]],
)
ITEMS = {
    "Examples 1 to 4": "Adapted precision and ROUGE-L of the paper's own answers",
    "Table 1": "Pearson between the two annotators, by type of question",
    "Table 2": "Pearson with people over single answers",
    "Section 4.2, significance": "Adapted against plain metrics by the paired bootstrap, 100 samples",
    "Table 3": "Pearson of overall scores: 100 times 30 questions",
    "Figure 1": "Pearson over yes-no answers by the weight alpha; beta is 1",
    "Figure 2": "Pearson over entity answers by the weight beta; alpha is 2",
}
_ROUNDED = (
    "full stops are tokens: adapted .78 of example 3 is .774 unless precision and recall are rounded "
    "first, and vanilla .59 is .632"
)
NO_TYPES = "its questions have no types; name a column: --column type=NAME"


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """All tables and figures from one table of judged answers with opinions or entities."""
    swept = {name: _swept(*figure[:3]) for name, figure in FIGURES.items()}
    names = dict.fromkeys([*METRICS.values(), *(each for of in swept.values() for row in of for each in row)])
    scores = _scored(data, settings, list(names))
    because = f"{data.why_other}, and DuReader's answers with the ratings of the paper are not published"
    return [
        compared(
            "Examples 1 to 4", examples(), EXAMPLES, keys=("example", "figure"), because=_ROUNDED,
            tolerance=0.005 + 1e-9,
        ),
        _annotators(scores, because),
        _single(scores, because),
        _significance(scores, settings, because),
        _overall(scores, settings, because),
        *(_figure(name, scores, settings, swept[name], because) for name in FIGURES),
    ]  # fmt: skip


def examples() -> list[PaperRow]:
    """Examples 1 to 4, with the weights at 1 and gamma at 1 as there."""
    tokeniser = tokeniser_named("default")
    rows: list[PaperRow] = []
    for first, answers in (("1", _SKIPPING), ("2", _QIN)):
        chunk = Chunk(answers)
        for what, weight in (("vanilla", 0.0), ("adapted", 1.0)):
            counts = hits_of(chunk, tokeniser, 2, Bonus(weight, weight, 1.0))
            share = float(counts.hits[0, 1] / counts.totals[0, 1])
            rows.append({"example": first, "figure": f"{what} P2", "value": share})
    for second, answers in (("3", _SKIPPING), ("4", _QIN)):
        chunk = Chunk(answers)
        for what, weight in (("vanilla", 0.0), ("adapted", 1.0)):
            matches = subsequences_of(chunk, tokeniser, Bonus(weight, weight, 1.0))
            p, r = matches.precision.max(), matches.recall.max()
            if weight:
                rows += [
                    {"example": second, "figure": "adapted P", "value": float(p)},
                    {"example": second, "figure": "adapted R", "value": float(r)},
                ]
            score = float(f_measure(np.array([p]), np.array([r]), 1.0)[0])
            rows.append({"example": second, "figure": f"{what} ROUGE-L", "value": score})
    return rows


def _swept(sweep: Sweep, other: str, fixed: float) -> list[list[str]]:
    """The names of both metrics at each value, as the catalogue writes them."""
    names = []
    for value in sweep.values:
        weights = dict(sorted({sweep.weight: value, other: fixed}.items()))
        weights_text = ",".join(f"{key}={weight:g}" for key, weight in weights.items())
        names.append([f"adapted-rouge-l({weights_text})", f"adapted-bleu-4({weights_text})"])
    return names


def _scored(data: PaperData, settings: PaperSettings, names: list[str]) -> SourceScores:
    """Characters are tokens where most answers have no spaces, as in the paper's Chinese; else words are."""
    if len(data.sources) != 1:
        raise EvaluationError("Paper 003 takes one --data: a table of judged answers.")
    source = data.sources[0]
    with data.opened(source) as table:
        if "entities" not in table.has and not {"label", "labels"} <= set(table.has):
            raise EvaluationError(
                f"Paper 003 is about opinions and entities, and {source.location} has neither. Give the "
                "columns label and label1 (opinions of the answer and of reference1), or entities; --column "
                "label=NAME says which column is meant."
            )
    scores = score_source(data, source, settings, profile=PROFILE, metrics=names, keep_rows=True)
    if scores.gathered.unspaced * 2 >= len(scores.gathered):
        return scores
    return score_source(
        data, source, settings, profile=PROFILE, metrics=names, keep_rows=True, tokeniser="default"
    )


def kinds_of(scores: SourceScores) -> dict[str, np.ndarray]:
    """Which answers are to questions of each of the paper's types, and all of them as Overall."""
    types = [TYPES.get(kind.strip().casefold(), "") for kind in scores.answers.types]
    masks = {"Overall": np.ones(len(scores.answers), dtype=np.bool_)}
    if types:
        of_answer = np.array(types, dtype=object)[scores.answers.questions]
        masks |= {kind: of_answer == kind for kind in ("Yes-No", "Entity", "Description") if kind in types}
    return masks


def pcc(x: Floats, y: Floats) -> float | None:
    """Pearson's r of the pairs that have both; None where there is none."""
    defined = ~(np.isnan(x) | np.isnan(y))
    return number(column_correlation(x[defined], y[defined])) if defined.sum() >= LEAST else None


def _annotators(scores: SourceScores, because: str) -> PaperItem:
    raters = scores.answers.raters
    if raters is None:
        return not_made("Table 1", f"single ratings are needed: {scores.answers.no_ratings}", TABLE1)
    n = np.bincount(raters.answers, minlength=len(scores.answers))
    if not (n[n > 0] == 2).all():
        return not_made("Table 1", "the paper's design has exactly two ratings of each answer", TABLE1)
    order = np.lexsort((raters.workers, raters.answers))
    two = raters.scores[order].reshape(-1, 2)
    answers = raters.answers[order][::2]
    rows: list[PaperRow] = []
    for kind, among in kinds_of(scores).items():
        mine = two[among[answers]]
        rows.append({"of": kind, "PCC": pcc(mine[:, 0], mine[:, 1]), "n": len(mine)})
    return compared("Table 1", rows, TABLE1, keys=("of",), because=because)


def _printed(table: Sequence[Sequence[float]]) -> list[PaperRow]:
    return [
        {"metric": name, **dict(zip(_KINDS, row, strict=True))}
        for name, row in zip(METRICS, table, strict=True)
    ]


def _single(scores: SourceScores, because: str) -> PaperItem:
    answers = scores.answers
    rows: list[PaperRow] = [
        {
            "metric": called,
            **{
                kind: pcc(answers.human[among], answers.metrics[name][among])
                for kind, among in kinds_of(scores).items()
            },
        }
        for called, name in METRICS.items()
    ]
    return compared("Table 2", rows, _printed(_TABLE2), keys=("metric",), because=because)


def _significance(scores: SourceScores, settings: PaperSettings, because: str) -> PaperItem:
    metric_names = METRICS.values()
    answers = replace(scores.answers, metrics={name: scores.answers.metrics[name] for name in metric_names})
    metrics = yang_bootstrap(answers, seed=settings.seed)["metrics"]
    rows: list[PaperRow] = []
    for called, name in METRICS.items():
        for kind, test in metrics.get(name, {}).get("tests", {}).items():
            sample = test.get("answers") or {}
            questions = test.get("questions") or {}
            rows.append(
                {
                    "metric": called, "of": _called(kind),
                    "adapted is better": None if not sample else ("yes" if sample["significant"] else "no"),
                    "share of samples": sample.get("better"), "p": sample.get("p"),
                    "share of samples of questions": questions.get("better"),
                    "p by questions": questions.get("p"),
                }
            )  # fmt: skip
    printed: list[PaperRow] = [
        {"metric": called, "of": kind, "adapted is better": "yes"}
        for called in ("Adapted ROUGE-L", "Adapted BLEU-4")
        for kind in _KINDS
    ]
    name = "Section 4.2, significance"
    return compared(name, rows, printed, keys=("metric", "of"), because=because)


def _called(kind: str) -> str:
    return TYPES.get(kind.strip().casefold(), kind)


def _overall(scores: SourceScores, settings: PaperSettings, because: str) -> PaperItem:
    by_name = {metric.name: metric for metric in scores.choice.metrics}
    rules = {
        name: CorpusRule(scores.metric_scores.rows[name], corpus)
        for name in METRICS.values()
        if name in scores.metric_scores.rows and (corpus := by_name[name].corpus) is not None
    }
    columns = {name: scores.answers.metrics[name] for name in METRICS.values()}
    resampled = resample_overall(replace(scores.answers, metrics=columns), rules, seed=settings.seed)
    rows: list[PaperRow] = [
        {
            "metric": called,
            **{
                _called(kind): number(figure["value"])
                for kind, figure in resampled["metrics"][name].items()
                if isinstance(figure, Mapping)
            },
        }
        for called, name in METRICS.items()
    ]
    printed = _printed(_TABLE3)
    if all(row[kind] is None for row in rows for kind in row if kind != "metric"):
        return not_made("Table 3", "it has fewer than 30 questions with scores", printed)
    return compared("Table 3", rows, printed, keys=("metric",), because=because)


def _figure(
    name: str, scores: SourceScores, settings: PaperSettings, swept: list[list[str]], because: str
) -> PaperItem:
    sweep, other, fixed, kind = FIGURES[name]
    types = [each for each in dict.fromkeys(scores.answers.types) if _called(each) == kind]
    at = 2.0 if sweep.weight == "alpha" else 1.0
    column = _KINDS.index(kind)
    printed: list[PaperRow] = [
        {"metric": metric, sweep.weight: weight, "PCC": _TABLE2[row][column]}
        for metric, weight, row in (
            ("Adapted ROUGE-L", 0.0, 1), ("Adapted ROUGE-L", at, 0),
            ("Adapted BLEU-4", 0.0, 3), ("Adapted BLEU-4", at, 2),
        )
    ]  # fmt: skip
    if not types:
        type_names = sorted({each for each in scores.answers.types if each})
        why = f"there are {', '.join(type_names)}" if type_names else NO_TYPES
        return not_made(name, f"it has no questions of the type {kind.casefold()}: {why}", printed)
    columns = {
        metric: [scores.answers.metrics[row[place]] for row in swept]
        for place, metric in enumerate(("Adapted ROUGE-L", "Adapted BLEU-4"))
    }
    fixed_weights = {metric: {other: fixed} for metric in columns}
    answers = replace(
        scores.answers, types=[types[0] if each in types else each for each in scores.answers.types]
    )
    swept_curves = curves(
        answers, columns, sweep, fixed=fixed_weights, replicates=settings.replicates, seed=settings.seed
    )
    rows: list[PaperRow] = []
    rising = []
    for metric, by_kind in swept_curves["curves"].items():
        rising.append(is_monotonic([point["value"] for point in by_kind[types[0]]]))
        for point, overall in zip(by_kind[types[0]], by_kind[ALL], strict=True):
            low, high = point["ci"] or (math.nan, math.nan)
            rows.append(
                {
                    "metric": metric, sweep.weight: point["x"], "PCC": number(point["value"]),
                    "low": number(low), "high": number(high), "PCC overall": number(overall["value"]),
                }
            )  # fmt: skip
    word = "rise" if all(rising) else "do not all rise"
    why = (
        f"{because}; curves here {word} throughout (the paper's do), and the printed points are those of its "
        "Table 2"
    )
    return compared(name, rows, printed, keys=("metric", sweep.weight), because=why)


PAPER = Paper(
    "003",
    "Yang et al. (2018), Adaptations of ROUGE and BLEU to better evaluate machine reading comprehension",
    needs="A table or release of judged answers: question, answer, reference1 …, system, type (yes-no, "
    "entity, description), label and label1 … (opinions), entities, and two ratings of each answer.",
    items=ITEMS,
    sample=("papers/003.csv",),
    build=build_items,
)
