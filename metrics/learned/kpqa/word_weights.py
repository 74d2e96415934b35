"""Keyphrase weights: how likely each word of an answer is part of the key phrase, given the question.

    KPW_t = P(key phrase | word t, question)

Lee et al. (2021), section 3.2. A word has the probability of its first word piece; a word that the tokeniser
drops, such as a lone control character, has 0. Weights belong to a question and an answer together, never to
an answer alone.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from metrics.answers.importance import SizedCache
from metrics.base import Floats
from metrics.learned import devices, folders
from metrics.learned.batches import spread
from metrics.learned.extra import needed
from metrics.learned.folders import ModelFolder
from metrics.learned.kinds import KPQA
from metrics.learned.kpqa.pieces import Window, windows
from metrics.learned.kpqa.weight_cache import IN_PROCESS, Store, Weights, file_of, key
from metrics.learned.profile_models import Choice
from metrics.learned.words import Span, cut
from metrics.tokens.positions import placed

Pair = tuple[str, str]
#: Word pieces that are computed together on a CPU and on a GPU.
ON_CPU, ON_GPU = 1024, 1 << 15
#: Characters of answers that are computed, and kept, at a time, and models that a process holds.
AT_ONCE, _LOADED = 1 << 20, 4
#: How often the places of tokens may be lost in a text, and how many tokens are looked at to find them again.
_LOST, _AHEAD = 64, 8


@dataclass(frozen=True, slots=True, eq=False)
class WordWeights:
    """The words of an answer by their places, and a weight in [0, 1] for each."""

    spans: list[Span]
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Weigher:
    """A keyphrase predictor that weighs the words of answers, each pair once as long as it is kept."""

    folder: ModelFolder
    loaded: "LoadedModel"
    store: Store

    @property
    def with_question(self) -> bool:
        """Whether the predictor sees the question."""
        return self.loaded.with_question

    def weigh(self, pairs: Sequence[Pair]) -> list[WordWeights]:
        """The words of each answer with their weights, for pairs (question, answer)."""
        seen = pairs if self.with_question else [("", answer) for _, answer in pairs]
        keys = {pair: key(*pair) for pair in dict.fromkeys(seen)}
        words = {pair: cut(pair[1]) for pair in keys}
        known = self.store.get({keys[pair]: len(words[pair]) for pair in keys})
        for part in _parts([pair for pair in keys if keys[pair] not in known]):
            new = dict(zip(map(keys.__getitem__, part), self.loaded.weights(part), strict=True))
            self.store.put(new)
            known |= new
        return [WordWeights(words[pair], known[keys[pair]].astype(np.float64)) for pair in seen]


def weigher(choice: Choice, cache: str = "", device: str = "auto") -> Weigher:
    """The weigher of a model; MetricError where the folder does not hold it, or packages are missing.

    `cache` is a folder where weights are kept between runs. The network is loaded when the first weight is
    computed, once in a process.
    """
    needed("KPQA")
    with _LOCK:
        loaded = _load(choice.folder, choice.digest, device)
    return Weigher(loaded.folder, loaded, Store(loaded.kept, file_of(cache, loaded.folder)))


class LoadedModel:
    """A model of a process, and what it weighed; its network is loaded when it is first asked for."""

    def __init__(self, folder: ModelFolder, device: str) -> None:
        self.folder = folder
        self.kept: SizedCache[Weights] = SizedCache(IN_PROCESS)
        self._asked = device
        self._lock = Lock()

    @property
    def with_question(self) -> bool:
        """Whether it sees the question."""
        return bool(self.folder.settings.get("with_question", True))

    @property
    def network(self) -> Any:
        """Says of each word piece how likely its word is part of the key phrase; without gradients."""
        return self._parts[0]

    @property
    def tokenizer(self) -> Any:
        """What cuts texts into its word pieces."""
        return self._parts[1]

    @property
    def device(self) -> Any:
        """Where the network lies."""
        return self._parts[2]

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        with self._lock:
            return self._loading

    @cached_property
    def _loading(self) -> tuple[Any, Any, Any]:
        from metrics.learned.kpqa.network import load  # PyTorch takes seconds
        from metrics.learned.linears import pack

        where = devices.device(self._asked)
        network, encoder = load(self.folder.path, int(self.folder.settings["units"]))
        network = network.to(where).requires_grad_(False)
        pack(network)
        return network, encoder.tokenizer, where

    def weights(self, pairs: Sequence[Pair]) -> list[Weights]:
        """The weights of the words of each answer, computed."""
        network, tokenizer, device = self._parts
        longest = int(self.folder.settings["longest"])
        found, words = windows(tokenizer, pairs, longest, with_question=self.with_question)
        batches = _batches(found, ON_GPU if device.type == "cuda" else ON_CPU)
        pad = tokenizer.pad_token_id or 0
        weights = [np.zeros(len(of), np.float32) for of in words]
        likely_of = partial(_likely, network, pad=pad, device=device)
        for batch, likely in zip(batches, spread(likely_of, batches, device), strict=True):
            for row, window in enumerate(batch):
                weights[window.pair][list(window.words)] = likely[row, : len(window.words)]
        return weights


_LOCK = Lock()


@lru_cache(maxsize=_LOADED)
def _load(path: str, digest: str, device: str) -> LoadedModel:
    return LoadedModel(folders.opened(Path(path), KPQA, digest), device)


def _parts(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Pairs of about the same length together, as many as have a bounded number of characters."""
    part: list[Pair] = []
    size = 0
    for pair in sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1])):
        if part and size + len(pair[0]) + len(pair[1]) > AT_ONCE:
            yield part
            part, size = [], 0
        part.append(pair)
        size += len(pair[0]) + len(pair[1])
    if part:
        yield part


