"""Who decides in tests of annotation."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def ada() -> User:
    """A researcher."""
    return User.objects.create_user("ada")
