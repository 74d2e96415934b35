"""The person whose studies they are."""

import logging
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def researcher(db) -> User:
    return User.objects.create_user("researcher", is_staff=True, is_superuser=True)


@pytest.fixture(autouse=True)
def _security_events_are_heard_after_a_command() -> Iterator[None]:
    """The commands silence the log of their process, which other tests share."""
    logger = logging.getLogger("distillery.security")
    level = logger.level
    yield
    logger.setLevel(level)
