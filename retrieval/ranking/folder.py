"""A collection without a database: an index and a network of a file of passages, in a folder of their own."""

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from retrieval.engine import Engine
from retrieval.engine.analysis import chain_name
from retrieval.engine.tantivy_engine import TantivyEngine
from retrieval.network.builder import SHARD_PASSAGES, build
from retrieval.network.network import Network
from retrieval.network.vectors import check
from retrieval.passage_files import open_passages
from retrieval.ranking.base import columns
from retrieval.ranking.scoring import Evidence, Passages
from retrieval.tokens import with_title


class TextFile:
    """Texts in the order of their numbers, from 1; written once with `append`, then read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("q", [0])
        self._written: IO[bytes] | None = path.open("wb")
        self._read: IO[bytes] | None = None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def append(self, text: str) -> int:
        """Add a text; its number."""
        if self._written is None:
            raise ValueError(f"{self._path} is complete.")
        # A lone surrogate in a JSON file is no character; it stays readable and harms nobody.
        self._starts.append(self._starts[-1] + self._written.write(text.encode("utf-8", "replace")))
        return len(self)

    def close(self) -> None:
        """No more texts come, or nothing is read any more."""
        for file in (self._written, self._read):
            if file is not None:
                file.close()
        self._written = self._read = None

    def text(self, number: int) -> str:
        """A text. IndexError for a number that was never given."""
        if not 1 <= number <= len(self):
            raise IndexError(number)
        start, end = self._starts[number - 1], self._starts[number]
        if self._read is None:
            if self._written is not None:
                self.close()
            self._read = self._path.open("rb")
        self._read.seek(start)
        return self._read.read(end - start).decode("utf-8")

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((number, self.text(number)) for number in range(1, len(self) + 1))


_CHUNK = 1 << 20


class FolderCollection:
    """Passages of a file, numbered from 1 in its order; a `Collection` for rankers.

    `keys[pk - 1]` is the passage's own id. Memory holds ids only; texts stay on disk.
    """

    def __init__(
        self,
        *,
        name: str,
        language: str,
        keys: Sequence[str],
        texts: TextFile,
        engine: Engine,
        network: Network | None,
        generation: Mapping[str, Any],
    ) -> None:
        self.name = name
        self.language = language
        self.keys = keys
        self.engine = engine
        self.evidence: Evidence | None = network
        self.generation = generation
        self._network = network
        self._texts = texts

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
        state: dict[str, Any] = {"engine": "tantivy", "chain": chain_name(language)}
        if vectors is not None:
            check(vectors)
            state["vectors"] = _digest(vectors)
        folder.mkdir(parents=True, exist_ok=True)
        texts = TextFile(folder / "texts")
        keys: list[str] = []
        engine = TantivyEngine(folder / "index", language, what=f"the index of {passages.name}")
        with closing(texts):
            engine.rebuild(_rows(passages, texts, keys, progress))
        state |= {"file": _digest(passages), "passages": len(keys)}
        built = None
        if network:
            with closing(texts):
                built = build(
                    iter(texts),
                    folder / "network",
                    language,
                    processes=_processes(len(keys)),
                    vectors=vectors,
                )
            state["rules"] = built.pointer.rules
        name = passages.parent.name or passages.stem
        return cls(
            name=name,
            language=language,
            keys=keys,
            texts=texts,
            engine=engine,
            network=built,
            generation=state,
        )

    def key(self, pk: int) -> str:
        """A passage's own id."""
        return self.keys[pk - 1]

    def columns(self, pks: Sequence[int], *, numbers: bool) -> Passages:
        """Tokens of passages: those that the network holds, otherwise cut now."""
        if self._network is not None and (stored := self._network.columns(pks, numbers=numbers)) is not None:
            return stored
        return columns([self._texts.text(pk) for pk in pks], self.language, numbers=numbers)

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """Texts of passages with their titles."""
        return {pk: self._texts.text(pk) for pk in pks}

    def close(self) -> None:
        """Close the file of texts."""
        self._texts.close()


def _rows(
    passages: Path, texts: TextFile, keys: list[str], progress: Callable[[int], None]
) -> Iterator[tuple[int, str]]:
    """Number and what is indexed of each passage, as a corpus has it: title and text."""
    file = open_passages(passages)
    for row in file.rows():
        keys.append(row.key)
        searched = with_title(row.title, row.text)
        number = texts.append(searched)
        if number % 1000 == 0:
            progress(number)
        yield number, searched
    if file.faults:
        raise file.refused()
    progress(len(keys))


def _processes(passages: int) -> int:
    """One for each shard, as far as there are processors."""
    return min(-(-passages // SHARD_PASSAGES), os.cpu_count() or 1)


def _digest(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


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
    with TemporaryDirectory(prefix="distillery-passages-") as folder:
        collection = FolderCollection.build(
            passages, Path(folder), language=language, vectors=vectors, network=network, progress=progress
        )
        try:
            yield collection
        finally:
            collection.close()
