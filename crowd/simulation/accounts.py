"""Tokens of simulated workers, and their mark on our side.

The marketplace makes workers; it is asked by its own command, in a process of its own, for nothing of it is
imported here. Tokens are kept, so that a second run works with the same people.
"""

import http.client
import json
import os
import re
import secrets
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from crowd.errors import CrowdError
from crowd.models import Endpoint, Worker

# A browser for simulated people: GET, forms and JSON over kept-alive connections, one set per thread.

#: Servers close idle connections after two seconds; ours are not used again after one.
_IDLE_S = 1.0
_TIMEOUT_S = 60


class LostError(Exception):
    """No answer came, or one that says the server failed. Trying again is right."""


class PageRefusedError(LostError):
    """A page that says why somebody cannot go on; trying again does not help."""


_UNREAD = re.compile(r"<(head|script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body; where a redirect leads."""

    status: int
    text: str
    location: str = ""

    @property
    def message(self) -> str:
        """What a person reads there, cut where it is long."""
        body = _UNREAD.sub(" ", self.text)
        return " ".join(unescape(_TAG.sub(" ", body)).split())[:300]

    def json(self) -> Any:
        """The body as JSON; raises LostError where it is none."""
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise LostError(f"HTTP {self.status}, and no JSON: {self.message}") from error


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
            raise LostError(f"HTTP {response.status}: {Answer(response.status, text).message}")
        return Answer(response.status, text, response.headers.get("Location", ""))

    def _connection(self, scheme: str, place: str) -> http.client.HTTPConnection:
        connections: dict[tuple[str, str], tuple[http.client.HTTPConnection, float]]
        connections = self._local.__dict__.setdefault("known", {})
        connection, used_at = connections.get((scheme, place), (None, 0.0))
        now = time.monotonic()
        if connection is None:
            kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
            connection = kind(place, timeout=_TIMEOUT_S)
        elif now - used_at > _IDLE_S:
            connection.close()
        connections[scheme, place] = (connection, now)
        return connection

    def close(self) -> None:
        """Close this thread's connections."""
        for connection, _ in self._local.__dict__.pop("known", {}).values():
            connection.close()


_FILE = "simulated-workers.json"


class SimulationError(CrowdError):
    """A simulation that cannot begin."""


@dataclass(frozen=True, slots=True)
class Account:
    """A worker's id and their token for the worker API."""

    worker_id: str
    token: str
    country: str = ""


def accounts(site: str, count: int, *, country: str = "") -> list[Account]:
    """So many accounts at the marketplace of this address: those kept from before, and new ones."""
    accounts_by_site = _read_accounts()
    stored = [Account(**row) for row in accounts_by_site.get(site, [])]
    if stored and not _lets_in(site, stored[0]):
        stored = []
    usable = [account for account in stored if account.country == country][:count]
    if len(usable) < count:
        new = _make(count - len(usable), country)
        if not _lets_in(site, new[0]):
            raise SimulationError(
                f"{site} does not know workers made here, so it is another installation's marketplace. "
                "Make some there with `manage.py marketplace worker create NAME --count N --json`, "
                "and give their list with --tokens FILE."
            )
        usable += new
        _keep({**accounts_by_site, site: [asdict(account) for account in [*stored, *new]]})
    return usable


def accounts_from(file: Path, count: int) -> list[Account]:
    """The first `count` accounts of a list that `marketplace worker create --count N --json` printed."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        listed_accounts = [Account(row["worker_id"], row["token"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SimulationError(f"{file} is no list of workers with their tokens: {error}") from error
    if len(listed_accounts) < count:
        raise SimulationError(f"{file} has {len(listed_accounts)} workers, and {count} are wanted.")
    return listed_accounts[:count]


def mark_simulated(endpoint: Endpoint, worker_ids: Sequence[str]) -> None:
    """Mark these workers of an endpoint as simulated, for ever, before they do anything."""
    now = timezone.now()
    with transaction.atomic():
        Worker.objects.bulk_create(
            [
                Worker(endpoint=endpoint, external_id=worker_id, simulated=True, first_seen_at=now)
                for worker_id in worker_ids
            ],
            ignore_conflicts=True,
        )
        Worker.objects.filter(endpoint=endpoint, external_id__in=worker_ids).update(simulated=True)


def _lets_in(site: str, account: Account) -> bool:
    browser = Browser()
    try:
        return browser.send_json(f"{site}/worker-api/next", {}, f"Bearer {account.token}").status == 200
    finally:
        browser.close()


def _make(count: int, country: str) -> list[Account]:
    name = f"simulated {secrets.token_hex(4)}"
    command = [
        *settings.COMMAND,
        "marketplace",
        "worker",
        "create",
        name,
        "--count",
        str(count),
        "--json",
    ]
    if country:
        command += ["--country", country]
    process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our command
    if process.returncode:
        raise SimulationError(f"The marketplace made no workers: {process.stderr.strip()[-500:]}")
    return [Account(row["worker_id"], row["token"], country) for row in json.loads(process.stdout)]


def _read_accounts() -> dict[str, list[dict[str, str]]]:
    try:
        accounts_by_site: dict[str, list[dict[str, str]]] = json.loads(
            (settings.DATA_DIR / _FILE).read_text("utf-8")
        )
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise SimulationError(f"{settings.DATA_DIR / _FILE} cannot be read; delete it.") from error
    return accounts_by_site


def _keep(accounts_by_site: dict[str, list[dict[str, str]]]) -> None:
    """Write the file again, readable for its owner only, whole or not at all."""
    path = settings.DATA_DIR / _FILE
    half = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(accounts_by_site, file)
    half.replace(path)
