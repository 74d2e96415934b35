"""A small hierarchical dialogue model: two GRUs that read, and one that says what comes next."""

from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, layer_norm

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
        there = turns >= 0
        contexts = self.reader.contexts(vectors[turns[:, :-1].clamp(min=0)], there[:, :-1])
        next_there = there[:, 1:]
        said, targets = contexts[next_there], turns[:, 1:][next_there]
        wanted = ids[targets]
        seen = ids if dropped is None else ids.masked_fill(dropped & (ids != PAD), UNKNOWN)
        begin = torch.full_like(wanted[:, :1], BEGIN)
        given = torch.cat((begin, seen[targets][:, :-1]), 1)
        inputs = torch.cat((self.reader.embedding(given), said[:, None].expand(-1, given.shape[1], -1)), 2)
        states, _ = self.decoder(inputs, torch.tanh(self.first(said))[None])
        real = wanted != PAD
        return cross_entropy(self.pieces(states[real]), wanted[real], reduction="sum"), real.sum()
