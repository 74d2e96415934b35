"""The evaluation section of paper 001 (CROWN) on judged sets, with the paper's own settings, as plain rows.

The paper prints its options with ranges and defaults (Figure 7) and its query models (section 2.2); how good
its rankings are is in its TREC report only, on corpora that are not public. So this is what the paper's
evaluation is on anyone's judged sets: the published profile with its defaults, the first three of 100
candidates, and each query model, beside BM25; then its four terms left out one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from retrieval.crown.parameters import (
    ALPHA,
    BETA,
    CANDIDATES,
    CROWN_2020,
    QUERY_MODEL,
    RESULTS,
    WEIGHTS,
    Option,
)
from retrieval.errors import EvaluationError
from retrieval.evaluation.ablation import ablate
from retrieval.evaluation.haystacks import FileHaystack
from retrieval.evaluation.measures import parse_measures
from retrieval.evaluation.qrels import Qrels, read_qrels
from retrieval.evaluation.questions import Question, read_questions
from retrieval.evaluation.report import evaluate, judged_questions
from retrieval.evaluation.runs import Run, SystemRun, ask
from retrieval.evaluation.significance import DRAWS, MeanDifference
from retrieval.ranking.base import Ranker
from retrieval.ranking.folder import temporary_collection
from retrieval.ranking.systems import parse_system

#: The paper shows three passages; CAsT 2019, on which it was tuned, measures nDCG@3 and AP.
MEASURES = "nDCG@3,MRR@3,nDCG@10,AP@100"
#: Passages that a system gives for a question: as many as the paper re-ranks.
DEPTH = 100
#: Query models as the paper names them (section 2.2), and its weights for turns.
PAPER_MODELS = ("cq1", "cq2", "cq3")
BASELINE = "bm25"
#: What the paper's Figure 7 prints: least, most and default of each option.
PRINTED: dict[str, tuple[float, float, float]] = {
    "results": (1, 20, 3),
    "candidates": (10, 1000, 100),
    "alpha": (0.5, 1, 0.75),
    "beta": (0, 0.1, 0.01),
    "h1": (0, 1, 0.4),
    "h2": (0, 1, 0.3),
    "h3": (0, 1, 0.2),
    "h4": (0, 1, 0.1),
}


@dataclass(frozen=True)
class PaperItem:
    """A table or figure of the paper. `rows` are plain values; `reason` says why there are none.

    printed: rows of the paper itself, where it prints any. differs: what is not as in the paper, and why.
    """

    name: str
    rows: Sequence[dict[str, Any]] = ()
    reason: str = ""
    printed: Sequence[dict[str, Any]] = ()
    differs: str = ""

    @property
    def is_made(self) -> bool:
        """Whether it could be made from the data."""
        return bool(self.rows)

    def as_json(self) -> dict[str, Any]:
        """All of it, with its status."""
        return {"status": "made" if self.is_made else "not made", **asdict(self)}


@dataclass(frozen=True)
class PaperSettings:
    """What a caller may choose; all else is the paper's. `most`: queries of a task at most, 0 for all."""

    language: str = "en"
    vectors: Path | None = None
    most: int = 0
    draws: int = DRAWS
    seed: int = 0
    progress: Callable[[str], None] = field(default=lambda task: None)


@dataclass(frozen=True)
class _Task:
    """One file of questions of a set."""

    name: str
    qrels: Qrels
    questions: Sequence[Question]
    conversational: bool


@dataclass(frozen=True)
class _TaskRows:
    """What was measured on a task: rows of the profiles, of the query models, of the terms left out."""

    profiles: Sequence[dict[str, Any]]
    models: Sequence[dict[str, Any]]
    terms: Sequence[dict[str, Any]]


def evaluation_section(folder: Path, settings: PaperSettings | None = None) -> list[PaperItem]:
    """The items of paper 001 on a judged set, or on every judged set in a folder of them.

    A set is a folder with `passages.jsonl`, `qrels.tsv`, and `queries.jsonl`, `conversations.jsonl` or both.
    EvaluationError and FileRefusedError say what is missing or wrong with the files.
    """
    settings = settings or PaperSettings()
    measured = [rows for path in judged_sets(folder) for rows in _measured(path, settings)]
    models = [row for rows in measured for row in rows.models]
    return [
        _options_item(),
        PaperItem(
            "Ranking with the defaults of Figure 7",
            [row for rows in measured for row in rows.profiles],
            differs="The paper refers to its TREC report (CAsT 2019 over MS MARCO and TREC CAR, Indri, "
            "GoogleNews vectors), which needs corpora that are not public. Here BM25 finds the candidates, "
            "and the word network and its vectors are made from the passages of the set.",
        ),
        PaperItem(
            "Conversational query models cq1, cq2 and cq3 (section 2.2)",
            models,
            reason="" if models else "No set has conversations: conversations.jsonl with turns is needed.",
            differs="The paper describes when to choose each and prints no figures.",
        ),
        PaperItem(
            "Terms of the score left out one by one (section 2.3, h1 to h4)",
            [row for rows in measured for row in rows.terms],
            differs="The paper prints no ablation. A term that is left out has the weight 0; the others "
            "keep their proportions.",
        ),
        PaperItem(
            "TREC CAsT 2019",
            reason="The paper's result is in its TREC report. It needs MS MARCO and TREC CAR with CAsT's "
            "judgments, Indri and the GoogleNews vectors; with a judged set of them in the folder, the rows "
            "above are made of it.",
        ),
    ]


