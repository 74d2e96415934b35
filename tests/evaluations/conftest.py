"""What tests of evaluations share."""

from collections.abc import Iterator

import pytest
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from evaluations.models import Evaluation
from releases.models import Release
from tests.cases import rows_of_module
from tests.evaluations.desk_world import make_evaluation, make_release
from tests.releases.shelf_world import make_project


@pytest.fixture(scope="module")
def evaluated_once(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """The key of an evaluation that is computed once for a module, which takes a second; its number is 1."""
    folder = tmp_path_factory.mktemp("evaluated")
    kept = {"RELEASES_STORAGE": str(folder / "shelf"), "DATA_DIR": folder}
    with override_settings(**kept), rows_of_module(django_db_blocker):
        yield make_evaluation(make_release(make_project())).pk


@pytest.fixture
def ready_evaluation(evaluated_once: int, db: None) -> Evaluation:
    """That evaluation, as it is in the database."""
    return Evaluation.objects.select_related("release__project").get(pk=evaluated_once)


@pytest.fixture
def evaluated_release(ready_evaluation: Evaluation) -> Release:
    """The release of it, for tests that plan another evaluation, whose number is 2."""
    return ready_evaluation.release
