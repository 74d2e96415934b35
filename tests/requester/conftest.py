"""A requester with an owner, workers, and browsers of all of them."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace.models import Requester, Worker
from tests.site import world


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
def rosa(db) -> Worker:
    return world.make_worker("rosa")


@pytest.fixture
def ben(db) -> Worker:
    return world.make_worker("ben")


@pytest.fixture
def desk(owner: User) -> Client:
    """The owner's browser."""
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.fixture
def at(lab: Requester) -> Callable[[str], str]:
    """Addresses of the lab's pages."""
    return lambda path="": f"/requester/{lab.customer_id}/{path}"


@pytest.fixture
def queries_of() -> Callable[[Client, str], int]:
    """How many queries a page costs."""

    def count(client: Client, path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    return count
