"""Texts as vectors of their word pieces, from one layer of an encoder, computed by the package bert-score."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

from metrics.base import Floats
from metrics.learned import devices
from metrics.learned.batches import batches, spread
from metrics.learned.bert.encoder_folder import EncoderFolder
from metrics.learned.encoders import encoder
from metrics.learned.words import Span

#: Word pieces that are computed together: what fits into a processor's caches, and what fills a GPU.
_TOGETHER = {"cpu": 1024}
_TOGETHER_ELSEWHERE = 1 << 15
#: Numbers in the vectors that are held at a time (a quarter of a gigabyte).
HELD = 1 << 26
#: Texts that are cut into pieces together, and encoders that a process holds.
_CUT, _LOADED = 512, 2


@dataclass(frozen=True, slots=True)
class Pieces:
    """Word pieces of a text by number, and where each stands; those that frame the text stand nowhere.

    A text is `empty` that has no others.
    """

    ids: Sequence[int]
    spans: Sequence[Span]
    empty: bool


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The layers of an encoder up to one, and its tokeniser. Longer texts are cut at `longest` pieces."""

    name: str
    model: Any
    tokenizer: Any
    longest: int
    device: Any

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The word pieces of each text, without the white space around it."""
        return [one for at in range(0, len(texts), _CUT) for one in self._pieces(texts[at : at + _CUT])]

    def _pieces(self, texts: Sequence[str]) -> list[Pieces]:
        bare = [_encodable(text).strip() for text in texts]
        found = self.tokenizer(
            bare,
            truncation=True,
            max_length=self.longest,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        if any(encoding.overflowing for encoding in found.encodings):
            _tell_cut(self.name, self.longest)
        every = []
        for place, text in enumerate(texts):
            frame = found["special_tokens_mask"][place]
            left = len(text) - len(text.lstrip())
            spans = [
                (0, 0) if of_frame else (begin + left, end + left)
                for (begin, end), of_frame in zip(found["offset_mapping"][place], frame, strict=True)
            ]
            every.append(Pieces(found["input_ids"][place], spans, all(frame)))
        return every

    @property
    def vocabulary(self) -> int:
        """How many pieces there are."""
        return len(self.tokenizer)

    def plain(self) -> Floats:
        """Weight 1 for each piece, 0 for those that frame a text."""
        weights = np.ones(self.vocabulary)
        weights[
            [id for id in (self.tokenizer.sep_token_id, self.tokenizer.cls_token_id) if id is not None]
        ] = 0
        return weights

    def vectors(self, texts: Sequence[Sequence[int]]) -> Any:
        """One vector for each piece of each text: a padded tensor (texts, pieces, units)."""
        from bert_score import utils  # takes seconds

        ids, _, mask = utils.padding(texts, self.tokenizer.pad_token_id or 0)
        return utils.bert_encode(self.model, ids.to(self.device), attention_mask=mask.to(self.device))


@lru_cache(maxsize=_LOADED)
def layers(known: EncoderFolder, layer: int, device: str) -> Layers:
    """An encoder without what lies above a layer, loaded once."""
    from metrics.learned.linears import pack

    loaded = encoder(known.folder)
    _cut(loaded.model, layer)
    where = devices.device(device)
    model = loaded.model.to(where).requires_grad_(False)
    pack(model)
    return Layers(known.name, model, loaded.tokenizer, loaded.longest, where)


def _cut(model: Any, layer: int) -> None:
    """Take away the layers above one: the package cuts models by name alone, which it loads itself."""
    from torch import nn

    whole = int(model.config.num_hidden_layers)
    for stack in list(model.modules()):
        if isinstance(stack, nn.ModuleList) and len(stack) == whole:
            del stack[layer:]
            break
    model.config.num_hidden_layers = layer


def _encodable(text: str) -> str:
    """Halves of surrogate pairs, which no tokeniser takes, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _tell_cut(name: str, longest: int) -> None:
    logging.getLogger(__name__).warning(
        "BERTScore reads no more than %d word pieces of a text with the encoder %s; there are longer texts.",
        longest,
        name,
    )


@dataclass(eq=False)
class Vectors:
    """Vectors of the distinct texts of a chunk, computed when they are needed.

    They are held while they fit into `held` numbers, so that several metrics share them.
    """

    layers: Layers
    pieces: Sequence[Pieces]
    held: int = HELD
    _kept: dict[int, Any] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Units of a vector."""
        return int(self.layers.model.config.hidden_size)

    def size(self, text: int) -> int:
        """Numbers in the vectors of a text."""
        return len(self.pieces[text].ids) * self.width

    def of(self, texts: Sequence[int]) -> dict[int, Any]:
        """The vectors (pieces, units) of some texts."""
        asked = set(texts)
        missing = asked - self._kept.keys()
        if sum(map(self.size, self._kept)) + sum(map(self.size, missing)) > self.held:
            self._kept = {text: kept for text, kept in self._kept.items() if text in asked}
        most = _TOGETHER.get(self.layers.device.type, _TOGETHER_ELSEWHERE)
        parts = list(batches(sorted(missing), lambda text: len(self.pieces[text].ids), most))
        for part in spread(self._computed, parts, self.layers.device):
            self._kept |= part
        return self._kept

    def _computed(self, texts: Sequence[int]) -> dict[int, Any]:
        vectors = self.layers.vectors([self.pieces[text].ids for text in texts])
        return {text: vectors[row, : len(self.pieces[text].ids)].clone() for row, text in enumerate(texts)}
