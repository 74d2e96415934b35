"""Check 52: what happens to HITs arrives in a queue, where a real client of the queue service reads it."""

import re
import threading
import time
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from tests.clients import ask, signed_headers, sqs_client
from tests.conformance.events import ALL, Poller, specification
from tests.conformance.protocol import (
    NOBODY,
    create_hit,
    get_hit,
    hit_properties,
    refused_request,
    type_properties,
    utc,
)


@pytest.fixture
def poller(requester):
    """Reads a queue that no other check uses."""
    return Poller(requester.queues())


@pytest.fixture
def told(client, poller):
    """Makes a HIT of a type of which the queue is told these events, or all."""

    def make(*event_types, **changes):
        properties = hit_properties(**changes)
        kind = {name: properties.pop(name) for name in type_properties() if name in properties}
        kind |= {name: properties.pop(name) for name in ["AutoApprovalDelayInSeconds"] if name in properties}
        type_id = client.create_hit_type(**kind)["HITTypeId"]
        client.update_notification_settings(
            HITTypeId=type_id, Notification=specification(poller.url, *event_types), Active=True
        )
        return client.create_hit_with_hit_type(HITTypeId=type_id, **properties)["HIT"]

    return make


def expire(client, hit):
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)


# Asking for notifications


def test_52_an_event_is_a_document_with_the_documented_members(client, worker, told, poller):
    before = time.time() - 2
    hit = told("AssignmentSubmitted")
    done = worker.do(hit["HITId"])
    [document] = poller.documents()
    assert set(document) == {"EventDocVersion", "EventDocId", "CustomerId", "Events"}
    assert document["EventDocVersion"] == "2014-08-15"
    assert re.fullmatch(r"[0-9a-f]{32}", document["EventDocId"])
    assert re.fullmatch(r"A[A-Z0-9]+", document["CustomerId"])
    [event] = document["Events"]
    moment = datetime.strptime(event.pop("EventTimestamp"), "%Y-%m-%dT%H:%M:%SZ")
    assert (moment - datetime(1970, 1, 1)).total_seconds() >= before
    assert event == {
        "EventType": "AssignmentSubmitted",
        "HITTypeId": hit["HITTypeId"],
        "HITId": hit["HITId"],
        "AssignmentId": done["assignment_id"],
    }


def test_52_notifications_are_switched_off_and_on_again(client, workers, told, poller):
    hit = told("AssignmentSubmitted", MaxAssignments=3)
    switch = {"HITTypeId": hit["HITTypeId"]}
    client.update_notification_settings(**switch, Active=False)
    workers[0].do(hit["HITId"])
    assert poller.names() == []
    client.update_notification_settings(**switch, Notification=specification(poller.url))
    workers[1].do(hit["HITId"])
    assert poller.names() == []
    client.update_notification_settings(**switch, Active=True)
    workers[2].do(hit["HITId"])
    assert poller.names() == ["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"]


def test_52_active_without_a_specification_is_refused(client):
    type_id = client.create_hit_type(**type_properties())["HITTypeId"]
    with refused_request("InvalidParameterValue", "no notification specification yet"):
        client.update_notification_settings(HITTypeId=type_id, Active=True)
    with refused_request("InvalidParameterValue", "give Notification, Active or both"):
        client.update_notification_settings(HITTypeId=type_id)
    with refused_request("HITTypeDoesNotExist"):
        client.update_notification_settings(HITTypeId=NOBODY, Active=False)


