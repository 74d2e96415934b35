"""From text to the words that an index knows: by language, the same for passages and queries.

Passages: cut at what is neither letter nor digit, drop words of 40 bytes and more, lower case, take accents
off, stem. Queries: the same, without function words, unless they have nothing else. Languages that put no
spaces between words are cut into single characters and pairs of neighbours instead.
"""

import re
import unicodedata
from functools import cache
from typing import Any

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from retrieval.text.languages import LISTS, SNOWBALL, UNLISTED, UNSPACED, UNSPACED_CHARACTERS, primary

#: Version of the rules. Change it with any change that gives other words, and indexes are built again.
RULES = 1
#: Words of this many bytes in UTF-8 or more are left out.
LONGEST_WORD = 40
#: A query longer than this many different words is cut: nobody's question, and slow.
MOST_TERMS = 256

_PIECES = re.compile(rf"[{UNSPACED_CHARACTERS}]+|[^\W_{UNSPACED_CHARACTERS}]+")
_FIRST_UNSPACED = re.compile(rf"[{UNSPACED_CHARACTERS}]")


def chain_name(language: str) -> str:
    """Name of the rules for a language, as an index keeps it: another name, other words."""
    code = primary(language)
    return f"{'pairs' if code in UNSPACED else SNOWBALL.get(code, 'plain')}-{RULES}"


def prepared(text: str, language: str) -> str:
    """Text as the chain wants it: compatibility forms made one, unspaced writing cut into pieces."""
    if not text.isascii() and not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return _in_pairs(text) if primary(language) in UNSPACED else text


def _in_pairs(text: str) -> str:
    """Single characters and pairs of neighbours, with spaces between; other words stay whole."""
    pieces: list[str] = []
    for run in _PIECES.findall(text):
        if _FIRST_UNSPACED.match(run):
            pieces += run
            pieces += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            pieces.append(run)
    return " ".join(pieces)


@cache
def passage_chain(language: str) -> TextAnalyzer:
    """What cuts passages. Register it on every Index object of that language before writing and reading."""
    return _chain(primary(language), drop_function_words=False)


@cache
def _query_chain(language: str) -> TextAnalyzer:
    return _chain(primary(language), drop_function_words=True)


def _chain(code: str, *, drop_function_words: bool) -> TextAnalyzer:
    unspaced, stemmer = code in UNSPACED, SNOWBALL.get(code)
    builder = TextAnalyzerBuilder(Tokenizer.whitespace() if unspaced else Tokenizer.simple())
    builder = builder.filter(Filter.remove_long(LONGEST_WORD)).filter(Filter.lowercase())
    if drop_function_words and (words := _function_words(stemmer)) is not None:
        builder = builder.filter(words)  # before folding: lists are spelled with accents
    builder = builder.filter(Filter.ascii_fold())
    if stemmer:
        builder = builder.filter(Filter.stemmer(stemmer))
    return builder.build()


def _function_words(stemmer: str | None) -> Any:  # tantivy does not type its filters
    if stemmer in LISTS:
        return Filter.custom_stopword(list(LISTS[stemmer]))
    return Filter.stopword(stemmer) if stemmer and stemmer not in UNLISTED else None


def terms(text: str, language: str) -> list[str]:
    """Different words of a query, in their order; function words only where there is nothing else."""
    text = prepared(text, language)
    found = _query_chain(language).analyze(text) or passage_chain(language).analyze(text)
    return list(dict.fromkeys(_without_parts(found, language)))[:MOST_TERMS]


def _without_parts(found: list[str], language: str) -> list[str]:
    """Of unspaced writing, pairs say more than their characters, which are on nearly every page."""
    if primary(language) not in UNSPACED:
        return found
    whole = [term for term in found if len(term) > 1 or not _FIRST_UNSPACED.match(term)]
    return whole or found
