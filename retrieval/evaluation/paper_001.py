"""The measurements of paper 001 (CROWN) on judged sets, with the paper's own settings, as plain rows.

The paper prints its options with ranges and defaults (Figure 7) and its query models (section 2.2); how good
its rankings are is in its TREC report only, on corpora that are not public. So this is what the paper's
evaluation is on anyone's judged sets: the published profile with its defaults, the first three of 100
candidates, and each query model, beside BM25; then its four terms left out one by one. What is beside
the printed figures, and what cannot be made, is in `distillery_learned.papers.crown`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from retrieval.errors import EvaluationError
from retrieval.evaluation.measures import Qrels, parse_measures, read_qrels
from retrieval.evaluation.questions import Question, read_questions
from retrieval.evaluation.report import DRAWS, MeanDifference, ablate, evaluate, judged_questions
from retrieval.evaluation.runs import FileHaystack, Run, SystemRun, ask
from retrieval.ranking.base import Ranker
from retrieval.ranking.folder import temporary_collection
from retrieval.ranking.parameters import ALPHA, BETA, CANDIDATES, CROWN_2020, QUERY_MODEL, RESULTS, WEIGHTS
from retrieval.ranking.systems import parse_system

#: The paper shows three passages; CAsT 2019, on which it was tuned, measures nDCG@3 and AP.
MEASURES = "nDCG@3,MRR@3,nDCG@10,AP@100"
#: Passages that a system gives for a question: as many as the paper re-ranks.
DEPTH = 100
#: Query models as the paper names them (section 2.2), and its weights for turns.
PAPER_MODELS = ("cq1", "cq2", "cq3")
BASELINE = "bm25"
#: Files of a judged set, each by any of its names.
_QRELS = ("qrels.tsv", "qrels.txt", "qrels")
_QUERIES = ("queries.jsonl", "queries.tsv")
_PASSAGES = ("passages.jsonl", "passages.jsonl.gz", "passages.tsv", "passages.csv")
_FORM = (
    "Give a folder with qrels.tsv, passages.jsonl, and queries.jsonl or conversations.jsonl, or a folder of "
    "such folders (docs/retrieval.md)."
)
#: A row of what was measured: plain values by the names of their columns.
SectionRow = dict[str, str | int | float | None]


@dataclass(frozen=True)
class SectionSettings:
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
class SectionRows:
    """What was measured, a row for each system of each task.

    `profiles` are BM25 and CROWN with its defaults, `models` its query models (of conversations only),
    `terms` its score without each of its terms. Differences are against BM25, cq1 and the whole score.
    """

    profiles: Sequence[SectionRow] = ()
    models: Sequence[SectionRow] = ()
    terms: Sequence[SectionRow] = ()


def measure_section(folder: Path, settings: SectionSettings | None = None) -> SectionRows:
    """The rows of paper 001 on a judged set, or on every judged set in a folder of them.

    EvaluationError and FileRefusedError say what is missing or wrong with the files.
    """
    settings = settings or SectionSettings()
    measured = [rows for path in judged_sets(folder) for rows in _measured(path, settings)]
    return SectionRows(
        [row for rows in measured for row in rows.profiles],
        [row for rows in measured for row in rows.models],
        [row for rows in measured for row in rows.terms],
    )


def options() -> list[SectionRow]:
    """Our ranges and defaults of the options of Figure 7."""
    rows: list[SectionRow] = [
        {"option": option.name, "least": option.least, "most": option.most, "default": option.default}
        for option in (RESULTS, CANDIDATES, ALPHA, BETA)
    ]
    rows += [
        {"option": f"h{number}", "least": 0, "most": 1, "default": weight}
        for number, weight in enumerate(WEIGHTS[CROWN_2020].values(), 1)
    ]
    return [*rows, {"option": "query model", "least": None, "most": None, "default": QUERY_MODEL.default}]


def judged_sets(folder: Path) -> list[Path]:
    """The folder itself where it is a judged set, else those of its folders that are one.

    A set has judgments, passages, and queries, conversations or both.
    """
    folders = [path for path in (folder, *sorted(folder.glob("*/"))) if _file(path, _QRELS)]
    folders = folders[:1] if folders[:1] == [folder] else folders
    if not folders:
        raise EvaluationError(f"{folder} has no qrels.tsv and holds no judged set. {_FORM}")
    return folders


def _file(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of the names that is a file of the folder."""
    return next((path for name in names if (path := folder / name).is_file()), None)


def _measured(folder: Path, settings: SectionSettings) -> Iterator[SectionRows]:
    passages = _file(folder, _PASSAGES)
    if passages is None:
        raise EvaluationError(f"{folder} has judgments and no passages.jsonl. {_FORM}")
    tasks = list(_tasks(folder, settings.most))
    if not tasks:
        raise EvaluationError(f"{folder} has judgments and no queries.jsonl or conversations.jsonl. {_FORM}")
    with temporary_collection(passages, language=settings.language, vectors=settings.vectors) as collection:
        for task in tasks:
            yield _task_rows(task, FileHaystack(passages, collection), settings)


def _tasks(folder: Path, most: int) -> Iterator[_Task]:
    qrels = read_qrels(_file(folder, _QRELS) or folder)
    for kind, names in (("queries", _QUERIES), ("conversations", ("conversations.jsonl",))):
        path = _file(folder, names)
        if path is not None and path.stat().st_size:
            questions = read_questions(path)
            with_judgments = judged_questions(qrels, questions, answerable=True)
            yield _Task(
                f"{folder.name} {kind}", qrels, with_judgments[: most or None], questions.conversational
            )


def _task_rows(task: _Task, haystack: FileHaystack, settings: SectionSettings) -> SectionRows:
    measures = parse_measures(MEASURES)

    def ask_system(name: str, ranker: Ranker) -> SystemRun:
        settings.progress(f"{task.name}: {name}")
        return ask(ranker, haystack, task.questions, DEPTH, name=name)

    def rows(names: Sequence[str], baseline: str) -> list[SectionRow]:
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
    system_names = dict.fromkeys([BASELINE, CROWN_2020, *models])
    # cq2 is the default, so that the system with it is the one without a name behind the colon.
    usual = f"{CROWN_2020}:{QUERY_MODEL.default}"
    runs = {name: ask_system(name, parse_system(name)) for name in system_names if name != usual}
    if usual in system_names:
        runs[usual] = replace(runs[CROWN_2020], run=Run(usual, runs[CROWN_2020].run.rankings))
    ablation = ablate(
        runs[CROWN_2020],
        parse_system(CROWN_2020),
        ask_system,
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
            "system": run,
            **{each.name: round(ablation.evaluation.mean(run, each.name), 6) for each in measures},
            **_difference(ablation.evaluation.of(run, first), first, CROWN_2020),
        }
        for variant in ablation.variants
        for run in [ablation.run_name(variant)]
    ]
    return SectionRows(
        rows([BASELINE, CROWN_2020], BASELINE), rows(models, models[0]) if models else [], terms
    )


def _difference(test: MeanDifference | None, measure: str, baseline: str) -> SectionRow:
    """The difference of the first measure, its 95 % interval and the p-value of the randomisation test."""
    if test is None:
        return {}
    return {
        "against": baseline,
        "measure": measure,
        "difference": round(test.difference, 6),
        "low": round(test.interval[0], 6) if test.interval else None,
        "high": round(test.interval[1], 6) if test.interval else None,
        "p": test.randomisation_p_holm,
    }
