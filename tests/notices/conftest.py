"""A project with members who have e-mail addresses, and a mail server in the settings."""

import pytest
from django.contrib.auth.models import User
from django.core import mail

from core.notices.models import Notice
from core.notices.services import raise_notice
from core.projects.services import create_project, set_role
from tests.desk.conftest import as_, endpoint, people, project, stage  # noqa: F401 - fixtures

# ruff: noqa: F811


@pytest.fixture
def reading():
    """A project with an owner, a manager without an address, and a viewer."""
    made = create_project(slug="books", title="Books", owner=person("olga"), budget_cents=10_000)
    set_role(project=made, user=person("mo", email=""), role="manager")
    set_role(project=made, user=person("vera"), role="viewer")
    return made


def person(name, **fields):
    """Somebody, with an address unless told otherwise."""
    return User.objects.create_user(name, **{"email": f"{name}@example.org", **fields})


@pytest.fixture
def by_email(settings):
    """A mail server is set up; what it gets is in `django.core.mail.outbox`."""
    settings.NOTICES_BY_EMAIL = True
    settings.DEFAULT_FROM_EMAIL = "distillery@example.org"
    settings.PUBLIC_URL = "https://crowd.example.org"
    return mail


def tell(project, key="stuck:1", level=Notice.Level.WARNING, sentence="Nobody comes.", **fields):
    """A notice of a project."""
    given = {"kind": "stuck", "address": "/desk/projects/books/"} | fields
    return raise_notice(project=project, key=key, level=level, sentence=sentence, **given)
