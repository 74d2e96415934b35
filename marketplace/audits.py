"""What the nightly audits of the ledger found, as their jobs keep it."""

from dataclasses import dataclass

from core.jobs.models import Job, JobState

AUDIT = "marketplace.ledger-audit"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """One audit: its job, the day it is of, and the faults it found."""

    job: int
    day: str
    faults: tuple[str, ...]


def last_audit() -> AuditReport | None:
    """The newest audit that came to its end."""
    job = Job.objects.filter(kind=AUDIT, state=JobState.DONE).order_by("-finished_at", "-pk").first()
    if job is None:
        return None
    return AuditReport(job.pk, str(job.payload.get("day", "")), tuple((job.result or {}).get("faults", ())))
