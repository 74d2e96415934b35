"""Words that are in no dictionary: a hint for writers, a share for reviewers.

The dictionaries are those of pyspellchecker (frequency lists); a language without one has no hints. A word is
unknown when it has three letters or more, no digit, is not in the dictionary, does not stand in the query or
a passage, and is not written with a capital inside a sentence or in capitals throughout (a name).

`spelling`: unknown words make at least `spelling_share` of a text with `LEAST` words or more.
"""

from functools import lru_cache
from typing import Any

from annotation.flags.shapes import Flag, FlagQuery, Limits
from annotation.flags.tokens import Token, tokens, words_of

LANGUAGES = frozenset({"en", "es", "fr", "pt", "de", "it", "ru", "ar", "eu", "lv", "nl", "fa"})
LEAST = 6
_SHORTEST = 3
_ENDS = ".!?\u061f\u06d4:"


@lru_cache(maxsize=4)
def _dictionary(language: str) -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language=language, distance=1)


def unknown_words(text: str, asked: FlagQuery) -> list[tuple[int, int]]:
    """Spans of unknown words; none in a language without a dictionary."""
    language = asked.language.lower().partition("-")[0]
    if language not in LANGUAGES:
        return []
    known = words_of((asked.text, *asked.passages))
    tried = [token for token in tokens(text) if _may_be_wrong(text, token) and token.folded not in known]
    if not tried:
        return []
    words = {text[token.start : token.end].replace("\u2019", "'").lower() for token in tried}
    unknown = _dictionary(language).unknown(words | {token.folded for token in tried})
    return [
        (token.start, token.end)
        for token in tried
        if token.folded in unknown and text[token.start : token.end].replace("\u2019", "'").lower() in unknown
    ]


def _may_be_wrong(text: str, token: Token) -> bool:
    word = text[token.start : token.end]
    if token.spaceless or len(word) < _SHORTEST or any(each.isdigit() for each in word):
        return False
    if word.isupper() and len(word) > 1:
        return False
    if word[0].isupper():
        before = text[: token.start].rstrip(" \t\n\"'(\u201c\u2018\u00ab")
        return not before or before[-1] in _ENDS
    return True


def spelling_flags(text: str, asked: FlagQuery, limits: Limits) -> list[Flag]:
    """The flag `spelling`."""
    words = [token for token in tokens(text) if not token.spaceless]
    if len(words) < LEAST:
        return []
    unknown = unknown_words(text, asked)
    share = len(unknown) / len(words)
    if not unknown or share < limits.spelling_share:
        return []
    evidence = {"spans": [{"start": start, "end": end} for start, end in unknown], "of": len(words)}
    return [Flag("spelling", round(share, 4), limits.spelling_share, evidence)]
