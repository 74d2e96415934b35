"""Passing over passages that cannot win: the same hits and scores as asking for every word."""

import math
import random

import pytest
import tantivy

from retrieval.engine import commit_search
from retrieval.engine.commit_search import CHAIN, CommitSearch, schema

PASSAGES, WORDS, SEGMENTS = 6_000, 400, 3


@pytest.fixture(scope="module")
def searcher():
    """Passages of words that are as common as those of real text, in segments, some of them deleted."""
    chance = random.Random(7)
    words = [f"w{number}" for number in range(WORDS)]
    shares = [1 / (number + 1) for number in range(WORDS)]
    index = tantivy.Index(schema())
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(CHAIN, analyzer)
    writer = index.writer(15_000_000, 1)
    for segment in range(SEGMENTS):
        for number in range(PASSAGES // SEGMENTS):
            document = tantivy.Document()
            document.add_unsigned("pk", segment * PASSAGES + number)
            document.add_text("body", " ".join(chance.choices(words, shares, k=chance.randrange(3, 40))))
            writer.add_document(document)
        writer.commit()
    gone = list(range(0, PASSAGES, 7))
    writer.delete_documents_by_query(tantivy.Query.term_set_query(schema(), "pk", gone))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index.searcher()


class CountingSearcher:
    """A searcher that keeps the queries it was asked."""

    def __init__(self, searcher):
        self._searcher = searcher
        self.asked = []

    def search(self, query, limit, *, count):
        self.asked.append(query)
        return self._searcher.search(query, limit, count=count)

    def doc_freq(self, field, word):
        return self._searcher.doc_freq(field, word)


def whole(searcher, weights, k):
    """What tantivy finds for any of the words, rarest first."""
    words = sorted(weights, key=lambda word: searcher.doc_freq("body", word))
    clauses = [
        (tantivy.Occur.Should, tantivy.Query.boost_query(
            tantivy.Query.term_query(schema(), "body", word, index_option="freq"), weights[word]
        ))
        for word in words
        if searcher.doc_freq("body", word)
    ]  # fmt: skip
    return searcher.search(tantivy.Query.boolean_query(clauses), k, count=False).hits if clauses else []


def places(hits):
    return [(score, address.segment_ord, address.doc) for score, address in hits]


def queries(number):
    """Four to eight words each, rare and common, some of an earlier turn's weight, some in no passage."""
    chance = random.Random(11)
    for _ in range(number):
        words = chance.sample(range(WORDS + 20), chance.randrange(1, 6)) + chance.sample(range(12), 3)
        yield {f"w{word}": chance.choice([1.0, 1.0, 0.5, 0.25]) for word in words}


@pytest.fixture(autouse=True)
def no_query_is_short(monkeypatch):
    """Passages are few here, so all queries would be short."""
    monkeypatch.setattr(commit_search, "_SHORT", 0)


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 10, 300])
def test_hits_order_and_scores_are_those_of_the_whole_query(searcher, k):
    search = CommitSearch(searcher)
    for _ in range(2):  # what words can give is known the second time
        for weights in queries(200):
            assert places(search.best(weights, k)) == places(whole(searcher, weights, k)), weights


def test_common_words_bring_no_passages_in_where_rare_ones_suffice(searcher):
    """The representation of a query names its parts: what must be there is a rare word."""
    counting = CountingSearcher(searcher)
    search = CommitSearch(counting)
    asked = []
    for _ in range(2):
        for weights in queries(200):
            counting.asked.clear()
            search.best(weights, 5)
            asked.append([repr(query) for query in counting.asked])
    pruned = ["Must" in last for *_, last in asked]
    assert not any(pruned[:5]), "nothing is known of words that are asked for the first time"
    assert sum(pruned[200:]) > 50, "passages are left out for many queries"
    twice = [parts for parts in asked[200:] if sum("Must" in part for part in parts) > 1]
    assert twice, "for some of them the k-th score was learned by a first search"


def test_a_word_is_searched_for_by_itself_once_when_it_comes_again(searcher):
    counting = CountingSearcher(searcher)
    search = CommitSearch(counting)
    counts = []
    for _ in range(4):
        counting.asked.clear()
        search.best({"w300": 1.0, "w0": 1.0}, 5)
        counts.append(len(counting.asked))
    assert counts[0] == 1
    assert counts[1] == counts[2] + 1
    assert counts[2] == counts[3]


def test_a_short_query_is_asked_at_once(searcher, monkeypatch):
    monkeypatch.undo()
    counting = CountingSearcher(searcher)
    search = CommitSearch(counting)
    for _ in range(3):
        search.best({"w300": 1.0, "w200": 1.0}, 5)
    assert len(counting.asked) == 3
    assert not any("Must" in repr(query) for query in counting.asked)


@pytest.mark.parametrize("weight", [0, -1, math.nan, math.inf])
def test_weights_that_are_no_number_above_0_count_for_nothing(searcher, weight):
    search = CommitSearch(searcher)
    assert search.best({"w3": weight}, 5) == []
    assert places(search.best({"w3": 1.0, "w4": weight}, 5)) == places(whole(searcher, {"w3": 1.0}, 5))
    assert search.best({"w3": 1.0}, 0) == []
