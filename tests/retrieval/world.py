"""Corpora with a few passages, made in the shortest way."""

import itertools
import json
import random

from core.projects.models import Project
from core.projects.services import create_project
from retrieval.models import Corpus
from retrieval.passage_files import open_passages
from retrieval.search import search_conversation
from retrieval.services.corpora import add_passages, create_corpus
from retrieval.services.indexing import build_index

_numbers = itertools.count(random.randrange(10**9))


def make_project(**fields) -> Project:
    name = f"project-{next(_numbers)}"
    return create_project(slug=name, title=name, **fields)


def make_corpus(tmp_path, *passages, project=None, index=True, **fields) -> Corpus:
    """A corpus of passages given as texts or as records; ids p1, p2, … unless they say otherwise."""
    given = {"project": project or make_project(), "slug": f"corpus-{next(_numbers)}", **fields}
    corpus = create_corpus(**given)
    if passages:
        add(corpus, tmp_path, *passages)
    if index:
        build_index(corpus=corpus)
        corpus.refresh_from_db()
    return corpus


def add(corpus, tmp_path, *passages) -> int:
    return add_passages(corpus=corpus, file=open_passages(write(tmp_path, *passages)))


def write(tmp_path, *passages):
    """A JSONL file of passages."""
    path = tmp_path / f"passages-{next(_numbers)}.jsonl"
    records = [
        {"id": f"p{number}", **(passage if isinstance(passage, dict) else {"text": passage})}
        for number, passage in enumerate(passages, 1)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def search(corpora, query, k=10):
    """What BM25 alone finds."""
    return search_conversation(corpora, [query], ranker="bm25", results=k, explain=False).results
