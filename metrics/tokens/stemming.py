"""Word stems, by Snowball's algorithms through PyStemmer."""

from collections.abc import Iterable
from functools import cache
from typing import Protocol

import Stemmer as snowball  # noqa: N813 - a module with a class's name

from metrics.errors import MetricError


class Stemmer(Protocol):
    """What PyStemmer gives; not for two threads at once."""

    def stemWord(self, word: str) -> str:  # noqa: N802
        """The stem of a word in lower case."""
        ...

    def stemWords(self, words: Iterable[str]) -> list[str]:  # noqa: N802
        """The stems of words in lower case."""
        ...


def stemmer(language: str = "english") -> Stemmer:
    """A Snowball stemmer; MetricError names those that there are.

    `english` is Porter's second algorithm, `porter` his first. PyStemmer keeps what it has stemmed, so one
    stemmer per run is fast.
    """
    if language not in languages():
        raise MetricError(f"There is no stemmer {language!r}; there are {', '.join(languages())}.")
    made: Stemmer = snowball.Stemmer(language)
    return made


@cache
def languages() -> tuple[str, ...]:
    """The stemmers that there are."""
    return tuple(snowball.algorithms())


def stems(words: Iterable[str], language: str = "english") -> list[str]:
    """The stems of words, which are taken as they are: make them lower case before."""
    return stemmer(language).stemWords(list(words))
