"""Amazon's SDKs for JavaScript, versions 2 and 3: scripts for Node with HITs, layouts, topics and queues."""

import json
import re
import time
import uuid

import pytest

from tests.clients import external_question
from tests.clients_of_others.running import RaisedError
from tests.receiver import Receiver

PROPERTIES = {
    "Title": "Ein Wort für ein Bild",
    "Description": "One picture, one word.",
    "Reward": "0.25",
    "LifetimeInSeconds": 3600,
    "AssignmentDurationInSeconds": 600,
}
BOTH = pytest.mark.parametrize("sdk", ["v2", "v3"])


@pytest.fixture
def node(outside):
    with outside.node("client.js") as side:
        yield side


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


def refusal(raised):
    return json.loads(str(raised.value))


@BOTH
def test_publish_wait_approve_and_delete(node, worker, sdk):
    hit = node(sdk, "mturk", "CreateHIT", {**PROPERTIES, "Question": external_question()})["HIT"]
    assert (hit["Title"], hit["HITStatus"], hit["Reward"]) == (PROPERTIES["Title"], "Assignable", "0.25")
    assert re.match(r"\d{4}-\d\d-\d\dT", hit["Expiration"])  # a Date of theirs
    taken = worker.do(hit["HITId"], word="Haus")
    for _ in range(50):  # as scripts wait: there is no waiter in any SDK
        if node(sdk, "mturk", "GetHIT", {"HITId": hit["HITId"]})["HIT"]["HITStatus"] == "Reviewable":
            break
        time.sleep(0.1)
    [work] = node(sdk, "mturk", "ListAssignmentsForHIT", {"HITId": hit["HITId"]})["Assignments"]
    assert "<FreeText>Haus</FreeText>" in work["Answer"]
    node(sdk, "mturk", "ApproveAssignment", {"AssignmentId": taken["assignment_id"]})
    node(sdk, "mturk", "DeleteHIT", {"HITId": hit["HITId"]})
    with pytest.raises(RaisedError) as raised:
        node(sdk, "mturk", "DeleteHIT", {"HITId": hit["HITId"]})
    said = refusal(raised)
    assert said["name"] == "RequestError" and "'Disposed'" in said["message"]


@BOTH
def test_a_layout_of_the_website_is_filled(node, server, requester, worker, tmp_path, sdk):
    (tmp_path / "page.html").write_text("<p>${word}</p><input name='a'>", encoding="utf-8")
    layout = server.console(
        "marketplace", "layout", "create", requester.name, str(tmp_path / "page.html"), "--json"
    )
    wanted = {**PROPERTIES, "HITLayoutId": layout["layout_id"]}
    filled = {"HITLayoutParameters": [{"Name": "word", "Value": "Häuser & <b>Höfe</b>"}]}
    hit = node(sdk, "mturk", "CreateHIT", {**wanted, **filled})["HIT"]
    assert hit["HITLayoutId"] == layout["layout_id"]
    assert "<p>Häuser & <b>Höfe</b></p>" in hit["Question"]
    with pytest.raises(RaisedError, match="Missing parameter names: word"):
        node(sdk, "mturk", "CreateHIT", wanted)


@BOTH
def test_an_endpoint_confirms_and_hears_of_work(node, server, worker, receiver, sdk):
    topic = node(sdk, "sns", "CreateTopic", {"Name": f"js-{uuid.uuid4().hex[:8]}"})["TopicArn"]
    asked = {"TopicArn": topic, "Protocol": "http", "Endpoint": f"{receiver.url}/events"}
    assert node(sdk, "sns", "Subscribe", asked)["SubscriptionArn"] == "pending confirmation"
    server.console("marketplace", "topic", "deliver", "--json")
    token = json.loads(receiver.posts[0].body)["Token"]
    arn = node(sdk, "sns", "ConfirmSubscription", {"TopicArn": topic, "Token": token})["SubscriptionArn"]
    listed = node(sdk, "sns", "ListSubscriptionsByTopic", {"TopicArn": topic})["Subscriptions"]
    assert [each["SubscriptionArn"] for each in listed] == [arn]
    attributes = node(sdk, "sns", "GetTopicAttributes", {"TopicArn": topic})["Attributes"]
    assert attributes["SubscriptionsConfirmed"] == "1"

    hit = node(sdk, "mturk", "CreateHIT", {**PROPERTIES, "Question": external_question()})["HIT"]
    node(
        sdk,
        "mturk",
        "UpdateNotificationSettings",
        {
            "HITTypeId": hit["HITTypeId"],
            "Notification": {
                "Destination": topic,
                "Transport": "SNS",
                "Version": "2006-05-05",
                "EventTypes": ["AssignmentSubmitted"],
            },
            "Active": True,
        },
    )
    worker.do(hit["HITId"])
    server.console("marketplace", "topic", "deliver", "--json")
    message = json.loads(receiver.posts[-1].body)
    [event] = json.loads(message["Message"])["Events"]
    assert (event["EventType"], event["HITId"]) == ("AssignmentSubmitted", hit["HITId"])
    node(sdk, "sns", "Unsubscribe", {"SubscriptionArn": arn})
    node(sdk, "sns", "DeleteTopic", {"TopicArn": topic})
    with pytest.raises(RaisedError, match="NotFound"):
        node(sdk, "sns", "GetTopicAttributes", {"TopicArn": topic})


@BOTH
def test_a_queue_is_read(node, sdk):
    queue = node(sdk, "sqs", "CreateQueue", {"QueueName": f"js-{uuid.uuid4().hex[:8]}"})["QueueUrl"]
    wanted = {
        "Notification": {
            "Destination": queue,
            "Transport": "SQS",
            "Version": "2014-08-15",
            "EventTypes": ["HITReviewable"],
        },
        "TestEventType": "HITReviewable",
    }
    node(sdk, "mturk", "SendTestEventNotification", wanted)
    [message] = node(sdk, "sqs", "ReceiveMessage", {"QueueUrl": queue})["Messages"]
    assert json.loads(message["Body"])["Events"][0]["EventType"] == "HITReviewable"
    node(sdk, "sqs", "DeleteMessage", {"QueueUrl": queue, "ReceiptHandle": message["ReceiptHandle"]})
    assert not node(sdk, "sqs", "ReceiveMessage", {"QueueUrl": queue, "VisibilityTimeout": 0}).get("Messages")


def test_a_paginator_follows_every_page(node):
    made = {
        node("v3", "mturk", "CreateHIT", {**PROPERTIES, "Question": external_question()})["HIT"]["HITId"]
        for _ in range(7)
    }
    pages = node("v3", "mturk", "pages", {"paginator": "paginateListHITs", "MaxResults": 3})
    assert {hit["HITId"] for page in pages for hit in page.get("HITs", [])} == made
