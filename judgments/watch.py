"""Rules of this app about what its people should know; see `core.notices.conditions`."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from core.jobs.models import Job
from core.notices.conditions import Condition
from core.notices.job_failures import Place
from core.notices.models import Notice
from crowd.models import Stage
from judgments.kinds.judging_config import judging_config
from judgments.models import AgreementReport


def agreement_below_target(now: datetime) -> Iterator[Condition]:
    """Judging stages whose newest report has an alpha below the stage's `target_alpha`, in two queries.

    It is the cross-fitted alpha after removing workers, which a filter cannot lift by itself; without rules
    about workers it is alpha before any filter.
    """
    newest = AgreementReport.objects.filter(stage=OuterRef("pk")).order_by("-created_at", "-pk")
    rows = (
        Stage.objects.filter(kind="judging")
        .exclude(status=Stage.Status.DRAFT)
        .annotate(newest=Subquery(newest.values("pk")[:1]))
        .exclude(newest=None)
        .select_related("project")
        .order_by("pk")
    )
    stages = list(rows)
    alphas = dict(
        AgreementReport.objects.filter(pk__in=[stage.newest for stage in stages]).values_list(
            "stage", "report__alpha__after_workers__cross_fitted"
        )
    )
    for stage in stages:
        alpha = alphas.get(stage.pk)
        target = judging_config(stage).target_alpha
        if not isinstance(alpha, int | float) or alpha >= target:
            continue
        yield Condition(
            stage.project_id,
            "agreement",
            f"agreement:{stage.pk}",
            Notice.Level.WARNING,
            f"Judges of {stage.title} agree less than you asked for: Krippendorff's alpha is "
            f"{alpha:.2f}, the target {target:.2f}.",
            reverse("judgments:agreement", args=[stage.project.slug, stage.slug]),
        )


def pages_of_reports(jobs: Sequence[Job]) -> dict[int, Place]:
    """The pages that show the reports, by the jobs that make them."""
    keys = {job.pk: job.payload["stage"] for job in jobs if isinstance(job.payload.get("stage"), int)}
    rows = Stage.objects.filter(pk__in=set(keys.values())).values_list(
        "pk", "project", "project__slug", "slug"
    )
    pages = {
        pk: Place(project, reverse("judgments:agreement", args=[slug, stage]))
        for pk, project, slug, stage in rows
    }
    return {job: pages[stage] for job, stage in keys.items() if stage in pages}
