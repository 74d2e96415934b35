"""A requester, two workers and a member of staff, with browsers of their own."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace.models import Requester, Worker
from tests.site import world


@pytest.fixture
def lab(db) -> Requester:
    return world.make_requester()


@pytest.fixture
def rosa(db) -> Worker:
    return world.make_worker("rosa")


@pytest.fixture
def ben(db) -> Worker:
    return world.make_worker("ben")


@pytest.fixture
def staff(db) -> User:
    return User.objects.create_user("ada", password="still warm copper", is_staff=True)


@pytest.fixture
def visitor() -> Client:
    return Client()


@pytest.fixture
def as_rosa(rosa: Worker) -> Client:
    return signed_in(rosa.user)


@pytest.fixture
def as_ben(ben: Worker) -> Client:
    return signed_in(ben.user)


@pytest.fixture
def as_staff(staff: User) -> Client:
    return signed_in(staff)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def queries_of() -> Callable[[Client, str], int]:
    """How many queries a page costs."""

    def count(client: Client, path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    return count
