"""A hierarchical GRU encoder, trained as part of a small dialogue model (Lowe et al. 2017, section 4).

It stands in for the paper's VHRED: a GRU over the pieces of an utterance, one over utterances, and a decoder
that predicts the next utterance piece by piece; byte pair encoding, layer normalisation in the encoder, and a
decoder that misses every fourth piece. What VHRED has and this has not is the random latent variable of each
turn; it is also far smaller, and learns from the dialogues of the table alone. The last state of the GRU over
utterances is the vector of a context, and of a text, which is a context of one turn.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distillery_learned.metrics import needed
from distillery_learned.metrics.adem_examples import Progress, Turns
from distillery_learned.metrics.devices import device as device_named
from distillery_learned.metrics.devices import threads
from metrics.errors import MetricError
from metrics.texts import Floats

KIND = "gru"
_SAID, _WEIGHTS, _PIECES = "gru.json", "reader.safetensors", "tokenizer.json"
_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
_BATCH, _POOL = 64, 50


@dataclass(frozen=True, slots=True)
class GruSettings:
    """How the dialogue model is made and trained.

    `pieces` is the size of the vocabulary, `embedding`, `units` and `width` those of the vectors of pieces,
    utterances and contexts. Of an utterance the first `longest` pieces are read, of a context the last
    `turns` turns. `dropped` is the share of pieces that the decoder does not see. Of the dialogues the share
    `held` says after which epoch to stop: when it found nothing better in `patience` of them.
    """

    pieces: int = 8000
    embedding: int = 128
    units: int = 256
    width: int = 256
    longest: int = 60
    turns: int = 10
    dropped: float = 0.25
    batch: int = 32
    rate: float = 0.001
    epochs: int = 20
    patience: int = 2
    held: float = 0.1
    seed: int = 0
    device: str = "auto"


class GruEncoder:
    """The encoder of a trained dialogue model; `history` is what its training came to."""

    kind = KIND

    def __init__(self, name: str, reader: Any, pieces: Any, description: dict[str, Any]) -> None:
        self.name, self._reader, self._pieces, self._said = name, reader.eval(), pieces, description
        self.width = int(description["width"])
        self.digest = self._digest()

    @property
    def history(self) -> dict[str, Any]:
        """Perplexities on held-out dialogues by epoch, and what they are compared with."""
        return dict(self._said["history"])

    def texts(self, texts: Sequence[str]) -> Floats:
        """A vector of each text."""
        return self.contexts([(text,) for text in texts])

    def contexts(self, contexts: Sequence[Turns]) -> Floats:
        """A vector of each context, of its last turns."""
        import torch

        encoded = np.empty((len(contexts), self.width))
        turns = [context[-self._said["turns"] :] for context in contexts]
        numbers = {turn: place for place, turn in enumerate(dict.fromkeys(t for c in turns for t in c))}
        with torch.inference_mode():
            vectors = self._utterances(list(numbers))
            for batch in _by_length([len(context) for context in turns], _BATCH):
                places, mask = _padded([[numbers[turn] for turn in turns[row]] for row in batch], 0)
                real = torch.tensor(mask, device=vectors.device)
                states = self._reader.contexts(vectors[torch.tensor(places, device=vectors.device)], real)
                encoded[batch] = states[:, -1].cpu().numpy()
        return encoded

    def save(self, folder: Path) -> None:
        """Weights of the encoder, its pieces, and how they are used."""
        from safetensors.torch import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file(self._weights(), folder / _WEIGHTS)
        (folder / _PIECES).write_text(self._pieces.to_str(), encoding="utf-8")
        (folder / _SAID).write_text(json.dumps(self._said, indent=2), encoding="utf-8")

    def _utterances(self, texts: Sequence[str]) -> Any:
        import torch

        where = next(self._reader.parameters()).device
        ids = _ids(self._pieces, texts, self._said["longest"])
        vectors = torch.empty(len(texts), self._said["units"], device=where)
        for batch in _by_length([len(one) for one in ids], _BATCH):
            padded, _ = _padded([ids[row] for row in batch], 0)
            vectors[torch.tensor(batch, device=where)] = self._reader.utterances(
                torch.tensor(padded, device=where)
            )
        return vectors

    def _weights(self) -> dict[str, Any]:
        return {name: value.cpu().contiguous() for name, value in self._reader.state_dict().items()}

    def _digest(self) -> str:
        checksum = hashlib.sha256(json.dumps(self._used(), sort_keys=True).encode())
        checksum.update(self._pieces.to_str().encode())
        for name, value in sorted(self._weights().items()):
            checksum.update(f"{name} {tuple(value.shape)}\n".encode())
            checksum.update(value.numpy().tobytes())
        return checksum.hexdigest()

    def _used(self) -> dict[str, Any]:
        return {name: self._said[name] for name in ("embedding", "units", "width", "longest", "turns")}


def train_gru(
    dialogues: Iterable[Turns],
    settings: GruSettings = GruSettings(),  # which nothing can change
    progress: Progress | None = None,
) -> GruEncoder:
    """Train the dialogue model on dialogues of two turns or more; its encoder remains."""
    needed("The GRU encoder")
    import torch

    from distillery_learned.metrics.networks import Dialogue, Reader

    training, held_out = _hold_out(dialogues, settings)
    pieces = _learned_pieces(training, settings.pieces)
    threads()
    where = device_named(settings.device)
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        reader = Reader(pieces.get_vocab_size(), settings.embedding, settings.units, settings.width)
        model = Dialogue(reader, settings.units).to(where)
    history = _fit(
        model,
        _Turns.of(training, pieces, settings),
        _Turns.of(held_out, pieces, settings),
        settings,
        progress,
    )
    description = {key: value for key, value in asdict(settings).items() if key != "device"}
    return GruEncoder(KIND, model.reader, pieces, {**description, "history": history})


def is_one(folder: Path) -> bool:
    """Whether a folder holds such an encoder."""
    return (folder / _SAID).is_file()


def load(folder: Path, *, device: str = "auto") -> GruEncoder:
    """What `save` wrote."""
    needed("The GRU encoder")
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    from distillery_learned.metrics.networks import Reader

    threads()
    try:
        description = json.loads((folder / _SAID).read_text(encoding="utf-8"))
        pieces = Tokenizer.from_str((folder / _PIECES).read_text(encoding="utf-8"))
        reader = Reader(
            pieces.get_vocab_size(), description["embedding"], description["units"], description["width"]
        )
        reader.load_state_dict(load_file(folder / _WEIGHTS))
        return GruEncoder(folder.name, reader.to(device_named(device)), pieces, description)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        first = str(error).strip().splitlines()[0]
        raise MetricError(
            f"The GRU encoder {folder} cannot be loaded: {first} Is the folder whole?"
        ) from error


@dataclass(frozen=True, slots=True, eq=False)
class _Turns:
    """Distinct utterances as pieces, and dialogues as their numbers."""

    ids: list[list[int]]
    dialogues: list[list[int]]

    @classmethod
    def of(cls, dialogues: Sequence[Turns], pieces: Any, settings: GruSettings) -> "_Turns":
        shortened = [dialogue[-settings.turns - 1 :] for dialogue in dialogues]
        numbers = {turn: place for place, turn in enumerate(dict.fromkeys(t for d in shortened for t in d))}
        ids = _ids(pieces, list(numbers), settings.longest)
        return cls(ids, [[numbers[turn] for turn in dialogue] for dialogue in shortened])

    def batch(self, rows: Sequence[int], where: Any) -> tuple[Any, Any]:
        """Utterances (N, L) of some dialogues, and their numbers (B, T)."""
        import torch

        used = {
            turn: place for place, turn in enumerate(sorted({t for r in rows for t in self.dialogues[r]}))
        }
        ids, _ = _padded([self.ids[turn] for turn in used], 0)
        turns, _ = _padded([[used[turn] for turn in self.dialogues[row]] for row in rows], -1)
        return torch.tensor(ids, device=where), torch.tensor(turns, device=where)

    def size(self, row: int) -> int:
        """Pieces of the longest utterance of a dialogue."""
        return max(len(self.ids[turn]) for turn in self.dialogues[row])


def _hold_out(dialogues: Iterable[Turns], settings: GruSettings) -> tuple[list[Turns], list[Turns]]:
    """The distinct dialogues without, and with, a context that is held out."""
    every = sorted({tuple(dialogue) for dialogue in dialogues if len(dialogue) > 1})
    contexts = sorted({dialogue[:-1] for dialogue in every})
    if len(contexts) < 2:
        raise MetricError("A GRU encoder learns from dialogues of two turns or more, and there are none.")
    number = min(len(contexts) - 1, max(1, round(settings.held * len(contexts))))
    order = np.random.default_rng(settings.seed).permutation(len(contexts))
    held_out = {contexts[place] for place in order[:number]}
    return [one for one in every if one[:-1] not in held_out], [one for one in every if one[:-1] in held_out]


def _learned_pieces(dialogues: Sequence[Turns], size: int) -> Any:
    """Byte pair encoding of the dialogues in lower case, from bytes, so that no character is unknown.

    Marks for the ends of words would be numbered in another order each time; the space before a word does.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    pieces = Tokenizer(models.BPE(unk_token=_SPECIAL[1]))
    pieces.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    pieces.train_from_iterator(sorted({turn for dialogue in dialogues for turn in dialogue}), trainer)
    return pieces


