"""Fixtures of the conformance checks. A check says what it needs by the fixtures it asks for."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.clients import Requester, ScriptedWorker
from tests.conformance.market import NEEDS, GivenMarket, Market, OwnMarket, given
from tests.server import RunningServer

#: Fixture -> the key of market.NEEDS without which it cannot be given.
NEED_OF_FIXTURE = {
    "new_requester": "accounts",
    "new_worker": "accounts",
    "manage": "accounts",
    "workers": "workers",
    "worker": "workers",
    "advance": "controls",
    "chaos": "controls",
}
_left_out = pytest.StashKey[dict[str, list[str]]]()
_given_market = pytest.StashKey[GivenMarket]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the checks; against a given endpoint, leave out those that need what was not given."""
    ours = [item for item in items if "tests/conformance/" in item.path.as_posix()]
    for item in ours:
        item.add_marker(pytest.mark.conformance)
    if not given():
        return
    market = config.stash.setdefault(_given_market, GivenMarket(os.environ))
    left_out = config.stash.setdefault(_left_out, {})
    for item in ours:
        needs = {NEED_OF_FIXTURE.get(name) for name in getattr(item, "fixturenames", ())} - {None}
        for need in sorted(str(need) for need in needs - market.gives):
            left_out.setdefault(need, []).append(item.name)
    gone = {name for names in left_out.values() for name in names}
    config.hook.pytest_deselected(items=[item for item in ours if item.name in gone])
    items[:] = [item for item in items if item not in ours or item.name not in gone]


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Say which checks do not run against the given endpoint, and what they would need."""
    return [
        f"{len(names)} checks left out without {NEEDS[need]}: "
        + ", ".join(dict.fromkeys(name.partition("[")[0] for name in names))
        for need, names in config.stash.get(_left_out, {}).items()
    ]


@pytest.fixture(scope="session")
def market(request: pytest.FixtureRequest) -> Iterator[Market]:
    """The marketplace under test; one per test process."""
    if given():
        yield request.config.stash[_given_market]
        return
    with RunningServer(environment={"MARKETPLACE_TOPIC_HOSTS": "127.0.0.1"}) as server:
        yield OwnMarket(server)


@pytest.fixture(autouse=True)
def _leave_nothing_open(market: Market) -> Iterator[None]:
    yield
    market.clean_up()


@pytest.fixture
def requester(market: Market) -> Requester:
    """An account with money; the only one there is, where the endpoint is somebody else's."""
    return market.requester()


@pytest.fixture
def client(requester: Requester) -> Any:
    """boto3 client of `requester`; one attempt per call."""
    return requester.client


@pytest.fixture
def new_requester(market: Market) -> Callable[..., Requester]:
    """Makes accounts that nobody used before: new_requester(balance="1.00", fees="mturk-2026")."""

    def make(balance: str = "1000.00", fees: str | None = None) -> Requester:
        return market.new_requester(balance, fees)

    return make


@pytest.fixture
def workers(market: Market) -> list[ScriptedWorker]:
    """Three scripted workers without open work."""
    return market.workers(3)


@pytest.fixture
def worker(workers: list[ScriptedWorker]) -> ScriptedWorker:
    """A scripted worker without open work."""
    return workers[0]


@pytest.fixture
def new_worker(market: Market) -> Callable[..., ScriptedWorker]:
    """Makes workers with properties: new_worker(country="US", subdivision="PA", adult=True)."""
    return market.new_worker


@pytest.fixture
def manage(market: Market) -> Callable[..., Any]:
    """Commands of `manage.py marketplace` on the marketplace's host: manage("layout", "list", name)."""
    return market.manage


@pytest.fixture
def advance(market: Market) -> Callable[[float], float]:
    """Moves the marketplace's clock forward by some seconds; gives its time afterwards."""
    return lambda seconds: float(market.control("clock", advance_seconds=seconds)["now"])


@pytest.fixture
def chaos(market: Market, requester: Requester) -> Iterator[Callable[..., None]]:
    """Causes faults for `requester`, until the check ends."""

    def cause(**switches: object) -> None:
        market.control("chaos", access_key=requester.access_key, **switches)

    yield cause
    cause(
        lose_response_after_commit=0,
        throttle_rate=0,
        throttle_next=0,
        visibility_delay_s=0,
        error_rate=0,
        duplicate_events=False,
    )
