"""People with tokens, and the client that sends them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker

from core.api.models import Scope
from core.api.tokens import create_token
from core.projects.models import Project
from core.projects.services import create_project, set_role
from core.rates import limits
from tests.api.world import ApiWorld, make_api_world
from tests.desk.conftest import let_make_projects


@dataclass
class Program:
    """A program with a token."""

    token: str
    client: Client

    def ask(
        self, method: str, path: str, body: Any = None, *, key: str = "", match: str = "", **headers: str
    ) -> Any:
        """What it gets at an address below /api/v1."""
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent |= {"Idempotency-Key": key} if key else {}
        sent |= {"If-Match": match} if match else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, str | bytes) else "" if body is None else json.dumps(body)
        return self.client.generic(
            method, f"/api/v1{path}", data, content_type="application/json", headers=sent
        )

    def get(self, path: str, **more: Any) -> Any:
        """Look."""
        return self.ask("GET", path, **more)

    def lines(self, path: str) -> list[Any]:
        """All rows of a list."""
        answer = self.get(path, Accept="application/jsonl")
        assert answer.headers["Content-Type"] == "application/jsonl", answer.content
        return [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        """Make or do something."""
        return self.ask("POST", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> Any:
        """Change something."""
        return self.ask("PATCH", path, body, **more)


def program_of(user: User, *scopes: str, project: Project | None = None, days: int | None = None) -> Program:
    """A program of this person; with all scopes unless some are named."""
    _, text = create_token(user=user, scopes=scopes or Scope.values, project=project, days=days)
    return Program(text, Client(raise_request_exception=False))


def is_problem(answer: HttpResponseBase, status: int, code: str) -> Any:
    """The problem that an answer is; fails where it is another."""
    found = json.loads(answer.content)  # type: ignore[attr-defined]
    assert answer.headers["Content-Type"] == "application/problem+json", found
    assert (answer.status_code, found["code"]) == (status, code), found
    assert found["request_id"] == answer.headers["X-Request-Id"]
    return found


@pytest.fixture(autouse=True)
def _fresh_rates() -> None:
    found: Any = limits()
    found.forget_all()


@pytest.fixture
def owner(db: None) -> User:
    """Owns the project, and may make others."""
    olga = User.objects.create_user("olga")
    let_make_projects(olga)
    return olga


@pytest.fixture
def project(owner: User) -> Project:
    """A project with a manager and a viewer."""
    project = create_project(slug="tea", title="Tea", owner=owner, budget_cents=100_000)
    for role in ("manager", "viewer"):
        set_role(project=project, user=User.objects.create_user(role), role=role)
    return project


@pytest.fixture
def program(owner: User, project: Project) -> Program:
    """The owner's program, with every scope."""
    return program_of(owner)


@pytest.fixture(scope="module")
def world(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiWorld]:
    """Projects with a row of every kind, made once; what is done in them is rolled back.

    Its model stays out of the folder that other tests look into.
    """
    models = tmp_path_factory.mktemp("models")
    with override_settings(METRIC_MODELS=models), django_db_blocker.unblock(), transaction.atomic():
        yield make_api_world()
        transaction.set_rollback(True)
