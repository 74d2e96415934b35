"""Cases of one test that begin with the same rows, which are made once."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction


@contextmanager
def apart(subtests: pytest.Subtests, **case: object) -> Iterator[None]:
    """One case: named by its values where it fails. What it does to the rows is rolled back."""
    with subtests.test(**case), transaction.atomic():
        yield
        transaction.set_rollback(True)
