"""The networks in PyTorch: KPQA's classifier of word pieces, ADEM's dialogue model, packed linear layers.

Packed layers have their weights as oneDNN wants them, which computes them in less than half of the time. The
results are those of 32-bit floats in another order of summation. Where PyTorch was built without oneDNN, or
its operators do not say what `nn.Linear` says, a network stays as it is.
"""

import inspect
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, layer_norm

from distillery_learned.metrics.encoders import Encoder, encoder, quiet
from metrics.errors import MetricError

_ALIKE = 1e-4


class PackedLinear(nn.Linear):  # type: ignore[misc]  # torch's types are not read
    """A linear layer for inference on a CPU; it has no gradient."""

    def __init__(self, plain: nn.Linear) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = plain.in_features, plain.out_features
        self.weight, self.bias = plain.weight, plain.bias
        self._packed = torch.ops.mkldnn._reorder_linear_weight(plain.weight.detach())
        self._added = None if plain.bias is None else plain.bias.detach()

    def forward(self, inputs: Any) -> Any:
        """What `nn.Linear` gives, without a gradient."""
        return torch.ops.mkldnn._linear_pointwise(inputs, self._packed, self._added, "none", [], "")


def pack(network: nn.Module) -> None:
    """Pack the linear layers of a network that lies on the CPU and is used for inference alone."""
    for name, module in network.named_children():
        if type(module) is nn.Linear and _packable(module):
            setattr(network, name, PackedLinear(module))
        else:
            pack(module)


def _packable(plain: nn.Linear) -> bool:
    weight = plain.weight
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() > 0 and works()


@cache
def works() -> bool:
    """Whether this build of PyTorch has the operators, and they say what `nn.Linear` says."""
    if not torch.backends.mkldnn.is_available():
        return False
    with torch.no_grad():
        plain = nn.Linear(3, 5)
        inputs = torch.linspace(-1, 1, 12).reshape(2, 2, 3)
        try:
            return bool((PackedLinear(plain)(inputs) - plain(inputs)).abs().max() < _ALIKE)
        except (AttributeError, RuntimeError, TypeError):
            return False


PAD, UNKNOWN, BEGIN, END = range(4)


