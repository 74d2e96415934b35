"""The page of topics: subscriptions, the log of messages, sending again."""

import uuid
from datetime import timedelta

import pytest
from django.urls import reverse

from marketplace import clock
from marketplace.heritage.models import Subscription, Topic, TopicDelivery

State = TopicDelivery.State


@pytest.fixture
def delivery(lab):
    now = clock.now()
    topic = Topic.objects.create(requester=lab, name="work", arn="arn:aws:sns:x:1:work", created_at=now)
    subscription = Subscription.objects.create(
        topic=topic,
        arn=f"{topic.arn}:1",
        protocol="https",
        endpoint="https://lab.example/in?<b>",
        created_at=now,
        confirmed_at=now,
    )
    return TopicDelivery.objects.create(
        subscription=subscription,
        message_id=uuid.uuid4(),
        document={"Type": "Notification", "Message": "m"},
        state=State.FAILED,
        attempts=3,
        status=410,
        error="The endpoint answered 410.",
        created_at=now,
        ended_at=now,
    )


def address(lab, name="topics", *parts):
    return reverse(f"requester:{name}", args=[lab.customer_id, *parts])


def test_subscriptions_and_messages_are_listed_with_their_state(lab, delivery, as_owner):
    page = as_owner.get(address(lab)).content.decode()
    for words in ("work", "Confirmed", "https://lab.example/in?&lt;b&gt;", "The endpoint answered 410."):
        assert words in page
    assert "No matches" in as_owner.get(address(lab), {"state": "waiting"}).content.decode()


def test_a_message_is_sent_again_once_while_it_waits(lab, delivery, as_owner):
    resend = address(lab, "topic_resend", delivery.pk)
    for _ in range(2):
        as_owner.post(resend)
    waiting = TopicDelivery.objects.get(state=State.WAITING)
    assert (waiting.message_id, waiting.document) == (delivery.message_id, delivery.document)
    TopicDelivery.objects.filter(pk=waiting.pk).update(due_at=clock.now() + timedelta(hours=1))
    as_owner.post(address(lab, "topic_resend", waiting.pk))
    waiting.refresh_from_db()
    assert waiting.due_at <= clock.now()
    assert TopicDelivery.objects.count() == 2


def test_nothing_is_sent_to_a_subscription_that_has_ended(lab, delivery, as_owner):
    Subscription.objects.update(ended_at=clock.now())
    answer = as_owner.post(address(lab, "topic_resend", delivery.pk), follow=True)
    assert "This subscription has ended" in answer.content.decode()
    assert TopicDelivery.objects.count() == 1


def test_another_requester_sees_none_of_it(lab, delivery, stranger):
    assert stranger.post(address(lab, "topic_resend", delivery.pk)).status_code == 404
