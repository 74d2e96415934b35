"""Corpora of projects as what an evaluation searches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrieval.corpus_collections import CorpusCollection
from retrieval.errors import NotIndexedError
from retrieval.models import Corpus, Passage
from retrieval.selectors import corpus_called

if TYPE_CHECKING:
    from retrieval.ranking.base import Collection

_AT_ONCE = 5_000


class CorpusHaystack:
    """Corpora by names such as `capitals/textbooks`; CorpusError, NotIndexedError say what is missing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._corpora = {name: _corpus(name) for name in dict.fromkeys(names)}

    @property
    def collections(self) -> "Sequence[Collection]":
        """Fresh ones, as each remembers the texts of one search."""
        return [CorpusCollection(corpus, name=name) for name, corpus in self._corpora.items()]

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages; those that went meanwhile are left out."""
        found: dict[int, str] = {}
        for start in range(0, len(pks), _AT_ONCE):
            rows = Passage.objects.filter(pk__in=pks[start : start + _AT_ONCE])
            found.update(rows.values_list("pk", "key"))
        return found

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the ids that some passage of the corpora has."""
        asked, found = sorted(keys), set[str]()
        for start in range(0, len(asked), _AT_ONCE):
            rows = Passage.objects.filter(
                corpus__in=self._corpora.values(), key__in=asked[start : start + _AT_ONCE]
            )
            found.update(rows.values_list("key", flat=True))
        return found

    def as_json(self) -> dict[str, Any]:
        """The corpora, and how many passages are searched."""
        passages = sum(corpus.index.passages for corpus in self._corpora.values())
        return {"corpora": list(self._corpora), "passages": passages}


def _corpus(name: str) -> Corpus:
    corpus = corpus_called(name)
    if not corpus.index.generation:
        slug = corpus.project.slug
        raise NotIndexedError(
            f"{name} has no index yet. Run: manage.py index build {slug} --corpus {corpus.slug}"
        )
    return corpus
