"""A poller of notifications, as people write it: receive, read, delete."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

ALL = [
    "AssignmentAccepted",
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "AssignmentRejected",
    "AssignmentApproved",
    "HITCreated",
    "HITExpired",
    "HITReviewable",
    "HITExtended",
    "HITDisposed",
]


def specification(url: str, *event_types: str, **changes: Any) -> dict[str, Any]:
    """A NotificationSpecification for a queue; all events unless some are named."""
    return {
        "Destination": url,
        "Transport": "SQS",
        "Version": "2014-08-15",
        "EventTypes": list(event_types) or ALL,
        **changes,
    }


@dataclass
class Poller:
    """Reads one queue."""

    sqs: Any
    url: str = field(
        default_factory=lambda: f"https://sqs.us-east-1.amazonaws.com/123456789012/q-{uuid4().hex}"
    )

    def receive(self, **options: Any) -> list[dict[str, Any]]:
        """Messages of one call, as they come; each with the checksum that it says."""
        found: list[dict[str, Any]] = self.sqs.receive_message(
            QueueUrl=self.url, **{"MaxNumberOfMessages": 10, **options}
        ).get("Messages", [])
        for message in found:
            assert hashlib.md5(message["Body"].encode()).hexdigest() == message["MD5OfBody"]
        return found

    def documents(self) -> list[dict[str, Any]]:
        """All messages that are there, deleted from the queue."""
        documents = []
        while found := self.receive():
            for message in found:
                documents.append(json.loads(message["Body"]))
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return documents

    def events(self) -> list[dict[str, Any]]:
        """The events of all messages that are there."""
        return [event for document in self.documents() for event in document["Events"]]

    def names(self) -> list[str]:
        """The types of the events that are there, in the order in which they were sent."""
        return [event["EventType"] for event in self.events()]
