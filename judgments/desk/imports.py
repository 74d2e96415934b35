"""Imports of answers on the desk: upload, preview, the running job, and its report."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.desk.importform import UploadForm
from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError
from core.files.columns import map_columns
from core.jobs.models import Job, JobState
from core.jobs.services import enqueue
from core.projects.models import Project
from judgments.desk.importform import AnswersForm
from judgments.importing.rows import NAMES
from judgments.importing.tally import RULES
from judgments.models import CandidateSource
from judgments.services.importing import Options, Preview, preview
from judgments.tasks import IMPORT
from web.access import ProjectAccess, Role, on_project
from web.job_pages import cancel_and_say
from web.pages import show

FOLDER = "judgments"
#: Systems that a report lists; the page of all systems has the rest.
_MOST_SYSTEMS = 100


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Upload a file."""
    posted = request.method == "POST"
    form = UploadForm(request.POST if posted else None, request.FILES if posted else None, label_suffix="")
    if posted and form.is_valid():
        upload: UploadedFile[bytes] = form.cleaned_data["file"]
        try:
            file = staged_files.stage(
                project=access.project,
                name=upload.name or "answers",
                pieces=upload.chunks(),
                command="import-candidates",
            )
        except ImportRefusedError as error:
            form.add_error("file", str(error))
        else:
            return redirect("judgments:import_preview", access.project.slug, file.sha256)
    status = 422 if posted else 200
    return show(request, "import.html", access, folder=FOLDER, tab="systems", form=form, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def look(request: HttpRequest, access: ProjectAccess, *, sha256: str) -> HttpResponse:
    """The first rows as they would be read, and all options; `start` starts the job."""
    file = staged_files.staged(project=access.project, sha256=sha256)
    if file is None:
        raise Http404("There is no such upload.")
    seen = _look(file, Options())
    form = AnswersForm(columns=seen.columns, mapping=seen.mapping)
    if request.method == "POST":
        # The columns to choose from are those of the format chosen.
        header = False if "no_header" in request.POST else None
        first = _look(file, Options(format=request.POST.get("format", "auto"), header=header))
        form = AnswersForm(request.POST, columns=first.columns, mapping=first.mapping)
        if form.is_valid():
            seen = _look(file, form.options())
            if seen.found is not None and "start" in request.POST:
                return _start(request, access, file, form)
            if seen.trouble:
                form.add_error(None, seen.trouble)
    return show(
        request,
        "import_preview.html",
        access,
        folder=FOLDER,
        tab="systems",
        file=file,
        form=form,
        found=seen.found,
        trouble=seen.trouble,
        status=422 if form.errors else 200,
    )


@dataclass(frozen=True, slots=True)
class _FileLook:
    """What a look at the file gave: its first rows, or why there are none; and its columns."""

    found: Preview | None
    trouble: str
    columns: list[str]
    mapping: dict[str, str]


def _look(file: staged_files.StagedFile, options: Options) -> _FileLook:
    try:
        found = preview(file.path, name=file.name, options=options)
    except ImportRefusedError as error:
        return _FileLook(None, str(error), error.columns, map_columns(error.columns, {}, NAMES))
    return _FileLook(found, "", found.columns, found.mapping)


def _start(
    request: HttpRequest, access: ProjectAccess, file: staged_files.StagedFile, form: AnswersForm
) -> HttpResponse:
    job = enqueue(
        kind=IMPORT,
        payload={
            "project": access.project.pk,
            "sha256": file.sha256,
            "name": file.name,
            "user": access.user.pk,
            "options": form.payload(),
        },
        effect=f"candidates:{access.project.pk}:{form.cleaned_data['once'].hex}",
    )
    messages.success(request, "The import runs.")
    return redirect("judgments:import_job", access.project.slug, job.pk)


@require_safe
@on_project(Role.MANAGER)
def running(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """How far an import is; when it is done, its report, also where the file had nothing new."""
    row = _job(access.project, job)
    if row.state != JobState.DONE or not row.result:
        return show(request, "import_job.html", access, folder=FOLDER, tab="systems", **_live(row))
    if row.result.get("source"):
        return redirect("judgments:source", access.project.slug, int(row.result["source"]))
    return _report(request, access, row.result, None)


@require_safe
@never_cache
@on_project(Role.MANAGER)
def live(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """The part of the running import's page that changes by itself."""
    return show(request, "parts/import_live.html", access, folder=FOLDER, **_live(_job(access.project, job)))


@require_POST
@on_project(Role.MANAGER)
def stop(request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
    """Cancel an import that waits or runs; what it stored is all or nothing, so nothing stays."""
    row = _job(access.project, job)
    return cancel_and_say(
        request,
        access,
        row,
        what="The import",
        left="Nothing of the file was stored.",
        then="judgments:import_job",
    )


def _live(job: Job) -> dict[str, Any]:
    over = job.state in (JobState.FAILED, JobState.CANCELLED)
    return {"job": job, "over": over, "done": job.state == JobState.DONE}


def _job(project: Project, pk: int) -> Job:
    row = get_object_or_404(Job, pk=pk, kind=IMPORT)
    if row.payload.get("project") != project.pk:
        raise Http404("There is no such import.")
    return row


@require_safe
@on_project()
def source(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """What an import stored, set aside and refused; texts of the file are for managers only."""
    rows = CandidateSource.objects.select_related("created_by")
    row = get_object_or_404(rows, pk=pk, project=access.project)
    return _report(request, access, row.report, row)


def _report(
    request: HttpRequest, access: ProjectAccess, report: dict[str, Any], row: CandidateSource | None
) -> HttpResponse:
    counts = list(report.get("systems", {}).items())[:_MOST_SYSTEMS]
    systems = [(name, {rule: some.get(rule, 0) for rule in RULES}) for name, some in counts]
    return show(
        request,
        "import_source.html",
        access,
        folder=FOLDER,
        tab="systems",
        source=row,
        report=report,
        systems=systems,
    )
