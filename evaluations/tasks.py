"""Jobs of this app: computing an evaluation, helping with its parts, weighing words for a page."""

from datetime import timedelta
from typing import Any

from core.errors import on_failure
from core.jobs.errors import LeaseLostError, PermanentError, StoppingError
from core.jobs.handlers import JobContext, handler
from evaluations import keyphrases, services, storage
from evaluations.errors import EvaluationError
from evaluations.executor import HELP, help_with
from evaluations.models import Evaluation
from evaluations.services import RUN, run_with
from metrics.errors import MetricError
from releases.errors import ReleaseError

#: The job was taken away or stops, and an evaluation that cannot be computed, however often it is tried.
_ENDED = (LeaseLostError, StoppingError)
_REFUSED = (EvaluationError, MetricError, ReleaseError)


@handler(RUN, longest=timedelta(days=7))
def run(context: JobContext) -> None:
    """Compute, put the files on their shelf, and only then make the evaluation ready.

    A repeated attempt finds the parts that were computed before and begins no part twice; its files take the
    place of those of the one before. One that is cancelled meanwhile is left as it is.
    """
    rows = Evaluation.objects.select_related("release__project", "created_by")
    evaluation = rows.filter(pk=context.payload["evaluation"]).first()
    if evaluation is None:
        raise PermanentError("The evaluation is no longer there.")
    if not services.start(evaluation=evaluation):
        return

    def mark_failed(error: BaseException) -> None:
        """After the last attempt; what has an answer of its own below does not count."""
        last = context.attempt >= context.job.max_attempts
        if last and isinstance(error, Exception) and not isinstance(error, (*_ENDED, *_REFUSED)):
            services.fail(evaluation=evaluation, why=f"{type(error).__name__}: {error}")

    try:
        with on_failure(mark_failed):
            run_with(context, evaluation)
    except _ENDED:
        _clear_after_cancelling(evaluation)
        raise
    except _REFUSED as error:
        services.fail(evaluation=evaluation, why=str(error))
        raise PermanentError(str(error)) from error


def _clear_after_cancelling(evaluation: Evaluation) -> None:
    """What a cancelled attempt has left goes; another attempt of the same evaluation keeps its own."""
    if Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OVER).exists():
        services.sweep(evaluation.pk)
        storage.forget(evaluation)


@handler(keyphrases.KIND, longest=timedelta(hours=2))
def weigh_words(context: JobContext) -> dict[str, Any]:
    """Weigh the words of texts for a page; the texts go when it is over, and numbers stay."""
    try:
        outcome = keyphrases.weigh(context)
    except (EvaluationError, MetricError) as error:
        keyphrases.forget(context.job)
        raise PermanentError(str(error)) from error

    def finish() -> dict[str, Any]:
        keyphrases.forget(context.job)
        return outcome

    result: dict[str, Any] = context.commit(finish)
    return result


@handler(HELP, longest=timedelta(days=7))
def help_compute(context: JobContext) -> dict[str, int]:
    """Compute parts of an evaluation that somebody else runs, until none is left."""
    owner = context.job.lease_owner
    assert owner is not None, "a job that runs has a lease"

    def still_ours(count: int) -> None:
        context.progress(count, 0, "Parts of an evaluation")

    return {"parts": help_with(context.payload["evaluation"], owner, still_ours)}
