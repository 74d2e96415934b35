"""Measures filters and the report on agreement over a large stage, each in a process of its own.

    python -m benchmarks.campaign --queries 20000 --no-filters
    python -m benchmarks.filters [--project campaign] [--recipe default]

The database is the one of DATABASE_URL. Reported are seconds, seconds of processor time of the process and
of its database backend, peak memory of the process, and the load of the machine.
"""

# ruff: noqa: PLC0415  # each process imports only what it measures

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
STEPS = ("preview", "apply", "report")


def work(step: str, project: str, recipe: str) -> dict[str, Any]:
    """Do one thing to the project's first judging stage; some numbers of what came out."""
    from crowd.models import Stage
    from judgments.services import filter_runs, reports

    stage = Stage.objects.filter(project__slug=project, kind="judging").order_by("pk")[0]
    if step == "preview":
        found = filter_runs.preview(stage, recipe, {})
        return {"judgments": found.ratings, "removed": found.removed_ratings}
    if step == "apply":
        run = filter_runs.apply(
            stage=stage, recipe=recipe, parameters={}, actor=stage.project.memberships.order_by("pk")[0].user
        )
        return {"verdicts": run.verdicts.count(), "scores": run.scores.count()}
    row = reports.make(stage, lambda *_: None)
    reports.keep(row)
    return {"judgments": row.judgments}


def child(given: argparse.Namespace) -> None:
    """Measure this process."""
    django.setup()
    from benchmarks.deskside import Clock

    clock = Clock()
    begun, used, before = time.perf_counter(), time.process_time(), clock.now()
    found = work(given.step, given.project, given.recipe)
    both, own = (clock.now() - before) / 1000, time.process_time() - used
    figures = {
        "seconds": round(time.perf_counter() - begun, 2),
        "processor_seconds": round(own, 2),
        "database_processor_seconds": round(both - own, 2),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({"step": given.step, **figures, **found}))


def main() -> None:
    """Start a process for each thing that is measured, and print what they say."""
    parser = argparse.ArgumentParser(prog="benchmarks.filters", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--project", default="campaign")
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        child(given)
        return
    for step in STEPS:
        words = ["--project", given.project, "--recipe", given.recipe, "--step", step]
        subprocess.run([sys.executable, "-m", "benchmarks.filters", *words], check=True)


if __name__ == "__main__":
    main()
