"""Files of a project's queries as CSV: sent at once where there are few, made by a job where there are many.

A file that a job made lies in the data folder, and in the storage that all hosts share, for a day.
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Query
from annotation.selectors.query_progress import with_progress
from core.files.cells import cell, csv_text
from core.jobs import services as jobs
from core.jobs.models import OPEN_STATES, Job
from core.progress import Progress
from core.projects.models import Project
from core.storage import shared_store

MAKE = "annotation.queries-file"
#: Queries up to which a file is sent at once: they take about .2 s.
AT_ONCE = 20_000
KEPT = timedelta(days=1)
_ROWS = 1000
#: Columns of the file with the fields that they hold; counts of what people said follow them.
_COLUMNS = {
    "id": "pk", "key": "key", "text": "text", "status": "status", "reason": "status_reason", "type": "type",
    "yes_no": "yes_no", "count": "count", "stratum": "stratum", "weight": "weight",
    "conversation": "conversation", "turn": "turn", "source": "source__name", "line": "line",
}  # fmt: skip
_COUNTS = ("screening_votes", "selections", "answers")
_COUNTS_OF = attrgetter("votes", "selections", "answers")
#: Columns that strangers may have written into; the others hold numbers and our own words.
_TEXTS = frozenset({"key", "text", "reason", "type", "stratum", "conversation", "source"})


def lines_of(project: Project, queries: QuerySet[Query]) -> Iterator[str]:
    """The file of these queries in pieces of a thousand rows, the first of which is the head."""
    yield csv_text([(*_COLUMNS, *_COUNTS)])
    rows: Any = queries.values_list(*_COLUMNS.values()).iterator(chunk_size=_ROWS)
    for batch, counts in with_progress(project, rows, itemgetter(0)):
        # Column by column: of a hundred thousand queries these are two million cells.
        columns = [
            map(cell, column) if name in _TEXTS else column
            for name, column in zip(_COLUMNS, zip(*batch, strict=True), strict=True)
        ]
        votes, selections, answers = zip(*map(_COUNTS_OF, counts), strict=True)
        yield csv_text(zip(*columns, votes, selections, answers, strict=True))


def needs_job(queries: QuerySet[Query]) -> bool:
    """Whether there are so many that a job makes the file."""
    return queries.order_by()[AT_ONCE : AT_ONCE + 1].exists()


def ask_file(project: Project, address_query: str) -> Job:
    """Have the file of what an address asks for made; the job that already does so, where there is one."""
    prefix = f"queries-file:{project.pk}:{sha256(address_query.encode()).hexdigest()[:32]}:"
    last = Job.objects.filter(effect__startswith=prefix).order_by("-pk").first()
    if last is not None and last.state in OPEN_STATES:
        return last
    # Two who ask at once have the same effect, and so one job.
    return jobs.enqueue(
        kind=MAKE,
        payload={"project": project.pk, "asked": address_query},
        effect=f"{prefix}{last.pk if last else 0}",
    )


def make_file(job: Job, project: Project, queries: QuerySet[Query], progress: Progress) -> dict[str, Any]:
    """Write the file of a job: how many queries and bytes it has, and at which moment it was begun."""
    begun, every = timezone.now(), queries.order_by().count()
    path = _path(project, job.pk)
    path.parent.mkdir(parents=True, exist_ok=True)
    delete_old_files()
    half = path.with_name(f".{path.name}.{uuid4().hex}")
    size = 0
    try:
        with half.open("wb") as file:
            for number, lines in enumerate(lines_of(project, queries)):
                progress(min(every, number * _ROWS), every, "Writing queries")
                size += file.write(lines.encode())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    store = shared_store()
    store.put(_name(project, job.pk), path)
    if store.is_shared:
        path.unlink()
    progress(every, every, "Writing queries")
    return {"queries": every, "bytes": size, "at": begun.isoformat()}


def open_file(project: Project, job: int) -> BinaryIO | None:
    """The file that a job made, from whichever host; None where it was deleted."""
    store = shared_store()
    try:
        return store.open(_name(project, job)) if store.is_shared else _path(project, job).open("rb")
    except FileNotFoundError:
        return None


def _name(project: Project, job: int) -> str:
    return f"exports/{project.pk}/{job}.csv"


def _path(project: Project, job: int) -> Path:
    return Path(settings.DATA_DIR) / _name(project, job)


def delete_old_files() -> None:
    """Delete what was made more than a day ago, and what was left half made on this host; of all projects."""
    store = shared_store()
    for name, since in list(store.names("exports")):
        if since < timezone.now() - KEPT:
            store.delete(name)
    for path in list((Path(settings.DATA_DIR) / "exports").glob("*/*")):
        try:
            if path.stat().st_mtime < time.time() - KEPT.total_seconds():
                path.unlink()
        except FileNotFoundError:
            continue
