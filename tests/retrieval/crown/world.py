"""Passages, and words that are like and near each other, from plain dictionaries."""

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np

from retrieval.ranking.scoring import Passages

GOLDEN = Path(__file__).parent / "golden" / "crown.json.gz"


class Known:
    """Evidence from dictionaries: similarities and NPMI by pair of words in any order, idf by word."""

    def __init__(self, similar=(), near=(), idf=(), without_vector=()):
        self.similar = {frozenset(pair): value for pair, value in dict(similar).items()}
        self.near = {frozenset(pair): value for pair, value in dict(near).items()}
        self.rarity = dict(idf)
        self.without_vector = set(without_vector)

    def similarity(self, one, other):
        if one == other:
            return 1.0
        if self.without_vector & {one, other}:
            return -1.0
        return self.similar.get(frozenset((one, other)), 0.0)

    def npmi(self, one, other):
        return self.near.get(frozenset((one, other)))

    def similarities(self, words, terms):
        return np.array([[self.similarity(word, term) for term in terms] for word in words])

    def associations(self, first, second):
        found = [self.npmi(*pair) for pair in zip(first, second, strict=True)]
        return np.array([np.nan if value is None else value for value in found], dtype=float)

    def idf(self, terms):
        return np.array([self.rarity.get(term, 1.0) for term in terms])

    def same_stem(self, words, terms):
        return np.array([[word == term for term in terms] for word in words])


def columns(passages):
    """Passages as the scorer wants them, from lists of sentences, which are lists of words or one text."""
    words, rows = {}, []
    for number, sentences in enumerate(passages):
        for nth, sentence in enumerate((s for s in sentences if s), 1):
            for word in sentence.split() if isinstance(sentence, str) else sentence:
                rows.append((words.setdefault(word, len(words)), number, nth))
    tokens, passage, sentence = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Passages(list(words), tokens, passage, sentence, len(passages))


@cache
def golden():
    found = json.loads(gzip.decompress(GOLDEN.read_bytes()))
    found["evidence"] = Known(
        {tuple(pair.split()): value for pair, value in found["similarities"].items()},
        {tuple(pair.split()): value for pair, value in found["npmi"].items()},
    )
    found["passages"] = {
        name: [sentence.split() for sentence in text.split(" | ")] for name, text in found["passages"].items()
    }
    return found
