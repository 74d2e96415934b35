"""What is searched in an evaluation: passages of a file, or nothing, where only runs are compared."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from retrieval.ranking.base import Collection
from retrieval.ranking.folder import FolderCollection


class FileHaystack:
    """Passages of a file, indexed for this evaluation; a `Haystack`."""

    def __init__(self, passages: Path, collection: FolderCollection) -> None:
        self._passages = passages
        self._collection = collection
        self.collections: Sequence[Collection] = [collection]

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages."""
        return {pk: self._collection.key(pk) for pk in pks}

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the ids that are in the file."""
        return self._ids & set(keys)

    def as_json(self) -> dict[str, Any]:
        """The file, and how many passages it has."""
        return {"file": self._passages.name, "passages": len(self._collection.keys)}

    @cached_property
    def _ids(self) -> set[str]:
        return set(self._collection.keys)
