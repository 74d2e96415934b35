"""Kaiser et al. 2020, Conversational Question Answering over Passages by Word Proximity Networks (001).

A demonstration: the paper prints no table, and of its figures only the seventh holds numbers. Its result is a
sentence (above the median at TREC CAsT 2019), so rankers are measured on judged queries that somebody brings.
"""

from pathlib import Path

from evaluations.errors import EvaluationError
from evaluations.papers.items import (
    Paper,
    PaperData,
    PaperItem,
    PaperRow,
    PaperSettings,
    PaperSource,
    compared,
    not_made,
    number,
)
from retrieval.crown.parameters import ALPHA, BETA, CANDIDATES, CROWN_2020, RESULTS, WEIGHTS
from retrieval.errors import RetrievalError
from retrieval.evaluation import measures as m
from retrieval.evaluation.haystacks import FileHaystack
from retrieval.evaluation.qrels import read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.report import Evaluation, evaluate, judged_questions
from retrieval.evaluation.runs import ask
from retrieval.rankers import ranker_named
from retrieval.ranking.folder import temporary_collection


def _weighted(**parts: int) -> str:
    """CROWN with other weights of its terms, which sum up to 1 as the paper has it."""
    whole = sum(parts.values())
    return ":".join([CROWN_2020, *(f"weight_{name}={part / whole:.6f}" for name, part in parts.items())])


#: Rankers that stand beside CROWN: what it re-ranks, and each of its terms alone or left out.
SYSTEMS = ("bm25", "crown-2020")
WITHOUT = {
    "without the prior (h1)": _weighted(prior=0, node=3, edge=2, pos=1),
    "without nodes (h2)": _weighted(prior=4, node=0, edge=2, pos=1),
    "without edges (h3)": _weighted(prior=4, node=3, edge=0, pos=1),
    "without positions (h4)": _weighted(prior=4, node=3, edge=2, pos=0),
}
_QUERIES = ("queries.jsonl", "conversations.jsonl", "queries.tsv")
_PASSAGES = ("passages.jsonl", "passages.jsonl.gz", "passages.tsv", "passages.csv")
_PICTURE = "it shows {}, and no figure that could be calculated"
_CORPORA = (
    "it shows a passage for a conversation on films that the paper searches in MS MARCO and TREC CAR, "
    "which are not among these passages"
)
#: Figure 7, the defaults of the demonstration.
FIGURE7: list[PaperRow] = [
    {"option": "results", "default": 3},
    {"option": "candidates", "default": 100},
    {"option": "alpha", "default": 0.75},
    {"option": "beta", "default": 0.01},
    {"option": "h1", "default": 0.4},
    {"option": "h2", "default": 0.3},
    {"option": "h3", "default": 0.2},
    {"option": "h4", "default": 0.1},
]
ITEMS = {
    "Figure 1": "Sample conversation and word proximity network",
    "Figure 2": "Overview of the architecture",
    "Figure 3": "The conversation of the running example",
    "Figure 4": "Search bar and rank-1 answer snippet at turn 1",
    "Figure 5": "Top-1 answer passage at turn 2",
    "Figure 6": "Answer at rank 3 at turn 3",
    "Figure 7": "Advanced options and their defaults",
    "Figure 8": "A summarizing description of CROWN",
    "Section 5, result": "CROWN beside the systems of TREC CAsT 2019",
    "Section 2.3, terms": "What each term of the score adds (the paper has no such table)",
}


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """All figures of the paper, and CROWN beside BM25, whole and without each of its terms."""
    try:
        evaluation = _evaluated(data.sources[0], settings)
    except RetrievalError as error:
        raise EvaluationError(str(error)) from error
    return [
        not_made("Figure 1", _PICTURE.format("an example of a network")),
        not_made("Figure 2", _PICTURE.format("parts of a program")),
        not_made("Figure 3", _PICTURE.format("five questions")),
        *(not_made(f"Figure {at}", _CORPORA) for at in (4, 5, 6)),
        compared("Figure 7", _defaults(), FIGURE7, keys=("option",), because="defaults were changed"),
        not_made("Figure 8", _PICTURE.format("a text about the program")),
        compared(
            "Section 5, result",
            [_means(evaluation, name) for name in SYSTEMS],
            [{"system": "crown-2020", "result": "above the median of TREC CAsT 2019"}],
            keys=("system",),
            because=(
                f"the paper prints a place among the systems of TREC 2019 and no figure, and {data.why_other}"
            ),
        ),
        compared(
            "Section 2.3, terms",
            [_means(evaluation, name) for name in (SYSTEMS[1], *WITHOUT)],
            [],
            keys=("system",),
            because="the paper prints no ablation: nothing stands beside it",
        ),
    ]


def _defaults() -> list[PaperRow]:
    known = {option.name: option.default for option in (RESULTS, CANDIDATES, ALPHA, BETA)}
    weights = dict(zip(("h1", "h2", "h3", "h4"), WEIGHTS[CROWN_2020].values(), strict=True))
    return [
        {"option": name, "default": weights.get(name, known.get(name))}
        for name in (str(row["option"]) for row in FIGURE7)
    ]


def _evaluated(source: PaperSource, settings: PaperSettings) -> Evaluation:
    """BM25, CROWN, and CROWN without each term, on the judged queries of a folder."""
    qrels = _beside(source, ("qrels.tsv", "qrels.txt", "qrels"))
    queries = _beside(source, _QUERIES)
    passages = _beside(source, _PASSAGES)
    judgments = read_qrels(qrels)
    judged = judged_questions(judgments, read_questions(queries, ""))
    measures = m.parse_measures(m.DEFAULT)
    with temporary_collection(passages, language="en", vectors=None, network=True) as collection:
        haystack = FileHaystack(passages, collection)
        named = {**{name: name for name in SYSTEMS}, **WITHOUT}
        runs = [
            ask(ranker_named(given), haystack, judged, m.DEPTH, name=name) for name, given in named.items()
        ]
    return evaluate(judgments, judged, runs, measures, draws=settings.draws, seed=settings.seed)


def _beside(source: PaperSource, names: tuple[str, ...]) -> Path:
    for name in names:
        found = source.file(name)
        if found is not None:
            return found
    raise EvaluationError(
        f"{source.given} has no {names[0]}. Give a folder with qrels.tsv, queries.jsonl and passages.jsonl "
        "(docs/evaluate-retrieval.md)."
    )


def _means(evaluation: Evaluation, name: str) -> PaperRow:
    row: PaperRow = {"system": name}
    for measure in evaluation.measures:
        row[measure.name] = number(evaluation.mean(name, measure.name))
        test = evaluation.of(name, measure.name)
        if test is not None:
            row[f"{measure.name} less bm25"] = number(test.difference)
            row[f"{measure.name} p"] = number(test.randomisation_p)
    return row


PAPER = Paper(
    "001",
    "Kaiser, Saha Roy, Weikum (2020), CROWN: conversational question answering over passages",
    needs="A folder with judged queries: qrels.tsv, queries.jsonl (or conversations.jsonl), passages.jsonl.",
    items=ITEMS,
    sample=("retrieval",),
    build=build_items,
)
