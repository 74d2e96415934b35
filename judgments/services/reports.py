"""The honest report of a stage, worked out by a job: asking for it, making it, how old the newest one is."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import models, transaction
from django.db.models.functions import Cast
from django.utils import timezone

from core.bulk_rows import insert_batches, use_fast_compression
from core.jobs import services as jobs
from core.jobs.models import OPEN_STATES, Job, JobState
from core.progress import Progress
from crowd.models import Stage
from judgments.models import AgreementReport, FilterRun, ReportPart
from judgments.selectors.ratings import Stamp, stamp_of

REPORT = "judgments.report"
#: Grows when the report has other figures, so that old ones are made again.
VERSION = 5
#: Judgments before the first report is made by itself, and how many times more before the next.
FIRST, GROWN = 100, 1.25
#: Lists that are stored in parts, and rows of a part.
IN_PARTS = ("items", "removed_ratings")
_ROWS_OF_PART = 2_000
_OVER = (JobState.FAILED, JobState.CANCELLED)


def ask(*, stage: Stage) -> Job:
    """Have the report made of the judgments as they are now; one job however often it is asked for."""
    job = jobs.enqueue(
        kind=REPORT, payload={"stage": stage.pk}, effect=f"{prefix(stage)}{made_of(stamp_of(stage))}"
    )
    if job.state in _OVER:
        jobs.retry(job_id=job.pk)
    return job


def cancel(*, stage: Stage) -> bool:
    """Stop what works out a report of this stage, waiting or running; False if nothing does."""
    going = Job.objects.filter(kind=REPORT, effect__startswith=prefix(stage), state__in=OPEN_STATES)
    stopped = [jobs.cancel(job_id=pk) for pk in going.values_list("pk", flat=True)]
    return any(stopped)


def keep_fresh(stage: Stage) -> bool:
    """Ask for a report without filters once a quarter more judgments are in than the last one had.

    With filters in force later judgments change nothing in the report, so nothing is asked for.
    """
    if FilterRun.objects.in_force().filter(stage=stage).exists():  # before all judgments are counted
        return False
    stamp = stamp_of(stage)
    if stamp.run or stamp.count < FIRST:
        return False
    before = AgreementReport.objects.filter(stage=stage).order_by("-created_at", "-pk")
    last = before.values_list("judgments", flat=True).first() or 0
    under_way = Job.objects.filter(kind=REPORT, effect__startswith=prefix(stage), state__in=OPEN_STATES)
    if stamp.count < last * GROWN or under_way.exists():
        return False
    ask(stage=stage)
    return True


def made_of(stamp: Stamp) -> str:
    """What names a report under this stamp: with a run in force, later judgments change nothing in it."""
    seen = f"run {stamp.run}{stamp.again} {stamp.spoilt}-{stamp.spoilt_sum}" if stamp.run else str(stamp)
    return f"{VERSION}: {seen}"


def prefix(stage: Stage) -> str:
    """How the names of a stage's reports begin, as the effects of jobs."""
    return f"agreement:{stage.pk}:"


def make(stage: Stage, progress: Progress) -> AgreementReport:
    """The report as a row that is not stored yet."""
    from judgments.services.figures import whole_report

    begun = time.monotonic()
    stamp = stamp_of(stage)
    if stage.kind == "questionnaire":
        return _make_of_questionnaire(stage, stamp, begun, progress)
    run = FilterRun.objects.filter(pk=stamp.run).first()
    full_report = whole_report(stage, run, progress)
    return AgreementReport(
        stage=stage,
        run=run,
        stamp=made_of(stamp),
        last_judgment=full_report.last,
        judgments=full_report.judgments,
        report=full_report.report,
        rows=full_report.rows,
        seconds=time.monotonic() - begun,
        created_at=timezone.now(),
    )


def _make_of_questionnaire(stage: Stage, stamp: Stamp, begun: float, progress: Progress) -> AgreementReport:
    from judgments.questionnaire.report import make_report

    progress(0, 1, "Working out figures of each field")
    report = make_report(stage)
    return AgreementReport(
        stage=stage,
        run=FilterRun.objects.filter(pk=stamp.run).first(),
        stamp=made_of(stamp),
        last_judgment=stamp.last,
        judgments=report["n_responses"],
        report=report,
        rows={},
        seconds=time.monotonic() - begun,
        created_at=timezone.now(),
    )


def keep(row: AgreementReport) -> int:
    """Store a report, in place of one of the same stamp; its key."""
    values: dict[str, Any] = {
        name: getattr(row, name)
        for name in ("run", "last_judgment", "judgments", "report", "seconds", "created_at")
    }
    values["rows"] = {name: rows for name, rows in row.rows.items() if name not in IN_PARTS}
    with transaction.atomic():
        stored, new = AgreementReport.objects.defer("report", "rows").update_or_create(
            stage=row.stage, stamp=row.stamp, defaults=values
        )
        if not new:
            ReportPart.objects.filter(report=stored).delete()
        use_fast_compression()
        insert_batches(ReportPart, _parts_of(row, stored.pk))
    return int(stored.pk)


def _parts_of(row: AgreementReport, report: int) -> Iterator[dict[str, Any]]:
    """What grows with the judgments, a part at a time."""
    for name in IN_PARTS:
        rest = iter(row.rows.get(name, ()))
        number = 0
        while batch := list(islice(rest, _ROWS_OF_PART)):
            yield {"report_id": report, "name": name, "number": [number], "rows": [batch]}
            number += 1


def json_of(row: AgreementReport) -> Iterator[str]:
    """A stored report with all its lists, as the text of one JSON object.

    Of the lists in parts one part is in memory at a time; DoesNotExist where the report is deleted meanwhile.
    """
    document = {key: value for key, value in row.report.items() if key != "pairs"} | row.rows
    document["made_at"] = row.created_at.isoformat()
    yield json.dumps(document, ensure_ascii=False, indent=1).removesuffix("\n}")
    for name in IN_PARTS:
        if name in row.rows:  # of an older report, which has no parts
            continue
        yield f',\n "{name}": ['
        parts = ReportPart.objects.filter(report=row, name=name)
        texts = parts.annotate(text=Cast("rows", models.TextField())).values_list("number", "text")
        for pk in list(parts.order_by("number").values_list("pk", flat=True)):
            number, text = texts.get(pk=pk)
            yield ("\n" if number == 0 else ",\n") + text[1:-1]
        yield "]"
    yield "\n}\n"


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
