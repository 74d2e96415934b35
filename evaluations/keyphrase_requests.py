"""Asking workers for weights, and finding those that were asked for before."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from core.crypto import seal, unseal
from core.jobs.models import OPEN_STATES, Job, JobState
from core.jobs.services import enqueue, retry
from core.projects.models import Project
from evaluations.errors import EvaluationError

KIND = "evaluations.keyphrases"
PURPOSE = "words to be weighed"
#: Texts of a page, and characters of each that are weighed.
MOST_REFERENCES, LONGEST = 20, 4_000
#: Open jobs of all projects together; more than these wait until some are done.
MOST_WAITING = 50
#: Grows when the result has other fields, so that no page reads an older one.
_FORM = 1


@dataclass(frozen=True, slots=True)
class KeyphraseRequest:
    """A model by name and digest, the texts that it weighs, and the encoder of BERTScore if there is one.

    An empty `answer` is none.
    """

    model: str
    digest: str
    question: str
    references: Sequence[str]
    answer: str = ""
    encoder: str = ""

    @property
    def texts(self) -> list[str]:
        """The references as far as they are weighed, then the answer."""
        return [each[:LONGEST] for each in (*self.references[:MOST_REFERENCES], self.answer) if each]

    def effect(self, project: Project) -> str:
        """By which the job is found again: everything that decides on the weights, as one digest."""
        said = [_FORM, project.pk, self.digest, self.question, self.texts, bool(self.answer), self.encoder]
        return f"keyphrases:{hashlib.sha256(json.dumps(said).encode()).hexdigest()}"


def job_of(project: Project, wanted: KeyphraseRequest) -> Job | None:
    """The job that weighs this, or did."""
    return Job.objects.filter(effect=wanted.effect(project), kind=KIND).first()


@transaction.atomic
def ask(project: Project, wanted: KeyphraseRequest) -> Job:
    """The job that weighs this, begun if there is none or the last one failed; EvaluationError if full."""
    job = job_of(project, wanted)
    if job is not None and job.state not in (JobState.FAILED, JobState.CANCELLED):
        return job
    if Job.objects.filter(kind=KIND, state__in=OPEN_STATES).count() >= MOST_WAITING:
        raise EvaluationError("Many answers wait to be weighed already. Try again in a minute.")
    payload = _packed(project, wanted)
    if job is None:
        return enqueue(kind=KIND, payload=payload, effect=wanted.effect(project))
    Job.objects.filter(pk=job.pk).update(payload=payload)
    retry(job_id=job.pk)
    job.refresh_from_db()
    return job


def wanted_of(payload: dict[str, Any]) -> KeyphraseRequest:
    """What a job is to weigh; EvaluationError where it was forgotten, or sealed under another key."""
    sealed = unseal(str(payload.get("sealed", "")), purpose=PURPOSE)
    if sealed is None:
        raise EvaluationError("What was to be weighed is no longer known. Ask once more.")
    return KeyphraseRequest(**json.loads(sealed))


def forget(job: Job) -> None:
    """Its texts go; numbers stay."""
    Job.objects.filter(pk=job.pk).update(payload={"project": job.payload.get("project")})


def _packed(project: Project, wanted: KeyphraseRequest) -> dict[str, Any]:
    said = {
        "model": wanted.model,
        "digest": wanted.digest,
        "question": wanted.question,
        "references": [each[:LONGEST] for each in wanted.references[:MOST_REFERENCES]],
        "answer": wanted.answer[:LONGEST],
        "encoder": wanted.encoder,
    }
    return {"project": project.pk, "sealed": seal(json.dumps(said), purpose=PURPOSE)}
