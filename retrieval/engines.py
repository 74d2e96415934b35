"""Which engine an index has, and where its files are."""

from pathlib import Path

from django.conf import settings

from retrieval.engine import Engine
from retrieval.errors import CorpusError
from retrieval.models import Corpus, Index


def folder_of(index: Index) -> Path:
    """The folder of an index, below `indexes/` of the data folder."""
    return Path(settings.DATA_DIR) / "indexes" / index.location


def engine_of(corpus: Corpus) -> Engine:
    """The engine of a corpus; cheap, what it opens is shared by the process."""
    if corpus.index.engine != "tantivy":
        raise CorpusError(f"There is no engine {corpus.index.engine!r} in this installation.")
    from retrieval.engine.embedded import TantivyEngine  # noqa: PLC0415  # heavy

    return TantivyEngine(folder_of(corpus.index), corpus.language, what=f"the index of {corpus.slug!r}")
