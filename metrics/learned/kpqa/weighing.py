"""Keyphrase weights: how likely each word of an answer is part of the key phrase, given the question.

    KPW_t = P(key phrase | word t, question)

Lee et al. (2021), section 3.2. A word has the probability of its first word piece; a word that the tokeniser
drops, such as a lone control character, has 0. Weights belong to a question and an answer together, never to
an answer alone.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from metrics.learned import devices, folders
from metrics.learned.chosen import KPQA, Choice
from metrics.learned.extra import needed
from metrics.learned.folders import ModelFolder
from metrics.learned.words import Span, cut
from metrics.metric import Floats
from metrics.tokens.placing import placed

Pair = tuple[str, str]
#: Word pieces that are computed together, and windows that are held at a time.
BUDGET, HELD = 4096, 4096
#: Models that a process keeps loaded.
_LOADED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The words of an answer by their places, and a weight in [0, 1] for each."""

    spans: list[Span]
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Weigher:
    """A keyphrase predictor that weighs the words of answers."""

    folder: ModelFolder
    loaded: "Loaded"

    def weigh(self, pairs: Sequence[Pair]) -> list[Weighed]:
        """The words of each answer with their weights, for pairs (question, answer)."""
        places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        weights = self.loaded.weights(list(places))
        return [Weighed(cut(pair[1]), weights[places[pair]]) for pair in pairs]


def weigher(choice: Choice, cache: str = "", device: str = "auto") -> Weigher:
    """The weigher of a model; MetricError where the folder does not hold it, or packages are missing.

    `cache` is a folder where weights are kept between runs.
    """
    needed("KPQA")
    loaded = _load(choice.folder, choice.digest, device)
    return Weigher(loaded.folder, loaded)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model in memory."""

    folder: ModelFolder
    network: Any
    tokenizer: Any
    device: Any

    def weights(self, pairs: Sequence[Pair]) -> list[Floats]:
        """The weights of the words of each answer, computed."""
        import torch  # noqa: PLC0415  # takes seconds

        from metrics.learned.kpqa.pieces import windows  # noqa: PLC0415

        settings = self.folder.settings
        devices.threads()
        found, words = windows(
            self.tokenizer, pairs, int(settings["longest"]), with_question=bool(settings["with_question"])
        )
        weights = [np.zeros(len(of)) for of in words]
        with torch.inference_mode():
            for batch in _batches(found):
                for window, values in zip(batch, self._probabilities(batch), strict=True):
                    weights[window.pair][list(window.words)] = values
        return weights

    def _probabilities(self, batch: Sequence[Any]) -> list[Floats]:
        import torch  # noqa: PLC0415

        longest = max(len(window.ids) for window in batch)
        pad = self.tokenizer.pad_token_id or 0

        def padded(rows: list[Any], fill: int) -> Any:
            return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], device=self.device)

        ids = padded([window.ids for window in batch], pad)
        mask = padded([[1] * len(window.ids) for window in batch], 0)
        types = padded([window.types for window in batch], 0) if batch[0].types else None
        most = max(len(window.firsts) for window in batch)
        firsts = torch.tensor(
            [[*window.firsts, *[0] * (most - len(window.firsts))] for window in batch], device=self.device
        )
        logits = self.network(ids, mask, types, firsts)
        likely = torch.softmax(logits.float(), -1)[:, :, 1].cpu().numpy()
        return [likely[row, : len(window.firsts)] for row, window in enumerate(batch)]


@lru_cache(maxsize=_LOADED)
def _load(path: str, digest: str, device: str) -> Loaded:
    from metrics.learned.kpqa.network import load  # noqa: PLC0415

    folder = folders.opened(Path(path), KPQA, digest)
    network, encoder = load(folder.path, int(folder.settings["units"]))
    where = devices.device(device)
    return Loaded(folder, network.to(where), encoder.tokenizer, where)


def _batches(windows: Sequence[Any]) -> Iterator[list[Any]]:
    """Windows of about the same length together, as many as the budget of word pieces allows."""
    batch: list[Any] = []
    for window in sorted((one for one in windows if one.firsts), key=lambda one: len(one.ids)):
        if batch and (len(batch) + 1) * len(window.ids) > BUDGET:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def on_tokens(text: str, tokens: Sequence[str], weighed: Weighed) -> list[float]:
    """A weight for each token of any tokeniser: the greatest of the words that it stands on in the text.

    A token that says something else than the text, such as a number written out, has the words between its
    neighbours; a token that stands on no word has 0.
    """
    spans: list[Span] = weighed.spans
    weights: list[float] = weighed.weights.tolist()
    if len(tokens) == len(spans) and all(
        text[begin:end].lower() == token.lower() for (begin, end), token in zip(spans, tokens, strict=True)
    ):
        return weights
    return [_greatest(spans, weights, place) for place in _filled(placed(text, tokens), len(text))]


def _filled(places: Sequence[Span | None], end: int) -> list[Span]:
    """Places of tokens, those of tokens that were not found being what lies between their neighbours."""
    after = [end]
    for place in reversed(places):
        after.append(place[0] if place else after[-1])
    before = 0
    filled = []
    for at, place in enumerate(places, 1):
        filled.append(place or (before, after[len(places) - at]))
        before = place[1] if place else before
    return filled


def _greatest(spans: Sequence[Span], weights: Sequence[float], place: Span) -> float:
    first = max(bisect_right(spans, (place[0],)) - 1, 0)
    found = 0.0
    for at in range(first, len(spans)):
        begin, end = spans[at]
        if begin >= place[1]:
            break
        if end > place[0]:
            found = max(found, weights[at])
    return found
