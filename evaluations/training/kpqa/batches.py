"""Examples as labelled word pieces, and the batches that the network sees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evaluations.training.kpqa.examples import Example
from metrics.neural.pieces import Span, windows

Numbers = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
#: Examples that are cut into pieces at a time.
_TOGETHER = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LabelledWindows:
    """Windows one after another: number k has the pieces `ids[starts[k]:starts[k + 1]]`, of `answers[k]`.

    Its classified words are `begins[k]` to `begins[k + 1]` of `firsts` (places of first pieces), `words`
    (numbers of words) and `labels` (1 in the key phrase, else 0). `typed`: word pieces have types.
    """

    answers: Numbers
    starts: Places
    ids: Numbers
    types: Numbers
    begins: Places
    firsts: Numbers
    words: Numbers
    labels: Numbers
    typed: bool

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def lengths(self) -> Places:
        """Number of pieces of each window."""
        return np.diff(self.starts)


def labels_of(words: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """1 for each word that a span touches, else 0; both are in order."""
    found, at = [], 0
    for begin, end in words:
        while at < len(spans) and spans[at][1] <= begin:
            at += 1
        found.append(int(at < len(spans) and spans[at][0] < end))
    return found


def labelled(
    tokenizer: Any, examples: Sequence[Example], longest: int, *, with_question: bool = True
) -> LabelledWindows:
    """The windows of examples with labels; each word of an answer is in one of its windows."""
    answers: list[int] = []
    parts: list[tuple[Numbers, ...]] = []
    sizes: list[tuple[int, int]] = []
    for start in range(0, len(examples), _TOGETHER):
        some = examples[start : start + _TOGETHER]
        pairs = [(example.question, example.answer) for example in some]
        every, words = windows(tokenizer, pairs, longest, with_question=with_question)
        labels = [labels_of(own, example.spans) for own, example in zip(words, some, strict=True)]
        answers += [start + window.pair for window in every]
        sizes += [(len(window.ids), len(window.words)) for window in every]
        parts.append(
            (
                _flat(window.ids for window in every),
                _flat(window.types for window in every),
                _flat(window.firsts for window in every),
                _flat(window.words for window in every),
                _flat([labels[window.pair][word] for word in window.words] for window in every),
            )
        )
    ids, types, firsts, words_, said = (
        np.concatenate([part[column] for part in parts] or [np.zeros(0, np.int32)]) for column in range(5)
    )
    return LabelledWindows(
        answers=np.array(answers, np.int32),
        starts=np.array([0, *accumulate(size for size, _ in sizes)], np.int64),
        ids=ids,
        types=types,
        begins=np.array([0, *accumulate(size for _, size in sizes)], np.int64),
        firsts=firsts,
        words=words_,
        labels=said,
        typed=len(types) > 0,
    )


def _flat(rows: Iterator[Sequence[int]]) -> Numbers:
    return np.array([number for row in rows for number in row], np.int32)


#: Batches out of which windows of about the same length are put together.
_POOL = 50
#: Label of a place that stands for no word.
NO_WORD = -100


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Tensors of B windows, L pieces at most, W words at most; `labels` are NO_WORD where there is no word.

    `words` says how many words there are.
    """

    ids: Any
    mask: Any
    types: Any
    firsts: Any
    labels: Any
    words: int

    @property
    def size(self) -> int:
        """Windows."""
        return int(self.ids.shape[0])


def shuffled(lengths: Sequence[int] | Any, size: int, seed: int, epoch: int) -> list[list[int]]:
    """The windows of an epoch's batches: an order that depends on seed and epoch alone.

    All are shuffled; of 50 batches at a time those of about the same length come together, so that little is
    padded; then these batches are shuffled.
    """
    drawn = np.random.default_rng([seed, epoch])
    order = drawn.permutation(len(lengths))
    own = np.asarray(lengths)
    found: list[list[int]] = []
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        pool = pool[np.argsort(own[pool], kind="stable")]
        found += [pool[at : at + size].tolist() for at in range(0, len(pool), size)]
    return [found[at] for at in drawn.permutation(len(found))]


def by_length(lengths: Sequence[int] | Any, size: int) -> list[list[int]]:
    """Batches without chance, shortest first."""
    order = np.argsort(np.asarray(lengths), kind="stable")
    return [order[at : at + size].tolist() for at in range(0, len(order), size)]


def batch_of(data: LabelledWindows, which: Sequence[int], pad: int, device: Any) -> Batch:
    """These windows, padded to the longest of them, on a device."""
    pieces = [slice(data.starts[at], data.starts[at + 1]) for at in which]
    words = [slice(data.begins[at], data.begins[at + 1]) for at in which]

    def padded(values: Numbers, places: list[slice], filler: int) -> Any:
        longest = max(place.stop - place.start for place in places)
        rows = np.full((len(places), longest), filler, np.int64)
        for row, place in zip(rows, places, strict=True):
            row[: place.stop - place.start] = values[place]
        return torch.from_numpy(rows).to(device)

    lengths = torch.tensor([place.stop - place.start for place in pieces])
    ids = padded(data.ids, pieces, pad)
    mask = (torch.arange(ids.shape[1])[None, :] < lengths[:, None]).long().to(device)
    return Batch(
        ids,
        mask,
        padded(data.types, pieces, 0) if data.typed else None,
        padded(data.firsts, words, 0),
        padded(data.labels, words, NO_WORD),
        sum(int(place.stop - place.start) for place in words),
    )
