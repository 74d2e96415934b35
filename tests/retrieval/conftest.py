"""Engines in folders of their own."""

import pytest

from retrieval.engine.embedded import TantivyEngine


@pytest.fixture
def engine(tmp_path):
    """An English index with nothing in it."""
    return TantivyEngine(tmp_path / "index", "en", what="the test index")


@pytest.fixture
def engine_for(tmp_path):
    """Another object on the same files, or an index of another language."""
    return lambda language="en", name="index": TantivyEngine(tmp_path / name, language, what="the test index")
