"""Encoders and their tokenisers by folder or name, from this machine alone unless a download is asked for."""

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.learned.extra import needed


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """A transformer that gives a vector for each word piece, and the fast tokeniser that belongs to it."""

    name: str
    model: Any
    tokenizer: Any

    @property
    def width(self) -> int:
        """Units of a vector."""
        return int(self.model.config.hidden_size)

    @property
    def longest(self) -> int:
        """Word pieces that it takes at once, with those that stand for no text."""
        places = int(getattr(self.model.config, "max_position_embeddings", 512) or 512)
        embeddings = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        before = getattr(embeddings, "padding_idx", None)
        if before is not None:  # as in RoBERTa, whose places begin after the one of padding
            places -= int(before) + 1
        return min(places, int(self.tokenizer.model_max_length))


def encoder(name: str | Path, *, download: bool = False) -> Encoder:
    """The encoder in a folder, or by its name on the Hub from the local cache; MetricError names the remedy.

    Only weights in safetensors are read, and no code that comes with them.
    """
    needed(f"The encoder {name}")
    from transformers import AutoModel, AutoTokenizer  # takes seconds

    how: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    if Path(name).is_dir() and not (Path(name) / "config.json").is_file():
        raise MetricError(f"{name} is no encoder: it has no config.json. Name the folder that holds it.")
    with quiet():
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(name), use_fast=True, **how)
            model = AutoModel.from_pretrained(str(name), use_safetensors=True, **how)
        except (OSError, ValueError, KeyError, ImportError) as error:
            first = str(error).strip().splitlines()[0]
            remedy = (
                "Is the folder whole?"
                if Path(name).is_dir()
                else "Give the folder of an encoder, or --download to fetch one of that name."
            )
            raise MetricError(f"The encoder {name} cannot be loaded: {first} {remedy}") from error
    if not tokenizer.is_fast:
        raise MetricError(f"The encoder {name} has no fast tokeniser, which says where word pieces stand.")
    return Encoder(str(name), model.eval(), tokenizer)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the bars and remarks that transformers prints when it loads, and without the network."""
    from transformers.utils import logging as said

    level, logger = said.get_verbosity(), logging.getLogger("transformers")
    was = logger.level
    shown = said.is_progress_bar_enabled()
    said.set_verbosity_error()
    said.disable_progress_bar()
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        yield
    finally:
        said.set_verbosity(level)
        logger.setLevel(was)
        if shown:
            said.enable_progress_bar()
