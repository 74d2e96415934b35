"""A requester with an owner, two workers, and browsers of all of them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.models import Requester, Worker
from tests.site import world
from tests.site.conftest import queries_of, signed_in

__all__ = ["queries_of"]


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_user("olga", password="still warm copper")


@pytest.fixture
def lab(owner: User) -> Requester:
    return world.make_requester(owner=owner)


@pytest.fixture
def rosa(db) -> Worker:
    return world.make_worker("rosa")


@pytest.fixture
def ben(db) -> Worker:
    return world.make_worker("ben")


@pytest.fixture
def as_owner(owner: User) -> Client:
    return signed_in(owner)
