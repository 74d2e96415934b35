"""Kaiser et al. 2020, Conversational Question Answering over Passages by Word Proximity Networks (001).

A demonstration: the paper prints no table, and of its figures only the seventh holds numbers. Its result is a
sentence (above the median at TREC CAsT 2019), so rankers are measured on judged queries that somebody brings.
"""

from collections.abc import Sequence
from pathlib import Path

from distillery_learned.papers.report import (
    Paper,
    PaperData,
    PaperItem,
    PaperRow,
    PaperSettings,
    compared,
    not_made,
)
from evaluations.errors import EvaluationError
from retrieval.errors import RetrievalError
from retrieval.evaluation.paper_001 import SectionRow, SectionSettings, measure_section, options

_PICTURE = "it shows {}, and no figure that could be calculated"
_CORPORA = (
    "it shows a passage for a conversation on films that the paper searches in MS MARCO and TREC CAR, "
    "which are not among these passages"
)
#: Figure 7, the options of the demonstration: least, most, default.
_OPTIONS: tuple[tuple[str, float | None, float | None, float | str], ...] = (
    ("results", 1, 20, 3),
    ("candidates", 10, 1000, 100),
    ("alpha", 0.5, 1, 0.75),
    ("beta", 0, 0.1, 0.01),
    ("h1", 0, 1, 0.4),
    ("h2", 0, 1, 0.3),
    ("h3", 0, 1, 0.2),
    ("h4", 0, 1, 0.1),
    ("query model", None, None, "cq2"),
)
FIGURE7: list[PaperRow] = [
    {"option": option, "least": least, "most": most, "default": default}
    for option, least, most, default in _OPTIONS
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
    "Section 2.2, query models": "CROWN with each of its query models cq1, cq2, cq3 (no table in the paper)",
    "Section 2.3, terms": "CROWN without each term of its score, h1 to h4 (no table in the paper)",
    "Section 5, result": "CROWN with the defaults of Figure 7, beside the systems of TREC CAsT 2019",
}


def build_items(data: PaperData, settings: PaperSettings) -> list[PaperItem]:
    """All figures of the paper, and CROWN beside BM25, with each query model and without each term."""
    try:
        measured = measure_section(
            Path(data.sources[0].location), SectionSettings(draws=settings.draws, seed=settings.seed)
        )
    except RetrievalError as error:
        raise EvaluationError(str(error)) from error
    return [
        not_made("Figure 1", _PICTURE.format("an example of a network")),
        not_made("Figure 2", _PICTURE.format("parts of a program")),
        not_made("Figure 3", _PICTURE.format("five questions")),
        *(not_made(f"Figure {at}", _CORPORA) for at in (4, 5, 6)),
        compared("Figure 7", options(), FIGURE7, keys=("option",), because="defaults were changed"),
        not_made("Figure 8", _PICTURE.format("a text about the program")),
        _alone(
            "Section 2.2, query models",
            measured.models,
            "the paper says when to choose each and prints no figures",
            "no set has conversations.jsonl, and only turns of conversations have query models",
        ),
        _alone(
            "Section 2.3, terms",
            measured.terms,
            "the paper prints no ablation; a term that is left out has the weight 0, and the others keep "
            "their proportions",
            "no query was asked",
        ),
        compared(
            "Section 5, result",
            measured.profiles,
            [{"system": "crown-2020", "result": "above the median of TREC CAsT 2019"}],
            keys=("system",),
            because=(
                "the paper prints a place among the systems of TREC 2019 and no figure (its report there "
                "needs MS MARCO, TREC CAR, Indri and the GoogleNews vectors; here BM25 finds the candidates, "
                f"and the word network is made from the passages), and {data.why_other}"
            ),
        ),
    ]


def _alone(name: str, rows: Sequence[SectionRow], because: str, reason: str) -> PaperItem:
    """Rows with nothing printed beside them, or why there are none."""
    if not rows:
        return not_made(name, reason)
    return compared(name, rows, [], keys=("set", "system"), because=because)


PAPER = Paper(
    "001",
    "Kaiser, Saha Roy, Weikum (2020), CROWN: conversational question answering over passages",
    needs=(
        "A folder with judged queries: qrels.tsv, passages.jsonl, and queries.jsonl or conversations.jsonl; "
        "or a folder of such folders."
    ),
    items=ITEMS,
    sample=("retrieval",),
    build=build_items,
)
