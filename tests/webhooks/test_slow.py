"""Slow receivers: each call ends in time, and others are sent to meanwhile."""

import socket
import threading
import time

import pytest

from core import outbound
from core.projects.services import record
from core.webhooks import delivery, services
from core.webhooks.models import Webhook, WebhookAttempt


@pytest.fixture
def dripping():
    """A server that answers one byte of a header at a time and never ends."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                while not ended.is_set():
                    peer, _ = listening.accept()
                    with peer:
                        peer.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                        while not ended.wait(0.02):
                            peer.sendall(b"x")
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook"
        ended.set()


def test_an_answer_that_drips_ends_with_the_time_of_the_whole_call(dripping):
    began = time.monotonic()
    with pytest.raises(outbound.DeliveryError, match="did not answer"):
        outbound.post(dripping, b"{}", {}, trusted={"127.0.0.1"}, seconds=0.3)
    assert time.monotonic() - began < 30  # it would be a lease's end otherwise


def test_a_receiver_that_hangs_holds_up_no_other(project, owner, receiver, dripping, trusted, monkeypatch):
    monkeypatch.setattr(delivery, "SECONDS", 0.3)
    hooks = [
        services.create_webhook(owner=owner, name=name, address=url, events=["stage.opened"]).row
        for name, url in (("slow", dripping), ("well", receiver.url))
    ]
    record(project=project, action="stage.opened", subject="one")
    assert [delivery.deliver(hook.pk) for hook in hooks] == [0, 1]
    slow = Webhook.objects.get(name="slow")
    assert slow.failing_since is not None and slow.lease_until is None
    assert WebhookAttempt.objects.get(message__webhook=slow).status is None
