"""Messages of webhooks: written with their cause, signed, in order, at least once, given up in the end."""

import random
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import transaction
from django.utils import timezone

from core.projects.services import record, remove_member, set_role
from core.webhooks import delivery, services
from core.webhooks.delivery import deliver, due_webhooks, tell_makers
from core.webhooks.events import TEST, emit_step
from core.webhooks.models import Webhook, WebhookAttempt, WebhookMessage
from core.webhooks.tasks import prune

State = WebhookMessage.State


@pytest.fixture
def opened(project):
    """Stages that are opened, one event each."""

    def act(*slugs: str) -> None:
        for slug in slugs:
            record(project=project, action="stage.opened", subject=slug)

    return act


def soon(hook: Webhook) -> None:
    """Its pause is over."""
    Webhook.objects.filter(pk=hook.pk).update(due_at=timezone.now())


def test_a_message_is_signed_and_holds_ids_and_its_place_in_the_order(new_webhook, receiver, opened):
    opened("one")
    assert deliver(new_webhook.row.pk) == 1
    body = receiver.verify(new_webhook.secret)
    assert body["type"] == "stage.opened" and body["sequence"] == 1
    assert body["data"] == {
        "project": "kiwi",
        "stage": "one",
        "address": body["data"]["address"],
    }
    assert body["data"]["address"].endswith("/desk/projects/kiwi/stages/one/")
    headers = receiver.calls[0][0]
    assert headers["webhook-id"] == WebhookMessage.objects.get().message_id
    attempt = WebhookAttempt.objects.get()
    assert (attempt.status, attempt.note) == (200, "noted")


def test_a_message_is_there_exactly_when_its_cause_is(hook, project):
    class UndoneError(Exception):
        pass

    with pytest.raises(UndoneError), transaction.atomic():
        record(project=project, action="stage.opened", subject="one")
        raise UndoneError
    assert not WebhookMessage.objects.exists()


def test_only_what_was_asked_for_is_sent(hook, receiver, project):
    record(project=project, action="stage.paused", subject="one")
    record(project=project, action="project.changed", subject="kiwi")
    assert due_webhooks(timezone.now()) == [] and deliver(hook.pk) == 0


def test_messages_come_in_the_order_of_their_numbers_and_no_answer_holds_up_the_rest(hook, receiver, opened):
    receiver.statuses = [200, 503]
    opened("one", "two", "three")
    assert deliver(hook.pk) == 1
    assert due_webhooks(timezone.now()) == []  # it waits for its next attempt
    soon(hook)
    assert deliver(hook.pk) == 2
    assert receiver.sequences == [1, 2, 2, 3]
    ids = [headers["webhook-id"] for headers, _ in receiver.calls]
    assert ids[1] == ids[2] and len(set(ids)) == 3


@pytest.mark.parametrize("status", [302, 408, 429, 500])
def test_a_receiver_that_cannot_now_is_waited_for_and_nothing_overtakes(hook, receiver, opened, status):
    receiver.statuses = [status]
    receiver.headers = {"Location": "http://127.0.0.1:1/"}
    opened("one", "two")
    assert deliver(hook.pk) == 0
    first, second = WebhookMessage.objects.order_by("pk")
    assert (first.state, first.attempts, first.due_at, second.attempts) == (State.WAITING, 1, None, 0)
    assert Webhook.objects.get().due_at > timezone.now() and due_webhooks(timezone.now()) == []
    assert len(receiver.calls) == 1


@pytest.mark.parametrize("status", [400, 413])
def test_a_message_that_is_refused_is_put_aside_and_the_others_go_on(hook, receiver, opened, status):
    receiver.statuses = [status]
    opened("one", "two", "three")
    assert deliver(hook.pk) == 2
    assert receiver.sequences == [1, 2, 3]
    first = WebhookMessage.objects.get(number=1)
    assert (first.state, first.attempts) == (State.WAITING, 1) and first.due_at is not None
    assert due_webhooks(timezone.now()) == []  # its next attempt is later
    assert due_webhooks(first.due_at) == [hook.pk]
    opened("four")
    assert deliver(hook.pk) == 1
    WebhookMessage.objects.filter(pk=first.pk).update(due_at=timezone.now())
    assert deliver(hook.pk) == 1
    assert receiver.sequences == [1, 2, 3, 4, 1]
    row = Webhook.objects.get()
    assert (row.refusals, row.failing_since) == (0, None)