def _ids(pieces: Any, texts: Sequence[str], longest: int) -> list[list[int]]:
    """The pieces of each text, with the mark of its end."""
    end = _SPECIAL.index("</s>")
    return [
        [*encoded.ids[:longest], end]
        for encoded in pieces.encode_batch(list(texts), add_special_tokens=False)
    ]


def _fit(
    model: Any, training: _Turns, held_out: _Turns, settings: GruSettings, progress: Progress | None
) -> dict[str, Any]:
    """Train until the held-out dialogues get no likelier; the weights of the best epoch stay."""
    import torch

    where = next(model.parameters()).device
    chance = np.random.default_rng((settings.seed, 1))
    steps = torch.optim.Adam(model.parameters(), lr=settings.rate)
    perplexities = [_perplexity(model, held_out)]
    best, best_epoch = _copied(model), 0
    batches = math.ceil(len(training.dialogues) / settings.batch)
    done, total = 0, settings.epochs * batches
    for epoch in range(1, settings.epochs + 1):
        model.train()
        for rows in _shuffled(training, settings.batch, chance):
            ids, turns = training.batch(rows, where)
            dropped = torch.tensor(chance.random(tuple(ids.shape)) < settings.dropped, device=where)
            loss, count = model(ids, turns, dropped)
            steps.zero_grad()
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps.step()
            done += 1
            if progress is not None:
                progress(done, total, "training the dialogue model")
        perplexities.append(_perplexity(model, held_out))
        if perplexities[epoch] < perplexities[best_epoch]:
            best, best_epoch = _copied(model), epoch
        elif epoch - best_epoch >= settings.patience:
            break
    model.load_state_dict(best)
    return {
        "dialogues": len(training.dialogues),
        "held": len(held_out.dialogues),
        "perplexity": perplexities,
        "best": best_epoch,
        "unigram": _unigram(training, held_out, len(model.pieces.bias)),
    }


