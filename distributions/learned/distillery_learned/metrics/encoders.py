"""Encoders and their tokenisers by folder or name, from this machine alone unless a download is asked for.

Files, digest and number of layers of an encoder are known before it is loaded.
"""

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from distillery_learned.metrics import needed
from metrics.errors import MetricError
from metrics.learned_metrics import EncoderFolder


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
    was_shown = said.is_progress_bar_enabled()
    said.set_verbosity_error()
    said.disable_progress_bar()
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        yield
    finally:
        said.set_verbosity(level)
        logger.setLevel(was)
        if was_shown:
            said.enable_progress_bar()


#: Files that say what an encoder does; a page about it that lies beside them does not.
_FILES = (
    "config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "*.model",
)  # fmt: skip
_LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")


def find_encoder(encoder: str, *, download: bool = False) -> EncoderFolder:
    """The encoder of a folder or name; MetricError where it is not here, and may not be fetched."""
    folder = _folder(encoder, download=download)
    layers = _layers(folder)
    files = sorted({path for pattern in _FILES for path in folder.glob(pattern) if path.is_file()})
    stamps = tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return EncoderFolder(str(folder), _name(encoder), layers, _digest(stamps))


def _folder(encoder: str, *, download: bool) -> Path:
    if Path(encoder).is_dir():
        return Path(encoder).resolve()
    needed(f"The encoder {encoder}")
    from huggingface_hub import snapshot_download  # takes a second

    try:
        return Path(snapshot_download(encoder, local_files_only=not download, allow_patterns=list(_FILES)))
    except (OSError, ValueError) as error:
        raise MetricError(
            f"The encoder {encoder} is not on this machine. Give the folder of an encoder, or fetch it once."
        ) from error


def _layers(folder: Path) -> int:
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MetricError(f"{folder} is no encoder: it has no config.json that can be read.") from error
    numbers = [config[key] for key in _LAYERS if key in config] if isinstance(config, dict) else []
    if not numbers or not isinstance(numbers[0], int):
        raise MetricError(f"{folder}/config.json does not say how many layers the encoder has.")
    return numbers[0]


def _name(encoder: str) -> str:
    """The name without what parts a signature; of a folder its last part."""
    name = Path(encoder).resolve().name if Path(encoder).is_dir() else encoder
    return "".join("_" if character in "|:" or character.isspace() else character for character in name)


@lru_cache(maxsize=64)
def _digest(stamps: tuple[tuple[str, int, int], ...]) -> str:
    """Of the names and contents of files; sizes and times are there so that changed files are read again."""
    files = {}
    for path, _, _ in stamps:
        with Path(path).open("rb") as file:
            files[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
