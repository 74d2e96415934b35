"""A browser for simulated people: GET, forms and JSON over kept-alive connections, one set per thread."""

import http.client
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

#: Servers close idle connections after two seconds; ours are not used again after one.
_IDLE_S = 1.0
_TIMEOUT_S = 60


class LostError(Exception):
    """No answer came, or one that says the server failed. Trying again is right."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body."""

    status: int
    text: str

    def json(self) -> Any:
        """The body as JSON; raises LostError where it is none."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise LostError(f"Not JSON: {self.text[:200]!r}") from error


class Browser:
    """Asks and gets answers; safe to share between threads. Keeps no cookies, as in a cross-site frame."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self, url: str) -> Answer:
        """Open a page."""
        return self._ask("GET", url, None, {})

    def send_form(self, url: str, fields: Mapping[str, str]) -> Answer:
        """Post a form."""
        body = urlencode(list(fields.items())).encode()
        return self._ask("POST", url, body, {"Content-Type": "application/x-www-form-urlencoded"})

    def send_json(self, url: str, value: object, authorization: str) -> Answer:
        """Post JSON, as a page's script does."""
        headers = {"Content-Type": "application/json", "Authorization": authorization}
        return self._ask("POST", url, json.dumps(value).encode(), headers)

    def _ask(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(url)
        path = parts.path or "/"
        connection = self._connection(parts.scheme, parts.netloc)
        try:
            connection.request(method, f"{path}?{parts.query}" if parts.query else path, body, dict(headers))
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise LostError(f"{type(error).__name__}: {error}") from error
        if response.will_close:
            connection.close()
        if response.status >= 500:
            raise LostError(f"HTTP {response.status}: {text[:200]!r}")
        return Answer(response.status, text)

    def _connection(self, scheme: str, place: str) -> http.client.HTTPConnection:
        known: dict[tuple[str, str], tuple[http.client.HTTPConnection, float]]
        known = self._local.__dict__.setdefault("known", {})
        connection, used_at = known.get((scheme, place), (None, 0.0))
        now = time.monotonic()
        if connection is None:
            kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
            connection = kind(place, timeout=_TIMEOUT_S)
        elif now - used_at > _IDLE_S:
            connection.close()
        known[scheme, place] = (connection, now)
        return connection

    def close(self) -> None:
        """Close this thread's connections."""
        for connection, _ in self._local.__dict__.pop("known", {}).values():
            connection.close()