def test_a_receiver_that_refuses_everything_is_asked_one_message_at_a_time(hook, receiver, opened):
    receiver.statuses = [401] * 5
    opened("one", "two", "three", "four", "five", "six", "seven")
    assert deliver(hook.pk) == 0
    assert receiver.sequences == [1, 2, 3]
    assert not WebhookMessage.objects.exclude(due_at=None).exists()
    for asked in (4, 5):
        assert due_webhooks(timezone.now()) == []
        soon(hook)
        assert deliver(hook.pk) == 0 and receiver.sequences[-1] == asked
    soon(hook)
    assert deliver(hook.pk) == 2  # the sixth and seventh; those that were refused follow on their own
    WebhookMessage.objects.update(due_at=timezone.now())
    assert deliver(hook.pk) == 5
    assert receiver.sequences == [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5]
    assert not WebhookMessage.objects.exclude(state=State.SENT).exists()


def test_what_is_put_aside_is_given_up_after_its_day(hook, receiver, opened):
    receiver.statuses = [422]
    opened("one")
    deliver(hook.pk)
    began = timezone.now() - timedelta(hours=24, minutes=1)
    WebhookMessage.objects.update(first_attempt_at=began, due_at=timezone.now())
    assert deliver(hook.pk) == 0 and len(receiver.calls) == 1
    assert WebhookMessage.objects.get().state == State.GAVE_UP


def test_pauses_are_random_up_to_a_bound_that_doubles(monkeypatch):
    monkeypatch.setattr(random, "uniform", lambda low, high: high)
    bounds = [delivery._pause_after(attempts).total_seconds() for attempts in range(12)]
    assert bounds[:4] == [10, 20, 40, 80] and bounds[-1] == 10_800
    monkeypatch.setattr(random, "uniform", lambda low, high: low)
    assert delivery._pause_after(11).total_seconds() == 1


def test_after_a_day_a_message_is_given_up_and_the_next_one_has_its_turn(hook, receiver, opened):
    receiver.statuses = [500]
    opened("one", "two")
    deliver(hook.pk)
    first = WebhookMessage.objects.get(number=1)
    WebhookMessage.objects.filter(pk=first.pk).update(first_attempt_at=timezone.now() - timedelta(hours=25))
    soon(hook)
    assert deliver(hook.pk) == 1
    assert list(WebhookMessage.objects.order_by("pk").values_list("state", flat=True)) == ["gave_up", "sent"]


def test_a_receiver_that_is_gone_for_days_is_disabled_with_a_notice_and_what_waits_stays(
    hook, receiver, opened, project, settings
):
    from core.notices.conditions import look
    from core.notices.models import Notice

    opened("one")
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=6))
    receiver.statuses = [500]
    deliver(hook.pk)
    row = Webhook.objects.get()
    assert row.state == Webhook.State.DISABLED and "5 days" in row.why_disabled
    opened("two")
    assert WebhookMessage.objects.count() == 1  # a disabled webhook gets nothing new
    look(timezone.now())
    notice = Notice.objects.get(kind="webhook_disabled")
    assert notice.project == project and "Lab's bot" in notice.sentence
    services.activate(hook=row)
    assert deliver(hook.pk) == 1
    look(timezone.now())
    assert Notice.objects.get(pk=notice.pk).over_at is not None


def test_the_maker_hears_once_of_a_disabled_webhook(hook, project, settings):
    settings.NOTICES_BY_EMAIL = True
    olga = project.memberships.get().user
    Webhook.objects.update(state="disabled", created_by=olga, why_disabled="Gone.")
    assert tell_makers(timezone.now()) == 1 and tell_makers(timezone.now()) == 0
    assert mail.outbox[0].to == ["olga@example.org"] and "Gone." in mail.outbox[0].body


def test_410_ends_it_at_once_and_one_that_says_when_is_asked_no_earlier(hook, receiver, opened):
    receiver.statuses, receiver.headers = [429, 410], {"Retry-After": "600"}
    opened("one")
    deliver(hook.pk)
    assert Webhook.objects.get().due_at > timezone.now() + timedelta(minutes=9)
    soon(hook)
    deliver(hook.pk)
    assert Webhook.objects.get().state == Webhook.State.DISABLED


def test_one_process_has_a_webhook_at_a_time_and_another_takes_over_when_its_lease_ends(
    hook, receiver, opened
):
    opened("one")
    Webhook.objects.update(lease_owner="0" * 32, lease_until=timezone.now() + timedelta(minutes=1))
    assert deliver(hook.pk) == 0 and not receiver.calls
    Webhook.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert deliver(hook.pk) == 1


