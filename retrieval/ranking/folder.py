"""A collection without a database: an index and a network of a file of passages, in a folder of their own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from retrieval.crown.evidence import Evidence
from retrieval.crown.passages import Passages
from retrieval.engine.base import Engine


class FolderCollection:
    """Passages of a file, numbered from 1 in its order; a `Collection` for rankers.

    `keys[pk - 1]` is the passage's own id. Memory holds ids only; texts stay on disk.
    """

    name: str
    language: str
    keys: Sequence[str]

    @classmethod
    def build(
        cls,
        passages: Path,
        folder: Path,
        *,
        language: str = "en",
        vectors: Path | None = None,
        network: bool = True,
        progress: Callable[[int], None] = lambda passages: None,
    ) -> "FolderCollection":
        """Read a file of passages (JSONL, CSV, TSV…), index it, and build its word proximity network.

        `vectors` are word vectors of a file instead of the network's own; `network=False` leaves the network
        out, which BM25 does not need. FileRefusedError lists the faults of the file.
        """
        raise NotImplementedError

    @property
    def engine(self) -> Engine:
        """Its index."""
        raise NotImplementedError

    @property
    def evidence(self) -> Evidence | None:
        """Its network, if there is one."""
        raise NotImplementedError

    @property
    def generation(self) -> Mapping[str, Any]:
        """What tells its state: digest of the file, rules for words, options of the network."""
        raise NotImplementedError

    def key(self, pk: int) -> str:
        """A passage's own id."""
        return self.keys[pk - 1]

    def columns(self, pks: Sequence[int], *, numbers: bool) -> Passages:
        """Tokens of passages."""
        raise NotImplementedError

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """Texts of passages."""
        raise NotImplementedError


@contextmanager
def temporary_collection(
    passages: Path,
    *,
    language: str = "en",
    vectors: Path | None = None,
    network: bool = True,
    progress: Callable[[int], None] = lambda passages: None,
) -> Iterator[FolderCollection]:
    """`FolderCollection.build` in a temporary folder that goes with the block."""
    raise NotImplementedError
    yield
