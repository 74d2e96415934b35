"""A passage in pieces, so that a template marks sentences and key words and escapes every one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the text as it is. All pieces together are the text.

    is_marked: within a highlighted sentence. is_bold: a key word. opens, closes: the first and the last piece
    of a highlighted sentence, for templates that want one element for each of them.
    """

    text: str
    is_marked: bool = False
    is_bold: bool = False
    opens: bool = False
    closes: bool = False


def marked(text: str, sentences: Sequence[Span], spans: Sequence[Span]) -> list[Piece]:
    """Cut a text at the ends of highlighted sentences and of key words, which may overlap in any way.

    Offsets beyond the text, and empty or overlapping sentences, do no harm: whatever is given, the pieces
    joined are the text.
    """
    marks, bold = _disjoint(sentences, len(text)), _merged(spans, len(text))
    cuts = sorted({0, len(text), *(end for span in (*marks, *bold) for end in span)})
    starts = {start for start, _ in marks}
    ends = {end for _, end in marks}
    pieces = []
    mark, word = iter([*marks, (len(text) + 1,) * 2]), iter([*bold, (len(text) + 1,) * 2])
    in_mark, in_word = next(mark), next(word)
    for start, end in pairwise(cuts):
        while in_mark[1] <= start:
            in_mark = next(mark)
        while in_word[1] <= start:
            in_word = next(word)
        is_marked = in_mark[0] <= start
        pieces.append(
            Piece(
                text[start:end],
                is_marked,
                in_word[0] <= start,
                is_marked and start in starts,
                is_marked and end in ends,
            )
        )
    return pieces


def _inside(spans: Sequence[Span], length: int) -> list[Span]:
    """What of the spans lies inside of the text, by place."""
    clipped = ((max(0, start), min(end, length)) for start, end in spans)
    return sorted((start, end) for start, end in clipped if start < end)


def _disjoint(spans: Sequence[Span], length: int) -> list[Span]:
    """Spans as they are, but each begins where the one before ends at the earliest."""
    found: list[Span] = []
    for start, end in _inside(spans, length):
        begin = max(start, found[-1][1]) if found else start
        if begin < end:
            found.append((begin, end))
    return found


def _merged(spans: Sequence[Span], length: int) -> list[Span]:
    """Overlapping spans as one. Neighbours stay apart."""
    found: list[Span] = []
    for start, end in _inside(spans, length):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
