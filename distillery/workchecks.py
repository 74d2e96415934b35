"""How the work goes on: the worker, its jobs, and the marketplaces it speaks to."""

from datetime import timedelta

from django.conf import settings

from core.jobs import selectors as jobs_selectors
from core.jobs.services import format_span
from crowd.selectors.outages import outages as outage_list
from distillery.finding import Finding
from distillery.watch import describe_faults
from marketplace.audits import last_audit

WORKER_SILENCE = timedelta(seconds=60)
JOB_SILENCE = timedelta(hours=1)
MOST_NAMED = 5


def worker() -> Finding:
    """A jobs worker did something lately."""
    silence = jobs_selectors.worker_silence()
    remedy = "Start one: `manage.py up`, or `manage.py up --no-web` beside a web server of its own."
    if silence is None:
        return Finding("warning", "worker", "No jobs worker has ever answered here.", remedy)
    if silence > WORKER_SILENCE:
        return Finding(
            "warning", "worker", f"No jobs worker has answered for {format_span(silence)}.", remedy
        )
    return Finding("ok", "worker", f"A jobs worker answered {format_span(silence)} ago.")


def failed_jobs() -> Finding:
    """Jobs that nobody will try again by himself."""
    failed = jobs_selectors.jobs_counted()["failed"]
    if failed:
        return Finding(
            "warning",
            "jobs",
            f"{failed} job{'s have' if failed > 1 else ' has'} failed for good.",
            "See `manage.py jobs list --state failed`; `manage.py jobs retry NUMBER` tries one again.",
        )
    return Finding("ok", "jobs", "No job has failed.")


def silent_jobs() -> Finding:
    """Jobs whose handler runs, and has reported nothing for long."""
    silent = list(jobs_selectors.silent_jobs(since=JOB_SILENCE)[:MOST_NAMED])
    if not silent:
        return Finding("ok", "jobs", "")
    named = ", ".join(
        f"job {job.pk} ({job.kind}) for {format_span(job.now - job.reported_at)}"  # type: ignore[attr-defined]  # annotated and filtered
        for job in silent
    )
    return Finding(
        "warning",
        "jobs",
        f"Running without a word: {named}.",
        "`manage.py jobs cancel NUMBER` closes one. Each ends by itself at the longest time of its kind.",
    )


def ledger() -> Finding:
    """What the last audit of our marketplace's ledger found."""
    report = last_audit()
    if report is None:
        return Finding("ok", "ledger", "")
    if report.faults:
        return Finding(
            "error",
            "ledger",
            describe_faults(report.day, report.faults),
            "`manage.py marketplace audit` names them all. Pay nothing out before it is clean.",
        )
    return Finding("ok", "ledger", f"The audit of {report.day} found no fault.")


def buckets() -> list[Finding]:
    """The storage in buckets takes, lists, gives and deletes a small object."""
    places = {"DATA_STORAGE": settings.DATA_STORAGE, "RELEASES_STORAGE": settings.RELEASES_STORAGE}
    return [
        _bucket(setting, place, f"{setting.removesuffix('_STORAGE')}_S3")
        for setting, place in places.items()
        if place.startswith("s3://")
    ]


def _bucket(setting: str, place: str, names: str) -> Finding:
    from core.storage.bucketprobe import find_bucket_fault  # boto3, only where it is the storage

    if fault := find_bucket_fault(setting, place, names=names):
        remedy = f"Give the key the rights below the prefix, or correct {setting} and {names}_…."
        return Finding("error", "storage", fault, remedy)
    return Finding("ok", "storage", f"{place} can be written, listed, read and deleted from.")


def outages() -> Finding:
    """Marketplaces that do not answer as they should."""
    down = list(outage_list()[:MOST_NAMED])
    if not down:
        return Finding("ok", "marketplaces", "")
    named = " ".join(
        f"{each.endpoint.name} has not answered as it should for {format_span(each.span)}: {each.down_cause}."
        for each in down
    )
    return Finding(
        "warning",
        "marketplaces",
        named,
        "Nothing is lost: rounds go on trying. Look at the marketplace, or at what is between it and here.",
    )
