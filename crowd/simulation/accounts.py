"""Tokens of simulated workers, and their mark on our side.

The marketplace makes workers; it is asked by its own command, in a process of its own, for nothing of it is
imported here. Tokens are kept, so that a second run works with the same people.
"""

import json
import os
import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from crowd.errors import CrowdError
from crowd.models import Endpoint, Worker
from crowd.simulation.http import Browser

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
    kept = _kept()
    known = [Account(**row) for row in kept.get(site, [])]
    if known and not _lets_in(site, known[0]):
        known = []
    usable = [account for account in known if account.country == country][:count]
    if len(usable) < count:
        new = _make(count - len(usable), country)
        if not _lets_in(site, new[0]):
            raise SimulationError(
                f"{site} does not know workers made here, so it is another installation's marketplace. "
                "Make some there with `manage.py marketplace worker create NAME --count N --json`, "
                "and give their list with --tokens FILE."
            )
        usable += new
        _keep({**kept, site: [asdict(account) for account in [*known, *new]]})
    return usable


def accounts_from(file: Path, count: int) -> list[Account]:
    """The first `count` accounts of a list that `marketplace worker create --count N --json` printed."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        found = [Account(row["worker_id"], row["token"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SimulationError(f"{file} is no list of workers with their tokens: {error}") from error
    if len(found) < count:
        raise SimulationError(f"{file} has {len(found)} workers, and {count} are wanted.")
    return found[:count]


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
    made = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our command
    if made.returncode:
        raise SimulationError(f"The marketplace made no workers: {made.stderr.strip()[-500:]}")
    return [Account(row["worker_id"], row["token"], country) for row in json.loads(made.stdout)]


def _kept() -> dict[str, list[dict[str, str]]]:
    try:
        kept: dict[str, list[dict[str, str]]] = json.loads((settings.DATA_DIR / _FILE).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise SimulationError(f"{settings.DATA_DIR / _FILE} cannot be read; delete it.") from error
    return kept


def _keep(kept: dict[str, list[dict[str, str]]]) -> None:
    """Write the file again, readable for its owner only, whole or not at all."""
    path = settings.DATA_DIR / _FILE
    half = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(kept, file)
    half.replace(path)
