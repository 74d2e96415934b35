"""Topics by boto3's SNS client: subscriptions that endpoints confirm, signed messages, and HITs' events."""

import base64
import json
import uuid

import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from tests.clients import ask, external_question, sns_client
from tests.conformance.protocol import NOBODY, refused_request, type_properties
from tests.receiver import Receiver

SIGNED = {
    "Notification": ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
    "SubscriptionConfirmation": [
        *("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
    ],
}
SIGNED["UnsubscribeConfirmation"] = SIGNED["SubscriptionConfirmation"]


@pytest.fixture(scope="module")
def receiver():
    with Receiver() as running:
        yield running


@pytest.fixture
def sns(requester):
    return requester.topics()


@pytest.fixture
def deliver(manage, advance):
    """Send what is due; `later` moves the clock on first."""

    def send(later: int = 0) -> int:
        if later:
            advance(later)
        return manage("topic", "deliver")["delivered"]

    send()  # what other checks left
    return send


@pytest.fixture
def topic(sns):
    return sns.create_topic(Name=f"hits-{uuid.uuid4().hex[:8]}")["TopicArn"]


@pytest.fixture
def subscribed(sns, topic, receiver, deliver):
    """A topic with one confirmed endpoint; its path is new."""
    path = f"/{uuid.uuid4().hex}"
    sns.subscribe(TopicArn=topic, Protocol="http", Endpoint=receiver.url + path)
    deliver()
    asked = messages(receiver, path)[0]
    sns.confirm_subscription(TopicArn=topic, Token=asked["Token"])
    return topic, path


def messages(receiver, path):
    return [json.loads(each.body) for each in receiver.posts if each.path == path]


def verify(message):
    """What every validator does: fetch the certificate, put the text together, check the signature."""
    certificate = x509.load_pem_x509_certificate(ask("GET", message["SigningCertURL"]).body)
    assert message["SigningCertURL"].endswith(".pem")
    text = "".join(f"{name}\n{message[name]}\n" for name in SIGNED[message["Type"]] if name in message)
    algorithm = {"1": hashes.SHA1, "2": hashes.SHA256}[message["SignatureVersion"]]()
    signature = base64.b64decode(message["Signature"])
    certificate.public_key().verify(signature, text.encode(), padding.PKCS1v15(), algorithm)


def test_a_topic_is_made_once_listed_described_and_deleted(sns, requester):
    name = f"study_{uuid.uuid4().hex[:8]}"
    arn = sns.create_topic(Name=name)["TopicArn"]
    assert arn.split(":")[:4] == ["arn", "aws", "sns", "us-east-1"] and arn.endswith(f":{name}")
    assert len(arn.split(":")[4]) == 12
    assert sns.create_topic(Name=name)["TopicArn"] == arn
    pages = sns.get_paginator("list_topics").paginate()
    assert arn in [each["TopicArn"] for page in pages for each in page["Topics"]]
    sns.set_topic_attributes(TopicArn=arn, AttributeName="DisplayName", AttributeValue="Study")
    found = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
    assert (found["TopicArn"], found["DisplayName"], found["SubscriptionsConfirmed"]) == (arn, "Study", "0")
    assert json.loads(found["Policy"])["Statement"]
    sns.delete_topic(TopicArn=arn)
    sns.delete_topic(TopicArn=arn)
    with pytest.raises(sns.exceptions.NotFoundException):
        sns.get_topic_attributes(TopicArn=arn)


def test_an_endpoint_confirms_by_the_token_or_by_the_address_in_the_message(sns, topic, receiver, deliver):
    for by_address in (False, True):
        path = f"/{uuid.uuid4().hex}"
        said = sns.subscribe(TopicArn=topic, Protocol="http", Endpoint=receiver.url + path)
        assert said["SubscriptionArn"] == "pending confirmation"
        sns.publish(TopicArn=topic, Message="too early")
        deliver()
        [asked] = messages(receiver, path)
        [post] = [each for each in receiver.posts if each.path == path]
        assert post.headers["x-amz-sns-message-type"] == asked["Type"] == "SubscriptionConfirmation"
        assert post.headers["x-amz-sns-topic-arn"] == asked["TopicArn"] == topic
        verify(asked)
        [listed] = [
            each
            for each in sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
            if each["Endpoint"].endswith(path)
        ]
        assert listed["SubscriptionArn"] == "PendingConfirmation"
        if by_address:
            answer = ask("GET", asked["SubscribeURL"])
            assert answer.status == 200 and "ConfirmSubscriptionResponse" in answer.text
        else:
            with pytest.raises(sns.exceptions.InvalidParameterException):
                sns.confirm_subscription(TopicArn=topic, Token=asked["Token"][::-1])
            sns.confirm_subscription(TopicArn=topic, Token=asked["Token"])
        sns.publish(TopicArn=topic, Message="now")
        deliver()
        assert [each["Message"] for each in messages(receiver, path)[1:]] == ["now"]
    everything = sns.list_subscriptions()["Subscriptions"]
    assert {
        each["SubscriptionArn"].startswith(topic) for each in everything if each["TopicArn"] == topic
    } == {True}


def test_messages_are_signed_as_validators_check_them(sns, receiver, subscribed, deliver, subtests):
    for version in ["1", "2"]:
        with subtests.test(version=version):
            topic, path = subscribed
            sns.set_topic_attributes(TopicArn=topic, AttributeName="SignatureVersion", AttributeValue=version)
            message_id = sns.publish(TopicArn=topic, Message="Grüße\n€ <b>", Subject="Hello")["MessageId"]
            deliver()
            message = messages(receiver, path)[-1]
            assert (message["Type"], message["MessageId"], message["Subject"]) == (
                "Notification",
                message_id,
                "Hello",
            )
            assert (message["Message"], message["SignatureVersion"]) == ("Grüße\n€ <b>", version)
            verify(message)
            message["Message"] = "Something else"
            with pytest.raises(InvalidSignature):
                verify(message)


def test_events_of_hits_go_to_a_topic(requester, worker, sns, receiver, subscribed, deliver):
    topic, path = subscribed
    client = requester.client
    kind = client.create_hit_type(**type_properties())["HITTypeId"]
    client.update_notification_settings(
        HITTypeId=kind,
        Notification={
            "Destination": topic,
            "Transport": "SNS",
            "Version": "2006-05-05",
            "EventTypes": ["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"],
        },
        Active=True,
    )
    hit = client.create_hit_with_hit_type(
        HITTypeId=kind, LifetimeInSeconds=3600, Question=external_question()
    )["HIT"]
    taken = worker.do(hit["HITId"])
    deliver()
    notices = messages(receiver, path)[1:]
    for each in notices:
        verify(each)
    documents = [json.loads(each["Message"]) for each in notices]
    events = [event for each in documents for event in each["Events"]]
    assert [each["EventType"] for each in events] == [
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "HITReviewable",
    ]
    assert {each["HITId"] for each in events} == {hit["HITId"]}
    assert events[1]["AssignmentId"] == taken["assignment_id"]
    assert documents[0]["EventDocVersion"] == "2006-05-05" and documents[0]["CustomerId"]


def test_a_test_event_goes_to_a_topic(client, receiver, subscribed, deliver):
    topic, path = subscribed
    client.send_test_event_notification(
        Notification={
            "Destination": topic,
            "Transport": "SNS",
            "Version": "2014-08-15",
            "EventTypes": ["AssignmentSubmitted"],
        },
        TestEventType="Ping",
    )
    deliver()
    [event] = json.loads(messages(receiver, path)[-1]["Message"])["Events"]
    assert event["EventType"] == "Ping"


def test_a_topic_of_nobody_is_no_destination(client, subtests):
    for destination in [f"arn:aws:sns:us-east-1:123456789012:{NOBODY}", "https://example.org/"]:
        with subtests.test(destination=destination):
            kind = client.create_hit_type(**type_properties())["HITTypeId"]
            with refused_request("InvalidTransportEndpoint", "CreateTopic"):
                client.update_notification_settings(
                    HITTypeId=kind,
                    Notification={
                        "Destination": destination,
                        "Transport": "SNS",
                        "Version": "2006-05-05",
                        "EventTypes": ["HITReviewable"],
                    },
                )


def test_what_an_endpoint_does_not_take_comes_again_and_is_logged(
    requester, manage, sns, receiver, subscribed, deliver
):
    topic, path = subscribed
    receiver.statuses[:] = [503, 500]
    sns.publish(TopicArn=topic, Message="again")
    assert deliver() == 0
    [waiting] = manage("topic", "deliveries", requester.name, "--state", "waiting")
    assert (waiting["attempts"], waiting["status"]) == (1, 503) and waiting["next_attempt_at"]
    assert deliver() == 0  # not yet
    assert deliver(6) == 0
    assert deliver(30) == 1
    ids = [each["MessageId"] for each in messages(receiver, path) if each["Message"] == "again"]
    assert len(ids) == 3 and len(set(ids)) == 1
    last = manage("topic", "deliveries", requester.name)[0]
    assert (last["state"], last["attempts"], last["status"]) == ("delivered", 3, 200)


def test_an_endpoint_that_refuses_a_message_gets_it_once(
    requester, manage, sns, receiver, subscribed, deliver
):
    topic, path = subscribed
    receiver.statuses[:] = [404]
    sns.publish(TopicArn=topic, Message="refused")
    deliver()
    deliver(30)
    assert [each["Message"] for each in messages(receiver, path)].count("refused") == 1
    [failed] = manage("topic", "deliveries", requester.name, "--state", "failed")
    assert failed["status"] == 404


def test_unsubscribing_ends_messages_and_can_be_taken_back(sns, receiver, subscribed, deliver):
    topic, path = subscribed
    sns.publish(TopicArn=topic, Message="first")
    deliver()
    answer = ask("GET", messages(receiver, path)[-1]["UnsubscribeURL"])
    assert answer.status == 200
    assert sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"] == []
    sns.publish(TopicArn=topic, Message="unheard")
    deliver()
    ended = messages(receiver, path)[-1]
    assert ended["Type"] == "UnsubscribeConfirmation"
    verify(ended)
    assert ask("GET", ended["SubscribeURL"]).status == 200
    [back] = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    sns.unsubscribe(SubscriptionArn=back["SubscriptionArn"])
    sns.unsubscribe(SubscriptionArn=back["SubscriptionArn"])


def test_a_queue_is_subscribed_without_being_asked(requester, sns, topic):
    queues = requester.queues()
    queue = queues.create_queue(QueueName=f"of-topic-{uuid.uuid4().hex[:8]}")["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    made = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)["SubscriptionArn"]
    assert made.startswith(topic)
    sns.publish(TopicArn=topic, Message="enveloped")
    sns.set_subscription_attributes(
        SubscriptionArn=made, AttributeName="RawMessageDelivery", AttributeValue="true"
    )
    sns.publish(TopicArn=topic, Message="raw", MessageStructure="string")
    sns.publish(
        TopicArn=topic, Message=json.dumps({"default": "d", "sqs": "for queues"}), MessageStructure="json"
    )
    bodies = [
        each["Body"]
        for each in queues.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    ]
    assert json.loads(bodies[0])["Message"] == "enveloped"
    verify(json.loads(bodies[0]))
    assert bodies[1:] == ["raw", "for queues"]
    assert queue in queues.list_queues()["QueueUrls"]


def test_where_nothing_is_sent_cannot_be_subscribed(sns, topic, subtests):
    for protocol, endpoint in [
        ("https", "https://not-allowed.example.org/hook"),
        ("http", "http://127.0.0.2:9/"),
        ("https", "https://169.254.169.254/"),
        ("https", "https://user:word@127.0.0.1/"),
        ("https", "http://127.0.0.1/"),
        ("email", "somebody@example.org"),
        ("sqs", "arn:aws:sqs:us-east-1:123456789012:nobodys"),
    ]:
        refuses = pytest.raises(sns.exceptions.InvalidParameterException)
        with subtests.test(protocol=protocol, endpoint=endpoint), refuses:
            sns.subscribe(TopicArn=topic, Protocol=protocol, Endpoint=endpoint)


def test_a_topic_belongs_to_one_requester(sns, topic, new_requester):
    other = new_requester().topics()
    for call in (
        lambda: other.publish(TopicArn=topic, Message="x"),
        lambda: other.get_topic_attributes(TopicArn=topic),
        lambda: other.list_subscriptions_by_topic(TopicArn=topic),
    ):
        with pytest.raises(ClientError, match="NotFound"):
            call()
    other.delete_topic(TopicArn=topic)
    assert sns.get_topic_attributes(TopicArn=topic)["Attributes"]["TopicArn"] == topic


def test_wrong_keys_and_unknown_actions_are_errors_of_the_service(market, requester, sns):
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        sns_client(requester.api_url, requester.access_key, "wrong").list_topics()
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        sns_client(requester.api_url, "DSTLNOBODY", "wrong").list_topics()
    with pytest.raises(ClientError, match="InvalidAction"):
        sns.list_platform_applications()
    assert ask("GET", f"{market.site_url}/mturk/sns/?Action=ListTopics").status == 403
    assert ask("GET", f"{market.site_url}/mturk/sns/SimpleNotificationService-{'0' * 32}.pem").status == 400
