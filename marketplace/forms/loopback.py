"""This machine alone: hosts that are on it, and what may be loaded from them."""

import ipaddress
from functools import lru_cache

from django.conf import settings

_LOCAL = ("http://127.0.0.1:*", "http://localhost:*", "http://*.localhost:*")


@lru_cache(maxsize=1_000)
def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host: localhost, or a loopback address; as in ALLOWED_HOSTS."""
    name = host.strip("[]").removeprefix(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def anywhere() -> tuple[str, ...]:
    """Where pages that come from requesters may load from, as sources of a content security policy: https.

    Ports of the machine in front of which a worker sits are open to them only where the site itself answers
    on that machine alone.
    """
    local = all(is_loopback(host) for host in settings.ALLOWED_HOSTS)
    return ("https:", *_LOCAL) if local else ("https:",)