def test_52_what_cannot_be_followed_is_refused(client, poller, subtests):
    for changes, code, stem in [
        ({"Transport": "SNS", "Destination": "arn:aws:sns:x:1:t"}, "InvalidTransportEndpoint", "topic"),
        ({"Transport": "Email", "Destination": "me@example.org"}, "NotSupported", "by Email"),
        ({"Destination": "http://example.org/queue"}, "InvalidTransportEndpoint", "https URL"),
        ({"Destination": "arn:aws:sqs:us-east-1:1:queue"}, "InvalidTransportEndpoint", "https URL"),
        ({"Destination": "https://example.org/" + "q" * 250}, "InvalidTransportEndpoint", "255 characters"),
        ({"Destination": "https://user@example.org/q"}, "InvalidTransportEndpoint", "https URL"),
        ({"Version": "2020-01-01"}, "InvalidParameterValue", "Version"),
        ({"EventTypes": []}, "InvalidParameterValue", "EventTypes"),
        ({"EventTypes": ["Ping"]}, "InvalidParameterValue", "SendTestEventNotification"),
    ]:
        with subtests.test(changes=changes, code=code):
            type_id = client.create_hit_type(**type_properties())["HITTypeId"]
            with refused_request(code, stem):
                client.update_notification_settings(
                    HITTypeId=type_id, Notification=specification(poller.url, **changes)
                )
            with refused_request("InvalidParameterValue"):
                client.update_notification_settings(HITTypeId=type_id, Active=True)


def test_52_a_test_event_is_sent_at_once_whatever_the_filter(client, poller):
    type_id = client.create_hit_type(**type_properties())["HITTypeId"]
    client.update_notification_settings(
        HITTypeId=type_id, Notification=specification(poller.url, *ALL, *ALL), Active=True
    )
    assert poller.receive() == []
    for version, event_type in (("2006-05-05", "Ping"), ("2014-08-15", "AssignmentRejected")):
        client.send_test_event_notification(
            Notification=specification(poller.url, "HITExpired", Version=version),
            TestEventType=event_type,
        )
        [document] = poller.documents()
        assert document["EventDocVersion"] == version
        [event] = document["Events"]
        assert event["EventType"] == event_type
        assert ("AssignmentId" in event) == (event_type != "Ping")


# Which events


def test_52_every_step_of_an_assignment_is_told(client, workers, told, poller):
    hit = told(MaxAssignments=2)
    workers[0].give_back(workers[0].accept(hit["HITId"]))
    good, bad = (worker.do(hit["HITId"])["assignment_id"] for worker in workers[:2])
    client.approve_assignment(AssignmentId=good)
    client.reject_assignment(AssignmentId=bad, RequesterFeedback="empty")
    client.approve_assignment(AssignmentId=bad, OverrideRejection=True)
    events = poller.events()
    assert [event["EventType"] for event in events] == [
        *("HITCreated", "AssignmentAccepted", "AssignmentReturned"),
        *("AssignmentAccepted", "AssignmentSubmitted") * 2,
        *("HITReviewable", "AssignmentApproved", "AssignmentRejected", "AssignmentApproved"),
    ]
    assert [event.get("AssignmentId") for event in events[-3:]] == [good, bad, bad]
    assert {event["HITId"] for event in events} == {hit["HITId"]}


def test_52_time_alone_tells_of_abandonment_expiry_and_approval(client, workers, told, poller, advance):
    hit = told(MaxAssignments=2, LifetimeInSeconds=3600, AutoApprovalDelayInSeconds=7200)
    workers[0].do(hit["HITId"])
    taken = workers[1].accept(hit["HITId"])
    advance(9000)
    for _ in range(2):
        get_hit(client, hit)
        client.list_hits()
    events = poller.events()
    names = [event["EventType"] for event in events]
    assert sorted(names) == sorted(
        [
            *("HITCreated", "AssignmentAccepted", "AssignmentSubmitted", "AssignmentAccepted"),
            *("AssignmentAbandoned", "HITExpired", "HITReviewable", "AssignmentApproved"),
        ]
    )
    at = {event["EventType"]: event["EventTimestamp"] for event in events}
    expiration = f"{utc(hit['Expiration']):%Y-%m-%dT%H:%M:%SZ}"
    assert (at["HITExpired"], at["HITReviewable"]) == (expiration, expiration)
    deadline = datetime.fromisoformat(taken["deadline"])
    assert at["AssignmentAbandoned"] == f"{deadline:%Y-%m-%dT%H:%M:%SZ}"
    advance(100_000)
    client.list_hits()
    assert poller.names() == []


