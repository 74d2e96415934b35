"""Greedy matching of word pieces (Zhang et al. 2020, section 3), by the package bert-score.

    P = sum over pieces x of the candidate of w(x) max_y cos(x, y) / sum of w(x)
    R = the same for pieces of the reference,  F1 = 2 P R / (P + R)

y are all pieces of the other text, those that frame it included. The package lets a maximum below 0 count as
0 where a text is padded to the length of a longer one beside it; here every text is padded, so that it always
does, whatever stands beside it. So F1 lies between 0 and 1. Where weights of a side are all 0, it is 0.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.base import Floats
from metrics.learned.batches import spread
from metrics.learned.bert.vectors import Vectors
from metrics.texts import Places

#: Numbers in the vectors of pairs that are matched together.
_TOGETHER = 1 << 22
Weights = Sequence[Sequence[float] | npt.NDArray[np.floating[Any]]]


def f1(
    vectors: Vectors, candidates: Places, references: Places, weights: Weights, reference_weights: Weights
) -> Floats:
    """F1 of pairs (P) of texts by their places, none of them empty.

    `weights` has a weight for each piece of each pair's candidate, `reference_weights` of its reference.
    """
    values = np.zeros(len(candidates))
    for block in _blocks(vectors, candidates, references):
        mine, theirs = [[of[pair] for pair in block.tolist()] for of in (weights, reference_weights)]
        values[block] = _of_block(vectors, candidates[block], references[block], mine, theirs)
    return np.clip(values, 0, 1)


def _of_block(
    vectors: Vectors, candidates: Places, references: Places, weights: Weights, reference_weights: Weights
) -> Floats:
    """F1 of pairs whose vectors are held together."""
    found = vectors.of(sorted({*candidates.tolist(), *references.tolist()}))
    lengths = np.array([len(pieces.ids) for pieces in vectors.pieces], np.intp)
    parts = list(_batches(lengths[candidates], lengths[references], vectors.width))

    def matched(pairs: Places) -> Floats:
        sides = [
            _padded([found[text] for text in texts[pairs].tolist()], [of[pair] for pair in pairs.tolist()])
            for texts, of in ((references, reference_weights), (candidates, weights))
        ]
        return _matched(*sides)

    values = np.zeros(len(candidates))
    for pairs, part in zip(parts, spread(matched, parts, vectors.layers.device), strict=True):
        values[pairs] = part
    return values


def _blocks(vectors: Vectors, candidates: Places, references: Places) -> Iterator[Places]:
    """Pairs whose vectors can be held together; those that share a reference stand beside each other."""
    block: list[int] = []
    texts: set[int] = set()
    size = 0
    for pair in np.lexsort((candidates, references)).tolist():
        both = {int(candidates[pair]), int(references[pair])}
        more = sum(vectors.size(text) for text in both - texts)
        if block and size + more > vectors.held:
            yield np.array(block, np.intp)
            block, texts, size = [], set(), 0
            more = sum(map(vectors.size, both))
        block.append(pair)
        texts |= both
        size += more
    if block:
        yield np.array(block, np.intp)


def _batches(lengths: Places, other_lengths: Places, width: int) -> Iterator[Places]:
    """Pairs of about the same lengths together."""
    order = np.lexsort((other_lengths, lengths))
    batch: list[int] = []
    first = second = 0
    for pair in order.tolist():
        longer, other = max(first, int(lengths[pair])), max(second, int(other_lengths[pair]))
        if batch and (len(batch) + 1) * (longer + other) * width > _TOGETHER:
            yield np.array(batch, np.intp)
            batch, longer, other = [], int(lengths[pair]), int(other_lengths[pair])
        batch.append(pair)
        first, second = longer, other
    if batch:
        yield np.array(batch, np.intp)


def _padded(vectors: Sequence[Any], weights: Weights) -> tuple[Any, Any, Any]:
    """Vectors, mask and weights as the package takes them, all with room for one piece more than there is."""
    import torch

    device = vectors[0].device
    longest = max(map(len, vectors)) + 1
    lengths = torch.tensor([len(of) for of in vectors], device=device)
    whole = torch.ones((len(vectors), longest, vectors[0].shape[-1]), device=device)
    rows = torch.zeros((len(vectors), longest))
    for row, (of, weight) in enumerate(zip(vectors, weights, strict=True)):
        whole[row, : len(of)] = of
        rows[row, : len(of)] = torch.as_tensor(weight, dtype=torch.float32)
    mask = torch.arange(longest, device=device) < lengths[:, None]
    return whole, mask, rows.to(device)


def _matched(reference: tuple[Any, Any, Any], candidate: tuple[Any, Any, Any]) -> Floats:
    from bert_score.utils import greedy_cos_idf

    found: Floats = greedy_cos_idf(*reference, *candidate)[2].double().cpu().numpy()
    return found
