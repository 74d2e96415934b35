"""Documents cut into passages: windows of whole sentences, as character offsets.

`sentences`: so many sentences, the next window a stride of sentences later. `words`: whole sentences up to so
many words, the next window at the first sentence that begins a stride of words later. Windows overlap where
the stride is shorter than the size. The last one ends with the document, and no window lies within another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.text.languages import UNSPACED, primary
from retrieval.text.sentences import sentences

#: By sentences and by words: the largest window, and the one that is offered.
LARGEST = {"sentences": 100, "words": 2_000}
USUAL = {"sentences": (5, 3), "words": (150, 150)}
#: A sentence longer than this is a list or a table: it is cut at a space.
LONGEST_SENTENCE = 1_000
_WORD = re.compile(r"\S+")
_CHARACTER = re.compile(r"\S")
Span = tuple[int, int]


@dataclass(frozen=True)
class WindowOptions:
    """How documents are cut. ValueError, in words, for sizes that cannot be."""

    size: int
    stride: int
    by: str = "sentences"

    def __post_init__(self) -> None:
        """Check sizes once, wherever they come from."""
        if self.by not in LARGEST:
            raise ValueError(f"Documents are split by {' or by '.join(LARGEST)}, not by {self.by}.")
        if not 1 <= self.size <= LARGEST[self.by]:
            raise ValueError(f"A window has 1 to {LARGEST[self.by]:,} {self.by}, not {self.size:,}.")
        if not 1 <= self.stride <= self.size:
            raise ValueError(f"The stride is 1 to {self.size:,} {self.by}, not {self.stride:,}.")


def windows(text: str, language: str, splitting: WindowOptions) -> list[Span]:
    """Windows (start, end) of a document, without white space at their ends; none of a document of spaces."""
    by_words = splitting.by == "words"
    unit = _CHARACTER if primary(language) in UNSPACED else _WORD
    parts, sizes = [], []
    for part in _parts(text, language):
        pieces = _cut(text, part, unit, splitting.size) if by_words else [(*part, 1)]
        parts += [(start, end) for start, end, _ in pieces]
        sizes += [size for _, _, size in pieces]
    return list(_windows(parts, sizes, splitting))


def _windows(parts: list[Span], sizes: list[int], splitting: WindowOptions) -> Iterator[Span]:
    first = 0
    while first < len(parts):
        last, held = first, sizes[first]
        while last + 1 < len(parts) and held + sizes[last + 1] <= splitting.size:
            last += 1
            held += sizes[last]
        yield parts[first][0], parts[last][1]
        if last + 1 == len(parts):
            return
        passed, following = sizes[first], first + 1
        while following <= last and passed < splitting.stride:
            passed += sizes[following]
            following += 1
        # A window that ends where the last one did would lie within it.
        held = sum(sizes[following : last + 1])
        while following <= last and held + sizes[last + 1] > splitting.size:
            held -= sizes[following]
            following += 1
        first = following


def _parts(text: str, language: str) -> Iterator[Span]:
    """Sentences without white space around them, long ones in pieces."""
    for begin, end in sentences(text, language):
        start, last = begin, begin + len(text[begin:end].rstrip())
        while start < last:
            start += len(text[start:last]) - len(text[start:last].lstrip())
            cut = last
            if last - start > LONGEST_SENTENCE:
                space = text.rfind(" ", start + 1, start + LONGEST_SENTENCE)
                cut = space if space > start else start + LONGEST_SENTENCE
            yield start, cut
            start = cut


def _cut(text: str, part: Span, unit: re.Pattern[str], size: int) -> list[tuple[int, int, int]]:
    """A sentence with the number of its words, in pieces of `size` words where it has more."""
    words = [match.span() for match in unit.finditer(text, *part)]
    return [
        (some[0][0], some[-1][1], len(some))
        for some in (words[at : at + size] for at in range(0, len(words), size))
    ]
