"""Retrieval over many passages: index, search beside tantivy alone, word network, ranking, search over HTTP.

    python -m benchmarks.retrieval FOLDER [--passages 1000000] [--clients 4] [--seconds 20] [--only PART]

FOLDER has a folder for each judged set, with `passages.jsonl` and `queries.jsonl` ({id, text}) or with
`conversations.jsonl` ({id, turns}). Passages are those of all sets, repeated with other words in a seventh.
"""

import argparse
import gc
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Figure, percentile, run_step, spread, time_calls

SLUG = "speed"
QUERIES, TURNS, ROUNDS = 1_000, 400, 5


# Passages and questions


def read_lines(path: Path) -> Iterator[Any]:  # JSON
    """Records of a JSONL file; none where there is no file."""
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def write_passages(folder: Path, count: int, path: Path) -> None:
    """Passages whose words and pairs grow with their number about as they do in real text.

    One word in seven is another one, drawn by Zipf's law from 400,000 words, so no passage scores exactly as
    its copies do.
    """
    import numpy as np

    texts = [
        row["text"].split() for file in sorted(folder.glob("*/passages.jsonl")) for row in read_lines(file)
    ]
    pool = [f"x{rank:x}" for rank in (np.random.default_rng(1).zipf(1.12, 1 << 20) % 400_000).tolist()]
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            words = texts[number % len(texts)]
            turn = (number // len(texts)) * 7 % max(len(words), 1)
            words = words[turn:] + words[:turn]
            for place in range(chance.randrange(7), len(words), 7):
                words[place] = chance.choice(pool)
            file.write(json.dumps({"id": str(number), "text": " ".join(words)}) + "\n")


def sample_queries(folder: Path) -> list[str]:
    """Questions of all sets."""
    queries = [row["text"] for file in sorted(folder.glob("*/queries.jsonl")) for row in read_lines(file)]
    return queries[:: max(1, len(queries) // QUERIES)][:QUERIES]


def sample_turns(folder: Path) -> list[list[str]]:
    """Turns of conversations with those before them; questions alone where no set has conversations."""
    talks = []
    for file in sorted(folder.glob("*/conversations.jsonl")):
        for conversation in read_lines(file):
            texts = [turn["text"] for turn in conversation["turns"]]
            talks += [texts[: number + 1] for number in range(len(texts))]
    talks = talks or [[query] for query in sample_queries(folder)]
    return talks[:: max(1, len(talks) // TURNS)][:TURNS]


# Steps, each in a process of its own


def corpus_of_speed() -> Any:
    """The corpus that all is measured on."""
    from retrieval.models import Corpus

    return Corpus.objects.select_related("index", "network", "project").get(slug=SLUG)


def add(path: str) -> int:
    """A file of passages into the database."""
    from core.projects.services import create_project
    from retrieval.passage_files import open_passages
    from retrieval.services.corpora import add_passages, create_corpus

    corpus = create_corpus(project=create_project(slug=SLUG, title=SLUG), slug=SLUG)
    return add_passages(corpus=corpus, file=open_passages(Path(path)))


def index() -> int:
    """The database into the index; its bytes."""
    from retrieval.copies import folder_of
    from retrieval.services.indexing import build_index

    corpus = corpus_of_speed()
    build_index(corpus=corpus)
    corpus.refresh_from_db()
    return sum(path.stat().st_size for path in folder_of(corpus.index).rglob("*") if path.is_file())


def build_network() -> None:
    """The word network of the corpus."""
    from retrieval.services.networks import build_network

    build_network(corpus=corpus_of_speed())


def search(folder: str) -> dict[str, Any]:
    """Milliseconds of the first search and of each question, and questions a second with two threads."""
    from retrieval.copies import engine_of

    corpus, queries = corpus_of_speed(), sample_queries(Path(folder))

    def find(query: str) -> object:
        engine = engine_of(corpus)
        return engine.search(dict.fromkeys(engine.terms(query), 1.0), 100).pks

    first = time_calls(find, ["what causes inflation"])[0]
    times = time_calls(find, queries)
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(find, queries * 2))
    return {"first": first, "times": times, "rate": 2 * len(queries) / (time.perf_counter() - begin)}


def search_beside(folder: str) -> list[tuple[float, float]]:
    """In turn ours, from text to numbers, and tantivy alone with the terms known; seconds of each, by round.

    Tantivy is used as its users would: the same index opened by itself, the same query, numbers from their
    column.
    """
    import tantivy

    from retrieval.copies import engine_of, folder_of

    corpus, queries = corpus_of_speed(), sample_queries(Path(folder))
    engine = engine_of(corpus)
    opened = tantivy.Index.open(str(folder_of(corpus.index) / f"g{engine.generation()}"))
    searcher, schema = opened.searcher(), opened.schema

    def ask_ours(query: str) -> object:
        engine = engine_of(corpus)
        return engine.search(dict.fromkeys(engine.terms(query), 1.0), 100).pks

    def ask_tantivy(terms: list[str]) -> object:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", term, index_option="freq"))
            for term in terms
        ]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), 100, count=False).hits
        return searcher.fast_field_values("pk", [address for _, address in hits])

    def spend(ask: Callable[[Any], object], arguments: list[Any]) -> float:
        begin = time.thread_time()
        for argument in arguments:
            ask(argument)
        return (time.thread_time() - begin) / len(arguments)

    terms = [engine.terms(query) for query in queries]
    gc.collect()
    gc.freeze()  # as the web server does
    return [(spend(ask_ours, queries), spend(ask_tantivy, terms)) for _ in range(ROUNDS)]


def rank(folder: str) -> dict[str, list[float]]:
    """Milliseconds of each conversation: candidates of the engine, two profiles, the answer with texts."""
    from retrieval.ranking.bm25 import find
    from retrieval.ranking.crown import Crown
    from retrieval.ranking.parameters import defaults
    from retrieval.search import CorpusCollection, search_conversation

    corpus, talks = corpus_of_speed(), sample_turns(Path(folder))
    collection = CorpusCollection(corpus)
    balanced, published = Crown(defaults()), Crown(defaults("crown-2020"))
    parts: dict[str, Callable[[list[str]], object]] = {
        "engine: 100 candidates": lambda turns: find([collection], turns, "cq2", 100),
        "balanced: 100 candidates": lambda turns: balanced.rank([collection], turns, 100),
        "crown-2020: 100 candidates": lambda turns: published.rank([collection], turns, 100),
        "balanced, with texts and highlights": lambda turns: search_conversation([corpus], turns),
    }
    times = {}
    for name, ask in parts.items():
        time_calls(ask, talks[:30])
        times[name] = time_calls(ask, talks)
    return times


def make_key() -> str:
    """A key of the project's owner for the search as JSON."""
    from django.contrib.auth.models import User

    from annotation.desk.search import key_for
    from core.projects.models import Project
    from core.projects.services import set_role
    from web.access import ProjectAccess

    owner, project = User.objects.create_user(SLUG), Project.objects.get(slug=SLUG)
    set_role(project=project, user=owner, role="owner")
    return key_for(ProjectAccess(owner, project, "owner"))


STEPS = {
    "add": add,
    "index": index,
    "network": build_network,
    "search": search,
    "beside": search_beside,
    "rank": rank,
    "key": make_key,
}


# The tables


def measure_index(folder: Path, options: argparse.Namespace) -> Iterator[Figure]:
    """From the file to the search."""
    path = Path(os.environ["DATA_DIR"]) / "passages.jsonl"
    write_passages(folder, options.passages, path)
    for name, words in (("file into the database", ("add", path)), ("database into the index", ("index",))):
        answer = run_step("benchmarks.retrieval", *words)
        rate = f"{options.passages / answer['seconds']:,.0f}/s, {answer['peak_mib']:.0f} MiB"
        yield Figure(name, rate, note=f"processor {answer['processor']:.1f} s")
    yield Figure("size of the index", f"{answer['value'] / 2**20:,.0f} MiB")
    path.unlink()
    value = run_step("benchmarks.retrieval", "search", folder)["value"]
    yield Figure("first search of a process", f"{value['first']:.0f} ms")
    yield Figure("search, 100 numbers", spread(value["times"], 2), note=f"two threads {value['rate']:,.0f}/s")


def measure_tantivy(folder: Path, _options: argparse.Namespace) -> Iterator[Figure]:
    """Our rate as a share of tantivy's, by processes that search side by side; the best round of each."""
    for count in (1, 2):
        with ThreadPoolExecutor(count) as pool:
            answers = pool.map(lambda _: run_step("benchmarks.retrieval", "beside", folder), range(count))
            rounds = [answer["value"] for answer in answers]
        own, alone = (sum(min(pair[side] for pair in pairs) for pairs in rounds) / count for side in (0, 1))
        note = f"processor time: {own * 1e6:.0f} µs, alone {alone * 1e6:.0f} µs"
        yield Figure(f"share of tantivy's rate, {count} at a time", f"{alone / own:.3f}", note=note)


def measure_ranking(folder: Path, _options: argparse.Namespace) -> Iterator[Figure]:
    """The network, and what ranking takes."""
    answer = run_step("benchmarks.retrieval", "network")
    yield Figure("word network", f"{answer['seconds']:.1f} s, {answer['peak_mib']:.0f} MiB")
    answer = run_step("benchmarks.retrieval", "rank", folder)
    for name, times in answer["value"].items():
        yield Figure(name, spread(times))
    yield Figure("memory of the process", f"{answer['peak_mib']:.0f} MiB")


def measure_http(folder: Path, options: argparse.Namespace) -> Iterator[Figure]:
    """The search as JSON with a key, by clients that keep their connection."""
    from benchmarks.load import request_pages, run_together

    key = run_step("benchmarks.retrieval", "key")["value"]
    bodies = [json.dumps({"questions": turns}) for turns in sample_turns(folder)]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    environment = {name: os.environ[name] for name in ("DATA_DIR", "DATABASE_URL")}
    with common.our_server(**environment) as server:
        job = {"url": server.url, "path": f"/desk/projects/{SLUG}/search/api/getanswer", "headers": headers}
        jobs = [{**job, "bodies": bodies[number :: options.clients]} for number in range(options.clients)]
        run_together(request_pages, jobs, 3)  # every process opens index and network
        result = run_together(request_pages, jobs, options.seconds, pids=server.pids)
    late = percentile(result.times["request"], 0.95)
    rate = f"{result.per_second:.0f}/s, {result.refused} refused"
    yield Figure(f"{options.clients} clients", rate, "p95 ≤ 25 ms", late <= 25, result.describe())


PARTS = {"index": measure_index, "tantivy": measure_tantivy, "ranking": measure_ranking, "http": measure_http}


def main() -> None:
    """Measure and print."""
    parser = common.parser_of(__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder with one folder per judged set")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--data", type=Path, help="keep database and index here; --only uses what is there")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    if options.step:
        common.set_up_django()
        common.answer_step(STEPS, options.step)
        return
    if options.folder is None or not any(options.folder.glob("*/passages.jsonl")):
        sys.exit("Name a folder with one folder per judged set.")
    from tests.server import new_database  # brings boto3, which no step is to have

    print(common.describe_machine("tantivy"))
    with tempfile.TemporaryDirectory(prefix="retrieval-") as scratch:
        data = (options.data or Path(scratch)).resolve()
        data.mkdir(parents=True, exist_ok=True)
        os.environ.update(DATA_DIR=str(data), DATABASE_URL=f"sqlite:///{data / 'distillery.sqlite3'}")
        if not (data / "distillery.sqlite3").exists():
            new_database(data)
        for name in options.only:
            title = f"Retrieval, {options.passages:,} passages: {name}"
            common.print_table(title, PARTS[name](options.folder.resolve(), options))


if __name__ == "__main__":
    main()
