"""Words that count as the same: those that share a stem, and synonyms from WordNet."""

import os
import sys
import threading
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import Stemmer

from metrics.errors import MetricError
from metrics.texts import Chunk, Tokens
from metrics.tokens import Tokeniser

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
    stems = _stemmer(language).stemWords(list(tokens.vocabulary))
    of_word = [numbers.setdefault(stem, len(numbers)) for stem in stems]
    return Tokens(np.asarray(of_word, np.int32)[tokens.ids], tokens.starts, list(numbers))


class _Stemmers(threading.local):
    """A stemmer may not be used by two threads at once."""

    def __init__(self) -> None:
        self.made: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def _stemmer(language: str) -> Stemmer.Stemmer:
    if language not in _stemmers.made:
        if language not in Stemmer.algorithms():
            languages = ", ".join(Stemmer.algorithms())
            raise MetricError(f"There is no stemmer {language!r}; there are {languages}.")
        _stemmers.made[language] = Stemmer.Stemmer(language, _KEPT)
    return _stemmers.made[language]


# Synonyms from WordNet through nltk, where both are installed: nothing here fetches anything.

_CORPUS = Path("corpora", "wordnet")


@cache
def wordnet_missing() -> str:
    """Why there are no synonyms, in words; empty if there are.

    It looks at files only: to import nltk takes seconds, and scikit-learn and pandas come with it.
    """
    if find_spec("nltk") is None:
        return "nltk is not installed"
    if not any(_holds_wordnet(folder) for folder in folders()):
        return "nltk's corpus wordnet is not installed"
    return ""


def synsets(word: str) -> frozenset[str]:
    """Names of the synsets of a word in any of its forms; two words that share one are synonyms."""
    from nltk.corpus import wordnet

    return frozenset(synset.name() for synset in wordnet.synsets(word))


def _holds_wordnet(folder: Path) -> bool:
    return (folder / _CORPUS.with_suffix(".zip")).is_file() or (folder / _CORPUS / "data.noun").is_file()


def folders() -> Iterator[Path]:
    """Where nltk looks for corpora, in its order (`nltk.data.path`)."""
    yield from (Path(each).expanduser() for each in os.environ.get("NLTK_DATA", "").split(os.pathsep) if each)
    yield Path("~/nltk_data").expanduser()
    yield from (Path(sys.prefix, *below, "nltk_data") for below in ((), ("share",), ("lib",)))
    yield from (
        Path(root, "nltk_data") for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")
    )
