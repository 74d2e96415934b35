"""Many passages cut into words at once: each written form is analysed once, then it is a look-up.

A passage of English has some 80 words, and a million passages have some hundred thousand written forms. So
texts are brought to lower case as far as ASCII goes and split at spaces, the different pieces of a batch are
looked up (or analysed, the first time), and the texts are put together again from what came out. Arrow does
all but the look-ups, without holding the GIL.
What comes out is, word for word, what `analysis.passage_chain` makes of each text: its rules look at no more
than one word at a time, and no word goes over a space.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from retrieval.engine import analysis

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
        words = " ".join(self._analyze(form))
        if len(form) <= LONGEST_FORM and len(self) < MOST_FORMS:
            self[form] = words
        return words


@cache
def _forms(language: str) -> _Forms:
    return _Forms(analysis.passage_chain(language).analyze)


def joined(texts: Sequence[str], language: str) -> list[str]:
    """The words of each text, joined by spaces (more than one where a piece has no word)."""
    forms, texts = _forms(language), [analysis.prepared(text, language) for text in texts]
    if len(texts) < FEW:
        return [" ".join(map(forms.__getitem__, text.split(" "))) for text in texts]
    return _by_columns(texts, forms)


def _by_columns(texts: list[str], forms: _Forms) -> list[str]:
    import pyarrow  # heavy, and not needed to search
    from pyarrow import compute

    lowered = compute.ascii_lower(pyarrow.array(texts, pyarrow.string()))
    pieces = compute.split_pattern(lowered, " ")
    coded = compute.dictionary_encode(pieces.values)
    words = pyarrow.array(map(forms.__getitem__, coded.dictionary.to_pylist()), pyarrow.string())
    cut = pyarrow.ListArray.from_arrays(pieces.offsets, words.take(coded.indices))
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
                yield from _told(*waiting.pop(0))
        for keys, words in waiting:
            yield from _told(keys, words)


def _told(keys: list[Key], words: Future[list[str]]) -> Iterator[tuple[Key, str]]:
    return zip(keys, words.result(), strict=True)


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
