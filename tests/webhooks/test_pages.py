"""Pages of webhooks at both sites: made, shown once, tested, sent again, exchanged, removed."""

import re

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook as Verifier

from core.origin import Owner
from core.projects.services import record, set_role
from core.webhooks.delivery import deliver
from core.webhooks.models import Webhook, WebhookMessage
from marketplace.accounts import people
from marketplace.models import Requester


@pytest.fixture(params=["desk", "requester"])
def site(request, project):
    """One of the sites: its namespace, the slug of its addresses, a type of events, and a browser."""
    olga = project.memberships.get().user
    browser = Client()
    browser.force_login(olga)
    if request.param == "desk":
        return "desk", "kiwi", "stage.opened", browser
    lab, _ = people.create_requester(name="Lab", fee_profile="none-1", owner=olga)
    return "requester", lab.customer_id, "assignment.submitted", browser


def make(site, receiver, **fields) -> Webhook:
    """A webhook, made with the form."""
    namespace, slug, event, browser = site
    form = {"name": "Our bot", "shape": "standard", "address": receiver.url, "events": [event]} | fields
    answer = browser.post(reverse(f"{namespace}:webhooks", args=[slug]), form)
    assert answer.status_code == 302, answer.content.decode()
    return Webhook.objects.latest("pk")


def test_a_webhook_is_made_its_secret_shown_once_and_a_test_arrives(site, receiver, trusted):
    namespace, slug, event, browser = site
    form = {"name": "Bot", "shape": "standard", "address": "https://10.0.0.1/in", "events": [event]}
    answer = browser.post(reverse(f"{namespace}:webhooks", args=[slug]), form)
    assert answer.status_code == 422 and "not a public address" in answer.content.decode()
    answer = browser.post(reverse(f"{namespace}:webhooks", args=[slug]), form | {"events": ["x.y"]})
    assert answer.status_code == 422 and not Webhook.objects.exists()
    hook = make(site, receiver)
    page = reverse(f"{namespace}:webhook", args=[slug, hook.pk])
    secret = re.search(r"whsec_[A-Za-z0-9+/=]+", browser.get(page).content.decode()).group()
    assert "whsec_" not in browser.get(page).content.decode()
    browser.post(reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, "test"]))
    deliver(hook.pk)
    headers, body = receiver.calls[0]
    assert Verifier(secret).verify(body, headers)["type"] == "webhook.test"
    shown = browser.get(page).content.decode()
    assert "webhook.test" in shown and "noted" in shown and receiver.url in shown
    listed = browser.get(reverse(f"{namespace}:webhooks", args=[slug])).content.decode()
    assert "Our bot" in listed and "127.0.0.1" in listed


def test_a_message_is_sent_again_from_its_page_and_everything_else_can_be_done_there(site, receiver, trusted):
    namespace, slug, event, browser = site
    hook = make(site, receiver)
    message = WebhookMessage.objects.create(webhook=hook, type=event, at=hook.created_at, data={})
    deliver(hook.pk)
    again = reverse(f"{namespace}:webhook_message", args=[slug, hook.pk, message.pk])
    browser.post(again, {"action": "resend"})
    deliver(hook.pk)
    assert receiver.sequences == [1, 1]
    for action in ("pause", "activate", "rotate", "end-former-secret"):
        browser.post(reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, action]))
    change = {"name": "Other", "address": "", "events": [event]}
    assert browser.post(reverse(f"{namespace}:webhook", args=[slug, hook.pk]), change).status_code == 302
    assert Webhook.objects.get(pk=hook.pk).name == "Other"
    unknown = reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, "explode"])
    assert browser.post(unknown).status_code == 404
    browser.post(reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, "remove"]))
    assert browser.get(reverse(f"{namespace}:webhook", args=[slug, hook.pk])).status_code == 404


