"""Retrieval of the sample: nDCG@10, MRR@10 and R@100 must not fall."""

import json
import math
from collections import defaultdict
from pathlib import Path

import pytest

import annotation
from retrieval.passage_files import open_passages
from retrieval.services.corpora import add_passages, create_corpus
from retrieval.services.indexing import build_index
from tests.retrieval.world import make_project, search

FOLDER = Path(annotation.__file__).parent / "sample"


def corpus_of(name, language):
    corpus = create_corpus(project=make_project(), slug="sample", language=language)
    add_passages(corpus=corpus, file=open_passages(FOLDER / name))
    build_index(corpus=corpus)
    return corpus


def queries(language):
    name = "queries.jsonl" if language == "en" else f"queries-{language}.jsonl"
    found = map(json.loads, (FOLDER / name).read_text(encoding="utf-8").splitlines())
    return {query["id"]: query["text"] for query in found if "passages" in query["truth"]}


def judgments():
    grades = defaultdict(dict)
    for line in (FOLDER / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, _, passage, grade = line.split("\t")
        grades[query][passage] = int(grade)
    return grades


def measured(corpus, language):
    """Means of nDCG@10 (linear gain), MRR@10 and R@100."""
    grades, sums, asked = judgments(), [0.0, 0.0, 0.0], queries(language)
    for query, text in asked.items():
        good = grades[query]
        keys = [hit.passage.key for hit in search([corpus], text, 100)]
        gain = sum(good.get(key, 0) / math.log2(place + 2) for place, key in enumerate(keys[:10]))
        best = sorted(good.values(), reverse=True)[:10]
        sums[0] += gain / sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
        sums[1] += next((1 / (place + 1) for place, key in enumerate(keys[:10]) if key in good), 0)
        sums[2] += len(good.keys() & set(keys)) / len(good)
    return [round(value / len(asked), 3) for value in sums]


@pytest.mark.long
@pytest.mark.django_db
def test_english():
    assert measured(corpus_of("passages.jsonl", "en"), "en") == pytest.approx(
        [0.790, 0.868, 0.988], abs=0.005
    )


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["zh", "ar"])
def test_chinese_and_arabic(language):
    """Three queries each; one has a shorter passage with the same words before the right one."""
    assert measured(corpus_of(f"passages-{language}.jsonl", language), language) == [0.877, 0.833, 1.0]


def test_every_judged_passage_is_there():
    passages = {
        json.loads(line)["id"]
        for path in FOLDER.glob("passages*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    }
    judged = {passage for grades in judgments().values() for passage in grades}
    assert judged <= passages
    assert 550 <= len(passages) <= 650
