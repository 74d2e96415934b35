"""What can be ranked, what a ranking says, and texts as columns of tokens."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from retrieval.engine import Engine
from retrieval.ranking.scoring import Evidence, IntArray, Passages
from retrieval.sentences import sentences
from retrieval.tokens import tokens


class Collection(Protocol):
    """Passages that are searched together: a corpus of a project, or a folder of files."""

    @property
    def name(self) -> str:
        """Slug of the corpus, or name of the folder."""

    @property
    def language(self) -> str:
        """BCP 47 tag."""

    @property
    def engine(self) -> Engine:
        """Its index."""

    @property
    def evidence(self) -> Evidence | None:
        """Its word proximity network; None where none has been built."""

    @property
    def generation(self) -> Mapping[str, Any]:
        """What tells later which state answered: {"index": 3, "network": 2, "chain": …}."""

    def columns(self, pks: Sequence[int], *, numbers: bool) -> Passages:
        """Tokens of passages in this order, from the stored ones where there are any."""

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """What is searched of them: title and text. Passages that are not there any more are left out."""


@dataclass(frozen=True)
class RankedPassage:
    """One passage of a ranking.

    rank: from 1. score: bigger is better. parts: what the score is made of, by name, made comparable between
    candidates. raw: the same before that, and other figures worth keeping. found_at: its rank among the
    engine's candidates.
    """

    rank: int
    score: float
    collection: str
    pk: int
    parts: Mapping[str, float] = field(default_factory=dict)
    raw: Mapping[str, float] = field(default_factory=dict)
    found_at: int | None = None


@dataclass(frozen=True)
class Ranking:
    """A ranking, and everything needed to say later how it came about."""

    ranker: str
    parameters: Mapping[str, Any]
    generations: Mapping[str, Mapping[str, Any]]
    terms: Mapping[str, float]
    results: Sequence[RankedPassage]
    notes: Sequence[str] = ()


class Ranker(Protocol):
    """Something that ranks. `turns` are those of a conversation, oldest first; the last is the question."""

    @property
    def name(self) -> str:
        """bm25, crown-2020, balanced, rrf(bm25+balanced), …"""

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The best k passages. EmptyQueryError where the last turn has no word."""


# Texts of passages as columns of tokens, for passages whose tokens nobody has stored.


def columns(texts: Sequence[str], language: str, *, numbers: bool) -> Passages:
    """Content tokens of texts. Sentences are numbered from 1 among those that have a content token."""
    numbers_of_words: dict[str, int] = {}
    tokens_found, passage, sentence = array("q"), array("q"), array("q")
    for number, text in enumerate(texts):
        nth = 0
        for start, end in sentences(text, language):
            sentence_words = tokens(text[start:end], language, numbers=numbers)
            if not sentence_words:
                continue
            nth += 1
            tokens_found.extend(
                [numbers_of_words.setdefault(word, len(numbers_of_words)) for word in sentence_words]
            )
            passage.extend([number] * len(sentence_words))
            sentence.extend([nth] * len(sentence_words))
    return Passages(list(numbers_of_words), _ints(tokens_found), _ints(passage), _ints(sentence), len(texts))


def _ints(values: "array[int]") -> IntArray:
    return np.frombuffer(values, np.int64) if values else np.empty(0, np.int64)
