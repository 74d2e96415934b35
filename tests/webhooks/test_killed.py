"""kill -9 before and after each commit of writing and sending: no message is lost, and order is kept."""

import os
import signal
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connections
from django.urls import reverse
from django.utils import timezone

from core.projects.models import Event
from core.projects.services import record
from core.webhooks.delivery import deliver, due_webhooks
from core.webhooks.models import Webhook, WebhookMessage

pytestmark = pytest.mark.django_db(transaction=True)


def _act_and_die(act: Callable[[], object], commit: int, *, after: bool) -> None:
    wrapper = type(connections["default"])
    real, seen = wrapper._commit, 0

    def commit_or_die(self: object) -> object:
        nonlocal seen
        seen += 1
        if seen == commit and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = real(self)
        if seen == commit:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    wrapper._commit = commit_or_die
    act()


def killed_at(act: Callable[[], object], commit: int, *, after: bool) -> bool:
    """Do it in a process of its own that ends itself at a commit; False where it never got there."""
    reverse("desk:projects")  # children need not read all addresses each for themselves
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            _act_and_die(act, commit, after=after)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_an_event_and_its_message_are_both_there_or_neither_is(hook, project):
    def act() -> None:
        record(project=project, action="stage.opened", subject="one")

    for after in (False, True):
        assert killed_at(act, 1, after=after)
        events = Event.objects.filter(action="stage.opened").count()
        assert events == WebhookMessage.objects.count() == int(after)


def test_whoever_dies_when_while_sending_every_message_arrives_in_order(hook, project, receiver):
    deaths = 0
    for commit in range(1, 7):
        for after in (False, True):
            before = len(receiver.calls)
            for slug in ("one", "two"):
                record(project=project, action="stage.opened", subject=slug)
            deaths += killed_at(lambda: deliver(hook.pk), commit, after=after)
            if WebhookMessage.objects.filter(state="waiting").exists():
                assert due_webhooks(timezone.now()) == []  # the dead one's lease
                Webhook.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
                assert due_webhooks(timezone.now()) == [hook.pk]
                deliver(hook.pk)
            Webhook.objects.update(lease_until=None)
            assert not WebhookMessage.objects.filter(state="waiting").exists()
            mine = [headers["webhook-id"] for headers, _ in receiver.calls[before:]]
            wanted = list(WebhookMessage.objects.order_by("pk").values_list("message_id", flat=True))[-2:]
            assert list(dict.fromkeys(mine)) == wanted, (commit, after)
            assert len(mine) <= 3, (commit, after)  # at most the one in flight came twice
    assert deaths >= 10
    numbers = list(WebhookMessage.objects.order_by("pk").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
