"""Collections of a few passages, without a database."""

from contextlib import ExitStack

import pytest

from retrieval.ranking.folder import temporary_collection
from tests.retrieval.world import write


@pytest.fixture
def collection_of(tmp_path):
    """Makes a collection of passages given as texts or records; they are numbered from 1."""
    with ExitStack() as stack:

        def make(*passages, network=False, **options):
            path = write(tmp_path, *passages)
            return stack.enter_context(temporary_collection(path, network=network, **options))

        yield make
