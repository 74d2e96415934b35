"""Measures how good the rankers are on judged sets: BM25, both profiles of CROWN, the query models.

    python benchmarks/retrieval_quality.py FOLDER [--most N] [--together] [--only NAME] [--json FILE]

FOLDER holds one folder per set with `passages.jsonl`, `qrels.tsv` (TREC) and `queries.jsonl` ({id, text}),
`conversations.jsonl` ({id, turns}) or both; each of the two is a task. Queries without a relevant passage are
left out. The figures of one half of the conversations (by a checksum of their ids) stand beside those of all:
they should say the same. `--together` searches the passages of all sets at once, which is harder. No database
is used.
"""

import argparse
import json
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import machine  # noqa: E402  # the path must be there first
from retrieval.evaluation.measures import DEFAULT, Qrels, parse_measures, read_qrels  # noqa: E402
from retrieval.evaluation.questions import Question, read_questions  # noqa: E402
from retrieval.evaluation.report import Evaluation, as_json, evaluate, judged_questions  # noqa: E402
from retrieval.evaluation.runs import FileHaystack, ask  # noqa: E402
from retrieval.ranking.folder import temporary_collection  # noqa: E402
from retrieval.ranking.systems import parse_system  # noqa: E402

MAIN = "nDCG@10"
BASELINE = "bm25"
SYSTEMS = (BASELINE, "crown-2020", "balanced", "rrf(bm25+balanced)")
#: Query models of BM25, compared on conversations; cq2 is what BM25 does by itself.
MODELS = ("bm25:current", "bm25:cq1", "bm25:cq2-unweighted", BASELINE, "bm25:cq3")
#: What balanced must gain over BM25 on the mean of tasks, and may lose on one of them.
GAIN, LOSS = 0.015, -0.005
DEPTH = 100


@dataclass(frozen=True)
class Task:
    """One file of queries of a set, on the passages of a haystack."""

    name: str
    qrels: Qrels
    questions: Sequence[Question]
    conversational: bool


@dataclass(frozen=True)
class Measured:
    """A task with all systems, the same on one half of the conversations, and BM25 with all query models."""

    task: Task
    all: Evaluation
    half: Evaluation
    models: Evaluation | None


def sampled(questions: Sequence[Question], most: int) -> list[Question]:
    """At most so many questions (0: all), whole conversations, chosen by a checksum, in their order."""
    if not most or len(questions) <= most:
        return list(questions)
    names = sorted(
        {each.conversation for each in questions}, key=lambda name: zlib.crc32(name[::-1].encode())
    )
    sizes = Counter(each.conversation for each in questions)
    chosen, left = set(), most
    for name in names:
        if sizes[name] <= left:
            chosen.add(name)
            left -= sizes[name]
    return [each for each in questions if each.conversation in chosen]


def tasks_of(folder: Path, most: int, prefix: str = "") -> Iterator[Task]:
    """The tasks of a set. `prefix` stands before ids of passages where sets are searched together."""
    judgments = read_qrels(folder / "qrels.tsv")
    grades = {
        query: {prefix + passage: grade for passage, grade in found.items()}
        for query, found in judgments.grades.items()
    }
    qrels = Qrels(grades)
    for name in ("queries", "conversations"):
        path = folder / f"{name}.jsonl"
        if path.is_file() and path.stat().st_size:
            questions = read_questions(path)
            found = sampled(judged_questions(qrels, questions, answerable=True), most)
            yield Task(f"{folder.name} {name}", qrels, found, questions.conversational)


def in_half(question: Question) -> bool:
    """Half of the conversations, the same ones for ever."""
    return zlib.crc32(question.conversation.encode()) % 2 == 1


