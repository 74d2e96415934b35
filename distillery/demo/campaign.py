"""The requester's side of the demonstration: what any lab's own boto3 script would do."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import boto3
from botocore.config import Config

from distillery.demo.tasks import all_tasks

if TYPE_CHECKING:
    from mypy_boto3_mturk.client import MTurkClient

REGION = "us-east-1"
REWARD = "0.50"
ASSIGNMENTS_PER_HIT = 3
MINUTE, DAY = 60, 24 * 60 * 60
SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


@dataclass(frozen=True)
class Key:
    """What a script needs to act as a requester."""

    endpoint_url: str
    access_key: str
    secret: str

    def client(self) -> "MTurkClient":
        """An ordinary boto3 client, pointed here."""
        return boto3.client(
            "mturk",
            endpoint_url=self.endpoint_url,
            region_name=REGION,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret,
            config=Config(proxies={}),
        )


def external_question(url: str) -> str:
    """An ExternalQuestion whose frame takes the height of the window."""
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(url)}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


def post_hits(client: "MTurkClient", *, base_url: str) -> Iterator[str]:
    """Post one HIT per question; gives each id as soon as it is known."""
    hit_type = client.create_hit_type(
        Title="Answer a question in your own words",
        Description="Read a short text from a textbook and answer one question about it in a few sentences.",
        Keywords="reading, writing, question, answer, textbook",
        Reward=REWARD,
        AssignmentDurationInSeconds=30 * MINUTE,
        AutoApprovalDelayInSeconds=3 * DAY,
    )["HITTypeId"]
    campaign = uuid.uuid4().hex
    for task in all_tasks():
        hit = client.create_hit_with_hit_type(
            HITTypeId=hit_type,
            Question=external_question(f"{base_url}/examples/answer/{task.number}/"),
            MaxAssignments=ASSIGNMENTS_PER_HIT,
            LifetimeInSeconds=7 * DAY,
            RequesterAnnotation=f"demo {task.id}",
            UniqueRequestToken=f"{campaign}-{task.number}",
        )
        yield hit["HIT"]["HITId"]
