"""Which engine an index has, and where it is."""

import os
from pathlib import Path

from django.conf import settings

from retrieval.copies import readable_folder, working_folder
from retrieval.engine import Engine
from retrieval.errors import CorpusError
from retrieval.models import Corpus, Index


def folder_of(index: Index) -> Path:
    """The folder in which this host builds an index. Work on the corpus is locked there too."""
    return working_folder(index)


def engine_of(corpus: Corpus) -> Engine:
    """The engine of a corpus; cheap, what it opens is shared by the process."""
    return engine_named(corpus.index.engine, corpus)


def engine_named(name: str, corpus: Corpus) -> Engine:
    """The index of a corpus in this engine, whether it is the one that answers or not."""
    what = f"the index of {corpus.slug!r}"
    if name == "tantivy":
        from retrieval.engine.tantivy_engine import TantivyEngine  # noqa: PLC0415  # heavy

        return TantivyEngine(readable_folder(corpus.index), corpus.language, what=what)
    if name == "opensearch":
        from retrieval.engine.cluster import cluster  # noqa: PLC0415  # heavy
        from retrieval.engine.opensearch import OpenSearchEngine  # noqa: PLC0415  # heavy

        prefix = settings.OPENSEARCH_PREFIX
        return OpenSearchEngine(
            cluster(settings.OPENSEARCH_URL, settings.OPENSEARCH_CERTIFICATES, os.getpid()),
            f"{prefix}-{corpus.index.location}",
            corpus.language,
            what=what,
            locks=f"{prefix}-locks",
            shards=settings.OPENSEARCH_SHARDS,
        )
    raise CorpusError(f"There is no engine {name!r} in this installation.")