def judged_sets(folder: Path) -> list[Path]:
    """The folder itself where it is a judged set, else those of its folders that are one."""
    found = [
        path.parent for path in (folder / "qrels.tsv", *sorted(folder.glob("*/qrels.tsv"))) if path.is_file()
    ]
    found = found[:1] if found[:1] == [folder] else found
    if not found:
        raise EvaluationError(
            f"{folder} holds no judged set: a set is a folder with passages.jsonl, qrels.tsv, and "
            "queries.jsonl or conversations.jsonl."
        )
    return found


def _options_item() -> PaperItem:
    """Figure 7: ranges and defaults of ours beside the printed ones."""
    ours: list[tuple[str, Option]] = [(option.name, option) for option in (RESULTS, CANDIDATES, ALPHA, BETA)]
    rows = [
        {"option": name, "least": option.least, "most": option.most, "default": option.default}
        for name, option in ours
    ]
    rows += [
        {"option": f"h{number}", "least": 0, "most": 1, "default": weight}
        for number, weight in enumerate(WEIGHTS[CROWN_2020].values(), 1)
    ]
    rows.append({"option": "query model", "least": "", "most": "", "default": QUERY_MODEL.default})
    printed = [
        {"option": name, "least": least, "most": most, "default": default}
        for name, (least, most, default) in PRINTED.items()
    ]
    printed.append({"option": "query model", "least": "", "most": "", "default": "cq2"})
    return PaperItem("Figure 7: options, their ranges and defaults", rows, printed=printed)


def _measured(folder: Path, settings: PaperSettings) -> Iterator[_TaskRows]:
    passages = folder / "passages.jsonl"
    if not passages.is_file():
        raise EvaluationError(f"{folder} has judgments, but no passages.jsonl.")
    tasks = list(_tasks(folder, settings.most))
    if not tasks:
        raise EvaluationError(f"{folder} has judgments, but neither queries.jsonl nor conversations.jsonl.")
    with temporary_collection(passages, language=settings.language, vectors=settings.vectors) as collection:
        for task in tasks:
            yield _task_rows(task, FileHaystack(passages, collection), settings)


def _tasks(folder: Path, most: int) -> Iterator[_Task]:
    qrels = read_qrels(folder / "qrels.tsv")
    for kind in ("queries", "conversations"):
        path = folder / f"{kind}.jsonl"
        if path.is_file() and path.stat().st_size:
            asked = read_questions(path)
            judged = judged_questions(qrels, asked, answerable=True)
            yield _Task(f"{folder.name} {kind}", qrels, judged[: most or None], asked.conversational)


def _task_rows(task: _Task, haystack: FileHaystack, settings: PaperSettings) -> _TaskRows:
    measures = parse_measures(MEASURES)

    def asked(name: str, ranker: Ranker) -> SystemRun:
        settings.progress(f"{task.name}: {name}")
        return ask(ranker, haystack, task.questions, DEPTH, name=name)

    def rows(names: Sequence[str], baseline: str) -> list[dict[str, Any]]:
        evaluation = evaluate(
            task.qrels,
            task.questions,
            [runs[name] for name in names],
            measures,
            baseline=baseline,
            draws=settings.draws,
            seed=settings.seed,
        )
        return [
            {
                "set": task.name,
                "queries": len(task.questions),
                "system": name,
                **{each.name: round(evaluation.mean(name, each.name), 6) for each in measures},
                **_difference(evaluation.of(name, measures[0].name), measures[0].name, baseline),
            }
            for name in names
        ]

    models = [f"{CROWN_2020}:{model}" for model in PAPER_MODELS] if task.conversational else []
    wanted = dict.fromkeys([BASELINE, CROWN_2020, *models])
    # cq2 is the default, so that the system with it is the one without a name behind the colon.
    usual = f"{CROWN_2020}:{QUERY_MODEL.default}"
    runs = {name: asked(name, parse_system(name)) for name in wanted if name != usual}
    if usual in wanted:
        runs[usual] = replace(runs[CROWN_2020], run=Run(usual, runs[CROWN_2020].run.rankings))
    ablation = ablate(
        runs[CROWN_2020],
        parse_system(CROWN_2020),
        asked,
        task.qrels,
        task.questions,
        measures=measures,
        kinds=("weight",),
        draws=settings.draws,
        seed=settings.seed,
    )
    first = measures[0].name
    terms = [
        {
            "set": task.name,
            "queries": len(task.questions),
            "change": variant.change,
            **{each.name: round(ablation.evaluation.mean(run, each.name), 6) for each in measures},
            **_difference(ablation.evaluation.of(run, first), first, CROWN_2020),
        }
        for variant in ablation.variants
        for run in [ablation.run_name(variant)]
    ]
    return _TaskRows(rows([BASELINE, CROWN_2020], BASELINE), rows(models, models[0]) if models else [], terms)


def _difference(test: MeanDifference | None, measure: str, baseline: str) -> dict[str, Any]:
    """The difference of the first measure, its 95 % interval and the p-value of the randomisation test."""
    if test is None:
        return {}
    return {
        "against": baseline,
        "measure": measure,
        "difference": round(test.difference, 6),
        "interval": [round(end, 6) for end in test.interval] if test.interval else None,
        "p": test.randomisation_p_holm,
    }
