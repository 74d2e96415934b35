"""Tokens of a chunk with words that share a stem as one."""

import threading

import numpy as np
import Stemmer

from metrics.errors import MetricError
from metrics.texts import Chunk, Tokens
from metrics.tokens.tokeniser import Tokeniser

#: A stemmer keeps this many words; frequent ones come back in every chunk.
_KEPT = 200_000


def stemmed(chunk: Chunk, tokeniser: Tokeniser, language: str) -> Tokens:
    """The distinct texts of a chunk in Snowball stems; each distinct token is stemmed once.

    `english` is Porter's second algorithm, `porter` his first. MetricError names the stemmers that there are.
    """
    key = ("stems", tokeniser.name, language)
    return chunk.once(key, lambda: _stemmed(chunk.tokens(tokeniser), language))


def _stemmed(tokens: Tokens, language: str) -> Tokens:
    numbers: dict[str, int] = {}
    found = _stemmer(language).stemWords(list(tokens.words))
    of_word = [numbers.setdefault(stem, len(numbers)) for stem in found]
    return Tokens(np.asarray(of_word, np.int32)[tokens.ids], tokens.starts, list(numbers))


class _Stemmers(threading.local):
    """A stemmer may not be used by two threads at once."""

    def __init__(self) -> None:
        self.made: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def _stemmer(language: str) -> Stemmer.Stemmer:
    if language not in _stemmers.made:
        if language not in Stemmer.algorithms():
            known = ", ".join(Stemmer.algorithms())
            raise MetricError(f"There is no stemmer {language!r}; there are {known}.")
        _stemmers.made[language] = Stemmer.Stemmer(language, _KEPT)
    return _stemmers.made[language]
