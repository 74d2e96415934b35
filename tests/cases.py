"""Rows that are made once: for all cases of a test, or for all tests of a module."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker


@contextmanager
def apart(subtests: pytest.Subtests, **case: object) -> Iterator[None]:
    """One case: named by its values where it fails. What it does to the rows is rolled back."""
    with subtests.test(**case), transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def rows_of_module(blocker: DjangoDbBlocker) -> Iterator[None]:
    """The block makes rows for all tests of a module, in a fixture that asked for `django_db_setup`.

    They go when the fixture ends. Tests get copies of the objects: `deepcopy`.
    """
    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
