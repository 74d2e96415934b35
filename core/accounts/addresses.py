"""Where a request comes from."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

#: Characters of the longest IPv6 address in text.
_LONGEST = 45


def client_address(request: HttpRequest) -> str:
    """The address of the person's machine; see `address_of`."""
    return address_of(request.META)


def address_of(environ: Mapping[str, Any]) -> str:
    """The client's address: behind a TLS proxy the one that the proxy itself wrote down.

    Of several in X-Forwarded-For the right-most is the proxy's; a client can send anything before it. What is
    no address there is not believed.
    """
    direct = str(environ.get("REMOTE_ADDR", ""))[:_LONGEST]
    if settings.SECURE_PROXY_SSL_HEADER is None:  # no BEHIND_TLS_PROXY
        return direct
    last = str(environ.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return direct


def neighbourhood(address: str) -> str:
    """What one person can have of addresses: a single IPv4 address, or 64 bits of an IPv6 one."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
