"""The people of the demonstration, and what its lab posts on the marketplace: HITs by a script, a batch."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.template.loader import render_to_string

from core.accounts.services import create_user_with_printed_password, printed_password
from core.jobs import runner
from core.jobs.models import JobState
from crowd.simulation.accounts import Account, Browser
from marketplace import clock
from marketplace.batches import drafts, publication, templates
from marketplace.batches.sheets import Sheet
from marketplace.models import Batch, Requester, Template
from marketplace.services.accesskeys import IssuedKey
from marketplace.services.people import (
    create_invitation,
    create_requester,
    create_scripted_worker,
    deposit,
    register_worker,
)

if TYPE_CHECKING:
    from mypy_boto3_mturk.client import MTurkClient

ADMIN, GUEST, WORKERS, LAB = "admin", "guest", ("ada", "bruno"), "Demo lab"
DEPOSIT_CENTS = 200_00


@dataclass(frozen=True)
class People:
    """Everybody who signs in or posts work. One password is everybody's first."""

    owner: User
    password: str
    requester: Requester
    key: IssuedKey
    script_token: str


def make_people() -> People:
    """A researcher and a guest, two workers, a lab with play money, and a worker that is a script.

    Raises CommandError where the database has any of them.
    """
    if User.objects.filter(username__in=[ADMIN, GUEST, *WORKERS]).exists():
        raise CommandError(
            f"The database has a demonstration already, or accounts called {ADMIN}, {GUEST}, "
            f"{' or '.join(WORKERS)}. Give it an empty one."
        )
    password = printed_password()
    for name in (ADMIN, GUEST, *WORKERS):
        is_admin = name == ADMIN
        create_user_with_printed_password(
            username=name, staff=is_admin, superuser=is_admin, password=password
        )
    owner = User.objects.get(username=ADMIN)
    requester, key = create_requester(name=LAB, fee_profile="mturk-2026", owner=owner)
    deposit(requester=requester, cents=DEPOSIT_CENTS)
    for name in WORKERS:
        _, invitation = create_invitation(label="demonstration", max_uses=1, days=1)
        register_worker(user=User.objects.get(username=name), name=name, invitation_token=invitation)
    _, script_token = create_scripted_worker(name="Demo script")
    return People(owner, password, requester, key, script_token)


# HITs by the lab's own script, as any lab with boto3 would write it.

REWARD, ASSIGNMENTS_PER_HIT = "0.50", 3
MINUTE, DAY = 60, 24 * 60 * 60
SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
#: What a worker that is a script submits; it is marked as simulated everywhere.
ANSWER = (
    "A script wrote this answer while the demonstration was set up, so that there is something to look at. "
    "It is marked as simulated everywhere and is nobody's judgment."
)


def mturk_client(site: str, key: IssuedKey) -> "MTurkClient":
    """An ordinary boto3 client, pointed here."""
    import boto3  # noqa: PLC0415  # a second, which a demonstration from the file does not need
    from botocore.config import Config  # noqa: PLC0415  # the same

    return boto3.client(
        "mturk",
        endpoint_url=f"{site}/mturk/api",
        region_name="us-east-1",
        aws_access_key_id=key.access_key,
        aws_secret_access_key=key.secret,
        config=Config(proxies={}),
    )


@cache
def all_tasks() -> list[dict[str, Any]]:
    """Ten questions with passages of two open textbooks, which ATTRIBUTION.md names."""
    document = json.loads(Path(__file__).with_name("tasks.json").read_text(encoding="utf-8"))
    return [
        {**row, "book": document["books"][row["book"]], "licence": document["licence"]}
        for row in document["tasks"]
    ]


def post_hits(client: "MTurkClient") -> list[str]:
    """Post one HIT per question; their ids."""
    hit_type = client.create_hit_type(
        Title="Answer a question in your own words",
        Description="Read a short text from a textbook and answer one question about it in a few sentences.",
        Keywords="reading, writing, question, answer, textbook",
        Reward=REWARD,
        AssignmentDurationInSeconds=30 * MINUTE,
        AutoApprovalDelayInSeconds=3 * DAY,
    )["HITTypeId"]
    return [
        client.create_hit_with_hit_type(
            HITTypeId=hit_type,
            Question=f'<HTMLQuestion xmlns="{SCHEMA}"><HTMLContent><![CDATA['
            f"{render_to_string('demo/question.html', task)}"
            "]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>",
            MaxAssignments=ASSIGNMENTS_PER_HIT,
            LifetimeInSeconds=7 * DAY,
            RequesterAnnotation=f"demo {task['id']}",
        )["HIT"]["HITId"]
        for task in all_tasks()
    ]


def do_hit(site: str, token: str, hit_id: str, **fields: str) -> str:
    """Accept a HIT as a script through the worker API, open its page, submit; gives the AssignmentId."""
    browser = Browser()
    accepted = browser.send_json(f"{site}/worker-api/accept", {"hit_id": hit_id}, f"Bearer {token}").json()
    browser.get(accepted["frame_url"])
    browser.send_form(accepted["submit_url"], {"assignmentId": accepted["assignment_id"], **fields})
    browser.close()
    return str(accepted["assignment_id"])


# A batch: a template and a table of the samples become HITs, whose work waits for review.

#: What each worker says of each text in turn; nobody has the last place of the last.
MOODS = (
    ("pleased", "pleased", "pleased"),
    ("displeased", "displeased", "displeased"),
    ("neither", "neither", "displeased"),
    ("displeased", "displeased", "pleased"),
    ("pleased", "pleased"),
)
REVIEWERS = max(len(said) for said in MOODS)


def publish_batch(requester: Requester, workers: Sequence[Account], site: str) -> dict[str, Any]:
    """Publish a sample as it is in the browser, and let `workers` do all but one of its assignments."""
    sample = templates.sample_named("text")
    assert sample is not None
    now = clock.now()
    template = Template.objects.create(
        requester=requester,
        name=sample.name,
        html=sample.html,
        properties=sample.properties.stored(),
        created_at=now,
        updated_at=now,
    )
    with sample.table() as file:
        batch: Batch = drafts.make_draft(
            requester=requester,
            template=template,
            properties=sample.properties,
            sheet=Sheet(file, "reviews.csv"),
        )
    cost = publication.cost_of(batch)
    job = publication.publish(batch=batch)
    runner.run(job_id=job.pk)
    while job.state not in (JobState.DONE, JobState.FAILED):  # the server's own worker may have been faster
        time.sleep(0.05)
        job.refresh_from_db()
    hits = batch.tasks.order_by("ordinal").values_list("hit__hit_id", flat=True)
    for hit_id, moods in zip(hits, MOODS, strict=True):
        for worker, mood in zip(workers, moods, strict=False):
            do_hit(site, worker.token, str(hit_id), mood=mood, doubt="")
    submitted = sum(len(moods) for moods in MOODS)
    return {"tasks": batch.task_count, "submitted": submitted, "held_cents": cost.total}
