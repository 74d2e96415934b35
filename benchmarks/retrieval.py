"""Measures retrieval: quality on judged sets, speed and size with a million passages.

    python benchmarks/retrieval.py FOLDER [--passages 1000000] [--markdown FILE] [--beside DATA]

FOLDER holds one folder per set with `passages.jsonl`, `queries.jsonl` ({id, text}) and `qrels.tsv` (TREC).
Speed is measured with a million passages made of those of all sets (`benchmarks/passages.py`), on a fresh
SQLite database. Every step of the index is a process of its own, so that its peak of memory is its own. The
tables of the network, of ranking and of the search page come last; `network.py`, `ranking.py` and
`search_page.py` print them alone. `--beside` measures the engine beside tantivy only, over the corpus that
`ranking.py` or `search_http.py` keeps in a folder with `--data`.
"""

# ruff: noqa: PLC0415  # the apps can be imported once the environment names the database

import argparse
import json
import math
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.environment import lines, peak, setup  # noqa: E402

#: nDCG@10, MRR@10, R@100 measured with tantivy's chain alone when the engine was chosen.
KNOWN = {"xquad-en": (0.969, 0.961, 0.995), "openstax-ccby": (0.674, 0.737, 0.977)}
QUERIES = 1_000


def judged(folder: Path) -> dict[str, dict[str, int]]:
    """Grades above 0 by query and passage."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, _, passage, grade = line.split("\t")
        if int(grade) > 0:
            grades[query][passage] = int(grade)
    return grades


def scores(keys: list[str], good: dict[str, int]) -> tuple[float, float, float]:
    """nDCG@10 (linear gain), reciprocal rank in the first ten, recall in the first hundred."""
    gain = sum(good.get(key, 0) / math.log2(place + 2) for place, key in enumerate(keys[:10]))
    best = sorted(good.values(), reverse=True)[:10]
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
    reciprocal = next((1 / (place + 1) for place, key in enumerate(keys[:10]) if key in good), 0.0)
    return gain / ideal, reciprocal, len(good.keys() & set(keys)) / len(good)


# Steps, each in its own process


def quality(folder: str) -> dict[str, Any]:
    """Add, index and search one judged set through the services."""
    from core.projects.services import create_project
    from retrieval.passage_files import open_passages
    from retrieval.selectors import searchable
    from retrieval.services.corpora import add_passages, create_corpus
    from retrieval.services.indexing import build_index

    path = Path(folder)
    project = create_project(slug=path.name, title=path.name)
    corpus = create_corpus(project=project, slug=path.name, language="en")
    passages = add_passages(corpus=corpus, file=open_passages(path / "passages.jsonl"))
    build_index(corpus=corpus)
    grades = judged(path)
    texts = {query["id"]: query["text"] for query in lines(path / "queries.jsonl") if query["id"] in grades}
    [there] = searchable(project)
    keys = keys_of(there)
    found = [
        scores([keys[pk] for pk in numbers(there, text, 100)], grades[query]) for query, text in texts.items()
    ]
    means = [sum(column) / len(found) for column in zip(*found, strict=True)]
    return {"passages": passages, "queries": len(found), "means": means}


def keys_of(corpus: Any) -> dict[int, str]:
    """Ids of passages by number."""
    from retrieval.models import Passage

    return dict(Passage.objects.filter(corpus=corpus).values_list("pk", "key"))


def numbers(corpus: Any, text: str, k: int) -> Sequence[int]:
    """What the engine finds, without texts."""
    from retrieval.copies import engine_of

    return _numbers(engine_of(corpus), text, k)


def _numbers(engine: Any, text: str, k: int) -> Sequence[int]:
    found: Sequence[int] = engine.search(dict.fromkeys(engine.terms(text), 1.0), k).pks
    return found


def adding(path: str) -> dict[str, Any]:
    """A file into the database."""
    from core.projects.services import create_project
    from retrieval.passage_files import open_passages
    from retrieval.services.corpora import add_passages, create_corpus

    project = create_project(slug="speed", title="speed")
    corpus = create_corpus(project=project, slug="speed")
    added = add_passages(corpus=corpus, file=open_passages(Path(path)))
    return {"passages": added}


def indexing(_: str) -> dict[str, Any]:
    """The database into the index."""
    from retrieval.copies import folder_of
    from retrieval.models import Corpus
    from retrieval.services.indexing import build_index

    corpus = Corpus.objects.select_related("index").get(slug="speed")
    built = build_index(corpus=corpus)
    size = sum(path.stat().st_size for path in folder_of(corpus.index).rglob("*") if path.is_file())
    return {"passages": built.added, "bytes": size}


def searching(queries: str) -> dict[str, Any]:
    """One query after the other, then two threads: the engine alone, and with texts from the database."""
    from retrieval.models import Corpus, Passage

    corpus = Corpus.objects.select_related("index").get(slug="speed")
    texts = json.loads(queries)

    def whole_answer(text: str) -> object:
        return Passage.objects.in_bulk(numbers(corpus, text, 10))

    for text in texts[:50]:
        whole_answer(text)

    def timed(ask: Callable[[str], object]) -> list[float]:
        times = []
        for text in texts:
            at = time.perf_counter()
            ask(text)
            times.append((time.perf_counter() - at) * 1000)
        return sorted(times)

    alone = timed(lambda text: numbers(corpus, text, 100))
    whole = timed(whole_answer)
    at = time.perf_counter()
    threads = [
        threading.Thread(target=lambda: [numbers(corpus, text, 100) for text in texts]) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    both = time.perf_counter() - at
    return {
        "engine": percentiles(alone),
        "whole": percentiles(whole),
        "qps": len(texts) / (sum(alone) / 1000),
        "qps_two": 2 * len(texts) / both,
    }


#: How many processes search side by side.
PROCESSES = (1, 2)
#: Rounds of ours and tantivy's in turn, of which the best of either counts.
ROUNDS = 5


#: Of a query in each round: the engine's processor time and time by the clock, and tantivy's.
_Round = tuple[float, float, float, float]


def beside_tantivy(texts: list[str], line_up: Callable[[], object]) -> list[_Round]:
    """What a query takes: the engine from text to numbers, and tantivy alone with the terms known.

    Tantivy is used as its users would: the same index opened by itself, the same query, numbers from their
    column. `line_up` waits for the other processes.
    """
    import gc

    import tantivy

    from retrieval.copies import engine_of, folder_of
    from retrieval.engine.commit_search import schema
    from retrieval.models import Corpus

    corpus = Corpus.objects.select_related("index").get(slug="speed")
    engine = engine_of(corpus)
    folder = folder_of(corpus.index) / f"g{engine.generation()}"
    searcher, made = tantivy.Index.open(str(folder)).searcher(), schema()

    def alone(terms: list[str]) -> object:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(made, "body", term, index_option="freq"))
            for term in terms
        ]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), 100, count=False).hits
        return searcher.fast_field_values("pk", [address for _, address in hits])

    def taken(ask: Callable[[Any], object], given: list[Any]) -> tuple[float, float]:
        line_up()
        before, at = time.thread_time(), time.perf_counter()
        for each in given:
            ask(each)
        return (time.thread_time() - before) / len(given), (time.perf_counter() - at) / len(given)

    known = [engine.terms(text) for text in texts]
    gc.collect()
    gc.freeze()  # as the web server does
    gc.set_threshold(10_000, 20, 20)
    return [
        (*taken(lambda text: _numbers(engine_of(corpus), text, 100), texts), *taken(alone, known))
        for _ in range(ROUNDS)
    ]


def _beside(texts: list[str], line_up: Any, answer: Any) -> None:
    setup()
    answer.send(beside_tantivy(texts, line_up.wait))


def beside_figure(texts: list[str], processes: int) -> Any:  # a Figure, as above
    """The engine's rate as a share of tantivy's alone, both by processes side by side."""
    from benchmarks.measures import Figure

    context = multiprocessing.get_context("spawn")
    line_up, pipes, workers = context.Barrier(processes), [], []
    for _ in range(processes):
        ours, theirs = context.Pipe()
        workers.append(context.Process(target=_beside, args=(texts, line_up, theirs)))
        workers[-1].start()
        theirs.close()
        pipes.append(ours)
    try:
        measured: list[list[_Round]] = [pipe.recv() for pipe in pipes]
    except EOFError as error:
        raise RuntimeError("A process beside tantivy failed.") from error
    for worker in workers:
        worker.join()

    def least(column: int) -> float:
        """Processor time of the best round, as a mean of processes."""
        return sum(min(each[column] for each in rounds) for rounds in measured) / processes

    def most(column: int) -> float:
        """Queries a second by the clock, of all processes in their best round."""
        return max(sum(1 / each[column] for each in together) for together in zip(*measured, strict=True))

    share = least(2) / least(0)
    return Figure(
        f"search, of tantivy alone, {processes} process{'es' if processes > 1 else ''}",
        f"{share:.3f}",
        "≥ .95",
        share >= 0.95,
        f"processor time: {least(0) * 1e6:.0f} µs, alone {least(2) * 1e6:.0f} µs; "
        f"by the clock {most(1):,.0f}/s, alone {most(3):,.0f}/s",
    )


def sample(folder: Path) -> list[str]:
    """So many questions of all sets."""
    queries = [query["text"] for path in sorted(folder.glob("*/queries.jsonl")) for query in lines(path)]
    return queries[:: max(1, len(queries) // QUERIES)][:QUERIES]


def percentiles(times: list[float]) -> tuple[float, float]:
    """Median and 95th percentile of sorted times."""
    return times[len(times) // 2], times[int(len(times) * 0.95)]


def opening(_: str) -> dict[str, Any]:
    """The index in a process that has not seen it: opened alone, then up to its first answer."""
    from retrieval.copies import engine_of
    from retrieval.models import Corpus

    engine = engine_of(Corpus.objects.select_related("index").get(slug="speed"))
    at = time.perf_counter()
    engine.count()
    opened = time.perf_counter()
    engine.search(dict.fromkeys(engine.terms("what causes inflation"), 1.0), 100)
    return {"ms": (opened - at) * 1000, "first": (time.perf_counter() - at) * 1000}


def one_more(_: str) -> dict[str, Any]:
    """One more passage into a big index."""
    from retrieval.copies import engine_of
    from retrieval.models import Corpus

    engine = engine_of(Corpus.objects.select_related("index").get(slug="speed"))
    engine.index([(2**40, "one more passage about something else")])
    at = time.perf_counter()
    engine.index([(2**40 + 1, "and another one")])
    taken = time.perf_counter() - at
    engine.delete([2**40, 2**40 + 1])  # the next table finds what the database has
    return {"ms": taken * 1000}


def _step(name: str, argument: str, answer: Any) -> None:
    setup()
    before = time.process_time()
    at = time.perf_counter()
    facts = globals()[name](argument)
    facts["seconds"] = time.perf_counter() - at
    facts["processor"] = time.process_time() - before
    facts["rss"] = peak()
    answer.send(facts)


def step(name: str, argument: str = "") -> dict[str, Any]:
    """Run a step in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_step, args=(name, argument, theirs))
    process.start()
    theirs.close()
    try:
        facts: dict[str, Any] = ours.recv()
    except EOFError as error:
        raise RuntimeError(f"The step {name} failed.") from error
    process.join()
    return facts


