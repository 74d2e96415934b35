"""The dead man's switch: every minute, a worker calls a monitor elsewhere if every check passes.

The monitor (healthchecks.io, or another with its convention) alerts people when the calls stop: a dead timer,
worker, broker, database or host cannot do that itself.
"""

import logging
import threading
import time
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

from distillery.health import readiness

if TYPE_CHECKING:
    from urllib3 import PoolManager

logger = logging.getLogger(__name__)
#: For connecting, and for the whole answer.
CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 10.0
#: Whether the last call of this process succeeded; each change is one line in the log.
_reached = threading.Event()
_reached.set()


def ping() -> str:
    """Run the checks of readiness, and call PING_URL, or PING_URL/fail with the names of those that fail.

    That this worker is being stopped is no failure: restarts would raise an alarm. Returns the outcome of the
    call: "ok", "refused" for an answer other than a success, "unreachable"; "" without PING_URL.
    """
    if not settings.PING_URL:
        return ""
    checks = readiness.look()
    failing = [name for name, check in checks.items() if name != "running" and not check.is_ok]
    began = time.monotonic()
    outcome, why = _call(failing)
    if settings.METRICS_TOKEN:
        from distillery.prometheus import PING_SECONDS  # noqa: PLC0415  # makes its folder

        PING_SECONDS.labels(outcome).observe(time.monotonic() - began)
    _log_change(why)
    return outcome


def _call(failing: list[str]) -> tuple[str, str]:
    import urllib3  # noqa: PLC0415  # only where PING_URL is set

    from crowd.adapters.deadlines import timed_pools  # noqa: PLC0415 - where an address is set

    address = _failure_address(settings.PING_URL) if failing else settings.PING_URL
    try:
        with _manager(address) as manager:
            manager.pool_classes_by_scheme = timed_pools(ANSWER_SECONDS)
            answer = manager.request(
                "POST" if failing else "GET",
                address,
                body=f"Failing: {', '.join(failing)}\n".encode() if failing else None,
                headers={"User-Agent": "Distillery"},
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
                retries=False,
                redirect=False,
                preload_content=False,  # the head is enough
            )
            answer.close()
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return "unreachable", f"cannot be reached ({type(error).__name__})"
    if 200 <= answer.status < 300:
        return "ok", ""
    return "refused", f"answers with status {answer.status}"


def _manager(address: str) -> "PoolManager":
    """Through the proxy that the environment names (`https_proxy`, `no_proxy`), or directly."""
    from urllib3 import PoolManager, ProxyManager  # noqa: PLC0415 - where an address is set

    parts = urlsplit(address)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return ProxyManager(proxy)
    return PoolManager()


def _failure_address(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(path=f"{parts.path.rstrip('/')}/fail").geturl()


def _log_change(why: str) -> None:
    """The address works as a password, so the log has only its host."""
    host = urlsplit(settings.PING_URL).hostname
    if why and _reached.is_set():
        _reached.clear()
        logger.warning("PING_URL (%s) %s; it is called again every minute.", host, why)
    elif not why and not _reached.is_set():
        _reached.set()
        logger.warning("PING_URL (%s) can be reached again.", host)
