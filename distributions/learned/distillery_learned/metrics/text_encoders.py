"""Encoders of texts and contexts for ADEM, by folder or name: sentence-transformers, transformers, our GRU.

A transformer without a pooling of its own gives the mean of the vectors of its word pieces. A context has the
mean of the vectors of its turns: joined, a long conversation would lose its last turn, the question, where
the encoder cuts it off.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from distillery_learned.metrics import needed
from distillery_learned.metrics.adem_examples import TextEncoder, Turns
from distillery_learned.metrics.devices import device as device_named
from distillery_learned.metrics.devices import threads
from distillery_learned.metrics.encoders import quiet
from metrics.errors import MetricError
from metrics.texts import Floats

KIND = "sentences"
_BATCH = 64
#: Shows what a tokeniser does with case, accents, marks, figures, white space and other writing.
_PROBE = "Is it 3,50 €?  NAÏVE café\n(co-op) don't 東京 й"


class Sentences:
    """A sentence encoder."""

    kind = KIND

    def __init__(self, name: str, model: Any) -> None:
        self.name, self._model = name, model
        self.digest = _digest(model)
        self.width = len(model.encode("a", show_progress_bar=False))

    def texts(self, texts: Sequence[str]) -> Floats:
        """A vector of each text."""
        if not texts:
            return np.empty((0, self.width))
        vectors = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return np.asarray(vectors, np.float64)

    def contexts(self, contexts: Sequence[Turns]) -> Floats:
        """The mean of the vectors of each context's turns."""
        turns = {turn: place for place, turn in enumerate(dict.fromkeys(t for c in contexts for t in c))}
        vectors = self.texts(list(turns))
        means = np.empty((len(contexts), self.width))
        for row, context in enumerate(contexts):
            means[row] = vectors[[turns[turn] for turn in context]].mean(0)
        return means

    def save(self, folder: Path) -> None:
        """As sentence-transformers loads it."""
        with quiet():
            self._model.save(str(folder), create_model_card=False, safe_serialization=True)


def load(name: str, *, download: bool = False, device: str = "auto") -> Sentences:
    """The sentence encoder in a folder, or of a name in the local cache; MetricError names the remedy.

    Only weights in safetensors are read, and no code that comes with them.
    """
    needed(f"The encoder {name}")
    from sentence_transformers import SentenceTransformer  # takes seconds

    folder = Path(name)
    if folder.is_dir() and not any((folder / file).is_file() for file in ("modules.json", "config.json")):
        raise MetricError(f"{name} is no encoder: it has neither modules.json nor config.json.")
    threads()
    where = str(device_named(device))
    try:
        with quiet(), _silent():
            model = SentenceTransformer(
                name,
                device=where,
                local_files_only=not download,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines()[0]
        remedy = (
            "Is the folder whole?"
            if folder.is_dir()
            else "Give the folder of an encoder, or --download to fetch one of that name."
        )
        raise MetricError(f"The encoder {name} cannot be loaded: {first} {remedy}") from error
    return Sentences(folder.name if folder.is_dir() else name, model.float().eval())


@contextmanager
def _silent() -> Iterator[None]:
    """Without the remark that a plain transformer gets mean pooling."""
    logger = logging.getLogger("sentence_transformers")
    was = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(was)


def _digest(model: Any) -> str:
    """Of weights, word pieces and what is done with the vectors, whatever the library calls them today."""
    weights = sorted(
        hashlib.sha256(repr(tuple(values.shape)).encode() + values.cpu().numpy().tobytes()).hexdigest()
        for values in model.state_dict().values()
        if values.is_floating_point()
    )
    tokenizer = model.tokenizer
    fields = {
        "weights": weights,
        "pieces": sorted(tokenizer.get_vocab().items()),
        "probe": tokenizer(_PROBE)["input_ids"],
        "longest": model.max_seq_length,
        "steps": [(type(step).__name__, _pooling(step)) for step in model],
    }
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _pooling(step: Any) -> str:
    """How a step makes one vector of many, as either generation of the library says it."""
    if hasattr(step, "get_pooling_mode_str"):
        return str(step.get_pooling_mode_str())
    return str(getattr(step, "pooling_mode", ""))


def text_encoder(name: str | Path, *, download: bool = False, device: str = "auto") -> TextEncoder:
    """The encoder in a folder (sentence-transformers, a transformer, a trained GRU), or by its name.

    A GRU that is still to be trained comes from `gru.train_gru`.
    """
    from distillery_learned.metrics import gru  # which take seconds

    if gru.is_one(Path(name)):
        return gru.load(Path(name), device=device)
    return load(str(name), download=download, device=device)
