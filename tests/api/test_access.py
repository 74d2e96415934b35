"""Every operation of the schema, by everybody, with every scope and without.

Operations come from the schema: a new one is tried without being named. Only the values of new parts of
addresses are to be given (`tests/api/world.py`).
"""

import json

import pytest
from django.db import connection, transaction

from core.api.models import Scope
from tests.api.conftest import Program, program_of
from tests.api.world import ApiWorld, Operation, operations
from tests.statements import is_write

_RANK = {"viewer": 0, "manager": 1, "owner": 2}
#: Codes of refusals that are about who asks.
WHO = {"token_missing", "token_invalid", "scope_missing", "role_missing", "token_bound"}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_limit(settings):
    """One program asks for everything, and on a fast machine more than twice a second's worth at once."""
    settings.API_REQUESTS_PER_SECOND = 0


def code_of(answer) -> str:
    if answer.headers.get("Content-Type") != "application/problem+json":
        return ""
    return str(json.loads(answer.content)["code"])


def ask(program: Program, operation: Operation, world: ApiWorld):
    """The answer in my project, all of it, and what it wrote; nothing of it stays."""
    return ask_at(program, operation, operation.address(world.mine))


def ask_at(program: Program, operation: Operation, address: str):
    """The same at this address."""
    wrote: list[str] = []

    def look(execute, sql, params, many, context):
        if is_write(sql) and "api_apitoken" not in sql:
            wrote.append(sql[:80])
        return execute(sql, params, many, context)

    with transaction.atomic(), connection.execute_wrapper(look):
        answer = program.ask(operation.method, address, {} if _has_body(operation) else None)
        if answer.streaming:
            b"".join(answer.streaming_content)
        transaction.set_rollback(True)
    return answer, wrote


def _has_body(operation: Operation) -> bool:
    return "requestBody" in operation.facts


def test_without_a_token_nothing_is_told(world):
    wrong = []
    for operation in operations():
        answer, wrote = ask(Program("", program_of(world.people["owner"]).client), operation, world)
        if (answer.status_code, code_of(answer)) != (401, "token_missing") or wrote:
            wrong.append(f"{operation.name}: {answer.status_code} {wrote}")
        if "WWW-Authenticate" not in answer.headers:
            wrong.append(f"{operation.name}: no challenge")
    assert not wrong, "\n".join(wrong)


def test_a_token_does_what_its_scopes_say_and_none_implies_another(world):
    wrong = []
    for operation in operations():
        for missing in operation.scopes:
            others = [scope for scope in Scope.values if scope != missing]
            answer, wrote = ask(program_of(world.people["owner"], *others), operation, world)
            if (answer.status_code, code_of(answer)) != (403, "scope_missing") or wrote:
                wrong.append(
                    f"{operation.name} without {missing}: {answer.status_code} {code_of(answer)} {wrote}"
                )
        assert operation.scopes, operation.name
    assert not wrong, "\n".join(wrong)


@pytest.mark.only_on("sqlite")  # rights are decided alike on both
def test_a_token_does_no_more_than_its_person_may(world):
    wrong = []
    programs = {name: program_of(user) for name, user in world.people.items()}
    for operation in operations():
        for who, program in programs.items():
            expected = _expected(operation, who)
            answer, wrote = ask(program, operation, world)
            got = (answer.status_code, code_of(answer))
            if expected is None:
                heard = got[1] not in WHO and got[0] < 500 and (got[0] != 404)
                if not heard and not (got == (403, "role_missing") and operation.facts.get("x-spends")):
                    wrong.append(f"{operation.name} by {who}: {got}")
            elif got != expected or wrote:
                wrong.append(f"{operation.name} by {who}: {got}, not {expected} {wrote}")
    assert not wrong, "\n".join(wrong)


def _expected(operation: Operation, who: str) -> tuple[int, str] | None:
    """The refusal that somebody gets; None: they are heard."""
    if operation.of_project:
        if who not in _RANK:
            return (404, "not_found")
        return None if _RANK[who] >= _RANK[operation.role] else (403, "role_missing")
    if operation.of_requester:
        return None if who in ("owner", "staff") else (404, "not_found")
    if operation.name == "get_endpoint" and who == "neighbour":
        return (404, "not_found")  # it is one from which another project spends
    members = {*_RANK, "neighbour", "staff"}
    allowed = {"account": set(world_people()), "member": members}[operation.role]
    return None if who in allowed else (403, "role_missing")


def world_people() -> tuple[str, ...]:
    return ("stranger", "worker", "staff", "neighbour", "viewer", "manager", "owner")


def test_a_token_of_another_project_finds_nothing(world):
    wrong = []
    both = world.people["owner"]
    world.theirs.project.memberships.create(user=both, role="owner")
    bound = program_of(both, project=world.theirs.project)
    for operation in operations():
        answer, wrote = ask(bound, operation, world)
        got = (answer.status_code, code_of(answer))
        if operation.of_project:
            fine = got == (404, "not_found")
        elif "requester" in operation.path:
            fine = got == (403, "token_bound")
        else:
            fine = operation.method == "GET" or got[1] in ("token_bound", "role_missing")
        if not fine or wrote:
            wrong.append(f"{operation.name}: {got} {wrote}")
    assert not wrong, "\n".join(wrong)


def test_what_is_in_another_project_is_not_there(world):
    """Each part of an address but the project's, one at a time, as it is in the other project."""
    wrong = []
    program = program_of(world.people["owner"])
    for operation in operations():
        if not (operation.of_project or operation.of_requester):
            continue
        mine, theirs = operation.values(world.mine), operation.values(world.theirs)
        for part in sorted(mine.keys() - {"project", "username", "path", "name"}):
            assert theirs[part] != mine[part], (operation.name, part)
            address = operation.address_with({**mine, part: theirs[part]})
            answer, wrote = ask_at(program, operation, address)
            if answer.status_code not in (404, 422, 428) or wrote:
                wrong.append(f"{operation.name} with {part}: {answer.status_code} {wrote}")
    assert not wrong, "\n".join(wrong)