def test_what_comes_of_a_lost_lease_is_not_written_down(hook, receiver, opened, monkeypatch):
    opened("one")
    post = delivery.outbound.post

    def lose(*args, **kwargs):
        Webhook.objects.update(lease_owner="0" * 32)
        return post(*args, **kwargs)

    monkeypatch.setattr(delivery.outbound, "post", lose)
    assert deliver(hook.pk) == 0
    assert WebhookMessage.objects.get().state == State.WAITING and not WebhookAttempt.objects.exists()


def test_while_secrets_change_both_sign_until_the_former_one_ends_or_its_time_is_over(
    new_webhook, receiver, opened
):
    again = services.rotate_secret(hook=new_webhook.row)
    opened("one")
    deliver(new_webhook.row.pk)
    assert receiver.verify(new_webhook.secret) == receiver.verify(again.secret)
    with pytest.raises(services.WebhookError, match="Two secrets are valid"):
        services.rotate_secret(hook=new_webhook.row)
    services.end_former_secret(hook=new_webhook.row)
    opened("two")
    deliver(new_webhook.row.pk)
    receiver.verify(again.secret)
    with pytest.raises(Exception, match="No matching signature"):
        receiver.verify(new_webhook.secret)
    services.rotate_secret(hook=new_webhook.row)
    Webhook.objects.update(former_until=timezone.now() - timedelta(seconds=1))
    opened("three")
    deliver(new_webhook.row.pk)
    assert " " not in receiver.calls[-1][0]["webhook-signature"]


def test_a_test_goes_out_whatever_was_asked_for(new_webhook, receiver):
    services.send_test(hook=new_webhook.row)
    assert deliver(new_webhook.row.pk) == 1
    assert receiver.verify(new_webhook.secret)["type"] == TEST


def test_a_message_is_sent_again_under_its_id_and_number(new_webhook, receiver, opened):
    opened("one", "two")
    deliver(new_webhook.row.pk)
    first = WebhookMessage.objects.get(number=1)
    services.resend(hook=new_webhook.row, message=first)
    assert deliver(new_webhook.row.pk) == 1
    assert receiver.calls[0][0]["webhook-id"] == receiver.calls[2][0]["webhook-id"]
    assert receiver.sequences == [1, 2, 1]
    with pytest.raises(services.WebhookError, match="waiting"):
        services.resend(hook=new_webhook.row, message=WebhookMessage(pk=first.pk + 1000))


def test_a_message_that_is_skipped_lets_the_next_one_go(hook, receiver, opened):
    receiver.statuses = [500]
    opened("one", "two")
    deliver(hook.pk)
    services.skip(hook=hook, message=WebhookMessage.objects.get(number=1))
    assert deliver(hook.pk) == 1 and receiver.sequences == [1, 2]


def test_paused_and_removed_ones_are_sent_nothing(hook, receiver, opened):
    opened("one")
    services.pause(hook=hook)
    assert deliver(hook.pk) == 0
    services.activate(hook=hook)
    services.remove(hook=hook)
    assert deliver(hook.pk) == 0 and not receiver.calls
    row = Webhook.objects.get()
    assert (row.address_sealed, row.secret_sealed) == ("", "")
    with pytest.raises(services.WebhookError, match="removed"):
        services.send_test(hook=hook)


@pytest.mark.parametrize(
    ("shape", "path"), [("slack", ("text",)), ("teams", ("attachments", 0, "content", "body", 0, "text"))]
)
def test_chats_get_a_sentence_in_their_shape_and_no_signature(owner, receiver, trusted, opened, shape, path):
    new_webhook = services.create_webhook(
        owner=owner, name="Chat", shape=shape, address=receiver.url, events=["stage.opened"]
    )
    opened("a<b>")
    assert new_webhook.secret == "" and deliver(new_webhook.row.pk) == 1
    found = receiver.bodies[0]
    for step in path:
        found = found[step]
    assert found.startswith("A stage was opened: project kiwi, stage a")
    assert ("<b>" in found) is (shape == "teams")  # Slack reads < and > as marks
    assert "webhook-signature" not in receiver.calls[0][0]


def test_events_go_by_e_mail_to_the_maker_alone_several_in_one(owner, project, opened, settings):
    settings.NOTICES_BY_EMAIL = True
    olga = project.memberships.get().user
    new_webhook = services.create_webhook(
        owner=owner, name="Mail", shape="email", address="olga@example.org", events=["stage.opened"], by=olga
    )
    opened("one", "two")
    deliver(new_webhook.row.pk)
    [letter] = mail.outbox
    assert letter.subject == "Mail: 2 events" and "stage one" in letter.body and "stage two" in letter.body
    opened("three")
    assert due_webhooks(timezone.now()) == []  # a pause of minutes between two e-mails
    with pytest.raises(services.WebhookError, match="your own address"):
        services.create_webhook(
            owner=owner, name="Mail", shape="email", address="x@example.org", events=["stage.opened"], by=olga
        )


