"""The marketplace under test: our own server, or whatever the environment names."""

import itertools
import json
import os
import secrets
import shlex
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.clients import Requester, ScriptedWorker, post_json
from tests.server import RunningServer

#: What a check may need beyond one requester account, and how the environment gives it.
NEEDS = {
    "accounts": "CONFORMANCE_MANAGE (to make requester accounts with a known balance)",
    "workers": "CONFORMANCE_WORKER_TOKENS with three workers, or CONFORMANCE_MANAGE",
    "controls": "CONFORMANCE_TEST_TOKEN (to move the clock and to cause faults)",
}
WORKERS_AT_LEAST = 3


class Market(ABC):
    """A place where requesters post HITs; `gives` are the keys of NEEDS that it can serve."""

    api_url: str
    gives: frozenset[str]

    @property
    def site_url(self) -> str:
        """Root of the worker site, which has the origin of the protocol endpoint."""
        parts = urlsplit(self.api_url)
        return f"{parts.scheme}://{parts.netloc}"

    @abstractmethod
    def requester(self) -> Requester:
        """An account with at least 1000.00, which other checks may use too."""

    @abstractmethod
    def new_requester(self, balance: str, fees: str | None) -> Requester:
        """An account that nobody used before (needs accounts)."""

    @abstractmethod
    def workers(self, count: int) -> list[ScriptedWorker]:
        """Scripted workers without open work (needs workers)."""

    @abstractmethod
    def new_worker(self, **options: str | bool) -> ScriptedWorker:
        """A worker with these properties (needs accounts)."""

    @abstractmethod
    def manage(self, *arguments: str) -> Any:
        """What `manage.py marketplace …` of the marketplace's host says (needs accounts)."""

    @abstractmethod
    def control(self, what: str, **value: object) -> dict[str, Any]:
        """One call of the test controls (needs controls)."""

    def clean_up(self) -> None:
        """Leave no open work behind after a check; a server of our own goes as a whole."""
        return


class OwnMarket(Market):
    """A server of this checkout, started for the checks."""

    gives = frozenset(NEEDS)

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.api_url = server.api_url

    def requester(self) -> Requester:
        return self.server.requester()

    def new_requester(self, balance: str, fees: str | None) -> Requester:
        return self.server.requester(balance, fees)

    def workers(self, count: int) -> list[ScriptedWorker]:
        return [self.server.worker() for _ in range(count)]

    def new_worker(self, **options: str | bool) -> ScriptedWorker:
        return self.server.worker(**options)

    def manage(self, *arguments: str) -> Any:
        return self.server.console("marketplace", *arguments, "--json")

    def control(self, what: str, **value: object) -> dict[str, Any]:
        said: dict[str, Any] = self.server.control(what, **value)
        return said


class GivenMarket(Market):
    """An endpoint that somebody else runs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.api_url = environment["CONFORMANCE_ENDPOINT_URL"]
        self._account = Requester.at(
            self.api_url,
            name="the given account",
            access_key=environment["CONFORMANCE_ACCESS_KEY"],
            secret=environment["CONFORMANCE_SECRET"],
        )
        self._account.client.meta.events.register("after-call.mturk", self._remember)
        self._test_token = environment.get("CONFORMANCE_TEST_TOKEN", "")
        self._manage = shlex.split(environment.get("CONFORMANCE_MANAGE", ""))
        pairs = environment.get("CONFORMANCE_WORKER_TOKENS", "").split(",")
        self._workers = [
            ScriptedWorker(self.site_url, *pair.strip().split(":", 1)) for pair in pairs if ":" in pair
        ]
        self._hits: list[str] = []
        self._numbers = itertools.count(1)
        gives = {"accounts", "workers"} if self._manage else set()
        gives |= {"workers"} if len(self._workers) >= WORKERS_AT_LEAST else set()
        gives |= {"controls"} if self._test_token else set()
        self.gives = frozenset(gives)

    def requester(self) -> Requester:
        return self._account

    def new_requester(self, balance: str, fees: str | None) -> Requester:
        name = self._name("requester")
        made = self._run("requester", "create", name, *(["--fees", fees] if fees else []))
        if float(balance):
            self._run("deposit", name, balance)
        return Requester.at(self.api_url, name=name, access_key=made["access_key"], secret=made["secret"])

    def workers(self, count: int) -> list[ScriptedWorker]:
        while len(self._workers) < count:
            self._workers.append(self.new_worker())
        return self._workers[:count]

    def new_worker(self, **options: str | bool) -> ScriptedWorker:
        flags: list[str] = []
        for option, value in options.items():
            flags += [f"--{option}"] if value is True else [f"--{option}", str(value)]
        made = self._run("worker", "create", self._name("worker"), *flags)
        return ScriptedWorker(self.site_url, made["worker_id"], made["token"])

    def manage(self, *arguments: str) -> Any:
        return self._run(*arguments)

    def control(self, what: str, **value: object) -> dict[str, Any]:
        answer = post_json(f"{self.site_url}/mturk/test/{what}", value, self._test_token)
        assert answer.status == 200, answer.text[:500]
        said: dict[str, Any] = answer.json()
        return said

    def clean_up(self) -> None:
        """Return accepted work and expire the account's HITs, so that nothing stays on offer or on hold."""
        for worker in self._workers:
            for taken in list(worker.in_hand.values()):
                try:
                    worker.give_back(taken)
                except Exception:  # the HIT may have ended in any way by now
                    worker.in_hand.pop(taken["assignment_id"], None)
        while self._hits:
            try:
                self._account.client.update_expiration_for_hit(HITId=self._hits.pop(), ExpireAt=0)
            except Exception:  # deleted HITs cannot be expired, and need not be
                continue

    def _remember(self, parsed: dict[str, Any], **_: object) -> None:
        if "HITId" in parsed.get("HIT", {}) and parsed["HIT"].get("HITStatus") == "Assignable":
            self._hits.append(parsed["HIT"]["HITId"])

    def _name(self, kind: str) -> str:
        return f"conformance-{kind}-{secrets.token_hex(3)}-{next(self._numbers)}"

    def _run(self, *arguments: str) -> dict[str, Any]:
        command = [*self._manage, "marketplace", *arguments, "--json"]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        said: dict[str, Any] = json.loads(result.stdout)
        return said


def given() -> bool:
    """Whether the environment names an endpoint to test instead of our own server."""
    return bool(os.environ.get("CONFORMANCE_ENDPOINT_URL"))
