"""Questions and answers as words and as word pieces, and the first piece of each word of an answer.

    [CLS] question [SEP] answer [SEP]

Words are runs of letters and digits, and single marks, with their places. Of each word the first piece alone
is classified (Lee et al. 2021, section 3.1): the first that begins in the word, or, where the tokeniser joins
what are several words here (`'s`, `...`), the one that covers it. A question is cut at half of the length
that the encoder takes. An answer that is longer than what is left is read in windows that overlap by half;
each of its words is taken from the window where it is farthest from an edge.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.errors import MetricError
from metrics.word_spans import Span, cut_words

#: Word pieces that a pair must be given at least.
SHORTEST = 16


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Pieces of pair number `pair`, or of a part of its answer, with at least one word.

    `firsts[k]` is the place in `ids` of the first piece of word number `word_numbers[k]`. `types` is empty
    where the tokeniser knows none.
    """

    pair: int
    ids: Sequence[int]
    types: Sequence[int]
    firsts: Sequence[int]
    word_numbers: Sequence[int]


def windows(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], longest: int, *, with_question: bool = True
) -> tuple[list[Window], list[list[Span]]]:
    """The windows of all pairs (question, answer), and the words of each answer.

    A word that the tokeniser drops, such as a lone control character, is in no window, and an answer without
    words has none. Every other word is in exactly one.
    """
    if longest < SHORTEST:
        raise MetricError(f"A question with its answer needs at least {SHORTEST} word pieces, not {longest}.")
    if not pairs:
        return [], []
    alone: dict[str, Any] = {"add_special_tokens": False, "truncation": False, "verbose": False}
    answers = tokenizer([_encodable(answer) for _, answer in pairs], return_offsets_mapping=True, **alone)
    frame = _frame(tokenizer, with_question=with_question)
    most = (longest - len(frame)) // 2
    question_ids = (
        tokenizer([_encodable(question) for question, _ in pairs], **alone)["input_ids"]
        if with_question
        else [[]] * len(pairs)
    )
    typed = "token_type_ids" in tokenizer.model_input_names
    cut_windows: list[Window] = []
    every: list[list[Span]] = []
    for pair, (_, answer) in enumerate(pairs):
        word_spans = cut_words(answer)
        every.append(word_spans)
        ids = answers["input_ids"][pair]
        firsts = _firsts(word_spans, answers["offset_mapping"][pair], answer)
        head = [*frame.before, *question_ids[pair][:most], *frame.middle]
        room = longest - len(head) - len(frame.after)
        for begin, end, word_numbers in _cuts(len(ids), firsts, room):
            cut_windows.append(
                Window(
                    pair,
                    [*head, *ids[begin:end], *frame.after],
                    _types(typed, len(head), end - begin + len(frame.after), with_question),
                    [len(head) + firsts[word] - begin for word in word_numbers],
                    word_numbers,
                )
            )
    return cut_windows, every


def _encodable(text: str) -> str:
    """The text with another sign, in the same place, for each half of a surrogate pair that is alone."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a tokeniser puts before a question, between it and the answer, and after the answer."""

    before: list[int]
    middle: list[int]
    after: list[int]

    def __len__(self) -> int:
        return len(self.before) + len(self.middle) + len(self.after)


def _frame(tokenizer: Any, *, with_question: bool) -> _Frame:
    encoded = tokenizer("a", "a") if with_question else tokenizer("a")
    ids, sides = encoded["input_ids"], encoded.sequence_ids()
    answer = 1 if with_question else 0
    begin, end = sides.index(answer), len(sides) - sides[::-1].index(answer)
    if not with_question:
        return _Frame(ids[:begin], [], ids[end:])
    question = len(sides) - sides[::-1].index(0)
    return _Frame(ids[: sides.index(0)], ids[question:begin], ids[end:])


def _types(typed: bool, head: int, tail: int, with_question: bool) -> list[int]:
    return [0] * head + [int(with_question)] * tail if typed else []


def _firsts(word_spans: Sequence[Span], offsets: Sequence[Span], text: str) -> dict[int, int]:
    """The first piece of each word by the word's number, in the order of words."""
    begins = [begin for begin, _ in word_spans]
    started: dict[int, int] = {}
    covered: dict[int, int] = {}
    for piece, (left, end) in enumerate(offsets):
        begin = left
        while begin < end and text[begin].isspace():
            begin += 1
        if begin == end:
            continue
        word = max(bisect_right(begins, begin) - 1, 0)
        if begins and begins[word] <= begin < word_spans[word][1]:
            started.setdefault(word, piece)
            word += 1
        while word < len(word_spans) and begins[word] < end:
            if word_spans[word][1] > begin:
                covered.setdefault(word, piece)
            word += 1
    return dict(sorted({**covered, **started}.items()))


def _cuts(pieces: int, firsts: dict[int, int], room: int) -> Iterator[tuple[int, int, list[int]]]:
    """Begin and end of each window in pieces, and the words that are taken from it."""
    if pieces <= room:
        if firsts:
            yield 0, pieces, list(firsts)
        return
    step = max(1, room // 2)
    begins = [*range(0, pieces - room, step), pieces - room]
    words_of_window: list[list[int]] = [[] for _ in begins]
    for word, place in firsts.items():
        near = range(
            max(0, (place - room) // step), len(begins) if place >= begins[-1] else place // step + 1
        )
        best = max(near, key=lambda at: (_inside(begins[at], place, room, pieces), -at))
        words_of_window[best].append(word)
    for begin, word_numbers in zip(begins, words_of_window, strict=True):
        if word_numbers:
            yield begin, begin + room, word_numbers


def _inside(begin: int, place: int, room: int, pieces: int) -> int:
    """How far a piece is from the nearer edge that the window cuts; negative outside of it."""
    if not begin <= place < begin + room:
        return -1
    left = place - begin if begin else pieces
    right = begin + room - 1 - place if begin + room < pieces else pieces
    return min(left, right)
