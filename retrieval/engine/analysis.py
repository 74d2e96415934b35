"""From text to the words that an index knows: by language, the same for passages and queries.

Passages: cut at what is neither letter nor digit, drop words of 40 bytes and more, lower case, take accents
off, stem. Queries: the same, without function words, unless they have nothing else. Languages that put no
spaces between words are cut into single characters and pairs of neighbours instead.

Many passages at once: a passage of English has some 80 words, and a million passages have some hundred
thousand written forms. So texts are brought to lower case as far as ASCII goes and split at spaces, the
different pieces of a batch are looked up (or analysed, the first time), and the texts are put together again
from what came out. Arrow does all but the look-ups, without holding the GIL. What comes out is, word for
word, what `passage_chain` makes of each text: its rules look at no more than one word at a time, and no word
goes over a space.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any, TypeVar

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from retrieval.tokens import LISTS, SNOWBALL, UNLISTED, UNSPACED, UNSPACED_CHARACTERS, primary

#: Version of the rules. Change it with any change that gives other words, and indexes are built again.
RULES = 1
#: Words of this many bytes in UTF-8 or more are left out.
LONGEST_WORD = 40
#: A query longer than this many different words is cut: nobody's question, and slow.
MOST_TERMS = 256

_PIECES = re.compile(rf"[{UNSPACED_CHARACTERS}]+|[^\W_{UNSPACED_CHARACTERS}]+")
_FIRST_UNSPACED = re.compile(rf"[{UNSPACED_CHARACTERS}]")


@lru_cache(maxsize=1_000)
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
    if drop_function_words and (stop_words := _function_words(stemmer)) is not None:
        builder = builder.filter(stop_words)  # before folding: lists are spelled with accents
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
    query_terms = _query_chain(language).analyze(text) or passage_chain(language).analyze(text)
    return list(dict.fromkeys(_without_parts(query_terms, language)))[:MOST_TERMS]


def _without_parts(terms_of_query: list[str], language: str) -> list[str]:
    """Of unspaced writing, pairs say more than their characters, which are on nearly every page."""
    if primary(language) not in UNSPACED:
        return terms_of_query
    long_terms = [term for term in terms_of_query if len(term) > 1 or not _FIRST_UNSPACED.match(term)]
    return long_terms or terms_of_query


#: Written forms that are remembered per language (some 150 bytes each), and the longest of them. The common
#: ones come first; what comes later is analysed each time.
MOST_FORMS = 400_000
LONGEST_FORM = 64
#: Passages that are cut at once, and characters after which a batch is closed early.
BATCH = 5_000
MOST_CHARACTERS = 4_000_000
#: Fewer texts than this are cut one by one: Arrow takes longer to be imported.
FEW = 200
#: Threads that cut, and batches that are cut ahead of the one that is being written.
CUTTERS = max(1, min(3, (os.cpu_count() or 1) // 4))
_AHEAD = CUTTERS + 1
Key = TypeVar("Key")


class _Forms(dict[str, str]):
    """Words of a written form, joined by spaces; several for "well-known", none for "?!"."""

    def __init__(self, analyze: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._analyze = analyze

    def __missing__(self, form: str) -> str:
        terms_text = " ".join(self._analyze(form))
        if len(form) <= LONGEST_FORM and len(self) < MOST_FORMS:
            self[form] = terms_text
        return terms_text


@cache
def _forms(language: str) -> _Forms:
    return _Forms(passage_chain(language).analyze)


def joined(texts: Sequence[str], language: str) -> list[str]:
    """The words of each text, joined by spaces (more than one where a piece has no word)."""
    forms, texts = _forms(language), [prepared(text, language) for text in texts]
    if len(texts) < FEW:
        return [" ".join(map(forms.__getitem__, text.split(" "))) for text in texts]
    return _by_columns(texts, forms)


def _by_columns(texts: list[str], forms: _Forms) -> list[str]:
    import pyarrow  # noqa: PLC0415  # heavy, and not needed to search
    from pyarrow import compute  # noqa: PLC0415  # as above

    lowered = compute.ascii_lower(pyarrow.array(texts, pyarrow.string()))
    pieces = compute.split_pattern(lowered, " ")
    coded = compute.dictionary_encode(pieces.values)
    forms_of_words = pyarrow.array(map(forms.__getitem__, coded.dictionary.to_pylist()), pyarrow.string())
    cut = pyarrow.ListArray.from_arrays(pieces.offsets, forms_of_words.take(coded.indices))
    answer: list[str] = compute.binary_join(cut, " ").to_pylist()
    return answer


def cut(passages: Iterable[tuple[Key, str]], language: str) -> Iterator[tuple[Key, str]]:
    """Passages with their words instead of their text, in the same order, cut some batches ahead."""
    with ThreadPoolExecutor(CUTTERS) as pool:
        waiting: list[tuple[list[Key], Future[list[str]]]] = []
        for batch in batches(passages):
            keys = [key for key, _ in batch]
            waiting.append((keys, pool.submit(joined, [text for _, text in batch], language)))
            if len(waiting) > _AHEAD:
                yield from _pair_keys(*waiting.pop(0))
        for keys, waiting_texts in waiting:
            yield from _pair_keys(keys, waiting_texts)


def _pair_keys(keys: list[Key], cut_texts: Future[list[str]]) -> Iterator[tuple[Key, str]]:
    return zip(keys, cut_texts.result(), strict=True)


def batches(passages: Iterable[tuple[Key, str]]) -> Iterator[list[tuple[Key, str]]]:
    """Passages, so many or so long at a time."""
    batch: list[tuple[Key, str]] = []
    characters = 0
    for passage in passages:
        batch.append(passage)
        characters += len(passage[1])
        if len(batch) >= BATCH or characters >= MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
