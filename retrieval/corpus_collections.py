"""A corpus of a project as a collection that rankers search."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval.copies import readable_folder
from retrieval.engine import Engine
from retrieval.engines import engine_of
from retrieval.models import Corpus, Passage, WordNetwork
from retrieval.networks import opened
from retrieval.text.tokens import with_title

if TYPE_CHECKING:
    from retrieval.crown.passages import Evidence, Passages
    from retrieval.network import Network


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
        from retrieval.ranking.columns import columns  # noqa: PLC0415  # heavy

        texts = self.texts(pks)
        return columns([texts.get(pk, "") for pk in pks], self.language, numbers=numbers)

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """What is searched of passages, in one query; those that went in the meantime are left out."""
        missing = [pk for pk in pks if pk not in self._texts]
        if missing:
            rows = Passage.objects.filter(pk__in=missing).values_list("pk", "title", "text")
            self._texts.update((pk, with_title(title, text)) for pk, title, text in rows)
        return {pk: self._texts[pk] for pk in pks if pk in self._texts}
