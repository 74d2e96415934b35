"""What is known of an encoder before it is loaded: its files, their digest, how many layers it has."""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.learned.extra import needed

#: Files that say what an encoder does; a page about it that lies beside them does not.
_FILES = (
    "config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "*.model",
)  # fmt: skip
_LAYERS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers")
_SHORT = 12


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """An encoder's folder, its name as it was given, layers, and digest of its files (64 hex digits)."""

    folder: str
    name: str
    layers: int
    digest: str

    @property
    def signature(self) -> str:
        """As it stands in the signature of every score."""
        return f"{self.name}-{self.digest[:_SHORT]}"

    def layer(self, asked: int | None) -> int:
        """The layer that is asked for, the last one for None; MetricError where there is none such."""
        if asked is None:
            return self.layers
        if isinstance(asked, bool) or not isinstance(asked, int) or not 0 <= asked <= self.layers:
            raise MetricError(
                f"The encoder {self.name} has no layer {asked}; it has 0 (embeddings) to {self.layers}."
            )
        return asked


def known(encoder: str, *, download: bool = False) -> EncoderFolder:
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
    said = [config[key] for key in _LAYERS if key in config] if isinstance(config, dict) else []
    if not said or not isinstance(said[0], int):
        raise MetricError(f"{folder}/config.json does not say how many layers the encoder has.")
    return said[0]


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
