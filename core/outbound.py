"""Posting to addresses that other people name: public ones alone, resolved once, with an end to everything.

Whoever may name an address could have this server call what is behind it: the database's port, a cloud's
metadata, a router. So the host is resolved here, every address it has must be public, the connection goes to
the address that was checked (a second look-up could answer something else), redirects are not followed, no
proxy of the environment is asked, and an answer is read up to a limit. Hosts that the operator names may be
private, and may be called over http.
"""

import contextlib
import ipaddress
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from urllib.parse import SplitResult, urlsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from core.errors import ActionError

MAX_URL = 2_048
#: Characters of an answer that are read.
MAX_REPLY = 65_536
_NOT_PUBLIC = "is not a public address, and this server calls public ones only"
#: IPv6 addresses that hold an IPv4 address: whoever routes them calls that one (RFC 6052).
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class AddressRefusedError(ActionError):
    """This address is not called, whatever answers there; the sentence says why."""


class DeliveryError(Exception):
    """Nothing was delivered, and another attempt may help; the text says what happened."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an address answered, whatever its status."""

    status: int
    body: bytes
    retry_after: int | None = None


def check_url(url: str, *, trusted: Collection[str] = ()) -> SplitResult:
    """The parts of an address that may be called; raises AddressRefusedError. Nothing is looked up.

    `trusted` are hosts that may be private and may have http addresses.
    """
    if len(url) > MAX_URL or any(not 32 < ord(letter) < 127 for letter in url):
        raise AddressRefusedError(f"An address has at most {MAX_URL} characters of ASCII and no spaces.")
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port
    except ValueError as error:
        raise AddressRefusedError(f"{url[:120]!r} is not an address: {error}.") from error
    if not host or parts.scheme not in ("https", "http"):
        raise AddressRefusedError(f"{url[:120]!r} is not an https address.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefusedError("An address must not hold a user name or a password.")
    if host in trusted:
        return parts
    if parts.scheme != "https":
        raise AddressRefusedError(f"{url[:120]!r} is not an https address.")
    if port not in (None, 443, 8443):
        raise AddressRefusedError(f"Port {port} is not called; use 443 or 8443.")
    literal = _literal(host)
    if "." not in host if literal is None else not _is_public(literal):
        raise AddressRefusedError(f"{host[:120]} {_NOT_PUBLIC}.")
    return parts


def resolve(host: str, port: int, *, trusted: Collection[str] = ()) -> str:
    """The network address to connect to; raises AddressRefusedError where any of the host's is not public."""
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DeliveryError(f"{host[:120]} could not be looked up: {error}.") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in infos))
    if host not in trusted:
        for address in addresses:
            if not _is_public(ipaddress.ip_address(address.partition("%")[0])):
                raise AddressRefusedError(f"{host[:120]} leads to {address}, which {_NOT_PUBLIC}.")
    return addresses[0]


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    trusted: Collection[str] = (),
    seconds: float = 10,
) -> Reply:
    """Post once and give what was answered, whatever its status.

    Raises AddressRefusedError for what is never called, DeliveryError where nothing came back within
    `seconds`.
    """
    parts = check_url(url, trusted=trusted)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    host = (parts.hostname or "").rstrip(".")
    address = resolve(host, port, trusted=trusted)
    timeout = min(5, seconds)
    connection: HTTPConnection = (
        HTTPSConnection(
            address,
            port,
            timeout=timeout,
            server_hostname=host,
            assert_hostname=host,
            ssl_context=ssl.create_default_context(),
        )
        if secure
        else HTTPConnection(address, port, timeout=timeout)
    )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    # A limit for the whole call: what drips in byte by byte would begin the limit of a read again each time.
    is_over = threading.Event()
    end = threading.Timer(seconds, _hang_up, [connection, is_over])
    end.daemon = True
    end.start()
    try:
        connection.connect()
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        connection.request(
            "POST",
            target,
            body=body,
            headers={**headers, "Host": parts.netloc},
            preload_content=False,
            decode_content=False,
        )
        answer = connection.getresponse()
        if is_over.is_set():  # a head that was cut off looks like one that ended
            raise DeliveryError(f"{host[:120]} did not answer within {seconds:g} s.")
        wait = answer.headers.get("Retry-After", "")
        return Reply(answer.status, _read(answer), int(wait) if wait.isascii() and wait.isdigit() else None)
    except (HTTPError, HTTPException, OSError) as error:
        raise DeliveryError(f"{host[:120]} did not answer: {type(error).__name__}: {error}"[:500]) from error
    finally:
        end.cancel()
        connection.close()


def _hang_up(connection: HTTPConnection, is_over: threading.Event) -> None:
    """End a call from another thread: whatever waits for the other side there is told that it is gone."""
    is_over.set()
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _read(answer: BaseHTTPResponse) -> bytes:
    """The beginning of an answer; of one that is cut off, what came of it: its status has arrived."""
    pieces, size = [], 0
    with contextlib.suppress(HTTPError, HTTPException, OSError):
        while size < MAX_REPLY and (piece := answer.read1(MAX_REPLY - size)):
            pieces.append(piece)
            size += len(piece)
    return b"".join(pieces)


#: Of IANA's special addresses, those that Python 3.11 takes for public ones (3.13 does not).
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "5f00::/16", "64:ff9b:1::/48", "fec0::/10"),
    )
)


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether anybody on the internet would reach the same machine at this address."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(inner)
    special = any(address in network for network in _SPECIAL)
    return address.is_global and not special and not address.is_multicast and not address.is_reserved
