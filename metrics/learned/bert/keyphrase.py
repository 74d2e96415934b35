"""Keyphrase weights laid on the word pieces of an encoder, by their places in the text.

Either every piece has the weight of the word that it belongs to. Or, as in the authors' code, each piece of
the KPQA model's own tokeniser has its own weight, also those that begin no word, whose weights were never
trained; an encoder with the same tokeniser then has the authors' weights. A piece that stands on several of
them has the greatest weight; one that stands on none, such as those that frame a text, has 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from metrics.base import Floats
from metrics.learned.batches import batches, spread
from metrics.learned.kpqa.word_weights import Weigher, WordWeights

Pair = tuple[str, str]
_TOGETHER = 1024


def pieces_weighed(weigher: Weigher, pairs: Sequence[Pair]) -> list[WordWeights]:
    """Pieces of answers under the KPQA model's tokeniser, each with its own weight.

    A pair that is too long for the model is cut, the longer text first; what is cut off has no weight.
    """
    if not pairs:
        return []
    loaded, asked = weigher.loaded, weigher.with_question
    tokenizer = loaded.tokenizer
    sides = zip(*pairs, strict=True) if asked else [[answer for _, answer in pairs]]
    given = tokenizer(
        *map(list, sides),
        truncation=True,
        max_length=int(weigher.folder.settings["longest"]),
        return_offsets_mapping=True,
    )
    ids = given["input_ids"]
    parts = list(batches(range(len(pairs)), lambda pair: len(ids[pair]), _TOGETHER))

    def likely(batch: Sequence[int]) -> Floats:
        return _likely(loaded.network, given, batch, tokenizer.pad_token_id or 0, loaded.device)

    found = [WordWeights([], np.zeros(0)) for _ in pairs]
    for batch, values in zip(parts, spread(likely, parts, loaded.device), strict=True):
        for row, pair in enumerate(batch):
            places = [at for at, side in enumerate(given.sequence_ids(pair)) if side == int(asked)]
            spans = [tuple(given["offset_mapping"][pair][at]) for at in places]
            found[pair] = WordWeights(spans, values[row, places])
    return found


def _likely(network: Any, given: Any, batch: Sequence[int], pad: int, device: Any) -> Floats:
    """How likely each piece of some pairs is part of the key phrase, padded."""
    import torch  # takes seconds

    longest = max(len(given["input_ids"][pair]) for pair in batch)

    def padded(name: str, fill: int) -> Any:
        rows = [[*given[name][pair], *[fill] * (longest - len(given[name][pair]))] for pair in batch]
        return torch.tensor(rows, device=device)

    types = padded("token_type_ids", 0) if "token_type_ids" in given else None
    logits = network(padded("input_ids", pad), padded("attention_mask", 0), types)
    found: Floats = torch.softmax(logits.float(), -1)[:, :, 1].double().cpu().numpy()
    return found
