"""Computing an evaluation under a job: one that a worker has taken, or one of this process."""

from typing import Any

from core.jobs import services as jobs
from core.jobs.context import JobContext
from core.jobs.errors import LeaseLostError
from evaluations import storage
from evaluations.errors import EvaluationError
from evaluations.models import Evaluation
from evaluations.plans import EvaluationPlan, plan_of
from evaluations.services import transitions
from evaluations.services.planning import RUN, planned
from evaluations.spreading.part_runner import PartRunner
from releases.models import Release


def run_with(context: JobContext, evaluation: Evaluation) -> None:
    """Compute, put the files on their shelf, then make the evaluation ready together with the job's end."""
    from evaluations.computation import compute  # noqa: PLC0415 - numpy, only where something is computed

    with storage.workroom() as folder:
        spread = PartRunner(context, evaluation)
        plan = plan_of(evaluation.plan)
        report = compute(evaluation, plan, folder, spread=spread, progress=spread.progress)
        context.progress(0, 0, "Putting the files away")
        files = storage.keep(evaluation, folder)
    context.commit(lambda: transitions.finish(evaluation=evaluation, report=report, files=files))


def evaluate_here(
    *, release: Release, plan: EvaluationPlan, title: str = "", actor: Any = None
) -> Evaluation:
    """Plan an evaluation and compute it in this process; one that cannot be computed is marked failed.

    The process holds a job of its own under a lease that it extends while it lives. So pages show how far it
    is and can cancel it. EvaluationError, MetricError or ReleaseError say why it could not be.
    """
    evaluation = planned(release=release, plan=plan, title=title, actor=actor)
    payload = {"evaluation": evaluation.pk, "project": release.project_id}
    job = jobs.begin(kind=RUN, payload=payload)
    context = JobContext(job)
    try:
        Evaluation.objects.filter(pk=evaluation.pk).update(job=job.pk)
        transitions.start(evaluation=evaluation)
        with context.heartbeats():
            run_with(context, evaluation)
    except BaseException as error:
        why = str(error) or type(error).__name__
        transitions.fail(evaluation=evaluation, why=why)
        jobs.fail(job=job, error=why, permanent=True)
        if isinstance(error, LeaseLostError):
            raise EvaluationError("The evaluation was cancelled; nothing is kept.") from error
        raise
    return Evaluation.objects.select_related("release__project").get(pk=evaluation.pk)