class NormedGru(nn.Module):  # type: ignore[misc]  # torch's types are not read
    """A GRU with layer normalisation inside its gates (Ba et al. 2016); padding leaves its state alone."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.inward = nn.Linear(inputs, 3 * units, bias=False)
        self.around = nn.Linear(units, 3 * units, bias=False)
        self.gains = nn.Parameter(torch.ones(2, 3, units))
        self.biases = nn.Parameter(torch.zeros(2, 3, units))

    def forward(self, inputs: Any, mask: Any) -> Any:
        """Inputs (B, T, I) and where they are real (B, T) -> the state after each step (B, T, U)."""
        inward = self._normed(self.inward(inputs), 0)
        state = inputs.new_zeros(len(inputs), self.units)
        states = []
        for step in range(inputs.shape[1]):
            reset_in, keep_in, new_in = inward[:, step].unbind(1)
            reset_state, keep_state, new_state = self._normed(self.around(state), 1).unbind(1)
            keep = torch.sigmoid(keep_in + keep_state)
            new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_state) * new_state)
            state = torch.where(mask[:, step, None], (1 - keep) * new + keep * state, state)
            states.append(state)
        return torch.stack(states, 1)

    def _normed(self, values: Any, which: int) -> Any:
        gates = values.unflatten(-1, (3, self.units))
        return layer_norm(gates, (self.units,)) * self.gains[which] + self.biases[which]


class Reader(nn.Module):  # type: ignore[misc]
    """The encoder: pieces to the vector of an utterance, utterances to the vector of a context."""

    def __init__(self, pieces: int, embedding: int, units: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(pieces, embedding, padding_idx=PAD)
        self.utterance = NormedGru(embedding, units)
        self.context = NormedGru(units, width)

    def utterances(self, ids: Any) -> Any:
        """Pieces (B, L), padded -> vectors (B, U)."""
        return self.utterance(self.embedding(ids), ids != PAD)[:, -1]

    def contexts(self, utterances: Any, mask: Any) -> Any:
        """Vectors of utterances (B, T, U) -> the state after each of them (B, T, W)."""
        return self.context(utterances, mask)


class Dialogue(nn.Module):  # type: ignore[misc]
    """The encoder, and a decoder that sees the vector of the context at every step."""

    def __init__(self, reader: Reader, units: int) -> None:
        super().__init__()
        pieces, embedding = reader.embedding.weight.shape
        width = reader.context.units
        self.reader = reader
        self.first = nn.Linear(width, units)
        self.decoder = nn.GRU(embedding + width, units, batch_first=True)
        self.pieces = nn.Linear(units, pieces)

    def forward(self, ids: Any, turns: Any, dropped: Any = None) -> tuple[Any, Any]:
        """Sum of the loss over all pieces of all turns but the first, and the number of those pieces.

        `ids` (N, L) are utterances that end with END, padded; `turns` (B, T) are their numbers, -1 where a
        dialogue has fewer turns. Where `dropped` (N, L) is true, the decoder does not see the piece.
        """
        vectors = self.reader.utterances(ids)
        present = turns >= 0
        contexts = self.reader.contexts(vectors[turns[:, :-1].clamp(min=0)], present[:, :-1])
        next_there = present[:, 1:]
        states_before, targets = contexts[next_there], turns[:, 1:][next_there]
        target_ids = ids[targets]
        seen = ids if dropped is None else ids.masked_fill(dropped & (ids != PAD), UNKNOWN)
        begin = torch.full_like(target_ids[:, :1], BEGIN)
        inputs_before = torch.cat((begin, seen[targets][:, :-1]), 1)
        inputs = torch.cat(
            (
                self.reader.embedding(inputs_before),
                states_before[:, None].expand(-1, inputs_before.shape[1], -1),
            ),
            2,
        )
        states, _ = self.decoder(inputs, torch.tanh(self.first(states_before))[None])
        real = target_ids != PAD
        return cross_entropy(self.pieces(states[real]), target_ids[real], reduction="sum"), real.sum()


UNITS = 768
_ENCODER, _HEAD = "encoder", "head.safetensors"


class KeyphraseNetwork(nn.Module):  # type: ignore[misc]  # torch's types are not read
    """Says of each word piece how likely its word is part of the key phrase.

    The encoder's layer for whole sentences (`pooler`), if it has one, is taken off: nothing here uses it, and
    where a checkpoint lacks it it would be random.
    """

    def __init__(self, base: Any, units: int = UNITS) -> None:
        super().__init__()
        self.base = base
        if getattr(base, "pooler", None) is not None:
            base.pooler = None
        self.typed = (
            "token_type_ids" in inspect.signature(base.forward).parameters
            and getattr(base.config, "type_vocab_size", 2) > 1
        )
        self.layer = nn.Linear(base.config.hidden_size, units)
        self.classes = nn.Linear(units, 2)

    def forward(self, ids: Any, mask: Any, types: Any = None, firsts: Any = None) -> Any:
        """Word pieces (B, L) with their mask -> logits (B, L, 2), of `firsts` (B, W) alone (B, W, 2)."""
        inputs = {"input_ids": ids, "attention_mask": mask}
        if types is not None and self.typed:
            inputs["token_type_ids"] = types
        states = self.base(**inputs).last_hidden_state
        if firsts is not None:
            states = states.gather(1, firsts[:, :, None].expand(-1, -1, states.shape[-1]))
        return self.classes(torch.tanh(self.layer(states)))


def save_network(network: KeyphraseNetwork, tokenizer: Any, folder: Path) -> None:
    """The files of a predictor: the encoder with its tokeniser as others can load them, and the head."""
    from safetensors.torch import save_file

    network.base.config._name_or_path = ""  # where the encoder lay does not make it another model
    with quiet():
        network.base.save_pretrained(folder / _ENCODER, safe_serialization=True)
        tokenizer.save_pretrained(folder / _ENCODER)
    head = {**_named("layer", network.layer), **_named("classes", network.classes)}
    save_file(head, folder / _HEAD)


def load_network(folder: Path, units: int = UNITS) -> tuple[KeyphraseNetwork, Encoder]:
    """What `save` wrote, ready to score; MetricError where the head is not one of `units` for the encoder."""
    from safetensors.torch import load_file

    base = encoder(folder / _ENCODER)
    network = KeyphraseNetwork(base.model, units)
    try:
        head = load_file(folder / _HEAD)
        network.layer.load_state_dict(_of("layer", head))
        network.classes.load_state_dict(_of("classes", head))
    except (OSError, ValueError, RuntimeError) as error:
        raise MetricError(f"{folder / _HEAD} is no head of {units} units for its encoder.") from error
    return network.eval(), base


def _named(name: str, module: Any) -> dict[str, Any]:
    return {f"{name}.{key}": value.contiguous().cpu() for key, value in module.state_dict().items()}


def _of(name: str, head: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix(f"{name}."): value for key, value in head.items() if key.startswith(f"{name}.")}
