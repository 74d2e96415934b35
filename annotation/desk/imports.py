"""Imports of queries on the desk, and the report of a source."""

from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.desk.importform import ImportForm, UploadForm
from annotation.importing.report_texts import differences_in_words, nothing_new
from annotation.models import QuerySource
from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError, Options, preview
from annotation.services.staged_files import StagedFile
from annotation.tasks import IMPORT
from core.files.encodings import USUAL
from core.jobs.models import Job
from core.projects.models import Project
from web.access import ProjectAccess, on_project
from web.job_pages import FilePreview, ImportPages
from web.pages import show

_TAB = "queries"


class QueryImports(ImportPages[StagedFile, Options]):
    """Imports of queries."""

    app = "annotation"
    tab = _TAB
    kinds = (IMPORT,)
    effect = "import"
    upload_form = UploadForm
    refusal = ImportRefusedError

    def stage(self, project: Project, upload: "UploadedFile[bytes]") -> StagedFile:
        """Keep an upload until it is imported."""
        return staged_files.stage(project=project, name=upload.name or "queries", pieces=upload.chunks())

    def find_staged(self, project: Project, sha256: str) -> StagedFile | None:
        """An upload of this project that was kept."""
        return staged_files.staged(project=project, sha256=sha256)

    def first_options(self, post: QueryDict | None) -> Options:
        """Format, encoding and sheet."""
        if post is None:
            return Options()
        encoding = post.get("encoding", "")
        return Options(
            format=post.get("format", "auto"),
            encoding=encoding if encoding in USUAL else "",
            sheet=post.get("sheet", ""),
        )

    def look(self, file: StagedFile, options: Options) -> FilePreview:
        """Look at the first records."""
        try:
            found = preview(file.path, name=file.name, options=options)
        except ImportRefusedError as error:
            return FilePreview(None, str(error), error.columns, {})
        return FilePreview(found, "", found.columns, found.mapping, found.sheets)

    def form(self, post: QueryDict | None, seen: FilePreview) -> ImportForm:
        """The form with a select per field."""
        return ImportForm(post, columns=seen.columns, mapping=seen.mapping, sheets=seen.sheets)

    def upload_context(self, project: Project) -> Mapping[str, Any]:
        """What was imported before."""
        return {"sources": QuerySource.objects.filter(project=project).order_by("-pk")[:20]}

    def show_result(self, request: HttpRequest, access: ProjectAccess, job: Job) -> HttpResponse | None:
        """The report of the source."""
        return redirect("annotation:source", access.project.slug, int(job.result)) if job.result else None


IMPORTS = QueryImports()


@require_safe
@on_project()
def source(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """What an import read, dropped, refused and drew; examples are for managers only."""
    row = get_object_or_404(QuerySource.objects.select_related("created_by"), pk=pk, project=access.project)
    return show(
        request,
        "import_source.html",
        access,
        folder="annotation",
        tab=_TAB,
        source=row,
        report=row.report,
        differences=list(differences_in_words(row.report)),
        nothing_new=nothing_new(row.report),
    )
