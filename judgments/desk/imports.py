"""Imports of systems' answers on the desk, and their reports."""

import uuid
from dataclasses import asdict
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.desk.imports import UploadForm, encoding_field
from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError
from annotation.services.staged_files import StagedFile
from core.files.cells import map_columns
from core.jobs.models import Job
from core.projects.models import Project
from judgments.answer_files import FIELDS, FORMATS, LONGEST_SYSTEM, NAMES, RULES
from judgments.models import CandidateSource
from judgments.services.imports import Options, preview
from judgments.tasks import IMPORT
from web.access import ProjectAccess, on_project
from web.job_pages import FilePreview, ImportPages, OptionsForm
from web.pages import show

_WORDS = {
    "query_id": "Id of the query",
    "query": "Query",
    "system": "System",
    "text": "Answer",
    "opinion": "Opinion (yes, no, depends)",
    "entities": "Entities",
    "context": "Earlier turns",
}


class AnswersForm(OptionsForm[Options]):
    """All options, with a select per field where the file has columns of its own."""

    format = forms.ChoiceField(choices=list(FORMATS.items()), label="Format", initial="auto")
    encoding = encoding_field()
    system = forms.CharField(
        max_length=LONGEST_SYSTEM,
        required=False,
        label="Whose answers they are",
        help_text="The system's name, for lines that do not say it. Judges never see it.",
    )
    keep_exact = forms.BooleanField(
        required=False,
        label="Have answers judged that are the same as a reference, instead of setting them aside",
    )
    no_header = forms.BooleanField(
        required=False, label="The first line of the table is an answer, not the names of columns"
    )
    strict = forms.BooleanField(required=False, label="One bad line refuses the whole file")
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None, *, columns: list[str], mapping: dict[str, str]) -> None:
        super().__init__(data, label_suffix="")
        choices = [("", "not in the file"), *((name, name[:80]) for name in columns if name)]
        self.columns = [f"column_{name}" for name in FIELDS] if columns else []
        for name in FIELDS if columns else ():
            self.fields[f"column_{name}"] = forms.ChoiceField(
                choices=choices, required=False, initial=mapping.get(name, ""), label=_WORDS[name]
            )

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """Parts of the form: a heading, a sentence, fields."""
        columns = [self[name] for name in self.columns]
        reading = "If this is not what the file holds, change it and look again."
        return [
            (
                "How to read it",
                reading,
                [self["format"], self["encoding"], self["no_header"], self["system"]],
            ),
            *(
                [("Which column holds what", "A query is found by its id, or by its text.", columns)]
                if columns
                else []
            ),
            ("What to do with it", "", [self["keep_exact"], self["strict"]]),
        ]

    def options(self) -> Options:
        """The form as the service wants it."""
        given = self.cleaned_data
        return Options(
            format=given["format"],
            encoding=given["encoding"],
            columns={name: given[f"column_{name}"] for name in FIELDS} if self.columns else {},
            header=False if given["no_header"] else None,
            system=given["system"].strip(),
            strict=given["strict"],
            keep_exact=given["keep_exact"],
        )

    def payload(self) -> dict[str, Any]:
        """The options, ready for JSON."""
        return asdict(self.options())


_TAB = "systems"
#: Systems that a report lists; the page of all systems has the rest.
_MOST_SYSTEMS = 100


class AnswerImports(ImportPages[StagedFile, Options]):
    """Imports of systems' answers."""

    app = "judgments"
    tab = _TAB
    kinds = (IMPORT,)
    effect = "candidates"
    upload_form = UploadForm
    refusal = ImportRefusedError

    def stage(self, project: Project, upload: "UploadedFile[bytes]") -> StagedFile:
        """Keep an upload until it is imported."""
        return staged_files.stage(
            project=project,
            name=upload.name or "answers",
            pieces=upload.chunks(),
            command="import-candidates",
        )

    def find_staged(self, project: Project, sha256: str) -> StagedFile | None:
        """An upload of this project that was kept."""
        return staged_files.staged(project=project, sha256=sha256)

    def first_options(self, post: QueryDict | None) -> Options:
        """The format, and whether the first line of a table is an answer."""
        if post is None:
            return Options()
        return Options(format=post.get("format", "auto"), header=False if "no_header" in post else None)

    def look(self, file: StagedFile, options: Options) -> FilePreview:
        """Look at the first answers."""
        try:
            found = preview(file.path, name=file.name, options=options)
        except ImportRefusedError as error:
            return FilePreview(None, str(error), error.columns, map_columns(error.columns, {}, NAMES))
        return FilePreview(found, "", found.columns, found.mapping)

    def form(self, post: QueryDict | None, seen: FilePreview) -> AnswersForm:
        """The form with a select per field."""
        return AnswersForm(post, columns=seen.columns, mapping=seen.mapping)

    def show_result(self, request: HttpRequest, access: ProjectAccess, job: Job) -> HttpResponse | None:
        """The report, also where the file had nothing new."""
        if not job.result:
            return None
        if job.result.get("source"):
            return redirect("judgments:source", access.project.slug, int(job.result["source"]))
        return _show_report(request, access, job.result, None)


IMPORTS = AnswerImports()


@require_safe
@on_project()
def source(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """What an import stored, set aside and refused; texts of the file are for managers only."""
    rows = CandidateSource.objects.select_related("created_by")
    row = get_object_or_404(rows, pk=pk, project=access.project)
    return _show_report(request, access, row.report, row)


def _show_report(
    request: HttpRequest, access: ProjectAccess, report: dict[str, Any], row: CandidateSource | None
) -> HttpResponse:
    counts = list(report.get("systems", {}).items())[:_MOST_SYSTEMS]
    systems = [(name, {rule: some.get(rule, 0) for rule in RULES}) for name, some in counts]
    return show(
        request,
        "import_source.html",
        access,
        folder="judgments",
        tab=_TAB,
        source=row,
        report=report,
        systems=systems,
    )
