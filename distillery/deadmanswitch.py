"""The dead man's switch: an address elsewhere is called as long as the timer's rounds succeed.

A monitor at that address (healthchecks.io, or another with its convention) tells people when the calls stop:
a dead timer, worker, broker, database or host cannot tell by itself.
"""

import logging
import threading
import time
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

from distillery.readiness import Readiness

if TYPE_CHECKING:
    from urllib3 import PoolManager

logger = logging.getLogger(__name__)
#: For connecting, and for the answer with all its parts.
CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 10.0
#: Whether the last call of this process was heard; a change is worth a line in the log.
_heard = threading.Event()
_heard.set()


def ping() -> str:
    """Look at the installation from the inside and say how it is: PING_URL, or PING_URL/fail with what fails.

    The result is what became of the call: "ok", "refused" for an answer that is no success, "unreachable".
    """
    if not settings.PING_URL:
        return ""
    failing = [name for name, check in Readiness().look().items() if not check.is_well]
    began = time.monotonic()
    outcome, why = _call(failing)
    if settings.METRICS_TOKEN:
        from distillery.monitoring.instruments import PING_SECONDS  # noqa: PLC0415  # makes its folder

        PING_SECONDS.labels(outcome).observe(time.monotonic() - began)
    _note(why)
    return outcome


def _call(failing: list[str]) -> tuple[str, str]:
    import urllib3  # noqa: PLC0415  # only where there is somebody to call

    from crowd.adapters.deadlines import timed_pools  # noqa: PLC0415

    address = _failure_address(settings.PING_URL) if failing else settings.PING_URL
    manager = _manager(address)
    manager.pool_classes_by_scheme = timed_pools(ANSWER_SECONDS)
    try:
        answer = manager.request(
            "POST" if failing else "GET",
            address,
            body=f"Not well: {', '.join(failing)}\n".encode() if failing else None,
            headers={"User-Agent": "Distillery"},
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
            retries=False,
            redirect=False,
            preload_content=False,  # the head says enough
        )
        answer.close()
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return "unreachable", f"cannot be reached ({type(error).__name__})"
    finally:
        manager.clear()
    if 200 <= answer.status < 300:
        return "ok", ""
    return "refused", f"answers with status {answer.status}"


def _manager(address: str) -> "PoolManager":
    """As the environment has it: `https_proxy`, `no_proxy`."""
    from urllib3 import PoolManager, ProxyManager  # noqa: PLC0415

    parts = urlsplit(address)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return ProxyManager(proxy)
    return PoolManager()


def _failure_address(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(path=f"{parts.path.rstrip('/')}/fail").geturl()


def _note(why: str) -> None:
    """The address is a secret of its kind, so the log has its host alone."""
    host = urlsplit(settings.PING_URL).hostname
    if why and _heard.is_set():
        _heard.clear()
        logger.warning("PING_URL (%s) %s; it is called again every minute.", host, why)
    elif not why and not _heard.is_set():
        _heard.set()
        logger.warning("PING_URL (%s) hears us again.", host)