def _copied(model: Any) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def _perplexity(model: Any, turns_held_out: _Turns) -> float:
    import torch

    model.eval()
    where = next(model.parameters()).device
    total, pieces = 0.0, 0
    with torch.inference_mode():
        for rows in _by_length(
            [turns_held_out.size(row) for row in range(len(turns_held_out.dialogues))], _BATCH
        ):
            loss, count = model(*turns_held_out.batch(rows, where))
            total, pieces = total + float(loss), pieces + int(count)
    return math.exp(total / pieces)


def _unigram(training: _Turns, held_out: _Turns, size: int) -> float:
    """Perplexity of what says how frequent each piece is, whatever came before (with one more of each)."""
    counts = np.ones(size)
    for dialogue in training.dialogues:
        for turn in dialogue[1:]:
            np.add.at(counts, training.ids[turn], 1)
    logs = np.log(counts / counts.sum())
    pieces = [
        piece for dialogue in held_out.dialogues for turn in dialogue[1:] for piece in held_out.ids[turn]
    ]
    return float(np.exp(-logs[pieces].mean()))


def _shuffled(training: _Turns, batch: int, chance: np.random.Generator) -> Iterator[list[int]]:
    """Batches in random order, of dialogues about equally long, as they cost the least."""
    order = chance.permutation(len(training.dialogues))
    batches = []
    for begin in range(0, len(order), batch * _POOL):
        pool = sorted((int(row) for row in order[begin : begin + batch * _POOL]), key=training.size)
        batches += [pool[at : at + batch] for at in range(0, len(pool), batch)]
    for place in chance.permutation(len(batches)):
        yield batches[place]


def _by_length(lengths: Sequence[int], batch: int) -> Iterator[list[int]]:
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    for begin in range(0, len(order), batch):
        yield order[begin : begin + batch]


def _padded(rows: Sequence[Sequence[int]], fill: int) -> tuple[Any, Any]:
    """Rows filled up to the longest (B, L), and where they are real."""
    longest = max(map(len, rows))
    padded = np.full((len(rows), longest), fill, np.int64)
    mask = np.zeros((len(rows), longest), bool)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
        mask[place, : len(row)] = True
    return padded, mask
