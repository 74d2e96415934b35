"""Corpora of a project as collections that rankers and evaluations search."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval.copies import engine_of, opened, readable_folder
from retrieval.engine import Engine
from retrieval.errors import NotIndexedError
from retrieval.models import Corpus, Passage, WordNetwork
from retrieval.selectors import corpus_called
from retrieval.text.tokens import with_title

if TYPE_CHECKING:
    from retrieval.crown.scoring import Evidence, Passages
    from retrieval.network import Network
    from retrieval.ranking.base import Collection


class CorpusCollection:
    """Passages of one corpus. Make one for each search: it stays with the network that it has begun with."""

    def __init__(self, corpus: Corpus, *, name: str = "") -> None:
        self.corpus = corpus
        self.name = name or corpus.slug
        self.language = corpus.language
        self.engine: Engine = engine_of(corpus)
        self._texts: dict[int, str] = {}

    @cached_property
    def network(self) -> "Network | None":
        """Its word proximity network. NetworkBrokenError where its files cannot be used."""
        row: WordNetwork | None = getattr(self.corpus, "network", None)
        return None if row is None else opened(readable_folder(row))

    @property
    def evidence(self) -> "Evidence | None":
        """The same, as scoring asks for it."""
        return self.network

    @property
    def generation(self) -> Mapping[str, Any]:
        """Which index and which network answered."""
        from retrieval.engine.analysis import chain_name  # noqa: PLC0415  # heavy

        state = {
            "engine": self.corpus.index.engine,
            "index": self.engine.generation(),
            "chain": chain_name(self.language),
        }
        network = self.__dict__.get("network")  # only one that was asked
        if network is not None:
            state |= {"network": network.generation, "rules": network.pointer.rules}
        return state

    def columns(self, pks: Sequence[int], *, numbers: bool) -> "Passages":
        """Tokens of passages: those that the network holds; cut now where one of them came after it."""
        if self.network is not None and (stored := self.network.columns(pks, numbers=numbers)) is not None:
            return stored
        from retrieval.ranking.base import columns  # noqa: PLC0415  # heavy

        texts = self.texts(pks)
        return columns([texts.get(pk, "") for pk in pks], self.language, numbers=numbers)

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """What is searched of passages, in one query; those that went in the meantime are left out."""
        missing = [pk for pk in pks if pk not in self._texts]
        if missing:
            rows = Passage.objects.filter(pk__in=missing).values_list("pk", "title", "text")
            self._texts.update((pk, with_title(title, text)) for pk, title, text in rows)
        return {pk: self._texts[pk] for pk in pks if pk in self._texts}


# Corpora of projects as what an evaluation searches.

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
