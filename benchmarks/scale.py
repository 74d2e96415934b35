"""An installation with a large project: fills it, does the work of every job, opens every page of the desk.

    python -m benchmarks.scale [--judgments 1000000] [--projects 1] [--database postgres]

The large project is made by `tests.campaign`, 50 judgments a query. Of each page: its first look and, warm,
its 95th percentile by the clock and of the processors (this process and its database). Each job runs in a
process of its own, under the limits on statements of a jobs worker: seconds, processor time, peak memory.
"""

import gc
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Figure, percentile, run_step

NAME = "campaign"
JUDGMENTS_PER_QUERY, SMALL_QUERIES = 50, 20
#: What is wanted of a warm page, in milliseconds at the 95th percentile, and of a job's memory.
PAGE_MS, JOB_MIB = 500.0, 1024.0
SHOWN_PAGES = 15


def fill(queries: int, projects: int) -> dict[str, int]:
    """Make the projects; rows of the large one."""
    from django.db import connection

    from core.projects.models import Membership, Project
    from tests.campaign.loading import facts, load
    from tests.campaign.world import Size

    world = load(Size(queries=queries), name=NAME, filters=False)
    for number in range(1, projects):
        load(Size(queries=SMALL_QUERIES, seed=number), name=f"small-{number:03}", analyse=False)
    for project in Project.objects.exclude(slug=NAME):
        Membership.objects.create(project=project, user=world.owner, role="owner")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return {name: count for name, count in facts(world).items() if isinstance(count, int)}


# Pages


def open_pages(repeats: int, only: str = "") -> list[dict[str, Any]]:
    """Every page by Django's test client: status, statements, first look, warm looks."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from core.projects.models import Membership, Project
    from distillery.dbtimeouts import limit_connections
    from tests.campaign.pages import pages

    limit_connections("web")
    gc.collect()
    gc.freeze()  # as the web server does
    project = Project.objects.get(slug=NAME)
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(Membership.objects.filter(project=project, role="owner")[0].user)
    rows = []
    for name, address in pages(project):
        if only not in name:
            continue
        first = _look(client, address)
        if first[0] == 405:
            continue
        with CaptureQueriesContext(connection) as statements:
            status, *_ = _look(client, address)
        count = len(statements)  # before the next request clears the log
        looks = [_look(client, address) for _ in range(repeats)]
        rows.append(
            {
                "name": name,
                "status": status,
                "statements": count,
                "first": first[1],
                "clock": percentile([clock for _, clock, _ in looks], 0.95),
                "processor": percentile([processor for *_, processor in looks], 0.95),
            }
        )
    return rows


def _look(client: Any, address: str) -> tuple[int, float, float]:
    """Status, and milliseconds until the page, or the first rows of a file, are there."""
    database = common.database_seconds()  # looks at processes itself: outside of both clocks
    processor, clock = time.process_time(), time.perf_counter()
    answer = client.get(address)
    if answer.streaming:
        next(iter(answer.streaming_content), b"")
        answer.close()
    seconds = time.perf_counter() - clock
    spent = time.process_time() - processor + common.database_seconds() - database
    return answer.status_code, seconds * 1000, spent * 1000


def page_figures(rows: Sequence[dict[str, Any]]) -> Iterator[Figure]:
    """How many pages miss the goal, and those that take longest."""
    slow = [row for row in rows if row["clock"] > PAGE_MS]
    failed = [row for row in rows if row["status"] >= 500 or row["status"] in (202, 429)]
    yield Figure(f"of {len(rows)} pages, above {PAGE_MS:.0f} ms", f"{len(slow)}", "0", not slow)
    names = ", ".join(row["name"] for row in failed)
    yield Figure("of them, with an error or without their figures", f"{len(failed)}", "0", not failed, names)
    for row in sorted(rows, key=lambda row: -row["clock"])[: max(SHOWN_PAGES, len(slow))]:
        note = (
            f"status {row['status']}, {row['statements']} statements, first look {row['first']:.0f} ms, "
            f"{row['processor']:.0f} ms of the processors"
        )
        yield Figure(row["name"], f"{row['clock']:.0f} ms", note=note)


# Jobs


def _stage() -> Any:
    from crowd.models import Stage

    return Stage.objects.select_related("project", "endpoint").get(project__slug=NAME, kind="judging")


def _owner() -> Any:
    from core.projects.models import Membership

    return Membership.objects.filter(project__slug=NAME, role="owner").order_by("pk")[0].user


def _project() -> Any:
    from core.projects.models import Project

    return Project.objects.get(slug=NAME)


def _run(job: Any) -> dict[str, Any]:
    from core.jobs import runner
    from core.jobs.models import JobState

    runner.run(job_id=job.pk)
    job.refresh_from_db()
    if job.state != JobState.DONE:
        raise SystemExit(f"{job.kind}: {job.state}: {job.error}")
    return {}


def preview_filters() -> dict[str, Any]:
    """What the default filters would do; the filters' page asks for it."""
    from judgments.services import filter_runs

    preview = filter_runs.preview(_stage(), "default", {})
    return {"judgments": preview.ratings, "removed": preview.removed_ratings}


