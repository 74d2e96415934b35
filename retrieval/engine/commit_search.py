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
from typing import NamedTuple

from tantivy import DocAddress, Occur, Query, Schema, SchemaBuilder, Searcher

#: What a word adds to a score is less than its weight times its idf times k1 + 1 (tantivy's k1 is 1.2).
_MOST_OF_IDF = 2.2
#: Sums of 32-bit scores may be off by less than this share of them.
_ROUNDING = 1e-5
#: The k-th score is guessed as this share of what all words could give; a wrong guess only costs time.
_GUESS = 0.5
#: Nanoseconds to score a passage for one of its words, and to look a passage up in the list of one more word.
_TO_SCORE, _TO_LOOK_UP = 9, 40
#: A search that leaves passages out is begun where it may take less than this share of the whole one.
_WORTHWHILE = 0.6
#: Searches that leave passages out are tried at most: the second one knows scores of the first.
_TRIES = 2
#: Words of which a commit remembers how many passages have them.
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
    """A word of a query: passages that have it, what it adds to a score at most, and the query for it."""

    passages: int
    most: float
    query: Query


class CommitSearch:
    """Searches one commit of an index.

    `size`: its passages, with deleted ones that are still stored; infinite where nobody knows, and then every
    passage that has a word is scored.
    """

    def __init__(self, searcher: Searcher, size: float) -> None:
        self._searcher = searcher
        self._size = size
        self._passages: dict[str, int] = {}

    def best(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        """The k best hits for weighted words, best first; equal ones as tantivy has them.

        Weights that are no number above 0 count for nothing.
        """
        words = self._words(weights)
        if not words or k < 1:
            return []
        return self._pruned(words, k) or self._hits(_any_of(words), k)

    def _pruned(self, words: Sequence[_Word], k: int) -> list[Hit]:
        """The same without passages that have common words only; none where that would not be quicker."""
        passages = [0, *accumulate(word.passages for word in words)]
        # By the place of the first common word: what all common words together may give.
        most = [*accumulate(reversed([word.most for word in words]), initial=0.0)][::-1]
        least, whole = most[0] * _GUESS, passages[-1] * _TO_SCORE
        for _ in range(_TRIES):
            rare = next(
                number
                for number in range(len(most))
                if most[number] * (1 + _ROUNDING) < least or number == len(words)
            )
            while rare < len(words) and passages[rare] < k:
                rare += 1
            common = words[rare:]
            if passages[rare] * (_TO_SCORE + len(common) * _TO_LOOK_UP) > whole * _WORTHWHILE or not common:
                return []
            hits = self._hits(_with_common(_any_of(words[:rare]), common), k)
            least = hits[k - 1][0] if len(hits) == k else 0.0
            if most[rare] * (1 + _ROUNDING) < least:
                return hits
        return []

    def _hits(self, query: Query, k: int) -> list[Hit]:
        found: list[Hit] = self._searcher.search(query, k, count=False).hits
        return found

    def _words(self, weights: Mapping[str, float]) -> list[_Word]:
        """Words that some passage has, rarest first: in this order scores are added up in any case."""
        words = []
        for word, weight in weights.items():
            if not (math.isfinite(weight) and weight > 0):
                continue
            passages = self._passages_with(word)
            if passages:
                idf = math.log1p((self._size - passages + 0.5) / (passages + 0.5))
                words.append(_Word(passages, weight * idf * _MOST_OF_IDF, _clause(word, weight)))
        words.sort(key=_Word.passages.__get__)
        return words

    def _passages_with(self, word: str) -> int:
        passages = self._passages.get(word)
        if passages is None:
            passages = self._searcher.doc_freq("body", word)
            if len(self._passages) < _MOST_REMEMBERED:
                self._passages[word] = passages
        return passages


def _any_of(words: Sequence[_Word]) -> Query:
    if len(words) == 1:
        return words[0].query
    return Query.boolean_query([(Occur.Should, word.query) for word in words])


def _with_common(rare: Query, common: Sequence[_Word]) -> Query:
    """Passages of the rare ones, with what the common words add.

    One in another, as tantivy passes over parts of the list of one word, and not of several together.
    """
    query = rare
    for word in common:
        query = Query.boolean_query([(Occur.Must, query), (Occur.Should, word.query)])
    return query


@lru_cache(maxsize=10_000)
def _clause(term: str, weight: float) -> Query:
    """The query of a word; the same ones are asked for again and again."""
    query = Query.term_query(schema(), "body", term, index_option="freq")
    return query if weight == 1 else Query.boost_query(query, weight)