def _batches(windows: Sequence[Window], budget: int) -> list[list[Window]]:
    """Windows of about the same length together, as many as the budget of word pieces allows."""
    batches: list[list[Window]] = []
    for window in sorted((one for one in windows if one.words), key=lambda one: -len(one.ids)):
        if not batches or (len(batches[-1]) + 1) * len(batches[-1][0].ids) > budget:
            batches.append([])
        batches[-1].append(window)
    return batches


def _likely(network: Any, batch: Sequence[Window], pad: int, device: Any) -> Weights:
    """How likely the words of windows are part of key phrases: windows x words, filled up."""
    import torch

    def tensor(rows: list[Sequence[int]], fill: int = 0) -> Any:
        width = max(map(len, rows))
        return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=device)

    logits = network(
        tensor([window.ids for window in batch], pad),
        tensor([[1] * len(window.ids) for window in batch]),
        tensor([window.types for window in batch]) if batch[0].types else None,
        tensor([window.firsts for window in batch]),
    )
    found: Weights = torch.softmax(logits.float(), -1)[:, :, 1].cpu().numpy()
    return found


def on_tokens(text: str, tokens: Sequence[str], weighed: WordWeights) -> list[float]:
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
    return on_places(_filled(_places(text, tokens), len(text)), weighed)


def on_places(places: Sequence[Span], weighed: WordWeights) -> list[float]:
    """A weight for each place in the text: the greatest of the words that stand there, or 0."""
    spans, weights = weighed.spans, weighed.weights.tolist()
    return [_greatest(spans, weights, place) for place in places]


def _places(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Places of tokens; after one that is written otherwise in the text the nearest of the next leads on."""
    found: list[Span | None] = []
    at = 0
    for _ in range(_LOST):
        part = placed(text[at:], tokens[len(found) :])
        while part and part[-1] is None:
            part.pop()
        found += [None if place is None else (place[0] + at, place[1] + at) for place in part]
        at = next((place[1] for place in reversed(found) if place), 0)
        nearest = min(_later(text, tokens[len(found) : len(found) + _AHEAD], at), default=None)
        if nearest is None:
            break
        at, ahead, end = nearest
        found += [*[None] * ahead, (at, end)]
        at = end
    return [*found, *[None] * (len(tokens) - len(found))]


def _later(text: str, tokens: Sequence[str], at: int) -> Iterator[tuple[int, int, int]]:
    """Where tokens stand next as they are: begin, number of the token, end."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    for ahead, token in enumerate(tokens):
        begin = lower.find(token.lower(), at)
        while begin > 0 and lower[begin - 1].isalnum() and token[:1].isalnum():
            begin = lower.find(token.lower(), begin + 1)
        if begin >= 0 and token:
            yield begin, ahead, begin + len(token)


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
