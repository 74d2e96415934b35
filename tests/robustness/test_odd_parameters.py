"""Odd parameters and forms at every address of desk, requester and worker site: no fault, no hang.

Seeded, so that a build fails only for what changed; within a bounded time.
"""

import random
import time

import pytest
from django.db import transaction

from tests.access.addresses import Address
from tests.test_access_matrix import World, ruled, world

__all__ = ["world"]
pytestmark = pytest.mark.django_db

#: Seconds for all addresses; on a machine under load fewer rounds are made, and always one.
SECONDS = 25
ROUNDS = 3
ODD = (
    "",
    " ",
    "0",
    "-1",
    "1e400",
    "nan",
    "9" * 400,
    "9999-12-31",
    "0001-01-01",
    "2026-02-30T25:61",
    "٣",
    "\x00",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "%00%ff",
    "[]",
    '{"a": {"b": ' + "[" * 200 + "]" * 200 + "}}",
    "<b>'\"&",
    "../../etc/passwd",
    "x" * 5000,
    "on",
    "=1+1",
    "🧪",
)
NAMES = tuple(
    """
    q page order format state action by kind period hit worker show from a b name title slug hours since value
    reason feedback label others ends after once seen day budget amount reward role user items options units
    note file text question encoding columns delimiter release system version filters threshold
    """.split()  # noqa: SIM905  # words, as they are in addresses
)


def odd_form(chance: random.Random) -> dict[str, str]:
    """Some fields with odd values."""
    names = chance.sample(NAMES, chance.randint(1, 6))
    return {name: chance.choice(ODD) for name in names}


def ask(world: World, who: str, method: str, path: str, form: dict[str, str]) -> int:
    """The status of one request, whose effects are undone."""
    browser = world.browsers[who]
    browser.raise_request_exception = False
    with transaction.atomic():
        got = browser.get(path, form) if method == "GET" else browser.post(path, form)
        b"".join(got.streaming_content) if got.streaming else got.content
        transaction.set_rollback(True)
    return got.status_code


def test_no_address_breaks_on_odd_parameters(world):
    chance = random.Random(20261122)
    chosen: list[Address] = list(ruled())
    faults, began = [], time.monotonic()
    for turn in range(ROUNDS):
        for address in chosen:
            if turn and time.monotonic() - began > SECONDS:
                break
            path = world.path(address)
            for method in ("GET", "POST"):
                form = odd_form(chance)
                status = ask(
                    world, "superuser" if "superuser" in world.browsers else "staff", method, path, form
                )
                if status >= 500:
                    faults.append((status, method, address.name, form))
    assert faults == []
