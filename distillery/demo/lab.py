"""What the demonstration's lab posts on the marketplace: HITs by a script, a batch, and a poll."""

import http.client
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit
from xml.sax.saxutils import escape

import boto3
from botocore.config import Config
from django.conf import settings
from django.db.models import Count

from core.jobs import runner
from core.jobs.models import Job, JobState
from core.projects.services import create_project
from crowd.kinds import kind_of
from crowd.models import Assignment, LedgerEntry, Stage
from crowd.services.endpoints import create_endpoint
from crowd.services.stages import create_stage, open_stage
from crowd.simulation.accounts import Account
from distillery.demo.answers import Progress
from distillery.demo.answers import work_on as let_work
from distillery.demo.people import FEE_PROFILE, People
from distillery.demo.task_pages import all_tasks
from marketplace import clock
from marketplace.batches import drafts, publication, templates
from marketplace.batches.sheets import Sheet
from marketplace.models import Requester, Template

if TYPE_CHECKING:
    from mypy_boto3_mturk.client import MTurkClient

# The lab's own script, as any lab with boto3 would write it.

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


# A worker that is a script: it does one HIT through the public worker API, marked as no person.

ANSWER = (
    "A script wrote this answer while the demonstration was set up, so that there is something to look at. "
    "It is marked as simulated everywhere and is nobody's judgment."
)