# The whole


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder per judged set")
    parser.add_argument("--passages", type=int, default=1_000_000, help="to measure speed with; 0: none")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file too")
    parser.add_argument("--beside", type=Path, metavar="DATA", help="only beside tantivy, over what is here")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.folder.glob("*/qrels.tsv"))
    if not folders:
        sys.exit(f"There is no set in {options.folder}.")
    with tempfile.TemporaryDirectory(prefix="distillery-retrieval-") as scratch:
        os.environ["DATA_DIR"] = str(options.beside or scratch)
        os.environ.pop("DATABASE_URL", None)
        setup()
        if options.beside:
            runs = [beside_run(options.folder)]
        else:
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            runs = [quality_run(folders)]
            if options.passages:
                runs += speed_runs(options.folder, options.passages, Path(scratch))
    from benchmarks.report import machine, markdown, show

    facts = [f"Machine: {machine()}.", f"tantivy {tantivy_version()}, SQLite."]
    show(runs, facts, peers=())
    if options.markdown:
        options.markdown.write_text(markdown(runs, facts, title="Measurements of retrieval", peers=()))


def tantivy_version() -> str:
    """The engine's version."""
    from importlib.metadata import version

    return version("tantivy")


def quality_run(folders: list[Path]) -> Any:  # a Run; benchmarks.report needs Django's environment first
    """The table of quality."""
    from benchmarks.measures import Figure
    from benchmarks.report import Run

    run = Run("Quality: nDCG@10 / MRR@10 / R@100", "")
    for folder in folders:
        facts = step("quality", str(folder))
        means, known = facts["means"], KNOWN.get(folder.name)
        run.figures.append(
            Figure(
                folder.name,
                " / ".join(f"{mean:.3f}" for mean in means),
                " / ".join(f"{value:.3f}" for value in known) if known else "",
                sum(means) >= sum(known) - 0.01 if known else None,
                f"{facts['passages']:,} passages, {facts['queries']:,} queries",
            )
        )
    return run


