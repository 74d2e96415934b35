"""The models of a plan: pinned by their digests when somebody plans, found again when it is computed."""

from collections.abc import Iterable, Sequence

from core.storage.errors import StorageUnavailableError
from evaluations.errors import EvaluationError
from evaluations.learned import shelf
from evaluations.learned.needs import WORDS, kinds_of, kinds_of_all, model_kinds
from evaluations.learned.requests import Models, encoder_settings, whole
from evaluations.learned.shelf import ModelEntry
from evaluations.plans import EvaluationPlan, PinnedModel
from metrics.learned.bert.encoder_folder import known
from metrics.learned.profile_models import BERTSCORE


def publish_models(plan: EvaluationPlan) -> None:
    """Have all hosts find the plan's models, for another host may compute it.

    EvaluationError where a model is gone or the storage of all hosts does not take it.
    """
    for each in plan.models:
        publish_for_job(_there(each))


def publish_for_job(kept: ModelEntry) -> None:
    """Have all hosts find a model that a job is to use. EvaluationError where the storage does not take it.

    It is done where a model is chosen, not by a job: perhaps only a host without jobs has it.
    """
    try:
        shelf.publish(kept)
    except StorageUnavailableError as error:
        raise EvaluationError(f"The model {kept.name} cannot be given to other hosts: {error}") from error


def models_of(plan: EvaluationPlan) -> Models:
    """The plan's models, whole; EvaluationError or MetricError where one is gone, another one, or damaged."""
    folders = [whole(shelf.fetch_files(_there(each)), each.kind, each.digest) for each in plan.models]
    if plan.encoder_digest and known(plan.encoder).digest != plan.encoder_digest:
        raise EvaluationError(
            f"The encoder {plan.encoder_name} of BERTScore is another one by now. Put it back and begin "
            "again, or make another plan."
        )
    return Models(tuple(folders), encoder_settings(plan.encoder))


def refuse_what_lacks(plan: EvaluationPlan) -> None:
    """EvaluationError where a metric that the plan names has no model in it, or a model is not there."""
    for each in plan.models:
        _there(each)
    for kind, name in lacking(plan.metrics, (each.kind for each in plan.models)):
        raise EvaluationError(f"{name} needs a {WORDS[kind]} model. Choose one, or leave the metric out.")
    if BERTSCORE in kinds_of_all(plan.metrics) and not plan.encoder:
        raise EvaluationError("BERTScore needs an encoder, and this installation has none.")


def lacking(metrics: Sequence[str], kinds: Iterable[str]) -> list[tuple[str, str]]:
    """Kinds of models that the metrics need and that are not among these, each with a metric."""
    there = set(kinds)
    return [
        (kind, next(name for name in metrics if kind in kinds_of(name)))
        for kind in model_kinds(metrics)
        if kind not in there
    ]


def _there(each: PinnedModel) -> ModelEntry:
    """The model by its name, if it still is the one that was pinned, as far as its card tells."""
    kept = shelf.named(each.name)
    again = "Put it back and begin again, or make another plan."
    if kept is None or kept.wrong:
        why = kept.wrong if kept else "it is no longer there."
        raise EvaluationError(f"The {_describe_model(each)} cannot be used: {why} {again}")
    if (kept.kind, kept.digest) != (each.kind, each.digest):
        raise EvaluationError(
            f"The {_describe_model(each)} is another one by now: {each.signature} was planned, and "
            f"{kept.signature} is there. {again}"
        )
    return kept


def _describe_model(each: PinnedModel) -> str:
    return f"{WORDS.get(each.kind, each.kind)} model {each.name}"
