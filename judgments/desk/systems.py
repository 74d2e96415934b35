"""Pages of a project's systems: the table, one system, one answer, downloads, and imports of answers."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import links_of_query
from annotation.desk.imports import UploadForm, encoding_field
from annotation.models import HeldOutWorker
from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError
from annotation.services.staged_files import StagedFile
from core.files.cells import cell, csv_text, map_columns
from core.files.encodings import USUAL
from core.files.reading import reading_lines
from core.jobs.models import Job
from core.projects.models import Project
from judgments.answer_files import FIELDS, FORMATS, LONGEST_SYSTEM, NAMES, RULES, system_columns
from judgments.models import Candidate, CandidateSource, System
from judgments.selectors import candidates as selectors
from judgments.selectors.candidates import AnswerScore, Filters, reference_texts
from judgments.selectors.judges import judgments_in, stages_that_judged
from judgments.selectors.ratings import scale_of
from judgments.services import candidates as services
from judgments.services.imports import Options, preview
from judgments.tasks import IMPORT
from metrics.figure import counted
from web.access import ProjectAccess, Role, on_project
from web.cells import Cell, Link, chip, link, opens, several
from web.forms import LogReasonForm, read_form, run_action
from web.job_pages import FilePreview, ImportPages, OptionsForm, posted_row
from web.kit import Button, Empty, FormSection, Listing, Page, Table
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest, Words, count_column


def _draw_system(cell: Cell) -> object:
    system = cell.row.system
    people = system.kind == System.Kind.HUMAN and chip("people")
    return several(link(system.name, cell.address("judgments:system", system.pk)), people)


SYSTEMS = Grid(
    "systems",
    columns=(
        Column("system", "System", "system.name", by="name", cell=_draw_system),
        Column("kind", "Kind", "system.kind", on_page=False),
        Column("answers", "Answers", by="answers", down=True, number=True),
        Column("judge", "To judge", "to_judge", by="to_judge", down=True, number=True),
        Column("exact", "Same as a reference", by="exact", down=True, number=True),
        Column("empty", "No answer", by="empty", down=True, number=True),
        count_column("out", "Taken out", lambda row: row.withdrawn + row.query_out),
        Column("judged", "Judged", by="judged", down=True, number=True),
        Column("judgments", "Judgments", by="judgments", down=True, number=True),
        Column("mean", "Mean score", by="mean", down=True, number=True),
    ),
    order="system",
)
#: Its file has columns of its own, which are read without a model instance per row.
OF_SYSTEM = Grid(
    "answers",
    columns=(
        Column("text", "Answer", None, by="text"),
        Column("query", "Query", None, by="query__text"),
        Column("state", "State", None, by="aside"),
        Column("judged", "Judgments", None, by="judgment_count", down=True, number=True),
        Column("mean", "Mean score", None, by="mean_score", down=True, number=True, gaps=True),
        Column("number", "Number", None, by="pk", on_page=False),
    ),
    filters=(
        Words("q", "Words of the answer or the query, or its id"),
        Choices("state", "Which", selectors.STATES),
    ),
    order="number",
    aliases={"best": "mean", "worst": "-mean"},
)

FOLDER = "judgments"
_AT_ONCE = 1000
#: Columns of the download with the fields that they hold; what people said follows them.
_COLUMNS = {
    "query_id": "query__key", "query": "query__text", "system": "system__name", "answer": "text",
    "opinion": "opinion", "aside": "aside", "reason": "aside_reason", "file": "source__name", "line": "line"
}  # fmt: skip


class AnswerReasonForm(LogReasonForm):
    """A reason that stays with the answer."""

    help_text = "Stays with the answer and in the project's log."


def _system(access: ProjectAccess, pk: int) -> System:
    row: System = get_object_or_404(System, pk=pk, project=access.project)
    row.project = access.project
    return row


def _candidate(access: ProjectAccess, pk: int) -> Candidate:
    rows = Candidate.objects.select_related("query", "system", "source")
    row: Candidate = get_object_or_404(rows, pk=pk, system__project=access.project)
    row.system.project = access.project
    return row


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """All systems with what became of their candidates."""
    return show_table(
        request,
        access,
        SYSTEMS,
        lambda grid: selectors.systems(access.project),
        _describe_list(access),
        file=f"{access.project.slug}-systems",
        tab="systems",
    )


_SOURCES = (
    Column("name", "File", cell=opens("judgments:source", "{}", "pk")),
    Column("format", "Format"),
    Column("created_at", "When"),
)
_NO_ANSWER = (
    "Import what systems answered to this project's queries: a line per answer, as JSONL, CSV, TSV, or as "
    "DuReader's evaluation takes it."
)


def _describe_list(access: ProjectAccess) -> Page:
    rows = CandidateSource.objects.filter(project=access.project).defer("report", "options")
    sources = list(rows.order_by("-pk")[:10])
    force = "as imported" if access.project.read_only else "by the filters in force"
    note = (
        f"Mean score: over a system's answers, {force}. “Taken out” has answers that a person took out, and "
        "those of queries that are taken out. Judges never see which system an answer is from."
    )
    begin = Link("Import answers", access.address("judgments:import_new")) if access.manages else None
    empty = Empty("No answers yet", _NO_ANSWER)
    files = Table("Table: imported files", _SOURCES, sources, heading="Imported files")
    return Page(
        "Systems",
        [
            Listing("Which systems", "system", "systems", empty, note=note),
            *([files] if sources else []),
            *(_list_actions(access) if access.manages else []),
        ],
        primary=[
            Link("Compare results", access.address("judgments:compare_results"), plain=True),
            *([begin] if begin else []),
        ],
    )


def _list_actions(access: ProjectAccess) -> list[FormSection]:
    held_out = HeldOutWorker.objects.filter(query__project=access.project).count()
    are = (
        f"{counted(held_out, 'answer')} of people {'is' if held_out == 1 else 'are'} held out. As the system"
    )
    human = FormSection(
        forms.Form(),
        [Button("Make them candidates", plain=True)],
        access.address("judgments:human"),
        heading="Held-out answers",
        lead=f"{are} “human” they are judged on the same scale as all others.",
    )
    copies = FormSection(
        forms.Form(),
        [Button("Look for copies again", plain=True)],
        access.address("judgments:refresh_exact"),
        heading="Copies of references",
        lead="References that came after an import may be the same as answers that are not judged yet. Such "
        "answers are set aside.",
    )
    return [human, copies] if held_out else [copies]


@require_POST
@on_project(Role.MANAGER)
def human(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Bring the candidates of the system `human` up to date."""

    def action() -> str:
        done = services.human_candidates(access.project, actor=access.user)
        parts = [
            (done.new, "new candidates"),
            (done.exact, "of them set aside as copies of a reference"),
            (done.back, "came back"),
            (done.withdrawn, "taken out: no longer held out"),
            (done.too_late, "no longer held out, but judged already: they stay"),
        ]
        changes = "; ".join(f"{count:,} {label}" for count, label in parts if count)
        return (
            f"{changes}." if changes else "Nothing has changed: all answers that are held out are candidates."
        )

    return run_action(request, action, "judgments:systems", access.project.slug)


