"""A requester with an owner, workers, staff and a stranger, and browsers of all of them."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.models import Requester
from tests.site import world
from tests.site.conftest import ben, queries_of, rosa, signed_in, staff

__all__ = ["ben", "queries_of", "rosa", "staff"]


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_user("olga", password="still warm copper")


@pytest.fixture
def lab(owner: User) -> Requester:
    return world.make_requester("Answer Lab", owner=owner)


@pytest.fixture
def other(db) -> Requester:
    return world.make_requester("Other Lab")


@pytest.fixture
def as_owner(owner: User) -> Client:
    return signed_in(owner)


@pytest.fixture
def as_staff(staff: User) -> Client:
    return signed_in(staff)


@pytest.fixture
def stranger(db) -> Client:
    return signed_in(User.objects.create_user("sam", password="still warm copper"))


@pytest.fixture
def at(lab: Requester) -> Callable[[str], str]:
    """Addresses of the lab's pages."""
    return lambda path="": f"/requester/{lab.customer_id}/{path}"
