"""Runs the background work of an installation over a large project, each piece in a process of its own.

    python -m benchmarks.scalejobs [JOB …] [--project campaign]

A job of the table is asked for as its page does and run by the code that the jobs worker has, under the
worker's limits on statements. The database is the one of DATABASE_URL, which nothing else may be using, as
its processor time is that of the whole server. `apply` and `release` leave what they make in the database.
"""

# ruff: noqa: PLC0415  # each process imports only what it measures

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import django

from benchmarks.scale import SECRET_KEY

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")

#: Words of what a job printed before it failed.
_LAST_WORDS = 600


def _stage(slug: str) -> Any:
    from crowd.models import Stage

    return Stage.objects.select_related("project", "endpoint").get(project__slug=slug, kind="judging")


def _owner(slug: str) -> Any:
    from core.projects.models import Membership

    return Membership.objects.filter(project__slug=slug, role="owner").order_by("pk")[0].user


def _run(job: Any) -> dict[str, Any]:
    """Do one job as a worker does; an error where it did not end well."""
    from core.jobs import runner
    from core.jobs.models import JobState

    runner.run(job_id=job.pk)
    job.refresh_from_db()
    if job.state != JobState.DONE:
        raise SystemExit(f"{job.kind}: {job.state}: {job.error}")
    return {"result": job.result}


def do_preview(slug: str) -> dict[str, Any]:
    """What the default filters would do; the filters' page asks for it."""
    from judgments.services import filter_runs

    found = filter_runs.preview(_stage(slug), "default", {})
    return {"judgments": found.ratings, "removed": found.removed_ratings}


def do_apply(slug: str) -> dict[str, Any]:
    """Put the default filters in force."""
    from judgments.services import filter_runs

    wish = {"recipe": "default", "parameters": {}, "seed": 0, "seen": None, "once": uuid.uuid4().hex}
    return _run(filter_runs.ask_apply(stage=_stage(slug), actor=_owner(slug), **wish))


def do_report(slug: str) -> dict[str, Any]:
    """The honest report of the judging stage."""
    from judgments.services import reports

    return _run(reports.ask(stage=_stage(slug)))


def do_round(slug: str) -> dict[str, Any]:
    """What a round does for each stage: settle what is new, and look for what is missing."""
    from crowd.kinds import kind_of
    from crowd.models import Stage

    found = {}
    for stage in Stage.objects.filter(project__slug=slug).select_related("project", "endpoint"):
        kind = kind_of(stage)
        kind.settle(stage)
        found[stage.kind] = sum(each.missing for each in kind.pending(stage))
    return {"missing": found}


def do_look(_slug: str) -> dict[str, Any]:
    """Every rule of notices, over all projects."""
    from django.utils import timezone

    from core.notices.conditions import look

    return {"notices": str(look(timezone.now()))}


def do_prune(_slug: str) -> dict[str, Any]:
    """Remove old rows."""
    from distillery.tasks import prune

    return {"removed": str(prune())}


def do_check(slug: str) -> dict[str, Any]:
    """The privacy check of all texts; what it finds is accepted, so that a release can be built."""
    from core.projects.models import Project
    from releases import build, privacy
    from releases.models import PrivacyFinding

    project, actor = Project.objects.get(slug=slug), _owner(slug)
    found = _run(build.look_for_findings(project=project, actor=actor, once=uuid.uuid4()))
    open_ones = PrivacyFinding.objects.filter(project=project)
    privacy.accept_findings(findings=open_ones, reason="The texts are made up.", actor=actor)
    return found


def do_release(slug: str) -> dict[str, Any]:
    """A release in all six formats."""
    from core.jobs.models import Job
    from core.projects.models import Project
    from releases import build
    from releases.formats import FORMATS
    from releases.options import Options

    options = Options(formats=tuple(FORMATS), shares=(0.8, 0.1, 0.1))
    project = Project.objects.get(slug=slug)
    release = build.begin(project=project, options=options, actor=_owner(slug))
    found = _run(Job.objects.get(pk=release.job))
    release.refresh_from_db()
    return found | {"bytes": release.bytes}


def do_evaluation(slug: str) -> dict[str, Any]:
    """An evaluation of the newest release by two metrics, with 200 replicates."""
    from core.jobs.models import Job
    from evaluations import services
    from evaluations.plans import plan_of
    from releases.models import Release

    release = Release.objects.filter(project__slug=slug, state="ready").latest("pk")
    plan = plan_of({"metrics": ["BLEU-4", "ROUGE-L"], "replicates": 200, "draws": 999})
    return _run(Job.objects.get(pk=services.begin(release=release, plan=plan, actor=_owner(slug)).job))


JOBS: dict[str, Callable[[str], dict[str, Any]]] = {
    "preview": do_preview,
    "apply": do_apply,
    "report": do_report,
    "round": do_round,
    "look": do_look,
    "prune": do_prune,
    "check": do_check,
    "release": do_release,
    "evaluation": do_evaluation,
}


def server_seconds() -> float:
    """Processor time of the whole PostgreSQL server so far, of backends that have ended too."""
    from django.db import connection

    from benchmarks.capacity import seconds_of

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    parent = Path(f"/proc/{backend}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
    return seconds_of(int(parent))


def child(name: str, slug: str) -> None:
    """Do one of them in this process, and print what it took."""
    django.setup()
    from benchmarks.environment import peak
    from distillery.dbtimeouts import limit_connections

    limit_connections("jobs")
    spent, begun = server_seconds(), time.perf_counter()
    before, used = peak(), time.process_time()
    said = JOBS[name](slug)
    figures = {
        "job": name,
        "seconds": round(time.perf_counter() - begun, 2),
        "processor_s": round(time.process_time() - used, 2),
        "database_s": round(server_seconds() - spent, 2),
        "start_mib": round(before),
        "peak_mib": round(peak()),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({**figures, **said}, default=str))


def measured(slug: str, names: Sequence[str], data_dir: Path) -> Iterator[dict[str, Any]]:
    """A row for each of them; one that failed has its last words."""
    environment = {"SECRET_KEY": SECRET_KEY, **os.environ, "DATA_DIR": str(data_dir)}
    for name in names:
        words = [sys.executable, "-m", "benchmarks.scalejobs", "--child", name, "--project", slug]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            row = {"job": name, "error": (done.stderr or done.stdout)[-_LAST_WORDS:]}
        else:
            row = json.loads(done.stdout.splitlines()[-1])
        print(json.dumps(row), file=sys.stderr, flush=True)
        yield row


def main() -> int:
    """Do what the command line says; 1 where a job failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.scalejobs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}; all by default")
    parser.add_argument("--project", default="campaign")
    parser.add_argument("--child", choices=JOBS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.project)
        return 0
    if unknown := set(given.jobs) - set(JOBS):
        parser.error(f"there is no job {min(unknown)}; there are {', '.join(JOBS)}")
    with tempfile.TemporaryDirectory(prefix="distillery-scale-") as folder:
        rows = list(measured(given.project, given.jobs or list(JOBS), Path(folder)))
    print(json.dumps(rows))
    return int(any("error" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