@dataclass(frozen=True)
class Robot:
    """A scripted worker at a marketplace."""

    base_url: str
    token: str

    def work_on(self, hit_id: str, **fields: str) -> str:
        """Accept this HIT, open its page, submit these fields or an answer; gives the AssignmentId."""
        accepted = self._ask("accept", {"hit_id": hit_id})
        _request("GET", accepted["frame_url"])
        form = urlencode({"assignmentId": accepted["assignment_id"], **(fields or {"answer": ANSWER})})
        _request("POST", accepted["submit_url"], form, {"Content-Type": "application/x-www-form-urlencoded"})
        return str(accepted["assignment_id"])

    def _ask(self, action: str, question: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        answer = _request("POST", f"{self.base_url}/worker-api/{action}", json.dumps(question), headers)
        found: dict[str, Any] = json.loads(answer)
        return found


def _request(method: str, url: str, body: str | None = None, headers: dict[str, str] | None = None) -> bytes:
    """Body of the answer; raises HTTPException where the server refuses."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body, headers or {})
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise http.client.HTTPException(f"{method} {parts.path}: {response.status} {content[:300]!r}")
        return content
    finally:
        connection.close()


# A batch: a template and a table of the samples become HITs, whose work waits for review.

SAMPLE = "text"
#: What each worker says of each text in turn; nobody has the last place of the last.
MOODS = (
    ("pleased", "pleased", "pleased"),
    ("displeased", "displeased", "displeased"),
    ("neither", "neither", "displeased"),
    ("displeased", "displeased", "pleased"),
    ("pleased", "pleased"),
)
CROWD = max(len(said) for said in MOODS)
#: The server's worker may have been faster; it is waited for so many seconds.
PATIENCE = 60.0


@dataclass(frozen=True)
class BatchSummary:
    """A batch: its number, its tasks, the assignments that wait for review, and what is on hold for it."""

    number: int
    name: str
    tasks: int
    submitted: int
    held_cents: int


def publish_batch(requester: Requester, *, workers: Sequence[Account], site: str) -> BatchSummary:
    """Publish a sample as it is in the browser, and let `workers` do all but one of its assignments."""
    sample = templates.sample_named(SAMPLE)
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
        batch = drafts.make_draft(
            requester=requester,
            template=template,
            properties=sample.properties,
            sheet=Sheet(file, "reviews.csv"),
        )
    cost = publication.cost_of(batch)
    _finish_job(publication.publish(batch=batch))
    hits = batch.tasks.order_by("ordinal").values_list("hit__hit_id", flat=True)
    for hit_id, moods in zip(hits, MOODS, strict=True):
        for worker, mood in zip(workers, moods, strict=False):
            Robot(site, worker.token).work_on(str(hit_id), mood=mood, doubt="")
    return BatchSummary(
        number=batch.number,
        name=batch.name,
        tasks=batch.task_count,
        submitted=sum(len(moods) for moods in MOODS),
        held_cents=cost.total,
    )


def _finish_job(job: Job) -> None:
    """Run the job here, or wait until the server's own worker has."""
    runner.run(job_id=job.pk)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        job.refresh_from_db(fields=["state", "error"])
        if job.state == JobState.DONE:
            return
        if job.state == JobState.FAILED:
            break
        time.sleep(0.05)
    raise RuntimeError(f"The batch was not published: {job.error or job.state}")


# A poll: a stage of a project, done by simulated workers, paid to the cent.

POLL_BUDGET_CENTS = 20_00
POLL_REWARD_CENTS = 8
PEOPLE_PER_QUERY = 8
POLL_CROWD, POLL_MIX, POLL_SEED = 14, "moderate", 7
POLL_QUESTION = "Could one short passage answer this question completely?"
POLL_CHECK = "Please choose “No” here, so that we know you read the questions."


@dataclass(frozen=True)
class PollSummary:
    """What the poll cost and brought; money in cents. Everybody in it is simulated."""

    stage: str
    units: int
    assignments: int
    approved: int
    held: int
    budget_cents: int
    reserved_cents: int
    spent_rewards_cents: int
    spent_fees_cents: int
    marketplace_paid_cents: int
    marketplace_fees_cents: int
    simulated_workers: int

    @property
    def adds_up(self) -> bool:
        """Our books and the marketplace's say the same, to the cent."""
        return (self.spent_rewards_cents, self.spent_fees_cents) == (
            self.marketplace_paid_cents,
            self.marketplace_fees_cents,
        )


def open_poll(people: People, *, url: str, suffix: str) -> Stage:
    """A project with a poll about the demonstration's ten questions, published on this marketplace."""
    # Where the server listens is known only now; listings name it as the address of their task pages.
    settings.TASK_URL = url
    endpoint = create_endpoint(
        name=f"demo{suffix}",
        label="This marketplace",
        url=f"{url}/mturk/api",
        access_key=people.key.access_key,
        secret=people.key.secret,
        real_money=False,
        fee_profile=FEE_PROFILE,
        submit_origins=(url, url.replace("localhost", "127.0.0.1")),
        rate=0.0,
    )
    project = create_project(
        slug=f"demo{suffix}", title="Demonstration", owner=people.owner, budget_cents=POLL_BUDGET_CENTS
    )
    stage = create_stage(
        project=project,
        slug="answerable",
        title="Which questions have a short answer?",
        kind="poll",
        endpoint=endpoint,
        config={
            "question": POLL_QUESTION,
            "options": ["Yes", "No", "It depends"],
            "items": [task.query for task in all_tasks()],
            "checks": {POLL_CHECK: "No"},
        },
        task_title="Which questions have a short answer?",
        task_description="Read questions from textbooks; say whether a short text could answer each.",
        task_keywords="questions, reading, short",
        reward_cents=POLL_REWARD_CENTS,
        redundancy=PEOPLE_PER_QUERY,
        units_per_hit=5,
        checks_per_hit=1,
        hold_failed_checks=True,
        budget_cents=POLL_BUDGET_CENTS,
        seed=POLL_SEED,
        actor=people.owner,
    )
    open_stage(stage=stage, actor=people.owner)
    return stage


def work_on_poll(stage: Stage, *, workers: Sequence[Account], site: str, progress: Progress) -> None:
    """Let a moderate crowd of simulated workers do it, through the pages that people use."""
    let_work(stage, mix=POLL_MIX, workers=workers, site=site, progress=progress, seed=POLL_SEED)


def summarise_poll(stage: Stage, people: People, *, paid_before: tuple[int, int]) -> PollSummary:
    """The stage's books beside the marketplace's; `paid_before` is what the requester had paid already."""
    stage.refresh_from_db()
    spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
    requester = people.requester
    requester.refresh_from_db()
    states = dict(Assignment.objects.filter(stage=stage).values_list("state").annotate(number=Count("pk")))
    good = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    return PollSummary(
        stage=f"{stage.project.slug}/{stage.slug}",
        units=len(kind_of(stage).settle(stage)),
        assignments=good.count(),
        approved=states.get(Assignment.State.APPROVED, 0),
        held=Assignment.objects.filter(stage=stage, held=True).count(),
        budget_cents=stage.budget_cents,
        reserved_cents=stage.reserved_cents,
        spent_rewards_cents=sum(spent.values_list("cents", flat=True)),
        spent_fees_cents=sum(spent.values_list("fee_cents", flat=True)),
        marketplace_paid_cents=requester.paid_cents - paid_before[0],
        marketplace_fees_cents=requester.fees_cents - paid_before[1],
        simulated_workers=good.filter(worker__simulated=True).values("worker").distinct().count(),
    )
