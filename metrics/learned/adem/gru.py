"""A hierarchical GRU encoder (being built)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from metrics.learned.adem.encoders import TextEncoder, Turns
from metrics.learned.adem.settings import Progress

KIND = "gru"


@dataclass(frozen=True, slots=True)
class GruSettings:
    """How the dialogue model is trained."""

    epochs: int = 10
    seed: int = 0
    device: str = "auto"


def train_gru(
    dialogues: Iterable[Turns], settings: GruSettings, progress: Progress | None = None
) -> TextEncoder:
    """Train the dialogue model; its encoder remains."""
    raise NotImplementedError


def is_one(folder: Path) -> bool:
    """Whether a folder holds such an encoder."""
    return (folder / "gru.json").is_file()


def load(folder: Path, *, device: str = "auto") -> TextEncoder:
    """What `save` wrote."""
    raise NotImplementedError