def measure(task: Task, haystack: FileHaystack) -> Measured:
    """All systems on all queries of a task."""
    names = dict.fromkeys((*SYSTEMS, *MODELS) if task.conversational else SYSTEMS)
    measures = parse_measures(DEFAULT)
    asked = {}
    for name in names:
        print(f"{task.name}: {name}", file=sys.stderr, flush=True)
        asked[name] = ask(parse_system(name), haystack, task.questions, DEPTH, name=name)
    some = [question for question in task.questions if in_half(question)]

    def evaluated(questions: Sequence[Question], systems: Sequence[str]) -> Evaluation:
        chosen = [asked[name] for name in systems]
        return evaluate(task.qrels, questions, chosen, measures, baseline=BASELINE)

    return Measured(
        task,
        evaluated(task.questions, SYSTEMS),
        evaluated(some or task.questions, SYSTEMS),
        evaluated(task.questions, MODELS) if task.conversational else None,
    )


def alone(folders: Sequence[Path], most: int) -> Iterator[Measured]:
    """Every set on its own passages."""
    for folder in folders:
        path = folder / "passages.jsonl"
        with temporary_collection(path) as collection:
            for task in tasks_of(folder, most):
                yield measure(task, FileHaystack(path, collection))


def together(folders: Sequence[Path], most: int) -> Iterator[Measured]:
    """Every set on the passages of all."""
    with tempfile.TemporaryDirectory(prefix="distillery-quality-") as scratch:
        path = Path(scratch) / "passages.jsonl"
        with path.open("w", encoding="utf-8") as out:
            for folder in folders:
                with (folder / "passages.jsonl").open(encoding="utf-8") as lines:
                    for record in map(json.loads, lines):
                        out.write(json.dumps({**record, "id": f"{folder.name}:{record['id']}"}) + "\n")
        with temporary_collection(path) as collection:
            for folder in folders:
                for task in tasks_of(folder, most, f"{folder.name}:"):
                    yield measure(task, FileHaystack(path, collection))


# The tables


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown."""
    lines = [" | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def figure(evaluation: Evaluation, system: str, measure: str) -> str:
    """A mean; * where both tests against BM25 are below .05 after Holm's correction."""
    test = evaluation.of(system, measure)
    significant = (
        test is not None
        and test.t_p_holm is not None
        and test.randomisation_p_holm is not None
        and max(test.t_p_holm, test.randomisation_p_holm) < 0.05
    )
    return f"{evaluation.mean(system, measure):.3f}{'*' if significant else ''}"


def systems_table(measured: Sequence[Measured], measure: str, *, half: bool = False) -> str:
    """A row per system, a column per task, and the mean over tasks."""
    evaluations = [each.half if half else each.all for each in measured]
    head = [
        "",
        *(f"{each.task.name} ({len(e.questions):,})" for each, e in zip(measured, evaluations, strict=True)),
    ]
    rows = []
    for system in SYSTEMS:
        means = [evaluation.mean(system, measure) for evaluation in evaluations]
        cells = [figure(evaluation, system, measure) for evaluation in evaluations]
        rows.append([system, *cells, f"{sum(means) / len(means):.4f}"])
    return table([*head, "mean"], rows)


def models_table(measured: Sequence[Measured]) -> str:
    """BM25 with every query model on conversations: nDCG@10 / R@100."""
    spoken = {each.task.name: each.models for each in measured if each.models is not None}
    rows = [
        [
            name if name != BASELINE else "bm25 (cq2)",
            *(
                f"{figure(models, name, MAIN)} / {figure(models, name, 'R@100')}"
                for models in spoken.values()
            ),
        ]
        for name in MODELS
    ]
    return table(["", *spoken], rows) if spoken else ""


