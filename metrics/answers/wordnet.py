"""Synonyms from WordNet through nltk, where both are installed: nothing here fetches anything."""

from functools import cache


@cache
def missing() -> str:
    """Why there are no synonyms, in words; empty if there are."""
    try:
        from nltk.corpus import wordnet  # noqa: PLC0415 - may not be installed
    except ImportError:
        return "nltk is not installed"
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return "nltk's corpus wordnet is not installed"
    return ""


def synsets(word: str) -> frozenset[str]:
    """Names of the synsets of a word in any of its forms; two words that share one are synonyms."""
    from nltk.corpus import wordnet  # noqa: PLC0415 - may not be installed

    return frozenset(synset.name() for synset in wordnet.synsets(word))