def test_52_a_hit_becomes_reviewable_once_each_time(client, workers, told, poller):
    hit = told("HITReviewable", "HITExtended", "HITExpired")
    workers[0].do(hit["HITId"])
    assert poller.names() == ["HITReviewable"]
    client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=2)
    assert poller.names() == ["HITExtended"]
    taken = workers[1].accept(hit["HITId"])
    expire(client, hit)
    assert poller.names() == ["HITExpired"]
    assert workers[1].submit(taken, answer="late").status == 200
    assert poller.names() == ["HITReviewable"]
    expire(client, hit)
    client.update_hit_review_status(HITId=hit["HITId"])
    client.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    assert poller.names() == []
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(hours=1))
    assert poller.names() == ["HITExtended"]
    expire(client, hit)
    assert poller.names() == ["HITExpired", "HITReviewable"]


def test_52_an_expired_hit_is_reviewable_when_its_last_worker_gives_up_and_a_full_one_is_already(
    client, workers, told, poller, advance
):
    hit = told("HITReviewable", MaxAssignments=2)
    taken = [worker.accept(hit["HITId"]) for worker in workers[:2]]
    expire(client, hit)
    workers[0].give_back(taken[0])
    assert poller.names() == []
    workers[1].give_back(taken[1])
    assert poller.names() == ["HITReviewable"]
    full = told("HITReviewable", "HITExpired", LifetimeInSeconds=600)
    workers[0].do(full["HITId"])
    assert poller.names() == ["HITReviewable"]
    advance(601)
    client.list_reviewable_hits()
    assert poller.names() == ["HITExpired"]


def test_52_deletion_is_told_by_hand_and_by_time(client, told, poller, advance):
    by_hand, by_time = told("HITDisposed"), told("HITDisposed")
    expire(client, by_hand)
    client.delete_hit(HITId=by_hand["HITId"])
    assert [event["HITId"] for event in poller.events()] == [by_hand["HITId"]]
    advance(121 * 86_400)
    with pytest.raises(ClientError):
        client.delete_hit(HITId=by_time["HITId"])
    assert [event["HITId"] for event in poller.events()] == [by_time["HITId"]]


def test_52_hits_that_are_there_already_are_told_of_from_now_on(client, poller, advance):
    early = create_hit(client, LifetimeInSeconds=60)
    late = create_hit(client, Title=early["Title"], LifetimeInSeconds=6000)
    assert late["HITTypeId"] == early["HITTypeId"]
    advance(61)
    client.update_notification_settings(
        HITTypeId=early["HITTypeId"], Notification=specification(poller.url), Active=True
    )
    advance(6000)
    client.list_hits()
    assert [(event["HITId"], event["EventType"]) for event in poller.events()] == [
        (late["HITId"], "HITExpired"),
        (late["HITId"], "HITReviewable"),
    ]


def test_52_a_refused_call_tells_nothing(client, worker, told, poller):
    hit = told("HITExtended", "AssignmentApproved", "HITDisposed")
    with refused_request("InvalidMaximumAssignmentsIncrease"):
        client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=9)
    with refused_request("InvalidHITState"):
        client.delete_hit(HITId=hit["HITId"])
    done = worker.do(hit["HITId"])
    client.approve_assignment(AssignmentId=done["assignment_id"])
    with refused_request("InvalidAssignmentState"):
        client.approve_assignment(AssignmentId=done["assignment_id"])
    assert poller.names() == ["AssignmentApproved"]