def apply_filters() -> dict[str, Any]:
    """Put the default filters in force."""
    from judgments.services import filter_runs

    recipe: dict[str, Any] = {"recipe": "default", "parameters": {}, "seed": 0, "seen": None}
    return _run(filter_runs.ask_apply(stage=_stage(), actor=_owner(), once=uuid.uuid4().hex, **recipe))


def make_report() -> dict[str, Any]:
    """The honest report of the judging stage."""
    from judgments.services import reports

    return _run(reports.ask(stage=_stage()))


def do_round() -> dict[str, Any]:
    """What a round does for each stage: settle what is new, and look for what is missing."""
    from crowd.kinds import kind_of
    from crowd.models import Stage

    missing = {}
    for stage in Stage.objects.filter(project__slug=NAME).select_related("project", "endpoint"):
        kind = kind_of(stage)
        kind.settle(stage)
        missing[stage.kind] = sum(item.missing for item in kind.pending(stage))
    return missing


def check_privacy() -> dict[str, Any]:
    """The privacy check of all texts; its findings are accepted, so that a release can be built."""
    from releases import build, privacy
    from releases.models import PrivacyFinding

    project, owner = _project(), _owner()
    _run(build.look_for_findings(project=project, actor=owner, once=uuid.uuid4()))
    findings = PrivacyFinding.objects.filter(project=project)
    privacy.accept_findings(findings=findings, reason="The texts are made up.", actor=owner)
    return {"findings": findings.count()}


def build_release() -> dict[str, Any]:
    """A release in all formats."""
    from core.jobs.models import Job
    from releases import build
    from releases.formats import FORMATS
    from releases.options import Options

    options = Options(formats=tuple(FORMATS), shares=(0.8, 0.1, 0.1))
    release = build.begin(project=_project(), options=options, actor=_owner())
    _run(Job.objects.get(pk=release.job))
    release.refresh_from_db()
    return {"bytes": release.bytes}


def evaluate() -> dict[str, Any]:
    """An evaluation of the newest release by two metrics, with 200 replicates."""
    from core.jobs.models import Job
    from evaluations import services
    from evaluations.plans import plan_of
    from releases.models import Release

    release = Release.objects.filter(project__slug=NAME, state="ready").latest("pk")
    plan = plan_of({"metrics": ["BLEU-4", "ROUGE-L"], "replicates": 200, "draws": 999})
    return _run(Job.objects.get(pk=services.begin(release=release, plan=plan, actor=_owner()).job))


JOBS: dict[str, Callable[[], dict[str, Any]]] = {
    "preview": preview_filters,
    "apply": apply_filters,
    "report": make_report,
    "round": do_round,
    "check": check_privacy,
    "release": build_release,
    "evaluation": evaluate,
}


def run_job(name: str) -> dict[str, Any]:
    """One of them, with what the database's processes took of the processor."""
    from distillery.dbtimeouts import limit_connections

    limit_connections("jobs")
    before = common.database_seconds()
    values = JOBS[name]()
    return {"database": common.database_seconds() - before, "values": values}


def job_figures(names: Sequence[str]) -> Iterator[Figure]:
    """Every job."""
    for name in names:
        try:
            answer = run_step("benchmarks.scale", "job", name)
        except RuntimeError as error:
            yield Figure(name, "failed", met=False, note=" ".join(str(error)[-600:].split()))
            continue
        value = answer["value"]
        figures = f"{answer['seconds']:.1f} s, {answer['peak_mib']:.0f} MiB"
        note = (
            f"processor {answer['processor']:.1f} s + {value['database']:.1f} s of the database; "
            f"{json.dumps(value['values'])}"
        )
        yield Figure(name, figures, f"≤ {JOB_MIB:.0f} MiB", answer["peak_mib"] <= JOB_MIB, note)


STEPS = {"fill": fill, "pages": open_pages, "job": run_job}


def main() -> int:
    """Do what the command line says; 1 where a page or a job misses its goal."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--judgments", type=int, default=1_000_000, help="of the large project")
    parser.add_argument("--projects", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="postgres")
    parser.add_argument("--repeats", type=int, default=20, help="warm looks at each page")
    parser.add_argument("--only", default="", help="pages whose name contains this")
    parser.add_argument("--jobs", nargs="*", choices=JOBS, default=list(JOBS))
    options = parser.parse_args()
    if options.step:
        common.set_up_django()
        common.answer_step(STEPS, options.step)
        return 0
    from tests.server import drop_database, new_database  # brings boto3, which no step is to have

    print(common.describe_machine("psycopg2-binary"))
    with common.use_database(options.database), tempfile.TemporaryDirectory(prefix="scale-") as folder:
        server = os.environ.get("DATABASE_URL", "")
        url = os.environ["DATABASE_URL"] = new_database(Path(folder))
        os.environ["DATA_DIR"] = folder
        queries = max(1, options.judgments // JUDGMENTS_PER_QUERY)
        rows = run_step("benchmarks.scale", "fill", queries, options.projects)
        print(f"Filled in {rows['seconds']:.0f} s: {json.dumps(rows['value'])}.", flush=True)
        good = common.print_table("Jobs", job_figures(options.jobs))
        pages = run_step("benchmarks.scale", "pages", options.repeats, *filter(None, [options.only]))
        good &= common.print_table("Pages, warm, 95th percentile by the clock", page_figures(pages["value"]))
        os.environ["DATABASE_URL"] = server
        drop_database(url)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
