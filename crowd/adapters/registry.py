"""From an endpoint's row to the adapter that speaks to it; one adapter per endpoint and process."""

import threading
from typing import TYPE_CHECKING

from core.crypto import unseal
from crowd.adapters.base import Marketplace
from crowd.adapters.link import LinkAdapter
from crowd.models import Endpoint

if TYPE_CHECKING:
    from crowd.adapters.connect import ConnectAdapter
    from crowd.adapters.mturk import Account, MTurkAdapter
    from crowd.adapters.prolific import ProlificAdapter

_lock = threading.Lock()
_adapters: dict[int, tuple["Account", "MTurkAdapter"]] = {}
_panels: dict[int, tuple[tuple[str | bool, ...], "ProlificAdapter | ConnectAdapter"]] = {}


def adapter(endpoint: Endpoint) -> Marketplace:
    """The adapter of an endpoint, made again when its row changed.

    Raises ValueError where its secret key cannot be read any more.
    """
    if endpoint.protocol == Endpoint.Protocol.LINK:
        return LinkAdapter(endpoint)
    secret = unseal(endpoint.secret_sealed, purpose="crowd.endpoint") if endpoint.secret_sealed else ""
    if secret is None:
        raise ValueError(
            f"The secret key of {endpoint.name} was sealed with another SECRET_KEY; enter it again."
        )
    if endpoint.is_panel:
        return _panel(endpoint, secret)
    return _mturk(endpoint, secret)


def _mturk(endpoint: Endpoint, secret: str) -> Marketplace:
    from crowd.adapters.mturk import Account, MTurkAdapter

    account = Account(
        endpoint_url=endpoint.url,
        region=endpoint.region,
        access_key=endpoint.access_key,
        secret=secret,
        currency=endpoint.currency,
        rate=endpoint.rate,
        burst=endpoint.burst,
    )
    with _lock:
        cached = _adapters.get(endpoint.pk)
        if cached is None or cached[0] != account:
            cached = (account, MTurkAdapter(account))
            _adapters[endpoint.pk] = cached
        return cached[1]


def _panel(endpoint: Endpoint, token: str) -> Marketplace:
    account = (
        endpoint.protocol,
        endpoint.url,
        endpoint.access_key,
        token,
        endpoint.currency,
        endpoint.proves_arrivals,
    )
    with _lock:
        cached = _panels.get(endpoint.pk)
        if cached is None or cached[0] != account:
            cached = (account, _make_panel(endpoint, token))
            _panels[endpoint.pk] = cached
        return cached[1]


def _make_panel(endpoint: Endpoint, token: str) -> "ProlificAdapter | ConnectAdapter":
    if endpoint.protocol == Endpoint.Protocol.CONNECT:
        from crowd.adapters.connect import ConnectAdapter

        return ConnectAdapter(endpoint, token)
    from crowd.adapters.prolific import ProlificAdapter

    return ProlificAdapter(endpoint, token)