@require_POST
@on_project(Role.MANAGER)
def refresh(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Look for copies of references that came after the import."""

    def action() -> str:
        count = services.refresh_exact(access.project, actor=access.user)
        if not count:
            return "No answer without judgments is the same as a reference."
        return f"{count:,} answer{'' if count == 1 else 's'} set aside: the same as a reference."

    return run_action(request, action, "judgments:systems", access.project.slug)


@require_safe
@on_project()
def system(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """One system and its answers; filtered, sorted and paged by the address."""
    row = _system(access, pk)
    (counts,) = selectors.systems(access.project, row)

    def with_said(candidates: list[Candidate]) -> list[tuple[Candidate, AnswerScore]]:
        scores = selectors.load_answer_scores(each.pk for each in candidates)
        return [(each, scores.get(each.pk, AnswerScore())) for each in candidates]

    return show_table(
        request,
        access,
        OF_SYSTEM,
        lambda grid: _rows(row, grid),
        "system.html",
        complete=with_said,
        folder=FOLDER,
        rows_as="page",
        file_at=reverse("judgments:system_csv", args=[access.project.slug, row.pk]),
        about=lambda rows: {"rows": rows},
        tab="systems",
        system=row,
        counts=counts,
        set_aside=counts.exact + counts.empty + counts.withdrawn + counts.query_out,
        out=selectors.OUT,
        why_form=AnswerReasonForm(),
    )


def _rows(row: System, grid: GridRequest) -> QuerySet[Candidate]:
    return selectors.rows(row, Filters(grid["state"], grid["q"], grid.column.name))


@require_safe
@on_project()
def download(request: HttpRequest, access: ProjectAccess, *, pk: int) -> StreamingHttpResponse:
    """What the table shows on all its pages, as CSV, a thousand rows in memory at a time."""
    row = _system(access, pk)
    grid = OF_SYSTEM.read_request(request.GET)
    rows = grid.sort(_rows(row, grid))
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{access.project.slug}-answers-{row.pk}.csv"'
    return answer


def _lines(rows: Any) -> Iterator[str]:
    yield csv_text([(*_COLUMNS, "judgments", "mean", "simulated")])
    records = rows.values_list("pk", *_COLUMNS.values()).iterator(chunk_size=_AT_ONCE)
    while batch := list(islice(records, _AT_ONCE)):
        scores = selectors.load_answer_scores(pk for pk, *_ in batch)
        yield csv_text(_cells(values, scores.get(pk, AnswerScore())) for pk, *values in batch)


def _cells(values: list[Any], score: AnswerScore) -> Iterator[str | int | float | None]:
    for value in values:
        yield cell(value) if isinstance(value, str) else value
    yield score.judgments
    yield score.mean
    yield "true" if score.simulated else "false"


@require_POST
@on_project(Role.MANAGER)
def keep_copies(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Have all copies of references that a system gave judged."""
    row = _system(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        count = services.put_back_copies(system=row, reason=reason, actor=access.user)
        return f"{count:,} answer{'' if count == 1 else 's'} put back: people judge them."

    return run_action(request, action, "judgments:system", access.project.slug, pk)


@require_safe
@on_project()
def candidate(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """One answer, the references beside it, and what one stage said of it; the newest unless one is named."""
    row = _candidate(access, pk)
    stages = stages_that_judged(row)
    named = [stage for stage in stages if stage.slug == request.GET.get("stage")]
    chosen = next(iter(named or stages), None)
    return show(
        request,
        "candidate.html",
        access,
        folder=FOLDER,
        tab="systems",
        candidate=row,
        query=row.query,
        system=row.system,
        references=reference_texts([row.query_id]).get(row.query_id, []),
        beside=links_of_query(access.project, row.query, {"candidate": row.pk}),
        said=selectors.load_answer_scores([pk]).get(pk, AnswerScore()),
        stages=stages,
        by_stage=judgments_in(row, chosen) if chosen else None,
        scale=scale_of(chosen) if chosen else None,
        out=selectors.OUT,
        why_form=AnswerReasonForm(),
    )


@require_POST
@on_project(Role.MANAGER)
def take_out(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Take an answer out."""
    row = _candidate(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        services.withdraw(candidate=row, reason=reason, actor=access.user)
        return "Taken out. No more judgments are asked for it; those already given stay."

    return run_action(request, action, "judgments:candidate", access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def back(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Put an answer back."""
    row = _candidate(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        services.put_back(candidate=row, reason=reason, actor=access.user)
        return "Put back: people judge it."

    return run_action(request, action, "judgments:candidate", access.project.slug, pk)


# Imports of systems' answers, and their reports.

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
    systems_from = forms.CharField(
        required=False,
        label="Columns with a system each",
        help_text="Their names with commas between, where a row has one answer of every system.",
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

    def __init__(self, data: Any = None, *, seen: FilePreview) -> None:
        super().__init__(data, label_suffix="")
        self.add_reading(_WORDS, seen)

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """Parts of the form: a heading, a sentence, fields."""
        columns = [self[name] for name in self.columns]
        reading = "If this is not what the file holds, change it and look again."
        return [
            (
                "How to read it",
                reading,
                [
                    self["format"],
                    self["encoding"],
                    *self.reading_fields(),
                    self["no_header"],
                    self["system"],
                    self["systems_from"],
                ],
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
        fields = self.cleaned_data
        return Options(
            format=fields["format"],
            encoding=fields["encoding"],
            sheet=fields.get("sheet", ""),
            columns={name: fields[f"column_{name}"] for name in FIELDS} if self.columns else {},
            header=False if fields["no_header"] else None,
            header_row=fields["header_row"] or 0,
            system=fields["system"].strip(),
            systems_from=system_columns(fields["systems_from"]),
            strict=fields["strict"],
            keep_exact=fields["keep_exact"],
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

    def list_trail(self, access: ProjectAccess, context: Mapping[str, Any]) -> list[Link]:
        """The systems whose answers they are."""
        return [Link("Systems", access.address("judgments:systems"))]

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
        """Format, encoding, sheet, row of names, and whether the first line of a table is an answer."""
        if post is None:
            return Options()
        encoding = post.get("encoding", "")
        return Options(
            format=post.get("format", "auto"),
            encoding=encoding if encoding in USUAL else "",
            sheet=post.get("sheet", ""),
            header=False if "no_header" in post else None,
            header_row=posted_row(post),
            systems_from=system_columns(post.get("systems_from", "")),
        )

    def look(self, file: StagedFile, options: Options) -> FilePreview:
        """Look at the first answers."""
        try:
            file_preview = preview(file.path, name=file.name, options=options)
        except ImportRefusedError as error:
            mapping = map_columns(error.columns, {}, NAMES)
            return FilePreview(None, str(error), error.columns, mapping, error.sheets)
        return FilePreview(file_preview, "", file_preview.columns, file_preview.mapping, file_preview.sheets)

    def form(self, post: QueryDict | None, seen: FilePreview, project: Project) -> AnswersForm:
        """The form with a select per field."""
        return AnswersForm(post, seen=seen)

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
    systems = [(name, {rule: rule_counts.get(rule, 0) for rule in RULES}) for name, rule_counts in counts]
    read_as = report.get("read_as")
    return show(
        request,
        "import_source.html",
        access,
        folder="judgments",
        tab=_TAB,
        source=row,
        report=report,
        read_as=reading_lines(read_as | {"rows": None}) if read_as else [],
        systems=systems,
    )
