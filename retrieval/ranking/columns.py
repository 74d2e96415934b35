"""Texts of passages as columns of tokens, for passages whose tokens nobody has stored."""

from array import array
from collections.abc import Sequence

import numpy as np

from retrieval.crown.passages import IntArray, Passages
from retrieval.text.sentences import sentences
from retrieval.text.tokens import tokens


def columns(texts: Sequence[str], language: str, *, numbers: bool) -> Passages:
    """Content tokens of texts. Sentences are numbered from 1 among those that have a content token."""
    words: dict[str, int] = {}
    found, passage, sentence = array("q"), array("q"), array("q")
    for number, text in enumerate(texts):
        nth = 0
        for start, end in sentences(text, language):
            there = tokens(text[start:end], language, numbers=numbers)
            if not there:
                continue
            nth += 1
            found.extend([words.setdefault(word, len(words)) for word in there])
            passage.extend([number] * len(there))
            sentence.extend([nth] * len(there))
    return Passages(list(words), _ints(found), _ints(passage), _ints(sentence), len(texts))


def _ints(values: "array[int]") -> IntArray:
    return np.frombuffer(values, np.int64) if values else np.empty(0, np.int64)
