"""Synonyms from WordNet through nltk, where both are installed: nothing here fetches anything."""

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_CORPUS = Path("corpora", "wordnet")


@cache
def missing() -> str:
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
