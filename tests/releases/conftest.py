"""Libraries that read releases, kept away from the network and from the home folder."""

import os
import warnings
from collections.abc import Iterator
from copy import deepcopy
from types import ModuleType

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.releases.world import World, make_world


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Hugging Face's library. It looks at its environment when it is imported."""
    given = {
        "HF_HOME": str(tmp_path_factory.mktemp("hub")),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import datasets as library
        library.disable_progress_bars()
        yield library
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture(scope="session")
def mlcroissant() -> ModuleType:
    """MLCommons' reader of Croissant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import mlcroissant as library
    return library


@pytest.fixture(scope="module")
def _rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """A world that is made once for a file; what its tests do to it is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


@pytest.fixture
def made_world(_rows: World, db: None) -> World:
    """That world as it was made. No test beside it makes another one of the same name."""
    return deepcopy(_rows)
