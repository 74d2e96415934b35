"""Templates, tables and batches for tests, made by the marketplace's own services."""

import io
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from core.jobs import runner
from core.jobs.models import Job, JobState
from marketplace.batches import drafts, publication, templates
from marketplace.batches.properties import Properties
from marketplace.forms.sheets import Sheet
from marketplace.models import Batch, Requester, Template

HTML = """<html><body><p data-image="${image_url}">${question}</p><img src="${image_url}">
<form action="https://www.mturk.com/mturk/externalSubmit"><input name="answer"></form></body></html>"""
CSV = "question,image_url\nWhat is this?,https://pictures.example.org/1.jpg\nAnd this?,https://pictures.example.org/2.jpg\n"


def properties(**changes: Any) -> Properties:
    """Properties of a cheap batch."""
    values = {"title": "Look at a picture", "description": "Say what you see.", "reward_cents": 10}
    return Properties(**(values | changes))


def template(requester: Requester, html: str = HTML, **changes: Any) -> Template:
    """A template of this requester."""
    now = timezone.now()
    return Template.objects.create(
        requester=requester,
        name=f"Pictures {requester.templates.count()}",
        html=html,
        hosts=templates.of_template(html),
        properties=properties(**changes).stored(),
        created_at=now,
        updated_at=now,
    )


def sheet(text: str | bytes = CSV, name: str = "tasks.csv", **options: Any) -> Sheet:
    """A table as somebody uploads it."""
    return Sheet(io.BytesIO(text.encode() if isinstance(text, str) else text), name, **options)


def draft(
    requester: Requester,
    text: str | bytes = CSV,
    *,
    html: str = HTML,
    user: User | None = None,
    **changes: Any,
) -> Batch:
    """A draft of a new template and a table."""
    made = drafts.make_draft(
        requester=requester,
        template=template(requester, html),
        properties=properties(**changes),
        sheet=sheet(text),
        user=user,
    )
    return Batch.objects.select_related("requester").get(pk=made.pk)


def rows(count: int) -> str:
    """A table of so many rows."""
    return "question,image_url\n" + "".join(f"Question {n}?,/{n}.jpg\n" for n in range(1, count + 1))


def run_jobs() -> None:
    """Do what waits for a worker."""
    while (job := Job.objects.filter(state=JobState.QUEUED).first()) is not None:
        runner.run(job_id=job.pk)


def published(requester: Requester, text: str | bytes = CSV, **changes: Any) -> Batch:
    """A batch whose HITs are there."""
    batch = draft(requester, text, **changes)
    publication.publish(batch=batch)
    run_jobs()
    batch.refresh_from_db()
    return batch
