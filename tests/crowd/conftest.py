"""A scripted marketplace in the place of every endpoint's, and one real server per test process."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.adapters import registry
from crowd.models import MarketOperation
from crowd.services import tick
from tests.crowd.scripted import ScriptedMarket
from tests.server import RunningServer


@pytest.fixture
def market(monkeypatch) -> ScriptedMarket:
    """The marketplace that all endpoints of the test lead to."""
    scripted = ScriptedMarket()
    monkeypatch.setattr(registry, "adapter", lambda endpoint: scripted)
    return scripted


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A server of this checkout with the database in force."""
    with RunningServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_renewal_beside_a_transaction(request, monkeypatch):
    """A round that takes ten seconds renews its lease by another connection, which SQLite refuses beside a
    test's open transaction: rounds of such tests, on a busy machine, have a lease that needs no renewal."""
    marker = request.node.get_closest_marker("django_db")
    if marker and not marker.kwargs.get("transaction"):
        monkeypatch.setattr(tick, "LEASE", timedelta(hours=1))


@pytest.fixture
def wait():
    """Let time go by for operations: `wait()` until they may be tried again, `wait(hours=24)` for longer."""

    def pass_time(**by: float) -> None:
        moment = timedelta(**by) if by else timedelta(hours=1)
        for operation in MarketOperation.objects.exclude(state__in=MarketOperation.FINAL):
            for name in ("not_before", "first_sent_at", "lease_until"):
                if getattr(operation, name) is not None:
                    setattr(operation, name, getattr(operation, name) - moment)
            operation.save()
        assert timezone.now()

    return pass_time