def speed_runs(folder: Path, count: int, scratch: Path) -> list[Any]:  # Runs, as above
    """The tables of speed: index, network, ranking, page."""
    from benchmarks import network, ranking, search_page

    return [
        index_run(folder, count, scratch),
        network.run(folder, count, os.cpu_count() or 1),
        ranking.run(folder, count, scratch),
        search_page.run(folder, count, scratch),
    ]


def beside_run(folder: Path) -> Any:  # a Run, as above
    """The engine beside tantivy, over the corpus of the data folder."""
    from benchmarks.report import Run
    from retrieval.models import Index

    texts, count = sample(folder), Index.objects.get(corpus__slug="speed").passages
    figures = [beside_figure(texts, processes) for processes in PROCESSES]
    return Run(f"Beside tantivy: {count:,} passages, load {os.getloadavg()[0]:.1f}", "", figures)


def index_run(folder: Path, count: int, scratch: Path) -> Any:  # a Run, as above
    """The table of speed and size."""
    from benchmarks.measures import Figure
    from benchmarks.passages import write_jsonl
    from benchmarks.report import Run

    path = scratch / "many.jsonl"
    write_jsonl(folder, count, path)
    size = path.stat().st_size
    added = step("adding", str(path))
    path.unlink()
    indexed = step("indexing")
    texts = sample(folder)
    opened = step("opening")
    found = step("searching", json.dumps(texts))
    beside = [beside_figure(texts, processes) for processes in PROCESSES]
    more = step("one_more")
    stored = added["passages"] / added["seconds"]
    rate = indexed["passages"] / indexed["seconds"]

    def both(times: tuple[float, float]) -> str:
        return f"{times[0]:.2f} / {times[1]:.2f} ms"

    def used(facts: dict[str, Any]) -> str:
        return (
            f"{facts['seconds']:.1f} s, {facts['processor']:.1f} s of processor, peak {facts['rss']:.0f} MB"
        )

    return Run(
        f"Speed: {count:,} passages, {size / 1e6:,.0f} MB of JSONL",
        "",
        [
            Figure("file into the database", f"{stored:,.0f}/s", note=used(added)),
            Figure("database into the index", f"{rate:,.0f}/s", "≥ 50,000/s", rate >= 50_000, used(indexed)),
            Figure("size of the index", f"{indexed['bytes'] / 1e6:,.0f} MB"),
            Figure(
                "open the index",
                f"{opened['ms']:.0f} ms",
                "< 100 ms",
                opened["ms"] < 100,
                f"{opened['first']:.0f} ms with the first search",
            ),
            Figure(
                "search, 100 numbers",
                both(found["engine"]),
                "p95 < 3 ms",
                found["engine"][1] < 3,
                "median / p95",
            ),
            Figure("search, 10 with texts", both(found["whole"]), note="median / p95"),
            Figure(
                "queries per second",
                f"{found['qps']:,.0f}, two threads {found['qps_two']:,.0f}",
                "≥ 1,500",
                found["qps"] >= 1_500,
                f"peak {found['rss']:.0f} MB",
            ),
            *beside,
            Figure("add one passage and commit", f"{more['ms']:.1f} ms"),
        ],
    )


if __name__ == "__main__":
    main()
