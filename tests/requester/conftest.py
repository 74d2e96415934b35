"""A requester, its owner, somebody else, and a member of staff, with browsers of their own."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.models import Requester
from tests.site import world
from tests.site.conftest import ben, queries_of, rosa, signed_in, staff

__all__ = ["ben", "queries_of", "rosa", "staff"]


@pytest.fixture
def olga(db) -> User:
    return User.objects.create_user("olga", password="still warm copper")


@pytest.fixture
def lab(olga) -> Requester:
    return world.make_requester(owner=olga)


@pytest.fixture
def as_olga(olga) -> Client:
    return signed_in(olga)


@pytest.fixture
def as_staff(staff) -> Client:
    return signed_in(staff)


@pytest.fixture
def stranger(db) -> Client:
    return signed_in(User.objects.create_user("sam", password="still warm copper"))
