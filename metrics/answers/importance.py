"""How much each of several references stands for all of them, and a similarity weighted by that.

Mitra et al. (2016), A Proposal for Evaluating Answer Distillation from Web Data, section 4, equations 1-3.
"There are many choices for the Imp function", of which the paper writes one down; `CHOICES` holds others too.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from metrics.texts import Floats

#: Of texts one by one, the value of each pair (first, second); the first takes the place of the candidate.
Similarity = Callable[[Sequence[str], Sequence[str]], Floats]
V = TypeVar("V")
#: Importance functions by name, in words.
CHOICES = {
    "sum": "the sum of its similarities to all references (equation 2)",
    "uniform": "1: each reference counts alike, which gives the plain mean",
    "nearest": "its similarity to the most similar other reference",
    "medoid": "1 for the reference with the largest sum, 0 for the others; those of equal sums share it",
}
#: Sums that differ by no more than that share of the largest are equal: arithmetic in another order.
_EQUAL = 1e-12


def importance(
    references: Sequence[str], similarity: Similarity, *, itself: bool = True, choice: str = "sum"
) -> Floats:
    """Weight of each of k references by one of `CHOICES`: Imp(ref_i) = sum over j of Sim(ref_i, ref_j).

    The sum holds j = i, as the paper's equation 2 does; `itself=False` leaves it out, which gives a reference
    that is like no other no weight at all. A reference that occurs twice counts twice.
    """
    k = len(references)
    first = [text for text in references for _ in range(k)]
    values = similarity(first, list(references) * k).reshape(k, k)
    return importance_of(values, itself=itself, choice=choice)


def importance_of(similarities: Floats, *, itself: bool = True, choice: str = "sum") -> Floats:
    """The same from a table (k, k) of Sim(ref_i, ref_j), or from a stack (…, k, k) of them: (…, k)."""
    if choice == "uniform":
        return np.ones(similarities.shape[:-1])
    if choice == "nearest":
        others = np.where(np.eye(similarities.shape[-1], dtype=bool), -np.inf, similarities)
        nearest: Floats = np.maximum(others.max(axis=-1, initial=0.0), 0.0)
        return nearest
    # Rows in one piece are added up in the same order alone and in a stack, to the last bit.
    total: Floats = np.ascontiguousarray(similarities).sum(axis=-1)
    total = total if itself else total - np.diagonal(similarities, axis1=-2, axis2=-1)
    if choice == "medoid":
        most = total.max(axis=-1, keepdims=True, initial=0.0)
        return np.asarray(total >= most - _EQUAL * np.abs(most), np.float64)
    return total


def weighted(similarities: Floats, weights: Floats) -> Floats:
    """Sum of Sim(c, ref_i) Imp(ref_i) over the sum of Imp(ref_i) (equation 1), for n rows of k similarities.

    `weights` are those of all rows (k) or of each (n, k).
    Where all weights are zero the paper's fraction is 0/0: no reference is like any, itself included, so none
    stands for the others and each counts alike: the value is the mean similarity. With a single reference the
    value is the similarity to it. Without references it is nan.
    """
    if not weights.shape[-1]:
        return np.full(len(similarities), np.nan)
    weights = np.where(weights.any(axis=-1, keepdims=True), weights, 1.0)
    means: Floats = (similarities * weights).sum(axis=-1) / weights.sum(axis=-1)
    return means


class SizedCache(Generic[V]):
    """What was made for the keys used last, up to a total size; those not used for longest go first.

    Chunks of a run come in any order and meet the same references again when the answers of one system follow
    those of another; what is kept for a reference set is then not made twice.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> V | None:
        """What is kept for a key, which thereby is the one used last."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keep a value that is not kept yet, if its size is not more than all may have together."""
        with self._lock:
            if key in self._kept or size > self._most:
                return
            self._kept[key] = value, size
            self._size += size
            while self._size > self._most:
                self._size -= self._kept.popitem(last=False)[1][1]
