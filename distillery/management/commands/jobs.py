"""`manage.py jobs`: look at background jobs, try one again, cancel one."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.jobs import selectors, services
from core.jobs.models import Job, JobState


class Command(BaseCommand):
    """List, retry or cancel background jobs."""

    help = "List background jobs, try a failed one again, or cancel one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Three actions."""
        actions = parser.add_subparsers(dest="action", required=True)
        listing = actions.add_parser("list", help="newest first")
        listing.add_argument("--state", choices=JobState.values)
        listing.add_argument("--limit", type=int, default=50)
        listing.add_argument("--json", action="store_true", dest="as_json")
        retrying = actions.add_parser("retry", help="queue a failed or cancelled job again")
        cancelling = actions.add_parser("cancel", help="close a queued or running job")
        for parser_of_one in (retrying, cancelling):
            parser_of_one.add_argument("job_id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        """Do one of them."""
        if options["action"] == "list":
            self._list(options)
        elif options["action"] == "retry":
            if not services.retry(job_id=options["job_id"]):
                raise CommandError("There is no failed or cancelled job of this number.")
            self.stdout.write(f"Job {options['job_id']} is queued again.")
        elif options["action"] == "cancel":
            if not services.cancel(job_id=options["job_id"]):
                raise CommandError("There is no queued or running job of this number.")
            self.stdout.write(f"Job {options['job_id']} is cancelled.")

    def _list(self, options: dict[str, Any]) -> None:
        jobs = selectors.jobs_listed(state=options["state"])[: options["limit"]]
        if options["as_json"]:
            self.stdout.write(json.dumps([_described(job) for job in jobs], indent=2))
            return
        for job in jobs:
            done = f" {job.progress_done}/{job.progress_total}" if job.progress_total else ""
            self.stdout.write(
                f"{job.pk:>6}  {job.state:<9}  {job.created_at:%Y-%m-%d %H:%M:%S}  {job.kind}{done}"
                f"{'  ' + job.error if job.error else ''}"
            )
        counts = selectors.jobs_counted()
        self.stdout.write(", ".join(f"{number} {state}" for state, number in counts.items()))


def _described(job: Job) -> dict[str, Any]:
    return {
        "id": job.pk,
        "kind": job.kind,
        "effect": job.effect,
        "state": job.state,
        "attempts": job.attempts,
        "progress": [job.progress_done, job.progress_total, job.progress_note],
        "error": job.error,
        "created_at": job.created_at.isoformat(),
        "finished_at": job.finished_at.isoformat() if job.finished_at else None,
    }