def test_viewers_and_other_projects_see_nothing_of_it(site, receiver, trusted, project):
    namespace, slug, _, _ = site
    hook = make(site, receiver)
    vera = User.objects.create_user("vera")
    set_role(project=project, user=vera, role="viewer")
    browser = Client()
    browser.force_login(vera)
    assert browser.get(reverse(f"{namespace}:webhook", args=[slug, hook.pk])).status_code == 404
    other = Webhook.objects.create(
        owner_kind=hook.owner_kind, owner_id=hook.owner_id + 1, name="x", host="x",
        due_at=hook.due_at, created_at=hook.created_at,
    )  # fmt: skip
    _, slug, _, mine = site
    assert mine.get(reverse(f"{namespace}:webhook", args=[slug, other.pk])).status_code == 404


def test_lists_ask_as_much_whatever_their_length(project, receiver, trusted, django_assert_num_queries):
    olga = project.memberships.get().user
    browser = Client()
    browser.force_login(olga)
    site = ("desk", "kiwi", "stage.opened", browser)
    hook = make(site, receiver)
    for number in range(3):
        record(project=project, action="stage.opened", subject=f"s{number}")
    deliver(hook.pk)
    page = reverse("desk:webhook", args=["kiwi", hook.pk])
    browser.get(page)
    browser.get(page)  # the sidebar is counted
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        browser.get(page)
    asked = len(few)
    for number in range(10):
        record(project=project, action="stage.opened", subject=f"t{number}")
    deliver(hook.pk)
    browser.get(page)
    with django_assert_num_queries(asked):
        browser.get(page)


def test_a_requesters_webhook_hears_of_work_and_of_hits_that_became_reviewable(requester_hook, receiver):
    lab, hook = requester_hook
    from tests.site import world

    group = world.make_group(lab)
    hit = world.post(group)
    worker = world.make_worker("ada")
    holding = world.do(worker, hit)
    deliver(hook.pk)
    assert [body["type"] for body in receiver.bodies] == ["assignment.submitted", "hit.reviewable"]
    assert receiver.bodies[0]["data"] == {"hit": hit.hit_id, "assignment": holding.assignment_id}
    assert worker.worker_id not in str(receiver.bodies)


@pytest.fixture
def requester_hook(db, receiver, trusted):
    from core.webhooks.services import create_webhook
    from tests.site import world

    lab: Requester = world.make_requester()
    new_webhook = create_webhook(
        owner=Owner(Owner.Kind.REQUESTER, lab.pk),
        name="Bot",
        address=receiver.url,
        events=["assignment.submitted", "hit.reviewable", "balance.low"],
    )
    return lab, new_webhook.row


def test_a_balance_that_runs_low_is_told_once_for_each_deposit(requester_hook, receiver):
    from core.webhooks.events import tell_steps
    from marketplace.money.deposits import deposit

    lab, _ = requester_hook
    assert tell_steps(timezone.now()) == 0
    Requester.objects.filter(pk=lab.pk).update(
        available_cents=1, held_cents=lab.available_cents + lab.held_cents - 1
    )
    assert (tell_steps(timezone.now()), tell_steps(timezone.now())) == (1, 0)
    lab.refresh_from_db()
    deposit(requester=lab, cents=50_00)
    assert tell_steps(timezone.now()) == 0


def test_what_leads_elsewhere_and_secrets_ask_who_it_is(site, receiver, trusted):
    namespace, slug, event, browser = site
    with time_machine.travel(timezone.now(), tick=False) as clock:
        hook = make(site, receiver)
        clock.shift(16 * 60)
        one = reverse(f"{namespace}:webhook", args=[slug, hook.pk])
        form = {"name": "Other", "address": receiver.url, "events": [event]}
        posts = [(reverse(f"{namespace}:webhooks", args=[slug]), form | {"shape": "standard"}), (one, form)]
        for action in ("rotate", "end-former-secret", "remove"):
            posts.append((reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, action]), {}))
        for path, sent in posts:
            assert browser.post(path, sent)["Location"].startswith("/accounts/confirm/?next="), path
        assert Webhook.objects.get().name == "Our bot" and browser.get(one).status_code == 200
        browser.post(reverse(f"{namespace}:webhook_action", args=[slug, hook.pk, "pause"]))
        assert Webhook.objects.get().state == "paused"
