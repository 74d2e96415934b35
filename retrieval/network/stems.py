"""Which words have the same stem: by codes, so that words of stored passages need not be spelled again.

Stems are Snowball's of the language, as the index uses them. A language without a stemmer has words that are
their own stems.
"""

import threading
from collections.abc import Sequence

import numpy as np
import Stemmer

from retrieval.crown.passages import IntArray, UnspelledWords
from retrieval.network.codes import Codes, codes_of
from retrieval.text.languages import SNOWBALL, primary

#: Words whose stems a process remembers for each language; then it begins again.
MOST_REMEMBERED = 2_000_000
_Remembered = tuple[Codes, Codes]
_NOTHING: _Remembered = (np.empty(0, np.uint64), np.empty(0, np.uint64))
#: Codes of words, rising, and of their stems, by stemmer. Replaced as a whole: readers need no lock.
_remembered: dict[str, _Remembered] = {}


class _Stemmers(threading.local):
    """A stemmer may not be used by two threads at once."""

    def __init__(self) -> None:
        self.made: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def stem_codes(words: Sequence[str], language: str) -> Codes:
    """(words,) the codes of the words' stems."""
    codes = codes_of(words)
    algorithm = SNOWBALL.get(primary(language))
    if algorithm is None or not len(codes):
        return codes
    known, stems = _remembered.get(algorithm, _NOTHING)
    found, there = _looked_up(codes, known, stems)
    new = np.flatnonzero(~there)
    if len(new):
        found[new] = codes_of(_stemmer(algorithm).stemWords(_words_at(words, new)))
        _remember(algorithm, codes[new], found[new])
    return found


def _words_at(words: Sequence[str], places: IntArray) -> list[str]:
    if isinstance(words, UnspelledWords):
        return list(words.take(places))
    return [words[place] for place in places.tolist()]


def _looked_up(
    codes: Codes, known: Codes, stems: Codes
) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    if not len(known):
        return np.zeros(len(codes), np.uint64), np.zeros(len(codes), np.bool_)
    places = np.searchsorted(known, codes)
    places[places == len(known)] = 0
    return stems[places], known[places] == codes


def _remember(algorithm: str, codes: Codes, stems: Codes) -> None:
    known, theirs = _remembered.get(algorithm, _NOTHING)
    if len(known) > MOST_REMEMBERED:
        known, theirs = _NOTHING
    codes, first = np.unique(codes, return_index=True)
    _, there = _looked_up(codes, known, theirs)  # another thread may have been here
    codes, stems = codes[~there], stems[first][~there]
    # Put in between: sorting all of a vocabulary again would cost more than stemming the few words.
    places = np.searchsorted(known, codes)
    _remembered[algorithm] = (np.insert(known, places, codes), np.insert(theirs, places, stems))


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    if algorithm not in _stemmers.made:
        _stemmers.made[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return _stemmers.made[algorithm]
