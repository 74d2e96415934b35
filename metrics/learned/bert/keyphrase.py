"""Keyphrase weights laid on the word pieces of an encoder, by their places in the text.

Either every piece has the weight of the word that it belongs to. Or, as in the authors' code, each piece of
the KPQA model's own tokeniser has its own weight, also those that begin no word, whose weights were never
trained; an encoder with the same tokeniser then has the authors' weights. A piece that stands on several of
them has the greatest weight; one that stands on none, such as those that frame a text, has 0.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from metrics.learned import devices
from metrics.learned.bert.batching import batches
from metrics.learned.bert.vectors import Pieces
from metrics.learned.kpqa.weighing import Weighed, Weigher
from metrics.learned.words import Span
from metrics.metric import Floats

Pair = tuple[str, str]
_TOGETHER = 4096


def laid(weighed: Weighed, pieces: Pieces) -> list[float]:
    """The weight of each piece."""
    weights: list[float] = np.asarray(weighed.weights, np.float64).tolist()
    return [_greatest(weighed.spans, weights, span) for span in pieces.spans]


def _greatest(spans: Sequence[Span], weights: Sequence[float], piece: Span) -> float:
    begin, end = piece
    if begin == end:
        return 0.0
    at = max(bisect_right(spans, (begin, begin)) - 1, 0)
    found = 0.0
    while at < len(spans) and spans[at][0] < end:
        if spans[at][1] > begin:
            found = max(found, weights[at])
        at += 1
    return found


def pieces_weighed(weigher: Weigher, pairs: Sequence[Pair]) -> list[Weighed]:
    """Pieces of answers under the KPQA model's tokeniser, each with its own weight.

    A pair that is too long for the model is cut, the longer text first; what is cut off has no weight.
    """
    if not pairs:
        return []
    model, settings = weigher.loaded, weigher.folder.settings
    asked = bool(settings["with_question"])
    sides = zip(*pairs, strict=True) if asked else [[answer for _, answer in pairs]]
    given = model.tokenizer(
        *map(list, sides), truncation=True, max_length=int(settings["longest"]), return_offsets_mapping=True
    )
    devices.threads()
    found = [Weighed([], np.zeros(0)) for _ in pairs]
    ids = given["input_ids"]
    for batch in batches(range(len(pairs)), lambda pair: len(ids[pair]), _TOGETHER):
        likely = _likely(model, given, batch)
        for row, pair in enumerate(batch):
            places = [at for at, side in enumerate(given.sequence_ids(pair)) if side == int(asked)]
            spans = [tuple(given["offset_mapping"][pair][at]) for at in places]
            found[pair] = Weighed(spans, likely[row, places])
    return found


def _likely(model: Any, given: Any, batch: Sequence[int]) -> Floats:
    """How likely each piece of some pairs is part of the key phrase, padded."""
    import torch  # noqa: PLC0415  # takes seconds

    longest = max(len(given["input_ids"][pair]) for pair in batch)

    def padded(name: str, fill: int) -> Any:
        rows = [[*given[name][pair], *[fill] * (longest - len(given[name][pair]))] for pair in batch]
        return torch.tensor(rows, device=model.device)

    types = padded("token_type_ids", 0) if "token_type_ids" in given else None
    with torch.inference_mode():
        logits = model.network(
            padded("input_ids", model.tokenizer.pad_token_id or 0), padded("attention_mask", 0), types
        )
        found: Floats = torch.softmax(logits.float(), -1)[:, :, 1].double().cpu().numpy()
    return found
