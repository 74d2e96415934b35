"""A corpus of a project as a collection that rankers search."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrieval.engine import Engine
from retrieval.engines import engine_of
from retrieval.models import Corpus, Passage

if TYPE_CHECKING:
    from retrieval.crown.evidence import Evidence
    from retrieval.crown.passages import Passages


class CorpusCollection:
    """Passages of one corpus; make one for each search, it remembers what it has read for it."""

    def __init__(self, corpus: Corpus, *, name: str = "") -> None:
        self._corpus = corpus
        self.name = name or corpus.slug
        self.language = corpus.language
        self.engine: Engine = engine_of(corpus)
        self._texts: dict[int, str] = {}

    @property
    def evidence(self) -> "Evidence | None":
        """Its word proximity network."""
        return None

    @property
    def generation(self) -> Mapping[str, Any]:
        """Which index and which network answer."""
        return {"engine": self._corpus.index.engine, "index": self.engine.generation()}

    def columns(self, pks: Sequence[int], *, numbers: bool) -> "Passages":
        """Tokens of passages."""
        raise NotImplementedError

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """Texts of passages in one query; those that went since the index was asked are left out."""
        missing = [pk for pk in pks if pk not in self._texts]
        if missing:
            rows = Passage.objects.filter(pk__in=missing).values_list("pk", "text")
            self._texts.update(rows)
        return {pk: self._texts[pk] for pk in pks if pk in self._texts}
