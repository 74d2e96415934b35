"""Calls whose bodies and parameters are damaged: refused in the documented shape, with no error of ours."""

import json
import random

import pytest
from distillery_panel_simulator.prolific_control import CONTROLS

from tests.scale import TEST_ALL

from .documents import OPERATIONS, list_faults
from .test_contract import World, bodies

JUNK = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    1e308,
    "",
    "x",
    "0" * 24,
    "\x00\u00e9",
    "\ud800",
    "{{%SESSION_ID%}}",
    "9" * 400,
    [],
    [[], None],
    {},
    {"a": 1},
]
WORDS = ["", "1", "-1", "x", "true", "ACTIVE", "01/01/2026", "31/31/2026", "9" * 30, "%00", "%ed%a0%80"]
PAGES = ["page=0", "page=x", "page_size=99999", "limit=-1", "limit=5&offset=3", f"offset={'9' * 20}"]


def damage(chance, value):
    if chance.random() < 0.25:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {
            name: damage(chance, each) if chance.random() < 0.4 else each
            for name, each in value.items()
            if chance.random() > 0.08
        }
    if isinstance(value, list):
        return [damage(chance, each) if chance.random() < 0.4 else each for each in value]
    return value


@pytest.mark.parametrize("seed", range(4 if TEST_ALL else 2))
def test_damaged_calls_are_answered_in_shape(seed):
    chance, world = random.Random(seed), World()
    for operation in [each for each in OPERATIONS.values() for _ in range(4)]:
        body = chance.choice(bodies(operation, world.values(operation)))
        given = [f"{name}={chance.choice(WORDS)}" for name, _, _ in operation.query if chance.random() < 0.5]
        given += [chance.choice(PAGES)] if chance.random() < 0.2 else []
        path = f"{world.path(operation).removeprefix('/api/v1')}?{'&'.join(given)}"
        answer = world.panel.call(operation.method, path, None if body is None else damage(chance, body))
        assert answer.status in (operation.success, 400, 404), (path, body, answer)
        json.dumps(answer.body)
        shape = {operation.success: operation.response, 400: operation.refusal}.get(answer.status)
        if shape is not None and answer.body is not None:
            assert list_faults(shape, answer.body) == [], (path, body)


@pytest.mark.parametrize("seed", range(2 if TEST_ALL else 1))
def test_damaged_control_calls_are_refused(seed):
    chance, world = random.Random(seed), World()
    whole = {
        "study_id": world.study["id"],
        "participant_id": world.people[0],
        "submission_id": world.submission,
        "workspace_id": world.workspace,
        "code": "DONE",
        "body": "Hello",
        "seconds": 5,
        "cents": 5,
        "n": 1,
        "arrive_per_minute": 1,
        "lost_after": 0,
        "attributes": {"age": 30},
    }
    for method, name in [each for each in CONTROLS if each[1] != "reset" for _ in range(15)]:
        body = damage(chance, whole) if method == "POST" else None
        assert world.panel.call(method, f"/_control/{name}", body).status in (200, 400, 404), (name, body)
