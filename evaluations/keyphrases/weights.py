"""Weighing under a job: the words of all texts, how rare they are, and what KPQA's metrics say."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.jobs.context import JobContext
from core.projects.models import Project
from evaluations.errors import EvaluationError
from evaluations.keyphrases.rarity import counted, rarity, words_of
from evaluations.keyphrases.requests import KeyphraseRequest, wanted_of
from evaluations.learned import shelf
from evaluations.learned.needs import kinds_of
from evaluations.learned.requests import cache, encoder_settings
from metrics.catalogue import metric, missing
from metrics.errors import MetricError
from metrics.learned.profile_models import BERTSCORE, KPQA, Choice, with_models
from metrics.profiles import Profile, profile

#: Under which an answer is compared with each reference.
METRICS = ("bleu-1-kpqa", "rouge-l-kpqa", "bertscore-kpqa")
_DIGITS = 6


def weigh(context: JobContext) -> dict[str, Any]:
    """Numbers for a page: `weights` and `idf` by text and word, `scores` by metric and reference.

    EvaluationError or MetricError where the model is another one by now, or cannot be loaded.
    """
    wanted = wanted_of(context.payload)
    project = Project.objects.get(pk=context.payload["project"])
    context.progress(0, 0, "Loading the model")
    folder = _folder(wanted)
    weights = _weights(folder, wanted)
    context.progress(0, 0, "Comparing the answer with its references")
    scores = _scores(folder, wanted) if wanted.answer else []
    context.progress(0, 0, "Counting words among the project's references")
    words = [words_of(text) for text in wanted.texts]
    total, found = counted(project, {word for each in words for word in each})
    return {
        "weights": weights,
        "idf": [_rounded(rarity(each, total, found)) for each in words],
        "references": total,
        "scores": scores,
    }


def _folder(wanted: KeyphraseRequest) -> Path:
    kept = shelf.named(wanted.model)
    if kept is None or kept.wrong or kept.kind != KPQA:
        raise EvaluationError(f"The model {wanted.model} is no longer there, or cannot be used.")
    if kept.digest != wanted.digest:
        raise EvaluationError(f"The model {wanted.model} is another one by now. Ask once more.")
    return shelf.fetch_files(kept).resolve()


def _weights(folder: Path, wanted: KeyphraseRequest) -> list[list[float | None]]:
    from metrics.learned.kpqa.word_weights import weigher  # noqa: PLC0415 - loads a model, only in a worker

    own = weigher(Choice(str(folder), wanted.digest), str(cache()))
    return [_rounded(each.weights) for each in own.weigh([(wanted.question, text) for text in wanted.texts])]


def _scores(folder: Path, wanted: KeyphraseRequest) -> list[dict[str, Any]]:
    own = with_models(
        profile("default"),
        [folder],
        bertscore=encoder_settings(wanted.encoder) or None,
        cache=str(cache()),
    )
    return [_score(name, own, wanted) for name in METRICS]


def _score(name: str, own: Profile, wanted: KeyphraseRequest) -> dict[str, Any]:
    """The answer's score against each reference alone, or why there is none."""
    references = wanted.texts[:-1]
    said: dict[str, Any] = {"name": name, "title": name, "values": None, "why": ""}
    if BERTSCORE in kinds_of(name) and not wanted.encoder:
        return said | {"title": "BERTScore-KPQA", "why": "this installation has no encoder for it."}
    try:
        made = metric(name, own)
        if why := missing(made):
            return said | {"title": made.title, "why": why}
        times = len(references)
        answer, question = wanted.texts[-1], wanted.question
        values = made.score([answer] * times, [[each] for each in references], [question] * times)
    except MetricError as error:
        return said | {"why": str(error)}
    return said | {"title": made.title, "values": _rounded(values), "signature": made.signature}


def _rounded(values: Sequence[float] | Any) -> list[float | None]:
    """As JSON has them: None for what is not defined."""
    return [None if math.isnan(each) else round(float(each), _DIGITS) for each in values]
