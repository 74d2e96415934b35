"""Windows of about the same length together, and as padded tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from metrics.learned.kpqa.training.pieces import LabelledWindows, Numbers

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
