"""A batch of the lab: a template and a table of the samples become HITs, whose work waits for review."""

import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from core.jobs import runner
from core.jobs.models import Job, JobState
from crowd.simulation.accounts import Account
from marketplace import clock
from marketplace.batches import drafts, publication, templates
from marketplace.batches.sheets import Sheet
from marketplace.models import Requester, Template

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
