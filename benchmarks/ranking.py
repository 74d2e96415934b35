"""Measures ranking: what a search with CROWN costs over many passages, part by part.

    python benchmarks/ranking.py FOLDER [--passages 1000000] [--markdown FILE] [--data DIR]

FOLDER holds one folder per set with `passages.jsonl` and `conversations.jsonl`; `benchmarks/passages.py`
makes many passages of them. Every turn of a sample of conversations is a question with its earlier turns.
`--data` keeps the database, index and network in a folder, and uses what is there already. `--scoring SET`
measures scoring alone, by profile, over the passages of one set and without a database.
"""

# ruff: noqa: PLC0415  # the apps can be imported once the environment names the database

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
TURNS = 400
WARM = 30


def with_conversations(folder: Path) -> list[Path]:
    """Folders of the sets that have any."""
    found = sorted(path.parent for path in folder.glob("*/conversations.jsonl") if path.stat().st_size)
    if not found:
        sys.exit(f"There is no set with conversations in {folder}.")
    return found


def conversations(folders: list[Path]) -> Iterator[list[str]]:
    """Each turn of each conversation after those before it."""
    from benchmarks.environment import lines

    for folder in folders:
        path = folder / "conversations.jsonl"
        for conversation in lines(path) if path.exists() else ():
            turns = [turn["text"] for turn in conversation["turns"]]
            yield from (turns[: number + 1] for number in range(len(turns)))


def prepare(folder: Path, count: int, scratch: Path) -> None:
    """Passages, index and network, unless they are there."""
    from django.core.management import call_command

    from benchmarks.passages import write_jsonl
    from core.projects.services import create_project
    from retrieval.models import Corpus
    from retrieval.passage_files import open_passages
    from retrieval.services.corpora import add_passages, create_corpus
    from retrieval.services.indexing import build_index
    from retrieval.services.networks import build_network
    from retrieval.services.sharding import together

    call_command("migrate", verbosity=0)
    corpus = Corpus.objects.filter(slug="speed").select_related("index").first()
    if corpus is None:
        path = scratch / "many.jsonl"
        write_jsonl(folder, count, path)
        corpus = create_corpus(project=create_project(slug="speed", title="speed"), slug="speed")
        add_passages(corpus=corpus, file=open_passages(path))
        path.unlink()
    build_index(corpus=corpus)
    build_network(corpus=corpus, counter=together(os.cpu_count() or 1))


def measure(asked: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """What every part takes, by name; see `timed`."""
    from retrieval.models import Corpus
    from retrieval.ranking.bm25 import find
    from retrieval.ranking.crown import Crown, content_terms
    from retrieval.ranking.explanation import explain
    from retrieval.ranking.parameters import Parameters, defaults
    from retrieval.ranking.scoring import score
    from retrieval.search import CorpusCollection, search_conversation

    [corpus] = Corpus.objects.filter(slug="speed").select_related("index", "network", "project")
    usual, many = defaults(), Parameters.of({"candidates": 1000})
    published = defaults("crown-2020")
    collection = CorpusCollection(corpus)
    evidence = collection.network
    assert evidence is not None

    def ready(turns: list[str]) -> Any:
        found = find([collection], turns, usual.query_model, 100)
        pks = [each.pk for each in found.candidates]
        return (
            collection.columns(pks, numbers=True),
            content_terms("en", turns, usual),
            [each.score for each in found.candidates],
        )

    def whole(turns: list[str]) -> None:
        fresh = CorpusCollection(corpus)
        ranking = Crown(usual).rank([fresh], turns, 100)
        pks = [each.pk for each in ranking.results]
        explain([*fresh.texts(pks).values()], "en", ranking.terms, evidence, usual)

    prepared = [ready(turns) for turns in asked]
    return {
        "engine: 100 candidates": timed(asked, lambda turns: find([collection], turns, "cq2", 100)),
        "stored tokens of 100 passages": timed(
            [[each.pk for each in find([collection], turns, "cq2", 100).candidates] for turns in asked],
            lambda pks: collection.columns(pks, numbers=True),
        ),
        "scores of 100 passages": timed(
            prepared, lambda given: score(given[0], given[1], evidence, usual, given[2])
        ),
        "balanced: 100 candidates": timed(asked, lambda turns: Crown(usual).rank([collection], turns, 100)),
        "crown-2020: 100 candidates": timed(
            asked, lambda turns: Crown(published).rank([collection], turns, 100)
        ),
        "balanced: 1,000 candidates": timed(asked, lambda turns: Crown(many).rank([collection], turns, 100)),
        "balanced, 3 with texts and highlights": timed(
            asked, lambda turns: search_conversation([corpus], turns)
        ),
        "balanced, all 100 with texts and highlights": timed(asked, whole),
    }


def timed(given: list[Any], ask: Callable[[Any], object]) -> tuple[float, float, float]:
    """Median and 95th percentile in ms, and the mean of the processor's: others disturb it less."""
    for each in given[:WARM]:
        ask(each)
    times = []
    before = time.process_time()
    for each in given:
        at = time.perf_counter()
        ask(each)
        times.append((time.perf_counter() - at) * 1000)
    processor = (time.process_time() - before) * 1000 / len(given)
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.95)], processor


#: Profiles whose scoring is measured alone, and what each may take.
PROFILES = ("balanced", "balanced-1", "crown-2020")
ROUNDS = 3


