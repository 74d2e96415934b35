"""Requests made from the schema: none fails here, and every answer is one that the schema has.

A run makes one of each kind and operation, `make test-all` more, most on PostgreSQL, which refuses more;
`API_EXAMPLES=10 FUZZ_SEED=7` makes ten times as many, others.
"""

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.api.conftest import program_of
from tests.api.world import ApiWorld, operations, published_schema
from tests.scale import TEST_ALL

pytestmark = pytest.mark.django_db
_TIMES = int(os.environ.get("API_EXAMPLES", "1"))
_EACH = 2 * _TIMES if connection.vendor == "postgresql" else _TIMES
EXAMPLES = {"POSITIVE": 2 * _EACH if TEST_ALL else _EACH, "NEGATIVE": _EACH}
SEED = int(os.environ.get("FUZZ_SEED", "20261125"))
#: All operations take a minute or more: each build takes one in eight, `make test-all` all of them.
PARTS = [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 8))]


@pytest.fixture(scope="module")
def schemathesis() -> ModuleType:
    """Loaded where it is used: that takes longer than most files of tests."""
    import schemathesis

    @schemathesis.serializer("application/toml", "application/x-ndjson", "application/jsonl")
    def write_text(context: Any, value: Any) -> bytes:
        """A file is a text in the schema."""
        return str(value).encode("utf-8", "replace")

    @schemathesis.deserializer("application/toml", "application/jsonl")
    def read_text(context: Any, response: Any) -> str:
        """So is an export; what is in its lines has tests of its own."""
        return str(response.content.decode())

    return schemathesis


@pytest.fixture(scope="module")
def schema(schemathesis: ModuleType) -> Iterator[Any]:
    """The schema with the whole application behind it, without a network, on the connection of the test."""
    loaded = schemathesis.openapi.from_dict(published_schema())
    loaded.app = WSGIHandler()
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield loaded
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def call_and_check(cases: Any, examples: int, headers: dict[str, str]) -> None:
    """Send this many of the cases; what they did is rolled back."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    each = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]

    @seed(SEED)
    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(case=cases)
    def call(case: Any) -> None:
        with transaction.atomic():
            response = case.call(headers=headers)
            case.validate_response(response, checks=each)
            transaction.set_rollback(True)

    call()


@pytest.mark.parametrize("part", PARTS)
def test_every_answer_is_one_that_the_schema_has(
    part: int, world: ApiWorld, schema: Any, schemathesis: ModuleType, subtests: pytest.Subtests
):
    user = world.people["owner"]
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    headers = {"Authorization": f"Bearer {program_of(user).token}"}
    for declared in sorted(operations(), key=lambda each: each.name)[part :: len(PARTS)]:
        operation = schema.find_operation_by_label(f"{declared.method} {declared.label}")
        values = {name: str(value) for name, value in declared.values(world.mine).items()}
        for kind, part in (("projects", "project"), ("requesters", "requester")):
            if declared.label != declared.path and part in values:
                values |= {"owner_kind": kind, "owner": values.pop(part)}
        with subtests.test(operation=declared.path):
            for mode, examples in EXAMPLES.items():
                cases = operation.as_strategy(
                    generation_mode=schemathesis.GenerationMode[mode], path_parameters=values or None
                )
                call_and_check(cases, examples, headers)
