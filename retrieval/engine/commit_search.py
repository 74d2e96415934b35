"""What tantivy keeps of a passage, and the best k hits without scoring all that have a word of the query.

Tantivy itself passes over passages that cannot win, but its binding for Python asks in a way that rules that
out. So common words are kept from bringing passages in: where a passage with none of the rarer words cannot
reach the k-th score, only those with a rarer one are looked at, and the common words only add to their scores
(MaxScore: Turtle and Flood, Query evaluation: strategies and optimizations, 1995). Hits and scores are those
of the whole query; where few passages would be saved, the whole query is asked.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from tantivy import DocAddress, Occur, Query, Schema, SchemaBuilder, Searcher

#: Nanoseconds to score a passage for one of its words, and to look a passage up in the list of one more word:
#: what decides is how they compare.
_TO_SCORE, _TO_LOOK_UP = 9, 25
#: A whole query that takes less, in nanoseconds, is asked at once.
_SHORT = 50_000
#: What may be spent on learning how high the k-th score is, and on a search with the rare words that this
#: leaves, as shares of what the whole query takes.
_TO_LEARN, _WORTHWHILE = 0.2, 0.8
#: Sums of 32-bit scores may be off by less than this share of them.
_ROUNDING = 1e-5
#: Words of which a commit remembers what it knows.
_MOST_REMEMBERED = 100_000
#: The rules by which the words of passages are cut, as tantivy knows them.
CHAIN = "words"

Hit = tuple[float, DocAddress]


@cache
def schema() -> Schema:
    """A number and words with their frequencies: no positions, no stored text."""
    builder = SchemaBuilder()
    builder.add_unsigned_field("pk", indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name=CHAIN, index_option="freq")
    return builder.build()


class _Word(NamedTuple):
    """A word of a query, its weight, and how many passages have it."""

    word: str
    weight: float
    passages: int


class CommitSearch:
    """Searches one commit of an index."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._passages: dict[str, int] = {}
        self._highest: dict[str, float] = {}

    def best(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        """The k best hits for weighted words, best first; equal ones as tantivy has them.

        Weights that are no number above 0 count for nothing.
        """
        query_words = self._order_words(weights)
        if not query_words or k < 1:
            return []
        return self._pruned(query_words, k) or self._hits(query_words, len(query_words), k)

    def _pruned(self, query_words: Sequence[_Word], k: int) -> list[Hit]:
        """The same without passages that have common words only; none where that would hardly be quicker."""
        passages = [0, *accumulate(word.passages for word in query_words)]
        full_cost = passages[-1] * _TO_SCORE

        def cost(rare: int) -> int:
            return passages[rare] * (_TO_SCORE + _TO_LOOK_UP * (len(query_words) - rare))

        if full_cost < _SHORT:
            return []
        few = [
            rare
            for rare in range(1, len(query_words))
            if passages[rare] >= k and cost(rare) <= full_cost * _TO_LEARN
        ]
        if not few:
            return []
        rare = few[-1]
        # What all words from each common one on can give together.
        most = [*accumulate((self._most(word) for word in reversed(query_words[rare:])), initial=0.0)][::-1]
        if most[0] == math.inf:
            return []
        hits = self._hits(query_words, rare, k)
        worst = hits[-1][0] if len(hits) == k else 0.0
        rare += next(
            (more for more, value in enumerate(most) if value * (1 + _ROUNDING) < worst), len(most) - 1
        )
        if rare == few[-1]:
            return hits
        if rare == len(query_words) or cost(rare) > full_cost * _WORTHWHILE:
            return []
        return self._hits(query_words, rare, k)

    def _hits(self, query_words: Sequence[_Word], rare: int, k: int) -> list[Hit]:
        """The best of the passages that have one of the first words; the others add to their scores."""
        query = _any_of(query_words[:rare])
        # One in another, as tantivy passes over parts of the list of one word, and not of several together.
        for word in query_words[rare:]:
            query = Query.boolean_query([(Occur.Must, query), _clause(word.word, word.weight)])
        hits: list[Hit] = self._searcher.search(query, k, count=False).hits
        return hits

    def _order_words(self, weights: Mapping[str, float]) -> list[_Word]:
        """Words that some passage has, rarest first: in this order scores are added up in any case."""
        query_words = [
            _Word(word, weight, self._passages_with(word))
            for word, weight in weights.items()
            if math.isfinite(weight) and weight > 0
        ]
        return sorted((word for word in query_words if word.passages), key=attrgetter("passages"))

    def _passages_with(self, word: str) -> int:
        passages = self._passages.get(word)
        if passages is None:
            passages = self._searcher.doc_freq("body", word)
            if len(self._passages) < _MOST_REMEMBERED:
                self._passages[word] = passages
        return passages

    def _most(self, word: _Word) -> float:
        """The most that a word can add to a score; infinite, as unknown, the first time that it is asked for.

        Learning it takes a search for the word alone, which does not pay for words that do not come again.
        """
        highest = self._highest.get(word.word)
        if highest is None:
            if len(self._highest) < _MOST_REMEMBERED:
                self._highest[word.word] = math.inf
            return math.inf
        if highest == math.inf:
            hits = self._hits([word._replace(weight=1.0)], 1, 1)
            highest = self._highest[word.word] = hits[0][0] if hits else 0.0
        return highest * word.weight


def _any_of(query_words: Sequence[_Word]) -> Query:
    return Query.boolean_query([_clause(word.word, word.weight) for word in query_words])


@lru_cache(maxsize=10_000)
def _clause(term: str, weight: float) -> tuple[Occur, Query]:
    """A word of a query; the same ones are asked for again and again."""
    query = Query.term_query(schema(), "body", term, index_option="freq")
    return Occur.Should, query if weight == 1 else Query.boost_query(query, weight)
