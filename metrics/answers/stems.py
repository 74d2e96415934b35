"""Tokens of a chunk with words that share a stem as one."""

import numpy as np
import Stemmer

from metrics.errors import MetricError
from metrics.texts import Chunk, Tokens
from metrics.tokens.tokeniser import Tokeniser


def stemmed(chunk: Chunk, tokeniser: Tokeniser, language: str) -> Tokens:
    """The distinct texts of a chunk in Snowball stems; each distinct token is stemmed once."""
    return chunk.once(("stems", tokeniser.name, language), lambda: _stems(chunk.tokens(tokeniser), language))


def _stems(tokens: Tokens, language: str) -> Tokens:
    try:
        stemmer = Stemmer.Stemmer(language)
    except KeyError:
        known = ", ".join(Stemmer.algorithms())
        raise MetricError(f"There is no Snowball stemmer {language!r}; there are {known}.") from None
    numbers: dict[str, int] = {}
    of_word = [numbers.setdefault(stem, len(numbers)) for stem in stemmer.stemWords(list(tokens.words))]
    ids = np.asarray(of_word, np.int32)[tokens.ids] if of_word else tokens.ids
    return Tokens(ids, tokens.starts, list(numbers))