def test_52_an_event_can_come_twice_with_one_document_id(client, worker, told, poller, chaos):
    hit = told("AssignmentSubmitted", "HITReviewable")
    chaos(duplicate_events=True)
    worker.do(hit["HITId"])
    documents = poller.documents()
    assert len(documents) == 4
    assert sorted(document["Events"][0]["EventType"] for document in documents) == [
        *["AssignmentSubmitted"] * 2,
        *["HITReviewable"] * 2,
    ]
    assert len({document["EventDocId"] for document in documents}) == 2


# The queue


def test_52_a_received_message_is_hidden_until_its_time_is_over(client, poller, advance):
    client.send_test_event_notification(Notification=specification(poller.url), TestEventType="Ping")
    [first] = poller.receive(VisibilityTimeout=60, AttributeNames=["All"])
    assert first["Attributes"]["ApproximateReceiveCount"] == "1"
    assert poller.receive() == []
    advance(61)
    [again] = poller.receive(VisibilityTimeout=60, MessageSystemAttributeNames=["ApproximateReceiveCount"])
    assert again["Attributes"] == {"ApproximateReceiveCount": "2"}
    assert (again["MessageId"], again["Body"]) == (first["MessageId"], first["Body"])
    assert again["ReceiptHandle"] != first["ReceiptHandle"]
    poller.sqs.delete_message(QueueUrl=poller.url, ReceiptHandle=first["ReceiptHandle"])
    advance(61)
    [last] = poller.receive(VisibilityTimeout=0)
    poller.sqs.delete_message(QueueUrl=poller.url, ReceiptHandle=last["ReceiptHandle"])


def test_52_ten_pollers_share_a_queue_and_each_message_goes_to_one(requester, client, poller):
    for _ in range(30):
        client.send_test_event_notification(Notification=specification(poller.url), TestEventType="Ping")
    received, lock = [], threading.Lock()

    def poll():
        mine = Poller(requester.queues(), poller.url)
        while found := mine.receive(MaxNumberOfMessages=3, VisibilityTimeout=600):
            with lock:
                received.extend(message["MessageId"] for message in found)

    threads = [threading.Thread(target=poll) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(received) == len(set(received)) == 30


def test_52_a_poller_that_waits_gets_the_message_when_it_comes(client, poller, told):
    hit = told("HITExtended")
    started = time.monotonic()
    timer = threading.Timer(
        1,
        client.create_additional_assignments_for_hit,
        kwargs={"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 1},
    )
    timer.start()
    [message] = poller.receive(WaitTimeSeconds=20)
    assert "HITExtended" in message["Body"]
    assert 0.9 < time.monotonic() - started < 5
    timer.join()
    started = time.monotonic()
    assert poller.receive(WaitTimeSeconds=1) == []
    assert 0.2 < time.monotonic() - started < 5


def test_52_a_queue_is_its_requesters_alone(client, poller, new_requester):
    """And there is none that nobody named."""
    for call in (
        poller.receive,
        lambda: poller.sqs.delete_message(QueueUrl=poller.url, ReceiptHandle=f"{'0' * 32}.{'0' * 32}"),
    ):
        with pytest.raises(poller.sqs.exceptions.QueueDoesNotExist):
            call()
    client.send_test_event_notification(Notification=specification(poller.url), TestEventType="Ping")
    stranger = new_requester()
    with pytest.raises(ClientError) as caught:
        Poller(stranger.queues(), poller.url).receive()
    assert caught.value.response["Error"]["Code"] == "AWS.SimpleQueueService.NonExistentQueue"
    [message] = poller.receive(VisibilityTimeout=0)
    own = stranger.queues().create_queue(QueueName="theirs")["QueueUrl"]
    stranger.queues().delete_message(QueueUrl=own, ReceiptHandle=message["ReceiptHandle"])
    assert len(poller.receive()) == 1


def test_52_a_queue_of_this_marketplace_is_made_by_its_name(requester, client):
    sqs, name = requester.queues(), f"events-{uuid4().hex}"
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName=name)
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    assert url == sqs.create_queue(QueueName=name)["QueueUrl"]
    assert url == sqs.get_queue_url(QueueName=name)["QueueUrl"]
    assert url.endswith(f"/mturk/queues/{name}")
    assert Poller(sqs, url).receive() == []
    client.send_test_event_notification(Notification=specification(url), TestEventType="Ping")
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    said = sqs.delete_message_batch(
        QueueUrl=url,
        Entries=[
            {"Id": "good", "ReceiptHandle": message["ReceiptHandle"]},
            {"Id": "bad", "ReceiptHandle": "no handle"},
        ],
    )
    assert said["Successful"] == [{"Id": "good"}]
    assert [(entry["Id"], entry["Code"]) for entry in said["Failed"]] == [("bad", "ReceiptHandleIsInvalid")]


def test_52_queues_answer_at_the_root_and_at_their_own_address_in_any_region(requester, client):
    origin = requester.api_url.removesuffix("/mturk/api").rstrip("/")
    url = f"{origin}/mturk/queues/everywhere"
    keys = (requester.access_key, requester.secret)
    for endpoint in (f"{origin}/", requester.api_url, url):
        client.send_test_event_notification(Notification=specification(url), TestEventType="Ping")
        assert len(Poller(sqs_client(endpoint, *keys, region_name="eu-north-1"), url).documents()) == 1


def test_52_a_queue_has_no_address_under_a_name_that_is_not_the_servers(requester):
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "AmazonSQS.CreateQueue",
        "Host": "evil.example.org",
    }
    body = b'{"QueueName": "q"}'
    keys = (requester.access_key, requester.secret)
    signed = signed_headers(requester.api_url, *keys, body, headers, service="sqs")
    answer = ask("POST", requester.api_url, body, signed)
    assert "evil.example.org" not in answer.text
    assert answer.status == 200 or answer.json()["__type"] == "com.amazonaws.sqs#InvalidAddress"