@pytest.fixture
def mara(project, settings):
    """A manager with a webhook to her own mailbox, and one to a server."""
    settings.NOTICES_BY_EMAIL = True
    mara = User.objects.create_user("mara", "mara@example.org")
    set_role(project=project, user=mara, role="manager")
    return mara


def test_what_a_former_member_made_is_sent_nothing_more(
    owner, project, opened, mara, receiver, trusted, client
):
    given = {"owner": owner, "events": ["stage.opened"], "by": mara}
    made = [
        services.create_webhook(name=shape, shape=shape, address=to, **given)
        for shape, to in (("email", mara.email), ("standard", receiver.url))
    ]
    mailed, sent = (each.row for each in made)
    opened("before")
    remove_member(project=project, user=mara)
    opened("after")
    for hook in (mailed, sent):
        assert deliver(hook.pk) == 0
        hook.refresh_from_db()
        assert (hook.state, hook.messages.count()) == ("paused", 1)
        assert "mara, who is no longer a member" in hook.why_disabled
    assert not mail.outbox and not receiver.calls
    assert mailed.messages.get().state == State.GAVE_UP  # the private mailbox gets nothing of it, ever
    olga = project.memberships.get().user
    client.force_login(olga)
    assert "Made by a former member" in client.get("/desk/projects/kiwi/webhooks/").content.decode()
    with pytest.raises(services.WebhookError, match="former member"):
        services.activate(hook=mailed)
    client.post(f"/desk/projects/kiwi/webhooks/{sent.pk}/activate/")  # an owner takes it over
    sent.refresh_from_db()
    assert (sent.state, sent.created_by, deliver(sent.pk)) == ("active", olga, 1)


def test_rights_that_were_lost_in_another_way_are_noticed_when_something_is_sent(
    owner, project, opened, mara, subtests
):
    def lose_row():
        project.memberships.filter(user=mara).delete()

    def close():
        User.objects.filter(pk=mara.pk).update(is_active=False)

    for lose in (lose_row, close):
        with subtests.test(lose=lose.__name__), transaction.atomic():
            hook = services.create_webhook(
                owner=owner, name="M", shape="email", address=mara.email, events=["stage.opened"], by=mara
            ).row
            opened("one")
            lose()
            assert deliver(hook.pk) == 0 and not mail.outbox
            hook.refresh_from_db()
            assert hook.state == "paused"
            transaction.set_rollback(True)


def test_addresses_that_lead_into_a_network_are_refused_when_saved(owner, subtests):
    for address in [
        "http://example.org/hook",
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://100.64.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[fe80::1]/",
        "https://0.0.0.0/",
        "https://localhost/",
        "https://user:secret@example.org/",
        "ftp://example.org/",
    ]:
        with subtests.test(address=address):
            with pytest.raises(services.WebhookError, match="Address"):
                services.create_webhook(owner=owner, name="X", address=address, events=["stage.opened"])
            assert not Webhook.objects.exists()


def test_an_address_that_leads_elsewhere_by_now_is_refused_at_delivery(
    owner, receiver, opened, settings, monkeypatch
):
    import socket

    real = socket.getaddrinfo
    answers = ["93.184.216.34", "127.0.0.1"]

    def rebind(host, port, *args, **kwargs):
        if host != "rebind.example.org":
            return real(host, port, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    new_webhook = services.create_webhook(
        owner=owner, name="X", address="https://rebind.example.org/", events=["stage.opened"]
    )
    opened("one")
    assert deliver(new_webhook.row.pk) == 0
    assert "not a public address" in WebhookAttempt.objects.get().note
    assert not receiver.calls


def test_what_grows_is_told_step_by_step(hook, owner):
    Webhook.objects.update(events=["stage.progress"])
    told = [
        emit_step(owner, "stage.progress", "stage.progress:1", step, {"percent": step})
        for step in (1, 1, 3, 2)
    ]
    assert told == [1, 0, 1, 0]


def test_old_messages_go_and_waiting_ones_stay(hook, receiver, opened, settings):
    settings.LOGS_KEPT_DAYS = 90
    opened("one")
    deliver(hook.pk)
    WebhookMessage.objects.update(ended_at=timezone.now() - timedelta(days=91))
    opened("two")
    assert prune() == 1
    assert [each.state for each in WebhookMessage.objects.all()] == [State.WAITING]
