"""Engines with nothing in them: in folders of their own, and on a server."""

import itertools
import os

import pytest

from retrieval.engine.cluster import cluster
from retrieval.engine.opensearch import OpenSearchEngine
from retrieval.engine.tantivy_engine import TantivyEngine
from tests.retrieval.engine.opensearch.server import serving

_numbers = itertools.count()


@pytest.fixture(scope="session")
def opensearch_url():
    """A server that keeps to OpenSearch's contract, or the real one of OPENSEARCH_URL."""
    if url := os.environ.get("OPENSEARCH_URL"):
        yield url
        return
    with serving() as stub:
        yield stub.url


@pytest.fixture(params=["tantivy", "opensearch"])
def kind(request):
    """Which engine a test asks."""
    return request.param


@pytest.fixture
def engine_for(kind, tmp_path, request):
    """Another object on the same index, or an index of another language."""
    if kind == "tantivy":
        yield lambda language="en", name="index": TantivyEngine(
            tmp_path / name, language, what="the test index"
        )
        return
    prefix = f"test-{os.getpid()}-{next(_numbers)}"
    connection = cluster(request.getfixturevalue("opensearch_url"), "", os.getpid())
    made = {}

    def engine_for(language="en", name="index"):
        made[name] = OpenSearchEngine(
            connection, f"{prefix}-{name}", language, what="the test index", locks="test-locks"
        )
        return made[name]

    yield engine_for
    for engine in made.values():
        engine.drop()


@pytest.fixture
def engine(engine_for):
    """An English index with nothing in it."""
    return engine_for()
