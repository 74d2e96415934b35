"""Requests made from the schema: none fails here, and every answer is one that the schema has.

A run makes a few of each operation, most on PostgreSQL, which refuses more;
`API_EXAMPLES=10 FUZZ_SEED=7` makes ten times as many, others.
"""

import os
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import program_of
from tests.api.world import ApiWorld, operations
from web.api.operations import build_schema

pytestmark = pytest.mark.django_db
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
_TIMES = int(os.environ.get("API_EXAMPLES", "1"))
_EACH = 2 * _TIMES if connection.vendor == "postgresql" else _TIMES
EXAMPLES = {GenerationMode.POSITIVE: 2 * _EACH, GenerationMode.NEGATIVE: _EACH}
SEED = int(os.environ.get("FUZZ_SEED", "20261125"))


@pytest.fixture(scope="module")
def schema() -> Any:
    """The schema with the whole application behind it, without a network, on the connection of the test."""
    found = schemathesis.openapi.from_dict(build_schema())
    found.app = WSGIHandler()
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield found
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schemathesis.serializer("application/toml", "application/x-ndjson", "application/jsonl")
def write_text(context: Any, value: Any) -> bytes:
    """A file is a text in the schema."""
    return str(value).encode("utf-8", "replace")


@schemathesis.deserializer("application/toml", "application/jsonl")
def read_text(context: Any, response: Any) -> str:
    """So is an export; what is in its lines has tests of its own."""
    return str(response.content.decode())


@pytest.mark.parametrize("name", sorted(operation.name for operation in operations()))
def test_every_answer_is_one_that_the_schema_has(name: str, world: ApiWorld, schema: Any):
    user = world.people["owner"]
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    headers = {"Authorization": f"Bearer {program_of(user).token}"}
    found = next(each for each in operations() if each.name == name)
    operation = schema.find_operation_by_label(f"{found.method} {found.path}")
    parts = {part: str(value) for part, value in found.values(world.mine).items()}
    for mode, examples in EXAMPLES.items():

        @seed(SEED)
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            deadline=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode, path_parameters=parts or None))
        def ask(case: Any) -> None:
            with transaction.atomic():
                response = case.call(headers=headers)
                case.validate_response(response, checks=CHECKS)
                transaction.set_rollback(True)

        ask()
