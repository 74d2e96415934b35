"""The newest report of a stage, how old it is, and whether another is being made."""

from dataclasses import dataclass
from typing import Any

from core.jobs.models import OPEN_STATES, Job, JobState
from crowd.models import Stage
from judgments.models import AgreementReport
from judgments.selectors.stamps import Stamp
from judgments.services.reports import REPORT, made_of, prefix


@dataclass(frozen=True, slots=True)
class ReportStatus:
    """The newest report (None: none yet), whether it is of now, and the job that makes the next one."""

    newest: AgreementReport | None
    fresh: bool
    job: Job | None

    @property
    def under_way(self) -> bool:
        """Another is being made."""
        return self.job is not None and self.job.state in OPEN_STATES

    @property
    def failed(self) -> bool:
        """The last attempt did not come to an end."""
        return self.job is not None and self.job.state == JobState.FAILED

    @property
    def report(self) -> dict[str, Any]:
        """The report itself."""
        report: dict[str, Any] = self.newest.report if self.newest else {}
        return report


def standing(stage: Stage, stamp: Stamp) -> ReportStatus:
    """In two questions to the database."""
    newest = (
        AgreementReport.objects.filter(stage=stage)
        .defer("rows")
        .select_related("run")
        .order_by("-created_at", "-pk")
        .first()
    )
    job = (
        Job.objects.filter(kind=REPORT, effect__startswith=prefix(stage))
        .order_by("-pk")
        .only("state", "progress_done", "progress_total", "progress_note", "error", "effect", "kind")
        .first()
    )
    return ReportStatus(newest, newest is not None and newest.stamp == made_of(stamp), job)
