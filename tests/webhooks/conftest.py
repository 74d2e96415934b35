"""A receiver that is a real HTTP server, and webhooks that send to it."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.contrib.auth.models import User
from standardwebhooks import Webhook as Verifier

from core.origin import Owner
from core.projects.models import Project
from core.projects.services import create_project
from core.webhooks import services
from core.webhooks.models import Webhook


@dataclass
class Receiver:
    """What came in, and what is answered: one status after another, then 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    hold: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies that came, read."""
        return [json.loads(body) for _, body in self.calls]

    @property
    def sequences(self) -> list[int]:
        """The numbers that came, in the order in which they came."""
        return [body["sequence"] for body in self.bodies]

    def verify(self, secret: str, number: int = -1) -> dict[str, Any]:
        """One call, verified as a receiver does it."""
        headers, body = self.calls[number]
        found: dict[str, Any] = Verifier(secret).verify(body, headers)
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    mine = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            mine.calls.append((dict(self.headers), body))
            mine.entered.set()
            if mine.hold is not None:
                mine.hold.wait(20)
            status = mine.statuses.pop(0) if mine.statuses else 200
            self.send_response(status)
            for name, value in mine.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"noted")

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        mine.url = f"http://127.0.0.1:{server.server_port}/hook"
        yield mine
        if mine.hold is not None:
            mine.hold.set()
        server.shutdown()


@pytest.fixture
def trusted(settings) -> None:
    """The operator lets webhooks go to this machine."""
    settings.WEBHOOK_TRUSTED_HOSTS = ["127.0.0.1"]


@pytest.fixture
def project(db) -> Project:
    return create_project(
        slug="kiwi", title="Kiwi", owner=User.objects.create_user("olga", "olga@example.org")
    )


@pytest.fixture
def owner(project: Project) -> Owner:
    return Owner(Owner.Kind.PROJECT, project.pk)


@pytest.fixture
def new_webhook(owner: Owner, receiver: Receiver, trusted: None) -> services.NewWebhook:
    return services.create_webhook(
        owner=owner, name="Lab's bot", address=receiver.url, events=["stage.opened", "stage.closed"]
    )


@pytest.fixture
def hook(new_webhook: services.NewWebhook) -> Webhook:
    return new_webhook.row