def scoring(folder: Path) -> Any:  # a Run
    """What scoring 100 passages costs by profile, of a set's rewritten questions and its conversations.

    Processor time of the thread; of each question the best of `ROUNDS`.
    """
    from benchmarks.measures import Figure
    from benchmarks.report import Run
    from retrieval.ranking.bm25 import find
    from retrieval.ranking.crown import content_terms
    from retrieval.ranking.folder import temporary_collection
    from retrieval.ranking.parameters import defaults
    from retrieval.ranking.scoring import score

    made = Run(f"Scoring 100 passages of {folder.name}", "")
    with temporary_collection(folder / "passages.jsonl") as collection:
        evidence = collection.evidence
        assert evidence is not None
        for kind, asked in _questions(folder).items():
            for profile in PROFILES:
                chosen = defaults(profile)
                given = []
                for turns in asked:
                    found = find([collection], turns, chosen.query_model, 100).candidates
                    if found:
                        tokens = collection.columns([each.pk for each in found], numbers=True)
                        terms = content_terms("en", turns, chosen)
                        given.append((tokens, terms, evidence, chosen, [each.score for each in found]))
                for each in given[:WARM]:
                    score(*each)
                times = sorted(min(_seconds(score, each) for _ in range(ROUNDS)) * 1000 for each in given)
                median, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
                made.figures.append(
                    Figure(
                        f"{profile}, {kind}",
                        f"{median:.1f} / {p95:.1f} ms",
                        "p95 ≤ 3 ms",
                        p95 <= 3,
                        f"median / p95 of {len(given)} questions",
                    )
                )
    return made


def _questions(folder: Path) -> dict[str, list[list[str]]]:
    """Up to `TURNS` questions each way: turns with those before them, and rewritten ones alone."""
    from benchmarks.environment import lines

    every = list(conversations([folder]))
    rewritten = [
        [turn["rewrite"]]
        for conversation in lines(folder / "conversations.jsonl")
        for turn in conversation["turns"]
        if turn.get("rewrite")
    ]
    found = {"rewrites": rewritten, "conversations": every}
    return {kind: asked[:: max(1, len(asked) // TURNS)][:TURNS] for kind, asked in found.items() if asked}


def _seconds(ask: Callable[..., object], given: tuple[Any, ...]) -> float:
    before = time.thread_time()
    ask(*given)
    return time.thread_time() - before


#: What each part may take at the 95th percentile (or the median where it says so), in ms.
GOALS = {
    "scores of 100 passages": ("median < 3 ms", lambda median, p95: median < 3),
    "balanced, 3 with texts and highlights": ("p95 ≤ 25 ms", lambda median, p95: p95 <= 25),
    "balanced: 1,000 candidates": ("p95 ≤ 120 ms", lambda median, p95: p95 <= 120),
}


def run(folder: Path, count: int, data: Path) -> Any:  # a Run, whose module needs Django's environment
    """The table, over what is in the data folder or is made there."""
    from benchmarks.environment import peak
    from benchmarks.measures import Figure
    from benchmarks.report import Run

    prepare(folder, count, data)
    every = list(conversations(with_conversations(folder)))
    found = measure(every[:: max(1, len(every) // TURNS)][:TURNS])
    made = Run(f"Ranking: {count:,} passages, {TURNS} turns of conversations", "")
    for name, (median, p95, processor) in found.items():
        goal, is_met = GOALS.get(name, ("", None))
        made.figures.append(
            Figure(
                name,
                f"{median:.1f} / {p95:.1f} ms",
                goal,
                is_met(median, p95) if is_met else None,
                f"median / p95; processor {processor:.1f} ms",
            )
        )
    made.figures.append(Figure("memory of the process", f"{peak():,.0f} MB", note="peak"))
    return made


def arguments(description: str) -> argparse.ArgumentParser:
    """What the command of one table takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path, help="folder with one folder per judged set")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument(
        "--data", type=Path, help="keep the database and the rest here, and use what is there"
    )
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    return parser


def alone(
    options: argparse.Namespace,
    title: str,
    table: Callable[[Path, int, Path], Any],
    server: str = "one process",
) -> None:
    """The command of one table: prepare, measure, print, write."""
    with_conversations(options.folder)
    with tempfile.TemporaryDirectory(prefix="distillery-ranking-") as scratch:
        data = options.data or Path(scratch)
        data.mkdir(parents=True, exist_ok=True)
        os.environ["DATA_DIR"] = str(data)
        os.environ.pop("DATABASE_URL", None)
        from benchmarks.environment import setup

        setup()
        runs = [table(options.folder, options.passages, data)]
    from benchmarks.report import machine, markdown, show

    facts = [f"Machine: {machine()}.", f"SQLite, {server}."]
    show(runs, facts, peers=())
    if options.markdown:
        options.markdown.write_text(markdown(runs, facts, title=title, peers=()))


if __name__ == "__main__":
    parser = arguments(__doc__.partition("\n")[0])
    parser.add_argument("--scoring", metavar="SET", help="measure scoring alone, over one set of FOLDER")
    asked_for = parser.parse_args()
    if asked_for.scoring:
        alone(
            asked_for,
            "Measurements of scoring",
            lambda folder, _count, _data: scoring(folder / asked_for.scoring),
        )
    else:
        alone(asked_for, "Measurements of ranking", run)
