"""What ADEM asks of an encoder of texts and contexts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from metrics.base import Floats

Turns = tuple[str, ...]


class TextEncoder(Protocol):
    """Vectors of texts, and of contexts, which are turns in order; the same text has the same vector."""

    @property
    def kind(self) -> str:
        """Which plug-in it is: `sentences` or `gru`."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def digest(self) -> str:
        """64 hex digits of its weights and of all that it does with a text."""

    @property
    def width(self) -> int:
        """Units of a vector."""

    def contexts(self, contexts: Sequence[Turns]) -> Floats:
        """A vector of each context (n, width)."""

    def texts(self, texts: Sequence[str]) -> Floats:
        """A vector of each text (n, width)."""

    def save(self, folder: Path) -> None:
        """Write its files into an empty folder."""
