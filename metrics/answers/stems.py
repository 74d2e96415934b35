"""Tokens of a chunk with words that share a stem as one."""

import numpy as np

from metrics.texts import Chunk, Tokens
from metrics.tokens.stemming import stems
from metrics.tokens.tokeniser import Tokeniser


def stemmed(chunk: Chunk, tokeniser: Tokeniser, language: str) -> Tokens:
    """The distinct texts of a chunk in Snowball stems; each distinct token is stemmed once."""
    key = ("stems", tokeniser.name, language)
    return chunk.once(key, lambda: _stemmed(chunk.tokens(tokeniser), language))


def _stemmed(tokens: Tokens, language: str) -> Tokens:
    numbers: dict[str, int] = {}
    of_word = [numbers.setdefault(stem, len(numbers)) for stem in stems(tokens.words, language)]
    return Tokens(np.asarray(of_word, np.int32)[tokens.ids], tokens.starts, list(numbers))