def differences_table(measured: Sequence[Measured]) -> str:
    """Both profiles against BM25 with intervals and p-values, nDCG@10."""
    rows = []
    for each in measured:
        for system in SYSTEMS[1:]:
            test = each.all.of(system, MAIN)
            assert test is not None
            interval = f"{test.interval[0]:+.4f} … {test.interval[1]:+.4f}" if test.interval else ""
            ps = [_p(p) for p in (test.t_p_holm, test.randomisation_p_holm)]
            counts = f"{test.better:,} / {test.equal:,} / {test.worse:,}"
            rows.append([each.task.name, system, f"{test.difference:+.4f}", interval, counts, *ps])
    return table(
        ["", "", "difference", "95 %", "better / equal / worse", "t-test p", "randomisation p"], rows
    )


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return f"{p:.4f}" if p >= 0.0001 else "< .0001"


def goals(measured: Sequence[Measured]) -> list[tuple[str, bool]]:
    """What was set out to reach, in words, and whether it is reached."""
    gains = {each.task.name: gain(each.all, "balanced", BASELINE) for each in measured}
    mean = sum(gains.values()) / len(gains)
    worst = min(gains, key=lambda name: gains[name])
    found = [
        (f"balanced - BM25, mean nDCG@10: {mean:+.4f} (wanted: {GAIN:+.3f} or more)", mean >= GAIN),
        (
            f"balanced - BM25, worst task {worst}: {gains[worst]:+.4f} (wanted: {LOSS:+.3f} or more)",
            gains[worst] >= LOSS,
        ),
    ]
    spoken = [each.models for each in measured if each.models is not None]
    if spoken:
        weighted = [gain(models, BASELINE, "bm25:cq2-unweighted") for models in spoken]
        mean = sum(weighted) / len(weighted)
        found.append((f"cq2 weighted - unweighted, mean nDCG@10: {mean:+.4f} (wanted: 0 or more)", mean >= 0))
    return found


def gain(evaluation: Evaluation, system: str, baseline: str) -> float:
    """Difference of mean nDCG@10."""
    return evaluation.mean(system, MAIN) - evaluation.mean(baseline, MAIN)


def page(measured: Sequence[Measured], *, together: bool) -> str:
    """Everything as Markdown."""
    where = "the passages of all sets at once" if together else "each set's own passages"
    parts = [
        f"Machine: {machine()}. Searched: {where}, BM25's best {DEPTH} re-ranked. Queries without a relevant "
        "passage are left out. * both paired tests against BM25 below .05 (Holm).",
        f"**{MAIN}, all queries**",
        systems_table(measured, MAIN),
        f"**{MAIN}, one half of the conversations**",
        systems_table(measured, MAIN, half=True),
        "**MRR@10, all queries**",
        systems_table(measured, "MRR@10"),
        "**Query models, BM25 alone: nDCG@10 / R@100**",
        models_table(measured),
        "**Differences from BM25, nDCG@10, all queries**",
        differences_table(measured),
        "**Goals**",
        "\n".join(f"- {words}: {'met' if met else '**not met**'}" for words, met in goals(measured)) + "\n",
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def facts(measured: Sequence[Measured]) -> Mapping[str, Any]:
    """Everything as JSON."""
    return {
        "machine": machine(),
        "tasks": {
            each.task.name: {
                "all": as_json(each.all),
                "half": as_json(each.half),
                "models": as_json(each.models) if each.models is not None else None,
            }
            for each in measured
        },
        "goals": [{"goal": words, "met": met} for words, met in goals(measured)],
    }


def main() -> None:
    """Measure, print, write; status 1 where a goal is not met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder per judged set")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these sets")
    parser.add_argument("--together", action="store_true", help="search the passages of all sets at once")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="queries of a task (default: all)")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file too")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.folder.glob("*/qrels.tsv"))
    if options.only:
        folders = [folder for folder in folders if folder.name in options.only]
    if not folders:
        sys.exit(f"There is no set in {options.folder}.")
    measured = list((together if options.together else alone)(folders, options.most))
    text = page(measured, together=options.together)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(facts(measured), default=str, indent=1), encoding="utf-8")
    sys.exit(not all(met for _, met in goals(measured)))


if __name__ == "__main__":
    main()