def test_52_what_a_queue_does_not_do_is_refused_in_its_own_words(requester, subtests):
    for call, code in [
        (lambda sqs, url: sqs.send_message(QueueUrl=url, MessageBody="x"), "UnsupportedOperation"),
        (lambda sqs, url: sqs.purge_queue(QueueUrl=url), "UnsupportedOperation"),
        (lambda sqs, url: sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=11), "ValidationException"),
        (lambda sqs, url: sqs.receive_message(QueueUrl=url, WaitTimeSeconds=21), "ValidationException"),
        (lambda sqs, url: sqs.create_queue(QueueName="q", Attributes={"a": "b"}), "ValidationException"),
        (
            lambda sqs, url: sqs.delete_message(QueueUrl=url, ReceiptHandle="nonsense"),
            "ReceiptHandleIsInvalid",
        ),
    ]:
        with subtests.test(call=call, code=code):
            sqs = requester.queues()
            url = sqs.create_queue(QueueName="refusing")["QueueUrl"]
            with pytest.raises(ClientError) as caught:
                call(sqs, url)
            answer = caught.value.response
            assert answer["Error"]["Code"].removeprefix("AWS.SimpleQueueService.") == code
            assert len(answer["Error"]["Message"].split()) > 4
            assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_52_a_queue_opens_to_its_secret_only(requester):
    thief = sqs_client(requester.api_url, requester.access_key, "not the secret")
    with pytest.raises(ClientError) as caught:
        thief.get_queue_url(QueueName="q")
    assert caught.value.response["Error"]["Code"] == "InvalidSignatureException"
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.CreateQueue"}
    body = b'{"QueueName": "q"}'
    keys = (requester.access_key, requester.secret)
    for_another_service = signed_headers(requester.api_url, *keys, body, headers)
    answer = ask("POST", requester.api_url, body, for_another_service)
    assert (answer.status, answer.json()["__type"]) == (400, "InvalidSignatureException")
    assert "'sqs'" in answer.json()["message"]
