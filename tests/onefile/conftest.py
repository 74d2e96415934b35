"""The person whose studies they are."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def researcher(db) -> User:
    return User.objects.create_user("researcher", is_staff=True, is_superuser=True)
