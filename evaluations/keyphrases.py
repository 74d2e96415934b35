"""Weights of the words of texts by a KPQA model: workers are asked for them, and pages find them."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.models import Query
from core.crypto import seal, unseal
from core.jobs.handlers import JobContext
from core.jobs.models import OPEN_STATES, Job, JobState
from core.jobs.services import enqueue, retry
from core.projects.models import Project
from evaluations import model_shelf
from evaluations.choices import kinds_of
from evaluations.errors import EvaluationError
from evaluations.model_shelf import cache, encoder_settings
from judgments.selectors.candidates import reference_texts
from metrics.catalogue import metric, missing
from metrics.errors import MetricError
from metrics.learned_metrics import learned_metrics
from metrics.model_folders import Choice, with_models
from metrics.profiles import BERTSCORE, KPQA, Profile, profile
from metrics.word_spans import cut_words

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
        parts = [_FORM, project.pk, self.digest, self.question, self.texts, bool(self.answer), self.encoder]
        return f"keyphrases:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def job_of(project: Project, request: KeyphraseRequest) -> Job | None:
    """The job that weighs this, or did."""
    return Job.objects.filter(effect=request.effect(project), kind=KIND).first()


@transaction.atomic
def ask(project: Project, request: KeyphraseRequest) -> Job:
    """The job that weighs this, begun if there is none or the last one failed; EvaluationError if full."""
    job = job_of(project, request)
    if job is not None and job.state not in (JobState.FAILED, JobState.CANCELLED):
        return job
    if Job.objects.filter(kind=KIND, state__in=OPEN_STATES).count() >= MOST_WAITING:
        raise EvaluationError("Many answers wait to be weighed already. Try again in a minute.")
    payload = _packed(project, request)
    if job is None:
        return enqueue(kind=KIND, payload=payload, effect=request.effect(project))
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


def _packed(project: Project, request: KeyphraseRequest) -> dict[str, Any]:
    body = {
        "model": request.model,
        "digest": request.digest,
        "question": request.question,
        "references": [each[:LONGEST] for each in request.references[:MOST_REFERENCES]],
        "answer": request.answer[:LONGEST],
        "encoder": request.encoder,
    }
    return {"project": project.pk, "sealed": seal(json.dumps(body), purpose=PURPOSE)}


#: Queries whose references are counted, the first ones; and those of one statement.
MOST_QUERIES = 20_000
_AT_ONCE = 500


def words_of(text: str) -> list[str]:
    """The words of a text as they are counted."""
    return [text[begin:end].lower() for begin, end in cut_words(text)]


def counted(project: Project, vocabulary: Collection[str]) -> tuple[int, Counter[str]]:
    """How many references the project has, and how many of them hold each of these words."""
    distinct, counts, total = frozenset(vocabulary), Counter[str](), 0
    for text in _references(project):
        total += 1
        counts.update(distinct.intersection(words_of(text)))
    return total, counts


def rarity(text_words: Sequence[str], total: int, counts: Counter[str]) -> list[float]:
    """The weight of each word; 0 for all where there is no reference."""
    most = math.log(total + 1)
    return [math.log((total + 1) / (counts[word] + 1)) / most if most else 0.0 for word in text_words]


def _references(project: Project) -> Iterator[str]:
    rows = Query.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    keys = list(rows[:MOST_QUERIES])
    for start in range(0, len(keys), _AT_ONCE):
        for texts in reference_texts(keys[start : start + _AT_ONCE]).values():
            yield from texts


#: Under which an answer is compared with each reference.
METRICS = ("bleu-1-kpqa", "rouge-l-kpqa", "bertscore-kpqa")
_DIGITS = 6


def weigh(context: JobContext) -> dict[str, Any]:
    """Numbers for a page: `weights` and `idf` by text and word, `scores` by metric and reference.

    EvaluationError or MetricError where the model is another one by now, or cannot be loaded.
    """
    request = wanted_of(context.payload)
    project = Project.objects.get(pk=context.payload["project"])
    context.progress(0, 0, "Loading the model")
    folder = _folder(request)
    weights = _weights(folder, request)
    context.progress(0, 0, "Comparing the answer with its references")
    scores = _scores(folder, request) if request.answer else []
    context.progress(0, 0, "Counting words among the project's references")
    texts_words = [words_of(text) for text in request.texts]
    total, counts = counted(project, {word for each in texts_words for word in each})
    return {
        "weights": weights,
        "idf": [_rounded(rarity(each, total, counts)) for each in texts_words],
        "references": total,
        "scores": scores,
    }


def _folder(request: KeyphraseRequest) -> Path:
    model = model_shelf.model_named(request.model)
    if model is None or model.wrong or model.kind != KPQA:
        raise EvaluationError(f"The model {request.model} is no longer there, or cannot be used.")
    if model.digest != request.digest:
        raise EvaluationError(f"The model {request.model} is another one by now. Ask once more.")
    return model_shelf.fetch_files(model).resolve()


def _weights(folder: Path, request: KeyphraseRequest) -> list[list[float | None]]:
    pairs = [(request.question, text) for text in request.texts]
    weights = learned_metrics().weigh(Choice(str(folder), request.digest), pairs, str(cache()))
    return [_rounded(each) for each in weights]


def _scores(folder: Path, request: KeyphraseRequest) -> list[dict[str, Any]]:
    own = with_models(
        profile("default"),
        [folder],
        bertscore=encoder_settings(request.encoder) or None,
        cache=str(cache()),
    )
    return [_score(name, own, request) for name in METRICS]


def _score(name: str, own: Profile, request: KeyphraseRequest) -> dict[str, Any]:
    """The answer's score against each reference alone, or why there is none."""
    references = request.texts[:-1]
    entry: dict[str, Any] = {"name": name, "title": name, "values": None, "why": ""}
    if BERTSCORE in kinds_of(name) and not request.encoder:
        return entry | {"title": "BERTScore-KPQA", "why": "this installation has no encoder for it."}
    try:
        scorer = metric(name, own)
        if why := missing(scorer):
            return entry | {"title": scorer.title, "why": why}
        times = len(references)
        answer, question = request.texts[-1], request.question
        values = scorer.score([answer] * times, [[each] for each in references], [question] * times)
    except MetricError as error:
        return entry | {"why": str(error)}
    return entry | {"title": scorer.title, "values": _rounded(values), "signature": scorer.signature}


def _rounded(values: Sequence[float] | Any) -> list[float | None]:
    """As JSON has them: None for what is not defined."""
    return [None if math.isnan(each) else round(float(each), _DIGITS) for each in values]
