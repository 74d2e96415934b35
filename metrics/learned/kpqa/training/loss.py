"""The loss of a batch: cross entropy of its words' classes, mean over words."""

from typing import Any

import torch
from torch.nn.functional import cross_entropy

from metrics.learned.kpqa.training.batches import NO_WORD, Batch

_HALVES = (torch.float16, torch.bfloat16)


def logits_of(network: Any, batch: Batch) -> Any:
    """Logits (B, W, 2) of the words of a batch, in half precision never."""
    logits = network(batch.ids, batch.mask, batch.types, batch.firsts)
    return logits.float() if logits.dtype in _HALVES else logits


def loss_of(logits: Any, batch: Batch, *, mean: bool = True) -> Any:
    """Cross entropy over the words of a batch, their mean or their sum.

    Question, marks of the tokeniser and pieces that do not begin a word have no logits, and places that stand
    for no word are left out: none has a part.
    """
    return cross_entropy(
        logits.flatten(0, 1),
        batch.labels.flatten(),
        ignore_index=NO_WORD,
        reduction="mean" if mean else "sum",
    )
