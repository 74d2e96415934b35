"""Imports of queries on the desk, and the report of a source."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from annotation.importing.detect import FORMATS
from annotation.importing.records import FIELDS
from annotation.importing.run import differences_in_words, nothing_new
from annotation.importing.selection import DESIGNS, LONGEST, MOST, RULES, SHORTEST, STRATA, Design
from annotation.models import QuerySource
from annotation.services import staged_files
from annotation.services.importing import START_AT, ImportRefusedError, Options, preview
from annotation.services.staged_files import StagedFile
from annotation.tasks import IMPORT
from core.files.encodings import USUAL
from core.files.reading import reading_lines
from core.jobs.models import Job
from core.projects.models import Project
from crowd.models import Stage
from web.access import ProjectAccess, on_project
from web.job_pages import FilePreview, ImportPages, OptionsForm, posted_row
from web.pages import show

# The form of an import: how to read the file, what to leave out, what to draw, where queries begin.

_FIELD_WORDS = {
    "text": "Query",
    "count": "Count",
    "id": "Id",
    "type": "Type",
    "yes_no": "Yes-no flag",
    "conversation": "Conversation",
    "turn": "Turn",
    "passages": "Candidate passages",
    "passage_id": "Id of the passage",
    "passage_title": "Title of the passage",
    "passage_url": "Address of the passage",
    "selected": "Whether the passage is selected",
    "references": "Reference answers",
    "context": "Earlier turns",
}
_DESIGN_WORDS = {
    "all": "all distinct queries",
    "uniform": "uniform over distinct queries",
    "count": "proportional to count",
    "strata": "stratified, with quotas",
}
_QUOTAS = tuple(dict.fromkeys(name for names in STRATA.values() for name in names))


def encoding_field() -> forms.ChoiceField:
    """Which encoding a file has, from the usual ones; nothing has it guessed."""
    return forms.ChoiceField(
        choices=[("", "find out from the file"), *USUAL.items()], required=False, label="Encoding"
    )


class UploadForm(forms.Form):
    """A file."""

    file = forms.FileField(
        label="File", help_text="Plain or gzip, or a workbook (.xlsx). The encoding is found out and shown."
    )


class ImportForm(OptionsForm[Options]):
    """All options, with a select per field where the file has columns of its own."""

    format = forms.ChoiceField(choices=list(FORMATS.items()), label="Format", initial="auto")
    encoding = encoding_field()
    without = forms.MultipleChoiceField(
        choices=list(RULES.items()),
        required=False,
        label="Rules to switch off",
        widget=forms.CheckboxSelectMultiple,
    )
    shortest = forms.IntegerField(min_value=0, max_value=10_000, initial=SHORTEST, label="Least characters")
    longest = forms.IntegerField(min_value=1, max_value=100_000, initial=LONGEST, label="Most characters")
    by = forms.ChoiceField(
        choices=[(each, _DESIGN_WORDS[each]) for each in DESIGNS], initial="all", label="Sample"
    )
    size = forms.IntegerField(
        min_value=1,
        max_value=MOST,
        required=False,
        label="Queries in the sample",
        help_text="Not used with all queries, nor with quotas.",
    )
    seed = forms.IntegerField(
        min_value=-(2**63),
        max_value=2**63 - 1,
        initial=1,
        label="Seed",
        help_text="One seed gives one sample.",
    )
    strata = forms.ChoiceField(
        choices=[("count", "head, torso, tail by count"), ("type", "type of answer")], label="Strata by"
    )
    start_at = forms.ChoiceField(choices=list(START_AT.items()), label="After the import")
    strict = forms.BooleanField(required=False, label="One bad line refuses the whole file")
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None, *, seen: FilePreview) -> None:
        super().__init__(data, label_suffix="")
        self.add_reading(_FIELD_WORDS, seen)
        for name in _QUOTAS:
            self.fields[f"quota_{name}"] = forms.IntegerField(
                min_value=0, max_value=MOST, required=False, label=name.capitalize()
            )

    def groups(self) -> list[tuple[str, str, list[Any], str]]:
        """Parts of the form: a heading, a sentence, fields, a class; quotas show for a stratified sample."""
        columns = [self[name] for name in self.columns]
        quotas = [self[f"quota_{name}"] for name in _QUOTAS]
        reading = "If this is not what the file holds, change it and look again."
        how = [self["format"], self["encoding"], *self.reading_fields(), *columns, self["strict"]]
        return [
            ("How to read it", reading, how, "in-columns"),
            (
                "Queries to leave out",
                "All rules are on unless you switch one off.",
                [self["without"], self["shortest"], self["longest"]],
                "",
            ),
            (
                "Which queries",
                "Drawn without replacement; the weight of each is 1 / its probability.",
                [self["by"], self["size"], self["seed"]],
                "in-columns",
            ),
            (
                "Strata and quotas",
                "Leave all quotas empty to share the sample equally.",
                [self["strata"], *quotas],
                "in-columns only-stratified",
            ),
            ("Where they begin", "", [self["start_at"]], ""),
        ]

    def clean(self) -> dict[str, Any]:
        """Ask the service's own checks."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                self.options(cleaned).check()
            except ImportRefusedError as error:
                self.add_error(None, str(error))
        return cleaned

    def options(self, cleaned: dict[str, Any] | None = None) -> Options:
        """The form as the service wants it."""
        fields = self.cleaned_data if cleaned is None else cleaned
        by, strata = fields["by"], fields["strata"]
        quotas = {name: fields[f"quota_{name}"] for name in STRATA[strata] if fields.get(f"quota_{name}")}
        return Options(
            format=fields["format"],
            encoding=fields["encoding"],
            sheet=fields.get("sheet", ""),
            columns={name: fields[f"column_{name}"] for name in FIELDS} if self.columns else {},
            header_row=fields["header_row"] or 0,
            without=tuple(fields["without"]),
            shortest=fields["shortest"],
            longest=fields["longest"],
            design=Design(
                by=by,
                size=0 if by == "all" else fields["size"] or 0,
                seed=fields["seed"],
                strata=strata,
                quotas=quotas if by == "strata" else {},
            ),
            strict=fields["strict"],
            start_at=fields["start_at"],
        )

    def payload(self) -> dict[str, Any]:
        """The options, ready for JSON."""
        return asdict(self.options())


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
        """Format, encoding, sheet and row of names."""
        if post is None:
            return Options()
        encoding = post.get("encoding", "")
        return Options(
            format=post.get("format", "auto"),
            encoding=encoding if encoding in USUAL else "",
            sheet=post.get("sheet", ""),
            header_row=posted_row(post),
        )

    def look(self, file: StagedFile, options: Options) -> FilePreview:
        """Look at the first records."""
        try:
            file_preview = preview(file.path, name=file.name, options=options)
        except ImportRefusedError as error:
            return FilePreview(None, str(error), error.columns, {}, error.sheets)
        return FilePreview(file_preview, "", file_preview.columns, file_preview.mapping, file_preview.sheets)

    def form(self, post: QueryDict | None, seen: FilePreview, project: Project) -> ImportForm:
        """The form with a select per field; queries begin where the project's stages do."""
        kinds = set(Stage.objects.filter(project=project).values_list("kind", flat=True))
        first = next((kind for kind in START_AT if kind in kinds), "screening")
        form = ImportForm(post, seen=seen)
        form.fields["start_at"].initial = first
        return form

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
    read_as = row.report.get("read_as")
    return show(
        request,
        "import_source.html",
        access,
        folder="annotation",
        tab=_TAB,
        source=row,
        report=row.report,
        read_as=reading_lines(read_as | {"rows": None}) if read_as else [],
        differences=list(differences_in_words(row.report)),
        nothing_new=nothing_new(row.report),
    )
