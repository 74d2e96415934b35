"""The connection to OpenSearch: asks again where that helps, and says in words what went wrong.

Asked again, with growing pauses, is what could not connect, took too long or was turned away for the moment
(429, 502, 503, 504). All that this app sends may be sent twice: documents have ids of their own.
"""

import random
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from retrieval.errors import CorpusError, EngineError, NoRoomError, NotIndexedError, RetrievalError

#: First pause before asking again, in seconds; each further one is twice as long, give or take a half.
PAUSE = 0.2
_LONGEST_PAUSE = 10.0
_TURNED_AWAY = {429, 502, 503, 504}
#: How long searching and writing go on asking, and how long one answer may take, in seconds.
READING, WRITING = 3.0, 120.0
ANSWER_READING, ANSWER_WRITING = 10.0, 120.0


class Cluster:
    """A client of one OpenSearch, or of several of its nodes; shared by threads, not by processes."""

    def __init__(self, urls: str, *, certificates: str = "") -> None:
        """`urls`: one or more with commas between; `certificates`: file of the authority for https."""
        try:
            from opensearchpy import OpenSearch  # an optional extra
        except ImportError as error:
            raise CorpusError(
                "OpenSearch needs its client, which is not installed: pip install 'opensearch-py>=3.2'."
            ) from error
        hosts = [url.strip() for url in urls.split(",") if url.strip()]
        if not hosts:
            raise CorpusError("OPENSEARCH_URL is not set: say where OpenSearch is, or use tantivy.")
        self.where = ", ".join(_without_password(host) for host in hosts)
        more: dict[str, Any] = {"ca_certs": certificates} if certificates else {}
        self.client = OpenSearch(hosts=hosts, max_retries=0, ssl_show_warn=False, **more)
        #: What is known about indexes by name: they never change it.
        self.known: dict[str, Any] = {}

    def read(self, call: Callable[[Any], Any]) -> Any:
        """Ask something that a person waits for."""
        return self._ask(call, READING)

    def write(self, call: Callable[[Any], Any]) -> Any:
        """Ask something that may take its time."""
        return self._ask(call, WRITING)

    def _ask(self, call: Callable[[Any], Any], patience: float) -> Any:
        deadline, pause = time.monotonic() + patience, PAUSE
        while True:
            try:
                return call(self.client)
            except client_error() as error:
                if not _passes(error) or time.monotonic() + pause > deadline:
                    raise translate_error(error, self.where) from error
            time.sleep(pause * random.uniform(0.5, 1.5))  # so that not all ask again at once
            pause = min(pause * 2, _LONGEST_PAUSE)


@cache
def cluster(urls: str, certificates: str, process: int) -> Cluster:
    """The connection of this process (its number is asked for since a fork must open its own)."""
    return Cluster(urls, certificates=certificates)


def client_error() -> type[Exception]:
    """The base class of all errors of the client, which is there once a cluster is."""
    from opensearchpy.exceptions import OpenSearchException  # an optional extra

    return OpenSearchException


def status_of(error: Exception) -> int:
    """HTTP status of an error of the client; 0 where there was no answer."""
    status = getattr(error, "status_code", 0)
    return status if isinstance(status, int) else 0


def kind_of(error: BaseException | None) -> str:
    """OpenSearch's name for an error, such as index_not_found_exception."""
    kind = getattr(error, "error", "")
    return kind if isinstance(kind, str) else ""


def _passes(error: Exception) -> bool:
    """Whether it may be gone in a moment."""
    from opensearchpy.exceptions import ConnectionError as NoConnection  # an optional extra
    from opensearchpy.exceptions import SSLError

    if isinstance(error, NoConnection):
        return not isinstance(error, SSLError)
    return status_of(error) in _TURNED_AWAY and kind_of(error) != "cluster_block_exception"


def translate_error(error: Exception, where: str) -> Exception:
    """An error of the client as one of ours; others, our own among them, stay as they are."""
    from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, SSLError  # an optional extra

    if isinstance(error, RetrievalError) or not isinstance(error, OpenSearchException):
        return error
    status, kind = status_of(error), kind_of(error)
    if kind == "cluster_block_exception":
        return no_room(where, error)
    if kind == "index_not_found_exception" or (status == 404 and not kind):
        return NotIndexedError("There is no index yet. Run manage.py index build.")
    why = {
        401: "does not know the user or the password in OPENSEARCH_URL. Correct them",
        403: "does not let this user do that. Give the user the rights to read and write these indexes",
        413: "takes no request of this size. Raise http.max_content_length there",
        429: "is too busy, and still was after several tries. Try again later, or give it more memory",
    }.get(status)
    if why is None and isinstance(error, SSLError):
        why = "has a certificate that is not trusted. Name its authority in OPENSEARCH_CERTIFICATES"
    if why is None and isinstance(error, ConnectionTimeout):
        why = "did not answer in time. Look whether it is overloaded"
    if why is None and not status:
        why = "does not answer. Check that it runs and that OPENSEARCH_URL is right"
    if why is None:
        why = f"could not do that. Look into its log; it says: {status} {kind or 'error'}, {_reason(error)}"
    return EngineError(f"OpenSearch at {where} {why}.")


def no_room(where: str, error: object) -> NoRoomError:
    """What to say when writing is blocked, which OpenSearch does when a disk is nearly full."""
    return NoRoomError(
        f"OpenSearch at {where} takes nothing more, most likely as a disk of it is full ({error}). Make "
        "room; it lifts the block by itself, or with index.blocks.read_only_allow_delete: null."
    )


def _reason(error: Exception) -> str:
    info = getattr(error, "info", None)
    if isinstance(info, dict) and isinstance(info.get("error"), dict):
        return str(info["error"].get("reason", ""))[:200]
    return str(info)[:200]


def _without_password(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"//{url}")
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme or 'http'}://{host}{port}{parts.path.rstrip('/')}"
