"""A requester with money, its owner in front of a browser, and two workers."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.models import Requester, Worker
from tests.site import world


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_user("otto", password="still warm copper")


@pytest.fixture
def lab(owner: User) -> Requester:
    return world.make_requester(dollars=100, owner=owner)


@pytest.fixture
def as_owner(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def rosa(db) -> Worker:
    return world.make_worker("rosa")


@pytest.fixture
def ben(db) -> Worker:
    return world.make_worker("ben")
